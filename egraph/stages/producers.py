"""Arrays that are computed element by element and read at many places: which of them are better written first?

    s = map f (zip x (drop 1 x) (drop 2 x)); map g (zip s (drop 1 s) ... (drop 10 s))

In place, `f` is computed eleven times for every element of the result, and what `g` is computed from in its turn is
computed as often again: of sums of windows of sums of windows a body has hundreds of parts.  Written, `s` is a stage of
its own, and each of its elements is computed once.

How often it is computed in place, what layout patterns make of it says: all different ones, by their elements.  Halves
are wanted once together, windows of eleven eleven times.

    x1 = concat (map add ... halves of x) (map sub ... halves of x); x2 = the same of x1; ...

Of arrays that are put together every part is computed in place for each element: butterflies grow fourfold with each
step, and after some steps what they have come to is better written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from egglift.codegen.kernel.views import volume
from egglift.ir import patterns as p
from egglift.ir.axes import length_of
from egglift.ir.backwards import is_backwards
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, is_closed, subterms
from egglift.ir.types import Array, Scalar

#: operations that are saved for each element, below which an array is computed in place
WORTH = 32
#: elements of an array below which it is computed in place: a stage takes a launch
FEW = 1 << 12

#: scalar functions that take longer than to read what they yield again
COSTLY = frozenset(
    ("div", "floordiv", "mod", "exp", "exp2", "log", "log2", "sqrt", "rsqrt")
    + ("sin", "cos", "tan", "tanh", "erf", "pow", "atan2")
)
#: times as many elements as there are, of what is gathered, from which on a table of them is worth a launch
OFTEN = 16

_MOVING = (p.Take, p.Drop, p.Roll, p.Slide, p.Split, p.Join, p.Transpose, p.Stride, p.At, p.Pad, p.PadUp)
_LAYOUTS = (*_MOVING, p.Gather)
_REDUCING = (p.Reduce, p.Fold)


def read_at_many_places(program: Expr) -> tuple[Expr, ...]:
    """The closed arrays of a program that are better written first, each after those that it is computed from."""
    arrays = _Arrays(program)
    return tuple(t for t in arrays.producers if arrays.is_written(t))


def read_by_gathers(program: Expr) -> tuple[Expr, ...]:
    """The closed arrays that gathers read better where they are written, each after those it needs.

    Indices are read, and reduce nothing.  What is gathered more often than it has elements would be reduced, or what
    is costly computed, as often:

        (map mean A)[k[0]]   ->   s[0] = mean A[0];  s[k[0]]
        (map exp t)[k[0]]    ->   e[0] = exp t[0];  e[k[0]]
    """
    found = set[Expr]()
    for t in subterms(program):
        if not isinstance(t, p.Gather):
            continue
        if is_closed(t.indices) and any(isinstance(x, _REDUCING) for x in subterms(t.indices)):
            found.add(t.indices)
        if is_closed(t.x) and _is_often(t):
            found |= set(_reduced(t.x))
        if is_closed(t.x) and is_closed(t.indices) and _is_often(t, OFTEN):
            found |= {x for x in _sources(t.x) if _is_costly(x)}
    return tuple(t for t in subterms(program) if t in found)


def totalled(program: Expr) -> tuple[Expr, ...]:
    """The closed arrays of reductions that are read, and whose total by the same operator is taken besides.

    A total is otherwise one reduction of all elements of all of them, beside those that are reduced for each:

        h[0] / sum_0 h[0],  h[0] = sum_1 A[0,1]     and not     h[0] / sum_0,1 A[0,1]
    """
    readers: dict[Expr, set[Expr]] = {program: {program}}
    for e in filter(is_closed, subterms(program)):
        for x in () if _is_layout(e) or isinstance(e, p.Zip) else set(_read(e)):
            for source in set(_sources(x)):
                readers.setdefault(source, set()).add(e)
    found = {
        t
        for t, reading in readers.items()
        if (op := _reduces_with(t)) is not None and any(_total(e, t) == op for e in reading) and len(reading) > 1
    }
    return tuple(t for t in subterms(program) if t in found)


def _reduces_with(e: Expr) -> p.Operator | None:
    """The operator of an array of reductions of which each is an element; None of any other array."""
    match e:
        case p.Map(p.Reduce(op, _, _) as inner, _) if isinstance(type_of(inner), Scalar):
            return op
        case p.Map(p.Map() as inner, _):
            return _reduces_with(inner)
    return None


def _total(e: Expr, x: Expr) -> p.Operator | None:
    """The operator by which an array of numbers, or each of its rows, is reduced as it is."""
    match e:
        case p.Reduce(op, _, array) if array is x:
            return op
        case p.Map(p.Reduce(op, _, p.Arg()), array) if array is x:
            return op
    return None


def _is_costly(e: Expr) -> bool:
    """Does an element of a computed array take long, with what it is computed from in place?"""
    if not isinstance(e, p.Map) or _reduces(e):
        return False
    own = any(isinstance(t, p.Apply) and t.op in COSTLY for t in _open(e))
    return own or any(_is_costly(s) for read in set(_read(e)) for s in set(_sources(read)))


def _is_often(e: p.Gather, times: int = 1) -> bool:
    """Are more elements gathered than so many times those there are?  In a body, once for each of its arguments."""
    length = length_of(e.x)
    if is_backwards(e) or not isinstance(length, int):
        return False
    return not is_closed(e.indices) or volume(type_of(e.indices)) > times * length


def _reduced(e: Expr) -> Iterator[Expr]:
    """The closed arrays of reductions of which elements of a closed one are computed, itself where it is one."""
    if isinstance(type_of(e), Array) and (isinstance(e, _REDUCING) or (isinstance(e, p.Map) and _reduces(e))):
        yield e
    elif isinstance(e, p.Map) or _is_layout(e) or isinstance(e, p.Zip):
        for x in set(_read(e)):
            yield from _reduced(x)


@dataclass
class _Arrays:
    """The closed arrays that a program computes, and what it reads of them.

    producers: those that maps compute, and what is put together of such, children first.
    times: how often elements of each are wanted, on average.
    """

    program: Expr
    producers: list[Expr] = field(default_factory=list)
    times: dict[Expr, float] = field(default_factory=dict)
    _costs: dict[Expr, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        terms = [t for t in subterms(self.program) if is_closed(t)]
        ends = {self.program, *_sources(self.program)}  # results, and what is put together to be a part of one
        ends |= {x for t in terms if isinstance(t, p.Concat) for part in (t.a, t.b) for x in _sources(part)}
        computed = (t for t in terms if isinstance(t, p.Map | p.Concat) and not _is_layout(t) and _is_large(t))
        self.producers = [t for t in computed if isinstance(t, p.Map) or t not in ends]
        for read in {t for e in terms if not _is_layout(e) and not isinstance(e, p.Zip) for t in _read(e)} | {
            self.program
        }:
            for t in filter(_is_large, set(_sources(read))):
                self.times[t] = self.times.get(t, 0.0) + volume(type_of(read)) / volume(type_of(t))

    def is_written(self, t: Expr) -> bool:
        """Is the array better written first?"""
        saved = self.times.get(t, 1.0) * self.cost(t) - self.once(t)
        return saved >= WORTH and _is_large(t) and not _reduces(t)

    def once(self, t: Expr) -> float:
        """The operations of an element that is written: on average, of the part that it belongs to."""
        if not isinstance(t, p.Concat):
            return self.cost(t)
        parts = [(volume(type_of(x)), sum(self.once(s) for s in set(_sources(x)))) for x in (t.a, t.b)]
        return sum(n * cost for n, cost in parts) / sum(n for n, _ in parts)

    def cost(self, t: Expr) -> int:
        """The operations of an element, those of what it is computed from in place included."""
        if t not in self._costs:
            own = sum(1 for x in _open(t) if isinstance(x, p.Apply))
            sources = [s for read in set(_read(t)) for s in set(_sources(read))]
            self._costs[t] = own + sum(self.cost(s) for s in sources if not self.is_written(s))
        return self._costs[t]


def _sources(e: Expr) -> Iterator[Expr]:
    """The computed arrays of which a layout is, itself where it is none."""
    if _is_layout(e) or isinstance(e, p.Zip):
        for x in filter(is_closed, children(e)):
            yield from _sources(x)
    elif isinstance(e, p.Map | p.Concat):
        yield e


def _read(e: Expr) -> Iterator[Expr]:
    """The closed arrays that a term reads, in its bodies too; of arrays side by side, each."""
    for t in (e, *_open(e)):
        for x in filter(is_closed, (*children(t), *bodies(t))):
            yield from _read(x) if isinstance(x, p.Zip) else (x,)


def _open(e: Expr) -> Iterator[Expr]:
    """The parts of a term's bodies that depend on their arguments, each once."""
    return (t for body in bodies(e) for t in subterms(body) if not is_closed(t))


def _is_layout(e: Expr) -> bool:
    """Does a term move elements, and compute none?"""
    match e:
        case p.Map(body, _):
            return isinstance(body, p.Arg) or (_is_layout(body) and not is_closed(body))
        case p.Fill(n, _):
            return n == 1
        case p.Get(_, x):
            return _is_layout(x)
        case p.Arg():
            return True
        case _:
            return isinstance(e, _LAYOUTS)


def _is_large(t: Expr) -> bool:
    return volume(type_of(t)) >= FEW


def _reduces(e: Expr) -> bool:
    return any(isinstance(t, (*_REDUCING, p.Scan, p.Iterate)) for t in _open(e))
