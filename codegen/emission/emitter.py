"""The translation of patterns: `view` reads a value, `emit` writes one.  One translation for all programs.

Every body is entered with its argument's view; what the body computes but only reads is evaluated there, once
(`terms.entry_nodes`).  Maps without a level are evaluated where they are accessed; if their bodies need statements
(a fold, say), these come right before the statement that needs them.
"""

from __future__ import annotations

from collections.abc import Mapping

from egglift.codegen.emission import (
    assign,
    copy,
    count,
    fold,
    guards,
    layout,
    levels,
    linked,
    register_accumulators,
    scan,
    tree_reduction,
)
from egglift.codegen.emission.builder import NotVector, Target
from egglift.codegen.emission.translator import Scope, Translator
from egglift.codegen.kernel.distribution import DIMENSIONS
from egglift.codegen.kernel.imperative import Comment, ScalarValue
from egglift.codegen.kernel.index import Index, index
from egglift.codegen.kernel.views import (
    Arr,
    View,
    Where,
    component,
    element,
    is_flat,
    length,
    memory,
    number,
    part,
)
from egglift.codegen.terms import analysis
from egglift.codegen.terms.level_names import level_name
from egglift.ir import patterns as p
from egglift.ir.backwards import rearranged
from egglift.ir.check import type_of
from egglift.ir.deadline import require_time
from egglift.ir.errors import CodegenError
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.traverse import children, is_closed
from egglift.ir.types import Scalar, leaves


class Emitter(Translator):
    """Translates the term of one kernel."""

    inputs: dict[str, View]
    _serial = 0

    # ------------------------------------------------------------------------------------ bodies

    def enter(self, body: Expr, arg: View, space: str, given: Mapping[Expr, View] = {}) -> Scope:
        """A scope for `body`, with everything that it keeps in memory evaluated, or already `given`."""
        self._serial += 1
        scope = Scope(self._serial, arg)
        for node, kept in given.items():
            self.remember(self._key(node, scope), kept)
        self.prepare(analysis.entry_nodes(body, space), scope)
        return scope

    def entered(self, arg: View) -> Scope:
        """A scope for a body of which nothing is evaluated yet."""
        self._serial += 1
        return Scope(self._serial, arg)

    def prepare(self, nodes: tuple[Expr, ...], scope: Scope) -> None:
        """Evaluate what is kept in memory, in order."""
        for node in nodes:
            self.view(node, scope)

    def apply(self, body: Expr, arg: View, target: Target, given: Mapping[Expr, View] = {}) -> None:
        """Write the value of `body` for `arg`; `given`: what is in memory already of what it keeps there."""
        with self.scratch():
            if guards.splits(target.view):
                guards.emit_where(self, target, lambda inner: self.apply(body, arg, inner, given))
            else:
                self.emit(body, target, self.enter(body, arg, target.space, given))

    def value(self, body: Expr, arg: View) -> View:
        """The view of `body`'s value for `arg`."""
        return self.view(body, self.enter(body, arg, "private"))

    # ------------------------------------------------------------------------------------ reading

    def view(self, t: Expr, scope: Scope) -> View:
        """The view of a term's value.  Iterative over sub-terms: programs may be deep."""
        if type(t) is p.Arg:
            assert scope.arg is not None, "an argument outside of a body"
            return scope.arg
        known, serial = self._known, scope.serial
        found: View | None = known.get((0 if is_closed(t) else serial, t))
        if found is not None:  # nearly always
            return found
        stack = [t]
        while stack:
            e = stack[-1]
            key = (0 if is_closed(e) else serial, e)
            if (found := known.get(key)) is not None:
                stack.pop()
                continue
            parts = [c for c in children(e) if type(c) is not p.Arg] if type(e) is not p.To else ()
            if todo := [c for c in parts if (0 if is_closed(c) else serial, c) not in known]:
                stack.extend(todo)
            else:
                require_time()
                stack.pop()
                found = self._view(e, scope)
                self.remember(key, found)
        assert found is not None
        return found

    def _key(self, e: Expr, scope: Scope) -> tuple[int, Expr]:
        return (0 if is_closed(e) else scope.serial), e

    def _view(self, e: Expr, scope: Scope) -> View:
        def v(x: Expr) -> View:
            return self.view(x, scope)

        match e:
            case p.Map(_, _, None):
                return self._lazy(e, v(e.x), scope)
            case p.Get(i, x):
                return component(v(x), i)
            case _ if isinstance(e, p.REARRANGING):
                return layout.view(self, e, v)
            case p.Input(name, _):
                return self.inputs[name]
            case p.Literal(value, t):
                self.require(t)
                return self.const(value, t)
            case p.Constant():
                return self._constant(e)
            case p.Apply(_, args):
                return self.call(e.op, tuple(map(_value, map(v, args))), _scalar(e))
            case p.Cast(t, x):
                return self.call("cast", (_value(v(x)),), t) if type_of(x) != t else v(x)
            case p.Tup(items):
                return tuple(map(v, items))
            case p.Map() | p.Fold() | p.Tree() | p.ScanSeq() | p.ScanDoubling() | p.Count() | p.Iterate() | p.To():
                return self._kept(e, scope)
            case _:
                return layout.view(self, e, v)

    def _lazy(self, e: p.Map, xs: View, scope: Scope) -> Arr:
        """A map that is evaluated at each access."""
        assert isinstance(xs, Arr)
        own = self._key(e, scope)

        def over(part: Arr) -> Arr:
            def at(i: Index) -> View:
                key = (own, id(part), i)
                element: View | None = self.known(key)
                if element is None:
                    element = self.value(e.body, part.at(i))
                    self.remember(key, element)
                return element

            return Arr(part.length, at, tuple(map(over, part.parts)))

        return over(xs)

    def _kept(self, e: Expr, scope: Scope) -> View:
        """Evaluate a loop, or what is kept in memory, here."""
        match e:
            case p.Fold() | p.Iterate():
                return fold.fold(self, e, scope)
            case p.Tree():
                return tree_reduction.tree(self, e, scope)
            case p.Count():
                return count.count(self, e, scope)
            case p.ScanDoubling():
                return scan.doubling(self, e, scope)
            case p.ScanSeq(body):
                guards.refuse_spread(self, e, body)
                target = self.allocate(type_of(e), "private", "r", e)
                self.emit(e, target, scope)
                return target.view
            case p.To("private", p.Fold() | p.Iterate() | p.Tree() | p.ScanSeq() as x):
                return self.view(x, scope)  # an accumulator is private already
            case p.To("private", x) if is_flat(type_of(x)):
                return self._named(self.view(x, scope))
            case p.To("global", _):
                raise CodegenError(
                    f"{brief(e)}: toGlobal of a value that depends on a map's argument is read in the same kernel; "
                    "use toLocal or toPrivate, or apply toGlobal to the whole map"
                )
            case p.To(space, x):
                if space == "local" and self.distribution.lane is not None:
                    raise NotVector  # there is one value for each lane, but local memory has no lanes
                if space == "private" and analysis.is_spread(x) and not self.distribution.inside:
                    return self._spread(e, x, scope)
                if space == "private":
                    guards.refuse_spread(self, e, x)
                self.put(Comment(f"to{space.capitalize()}"))
                stem = "s" if space == "local" else "r"
                target = self.allocate(type_of(x), space, stem, e, number(e.pad), number(e.swizzle))
            case p.Map(_, x, level) if level is not None:
                if level.kind in analysis.GRID:
                    raise CodegenError(
                        f"{brief(e)}: a {level_name(level)} is read inside a kernel; wrap it in toGlobal"
                    )
                shared = analysis.is_spread(e) and not self.distribution.inside
                if not shared:
                    guards.refuse_spread(self, e, e)
                target = self.allocate(type_of(e), "local" if shared else "private", "s" if shared else "r", e)
                x = e
            case _:
                raise AssertionError(e)
        self.emit(x, target, scope)
        return target.view

    def _spread(self, e: p.To, x: Expr, scope: Scope) -> View:
        """What the work-items of a group compute, each in its own private memory, where it reads nothing of others."""
        target = self.accumulator(type_of(x), e)
        with self.block() as statements:
            self.put(Comment("toPrivate"))
            self.emit(x, target, scope)
        if not register_accumulators.recognise(self, statements, fold.buffers(target.view)):
            guards.refuse_spread(self, e, x)
        self.put(*statements)
        return target.view

    def _named(self, v: View) -> View:
        """A flat value with its computed scalars named."""
        if isinstance(v, tuple):
            return tuple(map(self._named, v))
        assert not isinstance(v, Arr | Where)
        return assign.named(self, v)

    def _constant(self, e: p.Constant) -> View:
        offset, buffers = 0, []
        for shape, scalar in leaves(e.type):
            size = scalar.size
            for n in shape:
                size *= number(n)
            buffers.append(self.constant(scalar, e.data[offset : offset + size], e))
            offset += size
        return memory(e.type, iter(buffers), guards.load_constant(self), index(0))

    # ------------------------------------------------------------------------------------ writing

    def emit(self, t: Expr, target: Target, scope: Scope) -> None:
        """Write the value of `t` to `target`."""
        if guards.splits(target.view):
            return guards.emit_where(self, target, lambda inner: self.emit(t, inner, scope))
        if not analysis.computes(t) or self.known(self._key(t, scope)) is not None:
            return copy.copy(self, self.view(t, scope), target, type_of(t))
        grid = analysis.shares_grid(t)
        if self.alone_of_items(target.space) and not grid and not analysis.shares_items(t):
            with (
                self.step(),
                self.when(*self.alone(target.space)),
                self.running(locals=DIMENSIONS, groups=DIMENSIONS),
            ):
                return self._emit(t, target, scope)
        if self.alone_of_groups(target.space) and not grid:
            with self.when(*self.alone_of_groups(target.space)), self.running(groups=DIMENSIONS):
                return self._emit(t, target, scope)
        self._emit(t, target, scope)

    def _emit(self, t: Expr, target: Target, scope: Scope) -> None:
        acc = target.view

        def into(x: Expr, view: View) -> None:
            self.emit(x, Target(view, target.space), scope)

        match t:
            case p.Map(_, _, level) if level is not None:
                levels.emit_map(self, t, level, target, scope)
            case p.Map(body, x, _):
                into(x, Arr(length(type_of(x)), lambda i: layout.acceptor(body, element(acc, i))))
            case p.To(space, x) if space == target.space:
                into(x, acc)
            case p.Fold() | p.Iterate() if fold.into(self, t, target, scope):
                pass
            case p.ScanSeq():
                scan.into(self, t, target, scope)
            case p.ScanLinked():
                linked.into(self, t, target, scope)
            case p.Tup(items):
                for k, item in enumerate(items):
                    into(item, component(acc, k))
            case p.Zip(arrays):
                for k, a in enumerate(arrays):
                    into(a, _column(acc, length(type_of(a)), k))
            case p.Concat(a, b):
                n, m = length(type_of(a)), length(type_of(b))
                into(a, part(acc, 0, n))
                into(b, part(acc, n, m))
            case _ if (below := rearranged(t)) is not None:
                into(below, layout.pushed(t, acc))
            case _:
                copy.copy(self, self.view(t, scope), target, type_of(t))


def _column(acc: View, n: int, k: int) -> Arr:
    return Arr(n, lambda i: component(element(acc, i), k))


def _value(v: View) -> ScalarValue:
    assert not isinstance(v, Arr | Where | tuple), v
    return v


def _scalar(e: Expr) -> Scalar:
    t = type_of(e)
    assert isinstance(t, Scalar)
    return t
