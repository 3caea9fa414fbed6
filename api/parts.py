"""A program in parts: what it reads at several places is a program of its own, optimised alone and computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

from egglift.candidate import Candidate, Part
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.codegen.kernel.views import volume
from egglift.codegen.terms.fission import fissioned
from egglift.codegen.terms.sharing import FEW, SMALL, Use, has_many, most_paths, shared
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.extraction.weights import Weights
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError
from egglift.ir.fusion import fused
from egglift.ir.patterns import Expr
from egglift.ir.traverse import exchanged, is_closed, rebuild, subterms

MAPS = 16  # of closed arrays that a program has which is not cut
LAUNCHES, STRUCTURES = 4, 4  # of which candidates for the whole are made
TRIED = 4  # candidates of a part that are tried with another launch size


@dataclass(frozen=True)
class Parts:
    """The parts of a program, each after those that it reads; the last one has the program's value.

    programs: over inputs named in the order in which each reads them, so that equal parts are equal programs.
    reads: what these inputs are of each part: inputs of the whole, and results.  results: stand for the values of all
    parts but the last.  few: is the program small enough to be searched as a whole too?
    """

    programs: tuple[Expr, ...]
    reads: tuple[dict[Expr, Expr], ...]
    results: tuple[p.Input, ...]
    few: bool

    def whole(self, terms: Sequence[Expr]) -> Expr:
        """The whole program, given a low-level program for each part: their values are kept in global memory."""
        made: dict[Expr, Expr] = {}
        for term, reads, result in zip_longest(terms, self.reads, self.results):
            value = exchanged(term, {name: made.get(read, read) for name, read in reads.items()})
            made[result] = p.To("global", value)
        return value


def in_parts(program: Expr, w: Weights) -> Parts | None:
    """The parts of a program of many shared producers, paths to one of them, or maps; None for any other program.

    Each part is small: as a whole there are too many programs equal to it to be looked at.

    v + drop 1 v, v = map f (w + drop 1 w), w = map g x  ->  part1 = w; part2 = map f (part1 + drop 1 part1);
    part2 + drop 1 part2
    """
    whole = fissioned(program, lambda u: _is_stored(u, w))
    stored = frozenset(shared(whole, lambda u: _is_stored(u, w)))
    maps = sum(1 for t in subterms(whole) if isinstance(t, p.Map) and is_closed(t))
    if whole is program and not has_many(program, stored) and maps <= MAPS:
        return None
    memo: dict[Expr, Expr] = {}
    programs, results = list[Expr](), list[p.Input]()
    for t in subterms(whole):
        memo[t] = rebuild(t, memo.__getitem__, memo.__getitem__)
        if t in stored or t is whole:
            programs.append(memo[t])
        if t in stored:
            results.append(p.Input(f"result {len(programs)}", type_of(t)))  # no input of a program has such a name
            memo[t] = results[-1]
    given = [_named(part) for part in programs]
    named = tuple(fused(exchanged(part, names)) for part, names in zip(programs, given, strict=True))
    few = maps <= MAPS and max(len(stored), most_paths(program)) <= 2 * FEW
    return Parts(named, tuple({v: k for k, v in names.items()} for names in given), tuple(results), few)


def _named(part: Expr) -> dict[Expr, Expr]:
    """New names for the inputs of a part, in order."""
    inputs = [t for t in subterms(part) if isinstance(t, p.Input)]
    return {t: p.Input(f"x{i}", t.type) for i, t in enumerate(inputs, 1)}


def _is_stored(u: Use, w: Weights) -> bool:
    """Is an array computed once?  Reductions are; a map, where the model says that computing it again takes longer."""
    match u.term:
        case p.Reduce(_, _, x) | p.Scan(_, _, x) | p.Fold(_, _, x) | p.Iterate(_, _, x):
            return volume(type_of(x)) > SMALL
        case p.Map(_, _, None):
            return u.times > 1 and _again(u, w) > _once(u, w)
    return False


def _again(u: Use, w: Weights) -> float:
    """The price of computing an array wherever it is read, for each scalar.  Only what is shifted keeps its vectors."""
    if u.shifted:
        return u.times * w.vector_ops * (u.ops * w.op + u.reads * w.global_lane)
    return u.times * (u.ops * w.op + u.reads * w.global_) if u.times <= FEW else float("inf")


def _once(u: Use, w: Weights) -> float:
    """The price of computing and storing an array in a kernel of its own, and of reading it, for each scalar."""
    each = w.vector_ops * (u.ops * w.op + (u.reads + 1 + u.times) * w.global_lane)
    return each + w.launch * w.items / max(1, u.size)


# ---------------------------------------------------------------------------------------- candidates


def together(parts: Parts, rows: Sequence[Sequence[Candidate]], profile: Profile) -> list[Candidate]:
    """Candidates for the whole program, given some for each part.

    A plan has one launch size: for each that is best for a part, the best of every part; and for the best of these the
    second structures of all parts, the third, and so on.
    """
    launches = dict.fromkeys(min(row, key=_seconds).launch for row in rows)
    by_launch = []
    for launch in launches:
        under = [_under(row, launch, profile) for row in rows]
        if all(under):
            by_launch.append(under)
    by_launch.sort(key=lambda under: sum(row[0].estimate for row in under))
    others = [[row[min(i, len(row) - 1)] for row in by_launch[0]] for i in range(1, STRUCTURES)] if by_launch else []
    chosen = [[row[0] for row in under] for under in by_launch[:LAUNCHES]] + others
    different = {tuple(c.term for c in each): each for each in chosen}
    made = (_whole(parts, each, profile) for each in different.values())
    return sorted((c for c in made if c is not None), key=_seconds)


def _seconds(c: Candidate) -> float:
    return c.estimate


def _under(row: Sequence[Candidate], launch: Launch, profile: Profile) -> list[Candidate]:
    """The best candidate of each structure with that launch size, best first; else another one, launched so."""
    same = sorted((c for c in row if c.launch == launch), key=_seconds)
    if not same:
        same = [moved for c in sorted(row, key=_seconds)[:TRIED] if (moved := _moved(c, launch, profile))][:1]
    return list({c.structure: c for c in reversed(same)}.values())[::-1]


def _moved(c: Candidate, launch: Launch, profile: Profile) -> Candidate | None:
    try:
        model = estimate(compile_term(c.term, launch, c.limits), profile)
    except CodegenError:
        return None
    return replace(c, launch=launch, estimate=model.seconds, bound=model.sentence())


def _whole(parts: Parts, each: Sequence[Candidate], profile: Profile) -> Candidate | None:
    launch, limits = each[0].launch, each[0].limits
    term = parts.whole([c.term for c in each])
    try:
        model = estimate(compile_term(term, launch, limits), profile)
    except CodegenError:
        return None
    made = tuple(
        Part(c.structure, program, c.form, c.parameters) for program, c in zip(parts.programs, each, strict=True)
    )
    return Candidate(
        _structure(each), term, _parameters(each), launch, limits, model.seconds, model.sentence(), parts=made
    )


def _structure(each: Sequence[Candidate]) -> str:
    """`3 Gv0(vv0(c)); W(c)`: those of the parts, in order."""
    runs = [(structure, len(list(same))) for structure, same in groupby(c.structure for c in each)]
    return "; ".join(f"{n} {structure}" if n > 1 else structure for structure, n in runs)


def _parameters(each: Sequence[Candidate]) -> dict[str, int]:
    """The numbers of all parts: one that differs from part to part is named after its part."""
    launch = {"group_size": each[0].launch.group_size, "max_groups": each[0].launch.max_groups}
    named: dict[str, dict[int, int]] = {}
    for i, c in enumerate(each, 1):
        for name, value in c.parameters.items():
            if name not in launch:
                named.setdefault(name, {})[i] = value
    alike = {name: next(iter(of.values())) for name, of in named.items() if len(set(of.values())) == 1}
    others = {f"{i}.{name}": n for name, of in named.items() if name not in alike for i, n in of.items()}
    return {**alike, **others, **launch}
