"""Shared producers: closed arrays that are read at several places, and would be computed again for each of them.

In `v + shifted v`, v a map, every element of v is asked for twice; ten such steps ask for those of the first array
1024 times.  What is asked for often is better computed once and stored.  The work here grows with the nodes of a
program, not with the paths through it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from egglift.codegen.kernel.views import length, number, volume
from egglift.codegen.terms import analysis
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import bodies, children, is_closed, subterms
from egglift.ir.types import Array

#: shared producers, and paths from a program to one of its arrays, that leave it as it is
FEW = 4
#: ways through views alone that lead to an array; one to which more lead is copied
MOST = 64
#: scalars of an array that may be computed twice rather than in a kernel of its own
SMALL = 256

Step = tuple[object, ...]  # how a view moves an index
Path = tuple[Step, ...]
LOOPS = p.Reduce | p.Scan | analysis.LOOPS


@dataclass(frozen=True)
class Use:
    """What it takes to compute an array again wherever it is read.

    term: the array.  size: its scalars.  times: evaluations of each.  ops and reads: scalar operations of one
    evaluation, and scalars that it reads.  shifted: do the readers differ by where they start, and in nothing else?
    """

    term: Expr
    size: int
    times: int
    ops: float
    reads: float
    shifted: bool


def most_paths(term: Expr) -> int:
    """The number of paths from `term` to that of its closed arrays to which most lead, bodies included.

    What is kept in memory is computed once: paths begin there anew.
    """
    count: dict[Expr, int] = {term: 1}
    most = 1
    for t in _wholes_first(term):
        paths = count[t]
        if is_closed(t) and isinstance(t, p.Map | LOOPS):
            most = max(most, paths)
        if is_closed(t) and isinstance(t, p.To):
            paths = 1
        for c in (*children(t), *bodies(t)):
            count[c] = count.get(c, 0) + paths
    return most


def may_have_many(term: Expr) -> bool:
    """Has `term` so many maps and joints of views that it may have many shared producers?  Most programs have not."""
    joints = (p.Zip, p.Concat, p.Cross, p.Distl, p.Gather, p.Tup)
    kinds = Counter(isinstance(t, joints) for t in subterms(term) if isinstance(t, (p.Map, *joints)))
    return kinds[False] >= FEW or 1 << kinds[True] > MOST


def has_many(term: Expr, shared_producers: Collection[Expr]) -> bool:
    """Does `term` have so many of these, or paths to one of its arrays, that it is not to be left as it is?

    Views are among them only where far too many ways lead to one.
    """
    views = any(not _is_producer(t) for t in shared_producers)
    return views or len(shared_producers) > FEW or most_paths(term) > FEW


def shared(term: Expr, keep: Callable[[Use], bool]) -> list[Expr]:
    """The closed arrays of `term` that are stored, as `keep` says of each that is computed; parts before wholes."""
    return _Sharing(term, keep).stored()


@dataclass
class _Sharing:
    """Goes from a program to its inputs: all readers of an array are known before it is decided upon.

    An array that is not stored is computed for its reader: at the same place, together with it, or in a group of its
    own, `times` for each of its elements.
    """

    term: Expr
    keep: Callable[[Use], bool]
    readers: dict[Expr, dict[tuple[Expr, Path], int]] = field(default_factory=dict)  # groups, paths; evaluations
    times: dict[Expr, int] = field(default_factory=dict)  # of each group's elements
    wide: frozenset[Expr] = frozenset()

    def stored(self) -> list[Expr]:
        """What is to be stored."""
        order = _wholes_first(self.term)
        self.wide = frozenset(_wide(order))
        self._read(self.term, self.term, 1)
        return [t for t in order if t in self.readers and t is not self.term and self._decide(t)][::-1]

    def _decide(self, t: Expr) -> bool:
        """Is `t` stored?  Its readers are known; now those of what it reads are."""
        readers = self.readers[t]
        shifted = all(_is_shift(path) for _, path in readers)
        use = Use(t, volume(type_of(t)), sum(readers.values()), _ops(t), _reads(t), shifted)
        kept = t in self.wide or self.keep(use)
        if kept or _is_once(t):
            self._read(t, t, 1)
        elif len(readers) == 1 and (group := next(iter(readers)))[1] == () and use.times == self.times[group[0]]:
            self._read(t, group[0], use.times)
        else:
            self._read(t, t, use.times)
        return kept

    def _read(self, t: Expr, group: Expr, times: int) -> None:
        """Notes what `t` reads, which is computed for `group`."""
        self.times[group] = times
        for source, path, often in self._sources(t):
            known = self.readers.setdefault(source, {})
            known[group, path] = max(times * often, known.get((group, path), 0))

    def _sources(self, t: Expr) -> Iterator[tuple[Expr, Path, int]]:
        """The arrays that `t` reads through views, each with its path, and how often for an element of `t`."""
        stack: list[tuple[Expr, Path, int]] = [(c, (("loop",),) if n > 1 else (), n) for c, n in self._operands(t)]
        seen = set[tuple[Expr, Path]]()
        while stack:
            e, path, often = stack.pop()
            if (e, path) in seen:
                continue
            seen.add((e, path))
            if self._is_producer(e):
                yield e, path, often
            else:
                stack.extend((c, (*path, step) if step else path, often * n) for c, step, n in _moves(e))

    def _is_producer(self, t: Expr) -> bool:
        return t in self.wide or _is_producer(t)

    def _operands(self, t: Expr) -> Iterator[tuple[Expr, int]]:
        """The children of `t` and the closed parts of its bodies, and how often each is read for an element of `t`."""
        loops = isinstance(t, p.Map | LOOPS) and _is_producer(t)
        again = (
            max((_rereads(b) for b in bodies(t)), default=1) if loops and not isinstance(t, p.Reduce | p.Scan) else 1
        )
        yield from ((c, again) for c in children(t))
        if loops:
            yield from ((part, _trips(t)) for b in bodies(t) for part in _closed_parts(b))


def _wholes_first(term: Expr) -> list[Expr]:
    return list(subterms(term))[::-1]


def _is_producer(t: Expr) -> bool:
    return _is_once(t) or (isinstance(t, p.Map) and _operations(t.body) > 0)


def _is_once(t: Expr) -> bool:
    """Is `t` computed once in any case, where what reads it begins?"""
    return analysis.is_computing(t) or isinstance(t, p.Reduce | p.Scan)


def _is_shift(path: Path) -> bool:
    return all(step[0] == "drop" for step in path)


def _wide(order: list[Expr]) -> Iterator[Expr]:
    """Arrays that are only rearranged, to which too many ways lead through others of the kind."""
    ways: dict[Expr, int] = {}
    for t in order:
        here = 1 if _is_producer(t) else ways.get(t, 1)
        if here > MOST and isinstance(type_of(t), Array) and children(t) and is_closed(t):
            yield t
            here = 1
        for c in children(t):
            through = 0 if _is_producer(t) else ways.get(c, 0)
            ways[c] = max(through + here, ways.get(c, 0))


def _closed_parts(body: Expr) -> Iterator[Expr]:
    """The largest closed parts of a body and of those inside of it."""
    seen, stack = set[Expr](), [body]
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if is_closed(t):
            yield t
        else:
            stack.extend((*children(t), *bodies(t)))


def _moves(e: Expr) -> Iterator[tuple[Expr, Step, int]]:
    """What a view reads: each part, with how its index moves (not at all: ()), and how often an element is read."""
    match e:
        case p.Distl(a, b):
            yield from ((a, (), length(type_of(b))), (b, (), 1))
        case p.Cross(a, b):
            yield from ((a, (), length(type_of(b))), (b, (), length(type_of(a))))
        case p.Fill(n, x):
            yield x, (), number(n)
        case p.Slide(size, step, x):
            yield x, ("slide", size, step), max(1, -(-number(size) // number(step)))
        case p.Map(body, x):
            yield x, ("map", body), max(1, -(-volume(type_of(e)) // max(1, volume(type_of(x)))))
            yield from ((part, (), length(type_of(x))) for part in _closed_parts(body))
        case p.Drop(n, x):
            yield x, ("drop", n), 1
        case p.Gather(indices, x):
            yield from ((indices, (), 1), (x, ("gather", indices), 1))
        case p.Concat(a, b):
            yield from ((a, ("first", length(type_of(a))), 1), (b, ("second", length(type_of(a))), 1))
        case p.Pad() | p.PadUp() | p.Split() | p.Join() | p.Transpose() | p.Stride() | p.At():
            told = (getattr(e, name, None) for name in ("n", "s", "index", "left", "mode", "multiple"))
            yield e.x, (type(e), type_of(e.x), *told), 1
            if isinstance(e, p.Pad | p.PadUp) and e.value is not None:
                yield e.value, (), 1
        case _:
            yield from ((c, (), 1) for c in children(e))


# ---------------------------------------------------------------------------------------- work


def _ops(t: Expr) -> float:
    """Scalar operations for a scalar of `t`."""
    return sum(map(_operations, bodies(t))) / max(1, volume(type_of(t.body))) if isinstance(t, p.Map) else 0.0


def _operations(body: Expr) -> int:
    """Scalar operations of a body, its loops included; what is closed is computed elsewhere.  Kept with it."""
    known: int | None = body.__dict__.get("_operations")
    if known is None:
        known = body.__dict__["_operations"] = _count(body)
    return known


def _count(body: Expr) -> int:
    total, stack, seen = 0, [body], set[Expr]()
    while stack:
        t = stack.pop()
        if t not in seen and not is_closed(t):
            seen.add(t)
            stack.extend(children(t))
            total += isinstance(t, p.Apply | p.Cast)
            if isinstance(t, p.Map | LOOPS):
                total += _trips(t) * sum(map(_operations, bodies(t)))
    return total


def _trips(t: Expr) -> int:
    """How often a loop evaluates its body."""
    assert isinstance(t, p.Map | LOOPS)
    return number(t.count) if isinstance(t, p.Iterate) else length(type_of(t.x))


def _reads(t: Expr) -> float:
    """Scalars that one of `t` is computed from."""
    return _rereads(t.body) * volume(type_of(t.x)) / max(1, volume(type_of(t))) if isinstance(t, p.Map) else 0.0


def _rereads(body: Expr) -> int:
    """How often the loops of a body read what the body is given, at least once.  Kept with it."""
    known: int | None = body.__dict__.get("_rereads")
    if known is None:
        known = body.__dict__["_rereads"] = _counted_rereads(body)
    return known


def _counted_rereads(body: Expr) -> int:
    total, size = 0, 1
    stack, seen = [body], set[Expr]()
    while stack:
        t = stack.pop()
        if t not in seen and not is_closed(t):
            seen.add(t)
            stack.extend(children(t))
            if isinstance(t, p.Arg):
                size = max(1, volume(t.type))
            if isinstance(t, p.Map | LOOPS):
                total += volume(type_of(t.x)) * max(map(_rereads, bodies(t)), default=1)
    return max(1, total // size)
