"""From a body in index notation to stages: what is computed once and written, and what is computed in place.

A reduction that depends on fewer dimensions than the stage around it is a stage of its own: it is computed once for
each of its indices (*hoist*).  So is one within another reduction, and one that runs over other elements than those
beside it: reductions of one stage share a loop (*together*).

    [ (sum_2 A[0,2] * B[1,2]) / sqrt(sum_2 A[0,2]^2) ]
    ->  n[0] = sum_1 A[0,1]^2;  [ (sum_2 A[0,2] * B[1,2]) / sqrt(n[0]) ]

What is costly and depends on fewer dimensions than the element that it is part of may be written too (*stored*):

    [ sum_2 exp(A[0,2]) * B[1,2] ]  ->  e[0,1] = exp(A[0,1]);  [ sum_2 e[0,2] * B[1,2] ]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import inf, prod

from egglift.codegen.kernel.fragment_sums import CAST
from egglift.egraph.stages.as_pattern import reads_of
from egglift.egraph.stages.backwards import as_wanted
from egglift.egraph.stages.centred import centred
from egglift.egraph.stages.chains import in_fewest_steps
from egglift.egraph.stages.factoring import factored
from egglift.egraph.stages.few_results import with_few_results
from egglift.egraph.stages.first_places import first_places_in_order
from egglift.egraph.stages.from_written import from_written
from egglift.egraph.stages.going_on import gone_on_with
from egglift.egraph.stages.index_notation import IndexNotation, NoStages
from egglift.egraph.stages.last_of_scans import with_last_as_reductions
from egglift.egraph.stages.moved_axes import plain_read
from egglift.egraph.stages.on_writing import made_on_writing
from egglift.egraph.stages.one_pass import in_one_pass
from egglift.egraph.stages.operands import operands_of
from egglift.egraph.stages.partitioning import Partitioning
from egglift.egraph.stages.planes import by_planes
from egglift.egraph.stages.producers import COSTLY, read_at_many_places, read_by_gathers, totalled
from egglift.egraph.stages.repeats import of_repeats
from egglift.egraph.stages.result_runs import ResultRuns, result_runs
from egglift.egraph.stages.rounded_factors import with_rounded_factors
from egglift.egraph.stages.scan_layout import in_memory_order
from egglift.egraph.stages.scan_readers import only_what_is_read, with_followers
from egglift.egraph.stages.scans_together import scans_together
from egglift.egraph.stages.segments import segments
from egglift.egraph.stages.short_rows import is_short, spelled_out
from egglift.egraph.stages.slices import of_slices
from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage, number, substituted
from egglift.egraph.stages.sums import summed
from egglift.egraph.stages.tables import with_tables
from egglift.egraph.stages.together import together
from egglift.egraph.stages.totals import by_rows
from egglift.egraph.stages.unrolled import SHORT, can_unroll, unrolled
from egglift.egraph.stages.values import Computed, Tuples, Value, View
from egglift.egraph.stages.windows import lying_near, of_windows, shared_by_windows
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, permuted
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, replaced, subterms

#: more stages than this are not worth their launches
MANY = 16
#: programs that have no index notation, and why; so many are kept
_LOST: dict[tuple[Expr, bool, bool, bool, bool], str] = {}
MOST_LOST = 32


@dataclass(frozen=True)
class Stages:
    """Stages in an order in which they can run.  result: what is wanted, over inputs named after stages."""

    stages: tuple[Stage, ...]
    result: Expr


@lru_cache(maxsize=32)  # a search asks for the same ones again: for bounds, and to make a program again
def stages_of(program: Expr, reassociate: bool = True, by: Partitioning = Partitioning()) -> Stages:
    """A closed program, whose lengths are numbers, as stages.  NoStages if it cannot be written so."""
    notation = IndexNotation(reassociate, by.whole, by.down, by.numbered)
    centred = by.centred and reassociate
    again = 1 if by.frugal else by.again
    work = _Partition(notation, by.frugal, again, by.whole, by.rows, by.unlike, by.rounded, centred)
    if by.producers:
        program = work.with_written(program, read_at_many_places(program))
    program = work.with_written(program, read_by_gathers(program))
    value = work.value(work.with_written(program, totalled(program)))
    result = work.result(value)
    stages = from_written(work.stages) if reassociate else work.stages
    stages, result = as_wanted(*together(stages, result))
    stages, result = with_last_as_reductions(stages, result, reassociate)
    stages, result = with_followers(stages, result, reassociate, by.states)
    stages, result = only_what_is_read(*scans_together(stages, result, by.chained))
    if reassociate:
        stages = [summed(factored(s)) for s in stages]
    if reassociate and by.totals:
        stages, result = together(list(by_rows(stages)), result)
    stages = gone_on_with(made_on_writing(stages, result), result)
    if by.few:
        stages = [with_few_results(s) for s in stages]
    stages = with_tables(stages) if by.tables else stages
    stages, result = by_planes(*in_memory_order(stages, result))
    if len(stages) > MANY:
        raise NoStages(f"{len(stages)} stages")
    return Stages(tuple(stages), result)


@dataclass
class _Partition:
    notation: IndexNotation
    frugal: bool
    again: float
    whole: bool
    rows: bool
    unlike: bool
    rounded: bool
    centred: bool
    stages: list[Stage] = field(default_factory=list)
    #: by what is reduced over dimensions, in the order in which they are read: its array, and which of these it is over
    _written: dict[tuple[tuple[int, ...], Reduction], tuple[Expr, tuple[int, ...]]] = field(default_factory=dict)
    #: by operands over dimensions, counted from outside in: their arrays
    _operands: dict[tuple[tuple[int, ...], Expr], Expr] = field(default_factory=dict)

    @property
    def names(self) -> Names:
        return self.notation.names

    def value(self, program: Expr) -> Value:
        """The value of a closed program, after what goes along its axes as a whole: stages of their own."""
        done = len(self.notation.along)
        value = self.notated(program)
        for stage in self.notation.along[done:]:
            self.along(stage)
        return value

    def notated(self, program: Expr) -> Value:
        """The value of a closed program.  What has no index notation has none in any partitioning: that is kept."""
        own = self.notation
        key = program, own.reassociate, own.apart, own.down, own.numbered
        if key in _LOST:
            raise NoStages(_LOST[key])
        try:
            return self.notation.program(program)
        except NoStages as error:
            if len(_LOST) >= MOST_LOST:
                _LOST.clear()
            _LOST[key] = str(error)
            raise

    def with_written(self, program: Expr, arrays: Iterable[Expr]) -> Expr:
        """A program that reads these closed arrays, each of which may be computed from those before, from stages."""
        new: dict[Expr, Expr] = {}
        for t in arrays:
            new[t] = self.result(self.value(exchanged(t, new)))
        return exchanged(program, new) if new else program

    def result(self, value: Value) -> Expr:
        """What yields a value: the array of a stage, or a tuple of such: of one stage, if they read the same."""
        if isinstance(value, Tuples) and not _is_scalar(value):
            together = self._together(value.items)
            return together or p.Tup(tuple(self.result(v) for v in value.items))
        if isinstance(value, View) and self._is_written(value.expr):
            return value.expr
        dims, body = self._element(value)
        if parts := segments(self.names, dims, body):
            return parts.whole(self._stage(parts.dims, parts.body), dims)
        if runs := result_runs(self.names, dims, body):
            return self._in_runs(runs)
        reduction = self.names.reductions.get(body.name) if isinstance(body, p.Input) else None
        if reduction is not None and self._free(reduction) == frozenset(dims):
            once = self._once(dims, reduction, is_result=True)
            return permuted(once.view, once.dims, dims)
        return self._stage(dims, body)

    def _is_written(self, e: Expr) -> bool:
        """Is it the array of a stage, but for scans, which take on what follows?"""
        return any(e == p.Input(s.name, s.type) for s in self.stages if s.scan is None)

    def along(self, s: Stage) -> None:
        """A scan, or what counts, as a stage; what it reads is computed in place, but for reductions, and for what is
        costly, where it may be computed twice."""
        element, scan = self._flat(s.dims[:-1], s.body, s.dims[-1:]), s.scan
        if scan is not None:
            scan = replace(scan, init=self._flat(s.dims[:-1], scan.init))
        if scan is not None and self.frugal and _is_costly(element):
            element = self.notation.packed(self.notation.opened(Read(self._stage(s.dims, element), s.dims)))
        self.stages.append(replace(s, body=element, scan=scan))

    def _element(self, value: Value) -> tuple[tuple[Dim, ...], Expr]:
        """The dimensions of an array, and its element, a scalar or a tuple of scalars."""
        dims: list[Dim] = []
        while not _is_scalar(value):
            dim, value = self.notation.element(value)
            dims.append(dim)
        return tuple(dims), self.notation.packed(value)

    def _together(self, items: Sequence[Value]) -> Expr | None:
        """Arrays over the same indices as one of tuples, if each reads something that another of them reads, and so on.

        <maxima of rows, their places> -> s[0] = <max_1 A[0,1], argmax_1 A[0,1]>;  <map (get 0) s, map (get 1) s>
        """
        if any(isinstance(v, Tuples) for v in items):
            return None
        (dims, first), *others = [self._element(v) for v in items]
        if not dims or any(_extents(d) != _extents(dims) or isinstance(e, p.Tup) for d, e in [(dims, first), *others]):
            return None
        bodies = [first, *(self.notation.renamed(e, dict(zip(d, dims, strict=True))) for d, e in others)]
        if not _are_connected([self._views(body, dims) for body in bodies]):
            return None
        whole: Expr = self._stage(dims, p.Tup(tuple(bodies)))
        return p.Tup(tuple(at_depth(len(dims), whole, partial(p.Get, i)) for i in range(len(bodies))))

    def _views(self, body: Expr, dims: tuple[Dim, ...]) -> frozenset[object]:
        """The inputs that are read anywhere in a body; where stages of unlike shape are wanted, of what a long
        reduction reads in all steps, also where: rows and columns of a matrix are read apart."""
        found: set[object] = set()
        for _, what in self.names.of(body):
            match what:
                case Read(view):
                    found |= {t for t in subterms(view) if isinstance(t, p.Input)}
                case Reduction(_, init, own, element) if self.unlike and _volume(own) > SHORT:
                    reads, space = [plain_read(r) for r in reads_of(self.names, element)], (*dims, *own)
                    found |= {(r.view, *map(space.index, r.dims)) for r in reads if {*own} <= {*r.dims} <= {*space}}
                    found |= self._views(init, dims)
                case Reduction(_, init, own, element):
                    found |= self._views(element, (*dims, *own)) | self._views(init, dims)
        return frozenset(found)

    def _stage(self, dims: tuple[Dim, ...], body: Expr) -> p.Input:
        """A new stage, after those that it needs; the input that stands for its array."""
        body = self._with_centred(dims, body) if self.centred else body
        settled = self._settled(dims, self._rewritten(self._with_wholes(dims, body)))
        stage = Stage(f"%stage{len(self.stages)}", dims, settled, self.names)
        self.stages.append(stage)
        return p.Input(stage.name, stage.type)

    def _with_centred(self, dims: tuple[Dim, ...], body: Expr) -> Expr:
        """`body` with products of distances from means as stages of distances from estimates of these."""
        found = centred(self.names, body)
        return substituted(body, {x: c.whole(partial(self._apart, dims)) for x, c in found.items()})

    def _in_runs(self, runs: ResultRuns) -> Expr:
        """The array of a stage that has runs as an axis, in the shape without."""
        return runs.whole(self._stage(runs.dims, runs.body))

    def _settled(self, dims: tuple[Dim, ...], body: Expr) -> Expr:
        """`body` with reductions over one set of elements only: the largest that depend on all of `dims`."""
        if self.rows and dims and is_short(dims[-1]):
            body = spelled_out(self.names, body) or body
        reductions = {x: what for x, what in self.names.of(body) if isinstance(what, Reduction)}
        plain = {x: replace(r, element=self._flat(dims, r.element, r.dims)) for x, r in reductions.items()}
        kept = [r for r in plain.values() if self._free(r) == frozenset(dims)]
        space = max((r.dims for r in kept), key=_volume, default=())
        new: dict[Expr, Expr] = {}
        for x, r in plain.items():
            if written := self._read_again(dims, reductions[x]):
                new[x] = self.notation.packed(self.notation.opened(written))
            elif r in kept and _extents(r.dims) == _extents(space):
                new[x] = self.names.reduced(self._along(self._with_stored(dims, r), space))
            else:
                new[x] = self._apart(dims, r)
        return substituted(body, new)

    def _flat(self, outer: tuple[Dim, ...], element: Expr, inner: tuple[Dim, ...] = ()) -> Expr:
        """What is reduced over `inner`, or scanned, without reductions in it."""
        element = self._rewritten(self._with_wholes(outer, self._with_parts(element)))
        new: dict[Expr, Expr] = {}
        for x, r in self.names.of(element):
            if isinstance(r, Reduction):
                r = self._with_hoisted(outer, inner, r)
                near = can_unroll(self.names, r, outer, inner)
                near = near and not shared_by_windows(self.names, r, inner, self.whole)
                new[x] = unrolled(self.names, r) if near else self._apart(outer, r)
        return substituted(element, new)

    def _with_hoisted(self, outer: tuple[Dim, ...], inner: tuple[Dim, ...], r: Reduction) -> Reduction:
        """A reduction within one over `inner`, with those in it that depend on neither's dimensions as stages."""
        new: dict[Expr, Expr] = {}
        for x, within in self.names.of(r.element):
            if isinstance(within, Reduction) and not self._free(within) & {*inner, *r.dims}:
                new[x] = self._apart(outer, within)
        return replace(r, element=substituted(r.element, new)) if new else r

    def _with_parts(self, element: Expr) -> Expr:
        """`element` with arrays that were put together of what is reduced written as such, each part computed once."""
        new: dict[Expr, Expr] = {}

        def written(t: Expr) -> Expr | None:
            if not (isinstance(t, p.Apply) and t.op == "where" and self.names.has_reductions(t)):
                return None
            if t not in new:
                dims = _in_order(self.names.free(t))
                parts = segments(self.names, dims, t)
                whole = parts and Read(parts.whole(self._stage(parts.dims, parts.body), dims), dims)
                new[t] = self.names.read(whole) if whole else t
            return None if new[t] is t else new[t]

        return replaced(element, written)

    def _with_wholes(self, outer: tuple[Dim, ...], body: Expr) -> Expr:
        """`body` with long reductions of several slices of an array as slices of those of the array."""
        long = {x: r for x, r in self.names.of(body) if isinstance(r, Reduction) and _volume(r.dims) > SHORT}
        if not self.whole or len(long) < 2:
            return body
        found = {x: of_slices(self.names, r) for x, r in long.items()}
        alike = dict[object, list[p.Input]]()
        for x, s in found.items():
            alike.setdefault(self._canonical(self._order(s.reduction), s.reduction), []).append(x)
        new: dict[Expr, Expr] = {}
        for xs in alike.values():
            of_all = _volume(tuple(self._free(found[xs[0]].reduction)))
            if len(xs) > 1 and 2 * sum(_volume(tuple(self._free(long[x]))) for x in xs) >= of_all:
                for x in xs:
                    read = found[x].of(self._once(outer, found[x].reduction))
                    new[x] = self.notation.packed(self.notation.opened(read))
        return substituted(body, new)

    def _rewritten(self, body: Expr) -> Expr:
        if self.notation.reassociate:
            body = in_fewest_steps(self.names, body)
        if self.frugal:
            return first_places_in_order(self.names, body)
        outermost = (what for _, what in self.names.of(body) if isinstance(what, Reduction))
        if not self.notation.reassociate or not any(self.names.has_reductions(r.element) for r in outermost):
            return body
        plain = self.names.with_reads(body, plain_read)  # what is read in another order is no other reduction
        return body if (found := in_one_pass(self.names, plain)) == plain else found

    def _with_stored(self, dims: tuple[Dim, ...], r: Reduction) -> Reduction:
        """A reduction whose costly operands, which are read again for other dimensions, are stages of their own.

        So are computed factors for matrix units, which take what lies in memory.
        """
        if self.again == inf:
            return r
        space = (*dims, *r.dims)
        r = with_rounded_factors(self.names, r, space, self.again) if self.rounded else r
        operands = [o for o in operands_of(self.names, r.element, space, narrow=CAST) if len(o.dims) < len(space)]
        often = [o for o in operands if _volume(tuple(d for d in space if d not in o.dims)) >= self.again]
        costly = [o for o in often if set(r.dims) & set(o.dims) and (_is_costly(o.at) or _is_computed_factor(o.at))]
        new = {o.at: self.names.read(Read(self._stored(o.dims, o.at), o.dims)) for o in costly}
        return replace(r, element=substituted(r.element, new))

    def _stored(self, dims: tuple[Dim, ...], at: Expr) -> Expr:
        """The array of an operand over its dimensions, which is written once."""
        plain = self.names.with_reads(self.names.at(at, _counted(dims)), plain_read)
        key = _extents(dims), plain
        if key not in self._operands:
            self._operands[key] = self._stage(dims, at)
        return self._operands[key]

    def _apart(self, outer: tuple[Dim, ...], r: Reduction) -> Expr:
        """A reduction as an element of a stage of its own."""
        free = self._free(r)
        if repeats := of_repeats(self.names, r, _in_order(free)):
            once = self._apart(outer, repeats.reduction)
            return self.names.with_reads(once, repeats.of)
        if windows := of_windows(self.names, r, _in_order(free)):
            once = self._apart(outer, windows.reduction)
            return self.names.with_reads(once, windows.of)
        return self.notation.packed(self.notation.opened(self._once(outer, r)))

    def _once(self, outer: tuple[Dim, ...], r: Reduction, is_result: bool = False) -> Read:
        """A reduction as an element of a stage of its own, which is written once; a result lies as it is wanted."""
        free = self._free(r)
        dims = tuple(d for d in outer if d in free)
        dims += _in_order(free - set(dims))
        dims = dims if is_result else self._side_by_side(dims, r)
        read = self._order(r)
        own = self._canonical(read, r)
        if own not in self._written:
            body = self.names.reduced(r)
            runs = result_runs(self.names, dims, body)
            array = self._in_runs(runs) if runs else self._stage(dims, body)
            self._written[own] = array, tuple(map(read.index, dims))
        return self._read(own, read)

    def _side_by_side(self, dims: tuple[Dim, ...], r: Reduction) -> tuple[Dim, ...]:
        """`dims`, the last of them one along which what `r` reads lies side by side: so is what is written.

        sum_3 X[3,1,2] * A[0,3] over 0, 2, 1 -> over 0, 1, 2
        sum_2 (map (slide 7 1) A)[0,1,2] over 1, 0 -> over 0, 1
        """
        reads = sorted(map(plain_read, reads_of(self.names, r.element)), key=lambda x: -_volume(x.dims))
        near = [d for x in reads for d in lying_near(x)]
        last = next((d for d in near if d in dims), None)
        return dims if last is None or dims[-1] in near else (*(d for d in dims if d != last), last)

    def _read_again(self, dims: tuple[Dim, ...], r: Reduction) -> Read | None:
        """A long reduction over all of `dims`, where it is written already."""
        if self._free(r) != frozenset(dims) or _volume(r.dims) <= SHORT:
            return None
        read = self._order(r)
        own = self._canonical(read, r)
        return self._read(own, read) if own in self._written else None

    def _read(self, own: tuple[tuple[int, ...], Reduction], read: Sequence[Dim]) -> Read:
        """An element of what is written, at these dimensions in the order in which its reduction reads them."""
        array, axes = self._written[own]
        return Read(array, tuple(read[a] for a in axes))

    def _order(self, r: Reduction) -> tuple[Dim, ...]:
        """The dimensions that a reduction depends on, in the order in which it reads them."""
        reads = map(plain_read, reads_of(self.names, r.element))
        free = self._free(r)
        return tuple(dict.fromkeys(d for x in reads for d in x.dims if d in free))

    def _canonical(self, dims: tuple[Dim, ...], r: Reduction) -> tuple[tuple[int, ...], Reduction]:
        """Equal for reductions that differ in the numbers of their dimensions only, counted from outside in, and in
        transpositions of what they read."""
        inside = dict.fromkeys(d for within in self.names.within(r.element) for d in within.dims)
        own = _counted(dict.fromkeys((*dims, *r.dims, *inside)))
        element = self.names.with_reads(self.names.at(r.element, own), plain_read)
        return _extents(dims), replace(r, dims=tuple(own[d] for d in r.dims), element=element)

    def _free(self, r: Reduction) -> frozenset[Dim]:
        return self.names.free(r.element) - set(r.dims)

    def _along(self, r: Reduction, space: tuple[Dim, ...]) -> Reduction:
        """A reduction with the dimensions of another over as many elements."""
        if r.dims == space:
            return r
        new = dict(zip(r.dims, space, strict=True))
        return replace(r, dims=space, element=self.notation.renamed(r.element, new))


def _in_order(dims: Iterable[Dim]) -> tuple[Dim, ...]:
    return tuple(sorted(dims, key=lambda d: d.number))


def _counted(dims: Iterable[Dim]) -> dict[Dim, Dim]:
    """Dimensions that are the same wherever theirs are numbered otherwise."""
    return {d: Dim(-1 - i, d.extent) for i, d in enumerate(dims)}


def _extents(dims: tuple[Dim, ...]) -> tuple[int, ...]:
    return tuple(number(d) for d in dims)


def _are_connected(sets: Sequence[frozenset[object]]) -> bool:
    """Does each have something in common with another one, such that they hang together?

    {a}, {b}, {a, b} -> True; {a}, {a}, {b} -> False
    """
    left, seen = list(sets[1:]), sets[0]
    while reached := [s for s in left if s & seen]:
        left = [s for s in left if not s & seen]
        seen = seen.union(*reached)
    return not left


def _is_costly(body: Expr) -> bool:
    return any(isinstance(t, p.Apply) and t.op in COSTLY for t in subterms(body))


def _is_computed_factor(e: Expr) -> bool:
    """Is it a number of few bits that is not only read?"""
    return type_of(e) in CAST and not isinstance(e, p.Input)


def _volume(dims: tuple[Dim, ...]) -> int:
    return prod(_extents(dims))


def _is_scalar(value: Value) -> bool:
    match value:
        case Tuples(items):
            return all(_is_scalar(v) for v in items)
        case View() | Computed():
            return False
        case _:
            return True
