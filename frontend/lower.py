"""From C's tree to statements in loops: scalars become what they are assigned, conditions become guards or choices.

A scalar that an iteration assigns and reads is replaced by its value; one that goes on from iteration to iteration is
memory, of which each iteration of the loops around its declaration has a place of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from pycparser import c_ast

from egglift.frontend import arithmetic as c
from egglift.frontend.expressions import Expressions, known
from egglift.frontend.headers import header_of, unknown
from egglift.frontend.nest import Affine, CExpr, Index, Loop, Number, Read, Statement, reads_in
from egglift.frontend.places import refused
from egglift.frontend.source import Source
from egglift.frontend.variables import (
    Alias,
    Variable,
    all_nodes,
    assigned,
    base_type,
    block,
    is_allocation,
    loops_that_own,
    names_used,
    parameters_of,
    refuse_jumps,
)
from egglift.ir.types import I32, I64, Scalar

STEPS = ("++", "p++", "--", "p--")
#: what a function returns, as a variable
RETURNED = "return%"


class Lowering:
    """The statements of a nest.  variables: all that they write and read, by name; outputs: those of the caller.

    shifted: are loops that run for a known number of times from a beginning that varies counted from there?
    """

    def __init__(self, source: Source, sizes: Mapping[str, Any], shifted: bool = True) -> None:
        self.source, self.sizes, self.shifted = source, sizes, shifted
        self.variables: dict[str, Variable] = {}
        self.statements: list[Statement] = []
        self.result: Variable | None = None
        self._numbers = itertools.count()
        self._loops: list[Loop] = []
        self._bounds: list[tuple[Affine, ...]] = []
        self._tests: list[tuple[CExpr, tuple[Affine, ...] | None]] = []
        self._order = [0]
        self._owned: dict[int, list[Any]] = {}
        self._calls: list[str] = []
        #: scalars in memory whose values are followed through an if, with the number of conditions around it
        self._followed: dict[Variable, int] = {}
        #: what the file declares outside of its functions
        self._globals: dict[str, Any] = {}
        self._x = Expressions(source, {}, self._inlined, sizes)

    # ------------------------------------------------------------------------------------ whole programs

    def function(self, node: Any) -> None:
        """The statements of a function; its parameters, and variables of the file that are no constants, are given."""
        refuse_jumps(node.body, self.source.file)
        self._file_variables(node)
        for p in parameters_of(node):
            if p.name in self.variables:
                refused(p, f"{p.name} is a variable of the file, too, which a function reads", self.source.file)
            self._parameter(p, by_value=p.name in assigned(node.body, calls=False))
        items = block(node.body)
        last = items.pop() if items and isinstance(items[-1], c_ast.Return) else None
        for k, item in enumerate(items):
            self._statement(item, [*items[k + 1 :], last])
        t = base_type(node.decl)
        if last is not None and last.expr is not None and t is not None:
            self.result = self._variable(RETURNED, t, (), True, node)
            self._store(self.result.read((), last.coord), c.cast(self._x.of(last.expr), t))
        for v in [v for v in self._x.lets if v.given]:
            self._kept(v)

    def _file_variables(self, node: Any) -> None:
        """What is declared outside of functions and used by one, or by those that it calls."""
        used = names_used(node, self.source.functions)
        for d in self.source.variables:
            if d.name not in used:
                continue
            if "const" in d.quals and d.init is not None:
                self._declared(d, [])
            else:
                self._parameter(d, by_value=False)
        self._globals = dict(self._x.scope)

    def nest(self, node: Any) -> None:
        """The statements of a nest: what is declared before it is the caller's."""
        refuse_jumps(node, self.source.file)
        items = block(node)
        for k, d in enumerate(items):
            if isinstance(d, c_ast.Decl) and d.init is None:
                scalar = not isinstance(d.type, c_ast.PtrDecl | c_ast.ArrayDecl)
                if not (scalar and loops_that_own(items[k + 1 :], d.name)):
                    self._parameter(d, by_value=False)
        known = self._x.scope
        rest = [d for d in items if not (isinstance(d, c_ast.Decl) and d.name in known)]
        for k, item in enumerate(rest):
            self._statement(item, rest[k + 1 :])
        for v in [v for v in self._x.lets if v.given]:
            self._kept(v)

    def _parameter(self, decl: Any, by_value: bool) -> None:
        t = base_type(decl)
        if t is None:
            refused(decl, f"{decl.name} is no number and no array of numbers", self.source.file)
        shape = self._shape(decl)
        size = self.sizes.get(decl.name)
        if not shape and isinstance(size, int | float):
            self._x.scope[decl.name] = c.number(size, t)
            return
        given = self._variable(decl.name, t, shape, True, decl)
        self._x.scope[decl.name] = given
        if by_value and not shape:  # what is assigned is a copy
            copy = self._variable(decl.name, t, (), False, decl)
            self._x.scope[decl.name], self._x.lets[copy] = copy, given.read((), decl.coord)

    def _shape(self, decl: Any) -> tuple[int | None, ...]:
        """A length, or None, for each subscript that a declaration allows."""
        found: list[int | None] = []
        node = decl.type
        while isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl):
            length = None
            if isinstance(node, c_ast.ArrayDecl) and node.dim is not None:
                e = self._x.of(node.dim)
                length = known(e)
                if length is None:
                    unknown(node.dim, e, f"a length of {decl.name}", self._x)
            found.append(length)
            node = node.type
        if found[1:] and None in found[1:]:
            refused(
                decl,
                f"{decl.name} is a pointer to pointers; pass one array with its rows one after the other",
                self.source.file,
            )
        return tuple(found)

    def _variable(self, title: str, t: Scalar, shape: tuple[int | None, ...], given: bool, node: Any) -> Variable:
        name = title if given or title == RETURNED else f"{title}%{next(self._numbers)}"
        made = Variable(name, title, t, shape, () if given else tuple(self._loops), len(self._tests), given, node.coord)
        self.variables[name] = made
        return made

    # ------------------------------------------------------------------------------------ statements

    def _block(self, items: list[Any]) -> None:
        outer = dict(self._x.scope)
        for k, item in enumerate(items):
            self._statement(item, items[k + 1 :])
        for v in {m for n, m in self._x.scope.items() if outer.get(n) is not m and isinstance(m, Variable)}:
            self._x.lets.pop(v, None)
        self._x.scope = outer

    def _statement(self, node: Any, rest: list[Any]) -> None:
        match node:
            case c_ast.Compound():
                self._block(block(node))
            case c_ast.DeclList():
                for d in node.decls:
                    self._declared(d, rest)
            case c_ast.Decl():
                self._declared(node, rest)
            case c_ast.ExprList():
                for e in node.exprs:
                    self._statement(e, rest)
            case c_ast.Assignment():
                self._assigned(node)
            case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--"):
                one = c.number(1, I32)
                self._assign(node.expr, lambda old: self._x.binary(node, "add" if "+" in node.op else "sub", old, one))
            case c_ast.For():
                self._for(node)
            case c_ast.If():
                self._if(node)
            case c_ast.FuncCall(name=c_ast.ID(name="free")):
                pass
            case c_ast.FuncCall():
                self._inlined(node)
            case c_ast.EmptyStatement() | c_ast.Pragma():
                pass
            case c_ast.Return():
                refused(node, "return ends the nest early; write the condition into what is assigned", self.source.file)
            case _:
                refused(node, f"{type(node).__name__} is no statement that is taken here", self.source.file)

    def _declared(self, node: Any, rest: list[Any]) -> None:
        t = base_type(node)
        if t is None or isinstance(node.type, c_ast.FuncDecl):
            refused(node, f"{node.name} is no number and no array of numbers", self.source.file)
        if "static" in node.storage and "const" not in node.quals:
            why = f"{node.name} keeps its value from call to call; make it a parameter, or const"
            refused(node, why, self.source.file)
        if isinstance(node.type, c_ast.PtrDecl) and not is_allocation(node.init):
            self._points(node, t)
            return
        shape = self._shape(node) if not is_allocation(node.init) else (self._allocated(node.init, t),)
        if node.init is None and not shape and (owners := loops_that_own(rest, node.name)):
            for loop in owners:
                self._owned.setdefault(id(loop), []).append(node)
            return
        variable = self._variable(node.name, t, shape, False, node)
        self._x.scope[node.name] = variable
        if is_allocation(node.init):
            return
        if node.init is not None and shape:
            self._initialised(variable, node.init, ())
        elif node.init is not None:
            self._x.lets[variable] = c.cast(self._x.of(node.init), t)

    def _points(self, node: Any, t: Scalar) -> None:
        """`float *row = A + i*m;`: another name, for good, of a part of an array."""
        if node.init is None:
            refused(node, f"{node.name} points nowhere yet: give it its place where it is declared", self.source.file)
        self._x.scope[node.name] = self._pointee(node.init, t)

    def _pointee(self, pointer: Any, t: Scalar) -> Alias:
        found = self._x.pointee(pointer)
        if found.variable.type != t:
            why = f"{found.variable.title} holds {found.variable.type}, and not {t}: it is not read as another type"
            refused(pointer, why, self.source.file)
        return found

    def _allocated(self, call: Any, t: Scalar) -> int:
        """How many elements `malloc(n * sizeof(float))` has room for."""
        call = call.expr if isinstance(call, c_ast.Cast) else call
        size = known(self._x.of(call.args.exprs[0]))
        if size is None or size % t.size:
            refused(call, f"how many elements of {t} this is must be known", self.source.file)
        assert size is not None
        return size // t.size

    def _initialised(self, array: Variable, init: Any, at: tuple[int, ...]) -> None:
        """`float w[3] = {1, 2, 1};`: what is not written there is 0."""
        length = array.shape[len(at)]
        assert length is not None
        if length > 256:
            refused(init, f"{array.title} has {length} elements; fill it in a loop", self.source.file)
        given = init.exprs if isinstance(init, c_ast.InitList) else refused(init, "arrays begin with {...}")
        for k in range(length):
            e = given[k] if k < len(given) else None
            if len(at) + 1 < len(array.shape):
                self._initialised(array, e or c_ast.InitList([], init.coord), (*at, k))
            else:
                value = c.number(0, array.type) if e is None else c.cast(self._x.of(e), array.type)
                self._store(array.read(tuple(c.number(i, I64) for i in (*at, k)), init.coord), value)

    def _assigned(self, node: Any) -> None:
        if isinstance(node.lvalue, c_ast.ID):
            self._refuse_moving(node.lvalue)
        source = node.rvalue
        if isinstance(source, c_ast.Assignment):  # a = b = 0
            self._assigned(source)
            source = source.lvalue
        value = self._x.of(source)
        if node.op == "=":
            self._assign(node.lvalue, lambda old: value)
        else:
            self._assign(node.lvalue, lambda old: self._x.binary(node, c.SYMBOLS[node.op[:-1]], old, value))

    def _refuse_moving(self, name: Any) -> None:
        found = self._x.meaning(name)
        if isinstance(found, Alias) or (isinstance(found, Variable) and found.shape):
            advice = "use subscripts, or copy what it points to"
            why = f"{name.name} points elsewhere from here on: pointers that move are not followed; {advice}"
            refused(name, why, self.source.file)

    def _assign(self, lvalue: Any, f: Any) -> None:
        """`lvalue = f(what it was)`."""
        if isinstance(lvalue, c_ast.ID):
            found = self._x.meaning(lvalue)
            if not isinstance(found, Variable) or found.shape:
                refused(lvalue, f"{lvalue.name} is not a variable that can be assigned here", self.source.file)
            self._set(found, f(self._x.of(lvalue)), lvalue)
            return
        if not isinstance(lvalue, c_ast.ArrayRef | c_ast.UnaryOp):
            refused(lvalue, "only variables and elements of arrays are assigned", self.source.file)
        target = self._x.element(lvalue)
        assert isinstance(target, Read)
        self._store(target, c.cast(f(target), target.type))

    def _set(self, variable: Variable, value: CExpr, node: Any) -> None:
        """A scalar gets a value: what it is from now on, or a place in memory, where an inner loop does so."""
        value = c.cast(value, variable.type)
        if tuple(self._loops) != variable.loops and variable not in self._followed:
            self._store(variable.read((), node.coord), value)
            return
        tests = [test for test, _ in self._tests[self._followed.get(variable, variable.tests) :]]
        if tests:
            now = self._x.lets.get(variable) or variable.read((), node.coord)
            for test in reversed(tests):
                value = c.choice(test, value, now)
        self._x.lets[variable] = value

    def _store(self, target: Read, value: CExpr) -> None:
        """A statement; scalars that are known by what it overwrites are kept before."""
        for variable, e in list(self._x.lets.items()):
            if any(r.array == target.array for r in reads_in(e)) and variable.name != target.array:
                self._kept(variable)
        guards = [g for bounds in self._bounds for g in bounds]
        for test, forms in reversed(self._tests):
            if forms is None:
                value = c.choice(test, value, target)
        guards += [g for _, forms in self._tests for g in forms or ()]
        self.statements.append(Statement(tuple(self._loops), tuple(guards), target, value, tuple(self._order)))
        self._order[-1] += 1

    def _kept(self, variable: Variable) -> None:
        """A scalar that is known goes to its place in memory."""
        value = self._x.lets.pop(variable, None)  # keeping another one may have kept it
        place = variable.read((), variable.at)
        if value is not None and value != place:
            self._store(place, value)

    def _settle(self, node: Any) -> None:
        """Before a part of the text: scalars that it assigns, or that are known by what it writes, are kept."""
        written = self._written(node)
        for variable, e in list(self._x.lets.items()):
            if variable.name in written or any(r.array in written for r in reads_in(e)):
                self._kept(variable)

    def _written(self, node: Any) -> set[str]:
        found = (self._x.scope.get(n) for n in assigned(node))
        return {m.variable.name if isinstance(m, Alias) else m.name for m in found if isinstance(m, Variable | Alias)}

    def _is_scalar(self, node: Any) -> bool:
        """Does a part of the text assign scalars and nothing else?"""
        for n in all_nodes(node):
            if isinstance(n, c_ast.For) or (isinstance(n, c_ast.Assignment) and not isinstance(n.lvalue, c_ast.ID)):
                return False
            if isinstance(n, c_ast.UnaryOp) and n.op in STEPS and not isinstance(n.expr, c_ast.ID):
                return False
            if isinstance(n, c_ast.FuncCall) and getattr(n.name, "name", "") in self.source.functions:
                return False
        return True

    # ------------------------------------------------------------------------------------ conditions and loops

    def _if(self, node: Any) -> None:
        test = c.condition(self._x.of(node.cond))
        if isinstance(test, Number):
            self._block(block(node.iftrue if test.value else node.iffalse))
            return
        both = c_ast.Compound([b for b in (node.iftrue, node.iffalse) if b is not None])
        if self._is_scalar(both):
            self._through(test, node)
            return
        self._settle(both)
        written = self._written(both)
        if any(r.array in written for r in reads_in(test)):
            test = self._noted(test, node)
        self._under(test, node.iftrue)
        self._under(c.opposite(test), node.iffalse)

    def _through(self, test: CExpr, node: Any) -> None:
        """An if that assigns scalars: their values are followed, and those in memory are written afterwards."""
        both = c_ast.Compound([b for b in (node.iftrue, node.iffalse) if b is not None])
        found = [m for n in sorted(assigned(both)) if isinstance(m := self._x.scope.get(n), Variable)]
        mine = [m for m in found if m.loops != tuple(self._loops) and m not in self._followed]
        self._followed |= dict.fromkeys(mine, len(self._tests))
        self._under(test, node.iftrue)
        self._under(c.opposite(test), node.iffalse)
        new = {v: self._x.lets.pop(v) for v in mine if v in self._x.lets}
        for v in mine:
            del self._followed[v]
        while new:
            # what others still need is written after them
            free = [
                v for v in new if not any(r.array == v.name for w, e in new.items() if w is not v for r in reads_in(e))
            ]
            if not free:
                kept = next(iter(new))
                copy = self._variable(kept.title, kept.type, (), False, node)
                self._store(copy.read((), node.coord), new[kept])
                new[kept] = copy.read((), node.coord)
                continue
            self._store(free[0].read((), node.coord), new.pop(free[0]))

    def _noted(self, test: CExpr, node: Any) -> CExpr:
        """A condition in a place of its own: what it reads is about to be overwritten."""
        variable = self._variable("test", I32, (), False, node)
        self._store(variable.read((), node.coord), c.cast(test, I32))
        return c.condition(variable.read((), node.coord))

    def _under(self, test: CExpr, body: Any) -> None:
        if body is not None and not (isinstance(test, Number) and not test.value):
            self._tests.append((test, c.guards_of(test)))
            self._block(block(body))
            self._tests.pop()

    def _for(self, node: Any) -> None:
        header = header_of(node, self._x, self.shifted)
        self._settle(node)
        loop = header.loop(node)
        if loop is None:
            return
        if not header.is_even:
            advice = f"{loop.name} moves by {loop.step} from a beginning that varies; begin at a constant"
            refused(node, advice, self.source.file)
        form, outer = header.form(loop), dict(self._x.scope)
        self._x.scope[loop.name] = Index(form, header.type)
        self._loops.append(loop)
        self._bounds.append(header.bounds(form, loop))
        self._order.append(0)
        for decl in self._owned.get(id(node), ()):
            self._declared(decl, block(node.stmt))
        self._block(block(node.stmt))
        self._order.pop()
        self._order[-1] += 1
        self._bounds.pop()
        self._loops.pop()
        for v in [v for v in self._x.lets if len(v.loops) > len(self._loops)]:
            del self._x.lets[v]
        self._x.scope = outer
        if isinstance(iterator := outer.get(loop.name), Variable):
            self._x.lets.pop(iterator, None)

    # ------------------------------------------------------------------------------------ functions of the file

    def _inlined(self, node: Any) -> CExpr | None:
        """The value of a call; what the function writes are statements here."""
        name = node.name.name
        function = self.source.functions.get(name)
        if function is None:
            refused(node, f"{name} is no function of this file", self.source.file)
        if name in self._calls:
            refused(node, f"{name} calls itself", self.source.file)
        refuse_jumps(function.body, self.source.file)
        parameters = parameters_of(function)
        arguments = node.args.exprs if node.args else []
        if len(parameters) != len(arguments):
            refused(node, f"{name} takes {len(parameters)} arguments, got {len(arguments)}", self.source.file)
        outer = self._x.scope
        passed = {p.name: self._bound_parameter(p, a) for p, a in zip(parameters, arguments, strict=True)}
        self._x.scope = {**self._globals, **passed}
        self._calls.append(name)
        t = base_type(function.decl)
        found = self._returning(block(function.body))
        self._calls.pop()
        self._x.scope = outer
        return None if t is None or found is None else c.cast(found, t)

    def _bound_parameter(self, p: Any, argument: Any) -> Any:
        t = base_type(p)
        assert t is not None
        if isinstance(p.type, c_ast.PtrDecl | c_ast.ArrayDecl):
            return self._pointee(argument, t)
        value = c.cast(self._x.of(argument), t)
        variable = self._variable(p.name, t, (), False, p)
        self._x.lets[variable] = value
        return variable

    def _returning(self, items: list[Any]) -> CExpr | None:
        """Statements up to a return, also one in an if: its value."""
        for k, item in enumerate(items):
            if isinstance(item, c_ast.Return):
                return self._x.of(item.expr) if item.expr is not None else None
            if isinstance(item, c_ast.If) and any(isinstance(n, c_ast.Return) for n in all_nodes(item)):
                return self._either(item, items[k + 1 :])
            self._statement(item, items[k + 1 :])
        return None

    def _either(self, node: Any, rest: list[Any]) -> CExpr | None:
        test = c.condition(self._x.of(node.cond))
        before, lets, scope = len(self.statements), dict(self._x.lets), dict(self._x.scope)
        yes = self._returning([*block(node.iftrue), *rest])
        self._x.lets, self._x.scope = lets, scope
        no = self._returning([*block(node.iffalse), *rest])
        if len(self.statements) > before or yes is None or no is None:
            refused(
                node, "return in an if is taken where both ways compute a number, and write nothing", self.source.file
            )
        return self._x.choice(test, yes, no)
