"""Time steps: what a loop does again and again is optimised as a program of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from egglift.ir import patterns as p
from egglift.ir.axes import arrays_of
from egglift.ir.check import type_of
from egglift.ir.lengths import Length
from egglift.ir.named_states import Loop, components, states_in, states_in_loop, states_of
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import bodies, exchanged, inputs_in, is_closed, replaced, subterms, with_argument
from egglift.ir.tuples import as_one
from egglift.ir.types import I32, Array, Tuple, Type


@dataclass(frozen=True)
class Steps:
    """A loop, and the inputs that stand for what a step is given: its state, or the components of a tuple; and, of a
    loop over an array, the element of that step, or its components.

    rows: of a scan, inputs that stand for its value in what follows: arrays of its components.
    """

    whole: Loop
    states: tuple[p.Input, ...]
    elements: tuple[p.Input, ...] = ()
    rows: tuple[p.Input, ...] = ()

    @property
    def state(self) -> p.Input:
        """The input for a state that is no tuple."""
        (state,) = self.states
        return state

    def values(self, loop: Expr) -> dict[Expr, Expr]:
        """What the inputs that stand for the value of `loop` in what follows are: components, or all of it."""
        names = self.rows or self.states
        if len(names) == 1:
            return {names[0]: loop}
        if isinstance(loop, p.Tup):
            return dict(zip(names, loop.items, strict=True))
        if not self.rows:
            return {name: p.Get(k, loop) for k, name in enumerate(names)}
        element = _array(loop).element
        return {name: p.Map(p.Get(k, p.Arg(element)), loop) for k, name in enumerate(names)}

    @property
    def value(self) -> Expr:
        """The value of the loop in what follows."""
        names = self.rows or self.states
        if len(names) == 1:
            return names[0]
        return p.Zip(names) if self.rows else p.Tup(names)

    @property
    def count(self) -> int | Length:
        """How many steps there are."""
        n = self.whole.count if isinstance(self.whole, p.Iterate) else _array(self.whole.x).length
        assert isinstance(n, int | Length)
        return n

    @property
    def start(self) -> Expr:
        """The state before all steps."""
        return self.whole.x if isinstance(self.whole, p.Iterate) else self.whole.init

    def over(self, x: Expr) -> Steps:
        """The same loop over another array of such elements."""
        return replace(self, whole=replace(self.whole, x=x))

    def starting(self, start: Expr) -> Steps:
        """The same loop from another state."""
        whole = self.whole
        new = replace(whole, x=start) if isinstance(whole, p.Iterate) else replace(whole, init=start)
        return replace(self, whole=new)

    @property
    def program(self) -> Expr:
        """One step.

        iterate n f x  ->  f state
        fold f z xs    ->  f <state, element>
        """
        return self.of(self.whole)

    def of(self, whole: Expr) -> Expr:
        """The step of a loop like this one: of a scan, the parts of the next state and of what is kept, each once."""
        assert isinstance(whole, Loop)
        given = self._given(whole)
        if not isinstance(whole, p.ScanSeq):
            return given
        parts = _different(given)
        return as_one(parts)

    def _given(self, whole: Loop) -> Expr:
        """The body of what a step is given."""
        if named := states_in(whole.body):
            own: dict[Expr, Expr] = {t: self.states[named[t.name]] for t in inputs_in(whole.body) if t.name in named}
            return exchanged(whole.body, own)
        state = _together(type_of(self.start), self.states)
        if not isinstance(whole, p.Iterate):
            return with_argument(whole.body, p.Tup((state, _together(_array(whole.x).element, self.elements))))
        if isinstance(state, p.Tup):
            return with_argument(whole.body, state)
        return replaced(whole.body, lambda t: state if isinstance(t, p.Arg) else None)

    def again(self, step: Expr) -> Expr:
        """The whole loop with another program for a step, which reads the state by its argument; by names
        (ir/named_states.py) where bodies inside read it, and in loops over arrays: these go over numbers of steps.

        fold f z xs  ->  fold step z (iota n), where an element is xs[number]
        """
        if not isinstance(self.whole, p.Iterate):
            return self._numbered(step, self.whole)
        inside = (b for t in subterms(step) for body in bodies(t) for b in subterms(body))
        if any(b in self.states for b in inside):
            named = states_of(components(type_of(self.whole)), step)
            body = exchanged(step, dict(zip(self.states, named, strict=True)))
        else:
            given = dict[Expr, Expr](zip(self.states, _parts(type_of(self.whole)), strict=True))
            body = replaced(step, lambda t: given.get(t))
        return p.Iterate(self.whole.count, body, self.whole.x)

    def _numbered(self, step: Expr, whole: p.Fold | p.ScanSeq) -> Expr:
        """The loop over the numbers of steps, with names for the state and the number in `step`."""
        *states, number = states_of((*components(type_of(whole.init)), I32), step)
        elements = [_element(x, number) for x in arrays_of(whole.x)]
        known = dict[Expr, Expr](zip(self.states, states, strict=True))
        body = exchanged(step, known | dict(zip(self.elements, elements, strict=True)))
        if isinstance(whole, p.ScanSeq):
            body = _scanned(self._given(whole), body)
        return replace(whole, body=body, x=p.Iota(_array(whole.x).length, I32))


def _different(pair: Expr) -> tuple[Expr, ...]:
    """The parts of a scan's next state and of what it keeps, each once."""
    assert isinstance(pair, p.Tup)
    return tuple(dict.fromkeys(part for x in pair.items for part in _items(x)))


def _items(x: Expr) -> tuple[Expr, ...]:
    return x.items if isinstance(x, p.Tup) else (x,)


def _scanned(pair: Expr, step: Expr) -> Expr:
    """`<next state, what is kept>`, of a `pair` whose different parts are those of `step`."""
    parts = _different(pair)
    many = step.items if isinstance(step, p.Tup) else [p.Get(k, step) for k in range(len(parts))]
    own = dict(zip(parts, many if len(parts) > 1 else [step], strict=True))
    assert isinstance(pair, p.Tup)
    made = [tuple(own[part] for part in _items(x)) for x in pair.items]
    return p.Tup(tuple(map(as_one, made)))


def _array(x: Expr) -> Array:
    t = type_of(x)
    assert isinstance(t, Array)
    return t


def _together(t: Type, parts: tuple[p.Input, ...]) -> Expr:
    return p.Tup(parts) if isinstance(t, Tuple) else parts[0]


def _parts(t: Type) -> tuple[Expr, ...]:
    return tuple(p.Get(k, p.Arg(t)) for k in range(len(t.items))) if isinstance(t, Tuple) else (p.Arg(t),)


def _element(x: Expr, number: Expr) -> Expr:
    """`x[number]`."""
    if isinstance(x, p.Iota):
        return number if x.type == I32 else p.Cast(x.type, number)
    return p.At(0, p.Gather(p.Fill(1, number), x))


def time_steps(program: Expr) -> Steps | None:
    """The steps of a program that is an iteration of arrays, or of a tuple of arrays; None for any other program."""
    return steps_of(program, inputs_of(program)) if isinstance(program, p.Iterate) else None


def steps_of(loop: Expr, taken: object) -> Steps | None:
    """The steps of a loop whose state is an array, or a tuple of arrays and numbers.  taken: names of inputs."""
    if not isinstance(loop, Loop):
        return None
    start = loop.x if isinstance(loop, p.Iterate) else loop.init
    items = components(type_of(start))
    if any(isinstance(item, Tuple) for item in items) or not any(isinstance(item, Array) for item in items):
        return None
    if not isinstance(loop, p.Iterate) and _array(loop.x).length == 0:
        return None
    given = () if isinstance(loop, p.Iterate) else components(_array(loop.x).element)
    names = _free("state", taken), _free("element", taken)
    states, elements = (tuple(p.Input(next(n), t) for t in ts) for n, ts in zip(names, (items, given), strict=True))
    kept = components(_array(loop).element) if isinstance(loop, p.ScanSeq) else ()
    n = _free("result", taken)
    rows = tuple(p.Input(next(n), Array(_array(loop).length, t)) for t in kept)
    return Steps(loop, states, elements, rows)


def _free(name: str, taken: object) -> Iterator[str]:
    return (n for i in count() if (n := f"{name}{'_' * i}") not in taken)  # type: ignore[operator]


def steps_within(program: Expr) -> Steps | None:
    """The steps of a loop of a program whose state is arrays, and which depends on no argument; the innermost one of
    several, which may be in each other.  None where there is none."""
    loops = (t for t in subterms(program) if isinstance(t, Loop) and is_closed(t))
    return next((s for t in loops if (s := steps_of(t, inputs_of(program))) is not None), None)


def has_steps(term: Expr) -> bool:
    """Has a candidate's term a loop whose steps are launched one by one?"""
    return any(isinstance(t, p.Iterate) or bool(states_in_loop(t)) for t in subterms(term))
