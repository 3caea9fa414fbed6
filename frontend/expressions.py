"""Expressions of C as typed expressions of a nest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from pycparser import c_ast

from egglift.frontend import arithmetic as c
from egglift.frontend.nest import Apply, CExpr, Number, form_of
from egglift.frontend.places import refused
from egglift.frontend.source import Source
from egglift.frontend.variables import Alias, Variable, base_type
from egglift.ir.types import F32, F64, I32, I64, U32, U64, Scalar

Meaning = Variable | Alias | Number | Apply | Any
CHARACTERS = {"n": 10, "t": 9, "0": 0, "r": 13, "\\": 92, "'": 39, '"': 34}
LIMITS = {"INT_MAX": (1 << 31) - 1, "INT_MIN": -(1 << 31), "UINT_MAX": (1 << 32) - 1, "INFINITY": float("inf")}
LIMITS |= {"NAN": float("nan"), "HUGE_VAL": float("inf"), "FLT_EPSILON": 2.0**-23}
LIMITS |= {"FLT_MAX": 3.4028234663852886e38, "DBL_MAX": 1.7976931348623157e308}
LIMITS |= {"M_PI": 3.141592653589793, "M_E": 2.718281828459045, "DBL_EPSILON": 2.0**-52, "FLT_MIN": 2.0**-126}
NOT_AFFINE = "where a pointer points to must be a sum of iterators and numbers; use subscripts"
TYPES_OF_LIMITS = {"UINT_MAX": U32, "INFINITY": F32, "NAN": F32, "FLT_MAX": F32, "FLT_EPSILON": F32, "FLT_MIN": F32}


@dataclass
class Expressions:
    """Translates expressions in a scope.

    lets: what scalars are now, where that is known as an expression; call: inlines a function of the file; sizes: what
    names stand for that are declared nowhere.
    """

    source: Source
    scope: dict[str, Meaning]
    call: Callable[[Any], CExpr | None]
    sizes: Mapping[str, Any] = field(default_factory=dict)
    lets: dict[Variable, CExpr] = field(default_factory=dict)

    def refuse(self, node: Any, why: str) -> NoReturn:
        """An error at a node."""
        refused(node, why, self.source.file)

    def of(self, node: Any) -> CExpr:
        """The value of an expression."""
        match node:
            case c_ast.Constant():
                return self._constant(node)
            case c_ast.ID():
                return self._name(node)
            case c_ast.ArrayRef():
                return self.element(node)
            case c_ast.BinaryOp(op="&&" | "||"):
                return c.truth(
                    "logical_and" if node.op == "&&" else "logical_or", self.of(node.left), self.of(node.right)
                )
            case c_ast.BinaryOp():
                return self.binary(node, c.SYMBOLS[node.op], self.of(node.left), self.of(node.right))
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.TernaryOp():
                return self.choice(c.condition(self.of(node.cond)), self.of(node.iftrue), self.of(node.iffalse))
            case c_ast.Cast():
                t = base_type(node.to_type)
                if t is None or isinstance(node.to_type.type, c_ast.PtrDecl):
                    self.refuse(node, "only numbers are cast, to types of numbers")
                assert t is not None
                return c.cast(self.of(node.expr), t)
            case c_ast.FuncCall():
                return self._called(node)
            case c_ast.Assignment():
                self.refuse(node, "an assignment within an expression; write it as a statement of its own")
        self.refuse(node, f"{type(node).__name__} is not taken in an expression")

    def binary(self, node: Any, op: str, a: CExpr, b: CExpr) -> CExpr:
        """`a + b`, checked."""
        floats = a.type.is_float or b.type.is_float
        if floats and (op in ("cmod", *c.SHIFTS) or op.startswith("bitwise")):
            self.refuse(node, f"{getattr(node, 'op', op)} takes integers, got {a.type} and {b.type}")
        return c.arithmetic(op, a, b)

    def choice(self, test: CExpr, yes: CExpr, no: CExpr) -> CExpr:
        """`test ? yes : no`, of C's type."""
        t = yes.type if yes.type == no.type else c.common(yes.type, no.type)
        return c.choice(test, c.cast(yes, t), c.cast(no, t))

    # ------------------------------------------------------------------------------------ names

    def meaning(self, node: Any) -> Meaning:
        """What a name stands for; an error where it is not declared."""
        name = node.name
        if name in self.scope:
            return self.scope[name]
        if self.source.constants.get(name) is not None:
            found = self.of(self.source.constants[name])
            return found
        if name in LIMITS:
            t = TYPES_OF_LIMITS.get(name, I32 if isinstance(LIMITS[name], int) else F64)
            return c.number(LIMITS[name], t)
        if isinstance(size := self.sizes.get(name), int | float):
            t = F64 if isinstance(size, float) else I32 if abs(size) < 1 << 31 else I64
            return c.number(size, t)
        self.refuse(node, f"{name} is not declared; declare it, or give sizes={{{name!r}: ...}}")

    def _name(self, node: Any) -> CExpr:
        found = self.meaning(node)
        if isinstance(found, Alias):
            self.refuse(node, f"{node.name} is an array where a number is taken")
        if not isinstance(found, Variable):
            assert isinstance(found, CExpr)
            return found
        if found.shape:
            self.refuse(node, f"{node.name} is an array where a number is taken; give it subscripts")
        return self.lets.get(found) or found.read((), node.coord)

    def element(self, node: Any) -> CExpr:
        """`A[i][j]`, `*p` and `*(p + i)` as a read."""
        array, at = self.subscripts(node)
        if len(at) != len(array.shape):
            self.refuse(node, f"{array.title} has {len(array.shape)} subscripts, not {len(at)}")
        return array.read(at, node.coord)

    def subscripts(self, node: Any) -> tuple[Variable, tuple[CExpr, ...]]:
        """The array of an element or of a row, and its subscripts."""
        at: list[CExpr] = []
        while not isinstance(node, c_ast.ID):
            match node:
                case c_ast.ArrayRef():
                    at.insert(0, self._subscript(node.subscript))
                    node = node.name
                case c_ast.UnaryOp(op="*", expr=c_ast.BinaryOp(op="+") as sum_):
                    at.insert(0, self._subscript(sum_.right))
                    node = sum_.left
                case c_ast.UnaryOp(op="*"):
                    at.insert(0, c.number(0, I64))
                    node = node.expr
                case _:
                    self.refuse(node, "only arrays and pointers that are parameters or local arrays have elements")
        found = self.meaning(node)
        if isinstance(found, Alias):
            whole = found.at(at)
            return found.variable, whole if whole is not None else self.refuse(node, NOT_AFFINE)
        if not isinstance(found, Variable) or not found.shape:
            self.refuse(node, f"{node.name} is no array")
        assert isinstance(found, Variable)
        return found, tuple(at)

    def pointee(self, node: Any) -> Alias:
        """What a pointer points to: `A`, `A[i]` of rows, `&A[i][j]`, `A + i*n`."""
        match node:
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
                array, at = self.subscripts(element)
                offset = form_of(at[-1])
                return Alias(array, at[:-1], offset if offset is not None else self.refuse(node, NOT_AFFINE))
            case c_ast.BinaryOp(op="+" | "-"):
                before, offset = self.pointee(node.left), form_of(self._subscript(node.right))
                if offset is None:
                    self.refuse(node, NOT_AFFINE)
                assert offset is not None
                return replace(before, offset=before.offset + offset.scaled(1 if node.op == "+" else -1))
            case c_ast.ID() if isinstance(found := self.meaning(node), Alias):
                return found
            case c_ast.ID() | c_ast.ArrayRef():
                array, at = self.subscripts(node)
                if len(at) < len(array.shape):
                    return Alias(array, at)
        self.refuse(node, "an array is passed by its name, as a row A[i], or as a place in it: &A[i], A + i")

    def _subscript(self, node: Any) -> CExpr:
        found = self.of(node)
        if not found.type.is_integer:
            self.refuse(node, f"a subscript is an integer, not {found.type}")
        return found

    # ------------------------------------------------------------------------------------ numbers, functions

    def _constant(self, node: Any) -> CExpr:
        text = node.value
        if node.type == "char":
            inside = text[1:-1]
            return c.number(CHARACTERS[inside[1:]] if inside[0] == "\\" else ord(inside), I32)
        if node.type == "string":
            self.refuse(node, "texts have no place in a program")
        lower = text.lower()
        if "." in lower or "p" in lower or ("e" in lower and not lower.startswith("0x")):
            t = F32 if lower.endswith("f") else F64
            number = lower.rstrip("fl")
            return c.number(float.fromhex(number) if "0x" in number else float(number), t)
        digits = lower.rstrip("ul")
        value = int(digits, 8) if re.fullmatch(r"0\d+", digits) else int(digits, 0)
        return c.number(value, _type_of_integer(value, lower[len(digits) :], digits.startswith("0")))

    def _unary(self, node: Any) -> CExpr:
        match node.op:
            case "-":
                return c.negative(self.of(node.expr))
            case "+":
                x = self.of(node.expr)
                return c.cast(x, c.promoted(x.type))
            case "!":
                return c.opposite(self.of(node.expr))
            case "~":
                x = self.of(node.expr)
                return Apply("invert", (c.cast(x, c.promoted(x.type)),), c.promoted(x.type))
            case "*":
                return self.element(node)
            case "sizeof":
                t = base_type(node.expr)
                return c.number(t.size, U64) if t is not None else self.refuse(node, "sizeof takes a type of a number")
            case "&":
                self.refuse(node, "addresses are not taken: an array is passed by its name, or as a row A[i]")
        self.refuse(node, f"{node.op} within an expression; write it as a statement of its own")

    def _called(self, node: Any) -> CExpr:
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        if name in self.source.functions:
            found = self.call(node)
            return found if found is not None else self.refuse(node, f"{name} returns nothing")
        args = [self.of(a) for a in (node.args.exprs if node.args else ())]
        if name in ("abs", "labs") and len(args) == 1:
            t = I32 if name == "abs" else I64
            return Apply("abs", (c.cast(args[0], t),), t)
        own = name[:-1] if name not in c.MATH and name.endswith("f") else name
        if own not in c.MATH:
            self.refuse(node, f"{name} is neither a function of this file nor one of math.h that is taken")
        op, arity = c.MATH[own]
        if len(args) != arity:
            self.refuse(node, f"{name} takes {arity} arguments, got {len(args)}")
        t = F64 if own == name else F32
        return Apply(op, tuple(c.cast(a, t) for a in args), t)


def _type_of_integer(value: int, suffix: str, other_base: bool) -> Scalar:
    """The first type of C's list that holds it."""
    lists = {"": (I32, U32, I64, U64) if other_base else (I32, I64, U64), "u": (U32, U64)}
    kinds: tuple[Scalar, ...] = lists.get(suffix.replace("l", ""), (U64,))
    kinds = tuple(t for t in kinds if "l" not in suffix or t.size == 8)
    return next((t for t in kinds if value < 1 << (8 * t.size - t.is_signed)), U64)


def known(e: CExpr) -> int | None:
    """The whole number that an expression is."""
    form = form_of(e)
    return form.constant if form is not None and not form.terms else None
