"""From Python functions to closed bodies: bracket abstraction.

A lambda is applied to a placeholder, an `Input` with a number in its name, and returns an expression.  What it has
captured are the largest parts of that expression that depend on placeholders of outer lambdas only.  `Distl` passes
them in:

    map (\\r. map (\\c. f r c) B) A  ->  map (map f' (distl arg B)) A      with f' <r, c> = f r c

so that every body stays closed, and what does not depend on the inner argument is computed once, outside.
Closed parts (inputs, reductions of whole inputs) stay where they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from weakref import WeakKeyDictionary

from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError, TypeMismatch
from egglift.ir.patterns import Arg, Distl, Expr, Fold, Get, Input, Iterate, Map, Tup
from egglift.ir.printer import plain_name
from egglift.ir.text import brief
from egglift.ir.traverse import children, rebuild
from egglift.ir.types import Array, Tuple, Type

_numbers = itertools.count()
_free: WeakKeyDictionary[Expr, frozenset[Input]] = WeakKeyDictionary()
_NONE: frozenset[Input] = frozenset()


def placeholder(t: Type, name: str = "arg") -> Input:
    """A new variable of type `t`, shown in messages by the name of the lambda's parameter."""
    return Input(f"{name}%{next(_numbers)}", t)


def free(e: Expr) -> frozenset[Input]:
    """The placeholders that `e` depends on.  (Bodies are closed: they hold none.)"""
    stack = [e]
    while stack:
        t = stack[-1]
        if t in _free:
            stack.pop()
            continue
        parts = children(t)
        todo = [c for c in parts if c not in _free]
        if todo:
            stack.extend(todo)
            continue
        if isinstance(t, Input):
            _free[t] = frozenset({t}) if "%" in t.name else _NONE
        else:
            inputs = {_free[c] for c in parts if _free[c]}
            _free[t] = next(iter(inputs)) if len(inputs) == 1 else _NONE.union(*inputs)
        stack.pop()
    return _free[e]


def require_closed(e: Expr, what: str) -> Expr:
    """`e` itself; ProgramError where it depends on the parameter of a lambda."""
    if names := sorted(plain_name(v.name) for v in free(e)):
        raise ProgramError(f"{what} {brief(e)} depends on {', '.join(names)}, the parameter of a lambda")
    return e


def substitute(e: Expr, new: Mapping[Expr, Expr]) -> Expr:
    """`e` with the sub-expressions in `new` replaced, in the scope of e's own placeholders."""
    done: dict[Expr, Expr] = dict(new)
    stack = [e]
    while stack:
        t = stack[-1]
        if t in done:
            stack.pop()
        elif not free(t):
            done[t] = t
        elif todo := [c for c in children(t) if c not in done]:
            stack.extend(todo)
        else:
            done[t] = rebuild(t, done.__getitem__)
    return done[e]


def captures(body: Expr, own: frozenset[Input]) -> list[Expr]:
    """The maximal parts of `body` that depend on placeholders, but on none of `own`; left to right."""
    found: list[Expr] = []
    seen: set[Expr] = set()
    stack = [body]
    while stack:
        t = stack.pop()
        if t in seen or not free(t):
            continue
        seen.add(t)
        if free(t).isdisjoint(own):
            found.append(t)
        else:
            stack.extend(reversed(children(t)))
    return found


def _merged(found: Sequence[Expr]) -> list[Expr]:
    """Captures without those that are components of others: `<p[0], p[1]>` of a pair p is p itself."""
    kept = list(dict.fromkeys(found))
    while True:
        tuples = dict.fromkeys(c.x for c in kept if isinstance(c, Get))
        whole = next((x for x in tuples if x not in kept and _all_components(x, kept)), None)
        if whole is None:
            break
        first = min(i for i, c in enumerate(kept) if isinstance(c, Get) and c.x is whole)
        kept.insert(first, whole)
        kept = [c for c in kept if not (isinstance(c, Get) and c.x is whole)]
    return [c for c in kept if not _inside(c, kept)]


def _all_components(x: Expr, kept: Sequence[Expr]) -> bool:
    t = type_of(x)
    return isinstance(t, Tuple) and all(Get(i, x) in kept for i in range(len(t.items)))


def _inside(c: Expr, kept: Sequence[Expr]) -> bool:
    """Is `c` a component (of a component ...) of another capture?"""
    while isinstance(c, Get):
        c = c.x
        if c in kept:
            return True
    return False


def _access(c: Expr, paths: Mapping[Expr, Expr]) -> Expr:
    """How a body reaches the capture `c`, given how it reaches the merged ones."""
    if c in paths:
        return paths[c]
    assert isinstance(c, Get)
    return Get(c.index, _access(c.x, paths))


class Captured:
    """What a traced body captures: `value` to be passed in, and how the body reads it from there."""

    def __init__(self, body: Expr, own: Sequence[Input]) -> None:
        self.body, self.found = body, captures(body, frozenset(own))
        self.merged = _merged(self.found)

    @property
    def value(self) -> Expr | None:
        """The captures as one value: a single one as it is, several as a tuple; None if there are none."""
        if len(self.merged) < 2:
            return self.merged[0] if self.merged else None
        return Tup(tuple(self.merged))

    def close(self, own: Mapping[Expr, Expr], at: Expr | None) -> Expr:
        """The body over `Arg`: its placeholders replaced by `own`, its captures read from `at`."""
        paths: dict[Expr, Expr] = {}
        if at is not None:
            single = len(self.merged) == 1
            paths = {c: at if single else Get(i, at) for i, c in enumerate(self.merged)}
        return substitute(self.body, {**{c: _access(c, paths) for c in self.found}, **own})


def map_body(f: Callable[[Expr], Expr], x: Expr, name: str = "arg") -> Expr:
    """`map f x` with a closed body."""
    element = element_of(x)
    v = placeholder(element, name)
    traced = Captured(f(v), (v,))
    if (value := traced.value) is None:
        return Map(traced.close({v: Arg(element)}, None), x)
    arg = Arg(Tuple((type_of(value), element)))
    return Map(traced.close({v: Get(1, arg)}, Get(0, arg)), Distl(value, x))


def fold_body(f: Callable[[Expr, Expr], Expr], init: Expr, x: Expr, names: tuple[str, str]) -> Fold:
    """`fold f init x` with a closed body."""
    element, state = element_of(x), type_of(init)
    acc, v = placeholder(state, names[0]), placeholder(element, names[1])
    traced = Captured(f(acc, v), (acc, v))
    value = traced.value
    item = element if value is None else Tuple((type_of(value), element))
    arg = Arg(Tuple((state, item)))
    if value is None:
        return Fold(traced.close({acc: Get(0, arg), v: Get(1, arg)}, None), init, x)
    body = traced.close({acc: Get(0, arg), v: Get(1, Get(1, arg))}, Get(0, Get(1, arg)))
    return Fold(body, init, Distl(value, x))


def iterate_body(n: int, f: Callable[[Expr], Expr], x: Expr, name: str = "arg") -> Expr:
    """`iterate n f x` with a closed body; captures travel in the state.  Unfolded if f changes the type."""
    state = type_of(x)
    v = placeholder(state, name)
    body = f(v)
    if type_of(body) != state:
        for _ in range(n):
            x = f(x)
        return x
    traced = Captured(body, (v,))
    if (value := traced.value) is None:
        return Iterate(n, traced.close({v: Arg(state)}, None), x)
    arg = Arg(Tuple((type_of(value), state)))
    step = Tup((Get(0, arg), traced.close({v: Get(1, arg)}, Get(0, arg))))
    return Get(1, Iterate(n, step, Tup((value, x))))


def closed_body(f: Callable[[Expr], Expr], t: Type, what: str) -> Expr:
    """The body of an operator over `Arg(t)`, which may capture nothing but closed expressions."""
    v = placeholder(t, "operands")
    body = f(v)
    if foreign := free(body) - {v}:
        names = ", ".join(sorted(plain_name(w.name) for w in foreign))
        raise ProgramError(
            f"{what} captures {names}, the parameter of an enclosing lambda; an operator combines only its "
            "operands: zip the captured value to the elements, or use fold, accumulate"
        )
    return substitute(body, {v: Arg(t)})


def element_of(x: Expr) -> Type:
    """The element type of array `x`; TypeMismatch if it is none."""
    t = type_of(x)
    if not isinstance(t, Array):
        raise TypeMismatch(f"{brief(x)} is {t}, not an array")
    return t.element
