"""The meaning of integer expressions in C: types of 32 and 64 bits, truncating division, no result out of range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import z3
from pycparser import c_ast
from pycparser.c_parser import CParser

from egglift.codegen.kernel.index import Var
from egglift.codegen.opencl.expressions import CLAMP, int_type
from tests.smt import INT, LONG, clamped, variable

_PARSER = CParser()
TYPES = {"int": INT, "long": LONG}


@dataclass
class CText:
    """Evaluates an expression over `variables`.  obligations: that what is evaluated neither overflows nor divides a
    negative number, which C and Python do differently."""

    variables: Sequence[Var]
    obligations: list[z3.BoolRef] = field(default_factory=list)
    _here: list[z3.BoolRef] = field(default_factory=list)  # the conditions under which a part is evaluated

    def value(self, text: str) -> tuple[str, z3.ArithRef]:
        """The type and the value of an expression of C."""
        parsed = _PARSER.parse(f"typedef int size_t; long f(void) {{ return {text}; }}")
        return self._number(parsed.ext[-1].body.block_items[0].expr)

    def _number(self, e: c_ast.Node) -> tuple[str, z3.ArithRef]:
        match e:
            case c_ast.Constant():
                number = int(e.value.rstrip("L"))
                return ("long" if "L" in e.value or number > INT[1] else "int"), z3.IntVal(number)
            case c_ast.ID():
                v = next(v for v in self.variables if v.name == e.name)
                return int_type(v.count), variable(v)
            case c_ast.Cast():
                (kind,) = e.to_type.type.type.names
                return self._fitting(kind, self._number(e.expr)[1])
            case c_ast.UnaryOp(op="-"):
                kind, a = self._number(e.expr)
                return self._fitting(kind, -a)
            case c_ast.TernaryOp():
                return self._ternary(e)
            case c_ast.FuncCall():
                kind = {CLAMP: "int", CLAMP + "_long": "long"}[e.name.name]
                i, last = (self._fitting(kind, self._number(a)[1])[1] for a in e.args.exprs)
                return kind, clamped(i, last + 1)
            case c_ast.BinaryOp():
                return self._binary(e)
        raise AssertionError(f"{type(e).__name__} is not expected in an index")

    def _binary(self, e: c_ast.BinaryOp) -> tuple[str, z3.ArithRef]:
        (s, a), (t, b) = self._number(e.left), self._number(e.right)
        kind = "long" if "long" in (s, t) else "int"
        match e.op:
            case "+":
                return self._fitting(kind, a + b)
            case "-":
                return self._fitting(kind, a - b)
            case "*":
                return self._fitting(kind, a * b)
            case "/" | "%":
                return self._fitting(kind, self._divided(e.op, a, b))
        raise AssertionError(f"{e.op} is not expected in an index")

    def _divided(self, op: str, a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
        """Where neither side is negative, which becomes an obligation, C's division and remainder are Python's."""
        self._must(z3.And(a >= 0, b > 0))
        return a / b if op == "/" else a % b

    def _ternary(self, e: c_ast.TernaryOp) -> tuple[str, z3.ArithRef]:
        test = self._test(e.cond)
        self._here.append(test)
        s, a = self._number(e.iftrue)
        self._here[-1] = z3.Not(test)
        t, b = self._number(e.iffalse)
        self._here.pop()
        return "long" if "long" in (s, t) else "int", z3.If(test, a, b)

    def _test(self, e: c_ast.Node) -> z3.BoolRef:
        assert isinstance(e, c_ast.BinaryOp), "a condition compares"
        if e.op == "&&":
            left = self._test(e.left)
            self._here.append(left)
            right = self._test(e.right)
            self._here.pop()
            return z3.And(left, right)
        a, b = self._number(e.left)[1], self._number(e.right)[1]
        return {"<": a < b, ">=": a >= b, "==": a == b}[e.op]

    def _fitting(self, kind: str, value: z3.ArithRef) -> tuple[str, z3.ArithRef]:
        low, high = TYPES[kind]
        self._must(z3.And(value >= low, value <= high))
        return kind, value

    def _must(self, claim: z3.BoolRef) -> None:
        self.obligations.append(z3.Implies(z3.And(*self._here), claim))
