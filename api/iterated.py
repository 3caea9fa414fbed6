"""Programs with a loop over arrays: what is found for a step is taken again and again; what follows is one, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from egglift.candidate import Candidate
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.loops_of_groups import group_loops
from egglift.ir import patterns as p
from egglift.ir.axes import arrays_of
from egglift.ir.check import type_of
from egglift.ir.counters import counted
from egglift.ir.errors import CodegenError
from egglift.ir.hoisting import COMPUTING, hoisted
from egglift.ir.loads_ahead import in_chunks
from egglift.ir.many_recurrences import Loop, beside_each_other
from egglift.ir.named_states import states_in
from egglift.ir.own_components import arrays_alone
from egglift.ir.patterns import Expr
from egglift.ir.scan_components import read_components
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import exchanged, subterms
from egglift.ir.tuples import zipped
from egglift.steps import Steps, steps_of, steps_within

#: candidates of a step, and of what follows, that are looked at
STEPS, OTHERS = 10, 3

#: patterns that are worth a search where an iteration begins with them
STARTING = (p.Reduce, p.Fold, p.Scan, p.Iterate, p.Count, p.Map)

#: elements that a loop beside others has in registers before it goes on
AHEAD = (4, 8, 16, 32)
#: work-items of groups that have a loop each
GROUPS = (64, 128, 256, 512, 1024)

#: candidates of a program: several, or the model's choice
Find = Callable[[Expr, bool], Sequence[Candidate]]


def iterated(program: Expr, find: Find, profile: Profile) -> Iterator[Candidate]:
    """Candidates of a program with a loop over arrays outside of all bodies, as they are found; none of any other.

    Its loops are as `plain_loops` makes them.

    sum (iterate 1000 f x): those of `f state`, which are taken 1000 times, with those of `sum state`.
    fold f z xs: those of `f <state, element>`, once for each element.
    find: candidates of a program.
    """
    given = steps_within(program)
    if given is None:
        return
    steps = _prepared(given, program, find)
    firsts = [*_steps(steps, find(steps.program, True))]
    firsts += of_groups(steps.whole, profile) if isinstance(steps.whole, p.Fold) else []
    if program is given.whole:
        yield from _priced(firsts, profile)
        return
    firsts += of_many(steps.whole, profile)
    if firsts:
        rest = _without(program, given)
        others = _cheapest(find(rest, True), OTHERS) if _computes(rest) else [_as_it_stands(rest, firsts[0])]
        pairs = [*((first, o) for o in others[:1] for first in firsts), *((firsts[0], o) for o in others[1:])]
        yield from _priced([_together(steps, first, o) for first, o in pairs], profile)


def plain_loops(program: Expr) -> Expr:
    """A program with loops that carry and keep no more than they must."""
    return read_components(arrays_alone(counted(program)))


def as_many(program: Expr) -> Expr | None:
    """A program with many loops, each over a few numbers, in place of one over arrays whose elements never meet; None
    where it has no such loop.  Its loops are as `plain_loops` makes them."""
    given = steps_within(program)
    many = beside_each_other(given.whole) if given is not None else {}
    return exchanged(program, many) if many else None


def _prepared(given: Steps, program: Expr, find: Find) -> Steps:
    """A loop, what it begins with and what it computes of its elements alone as the cheapest candidates compute it."""
    steps = given.starting(_started(given.start, find))
    if isinstance(steps.whole, p.Iterate):
        return steps
    before = steps_of(hoisted(steps.whole), inputs_of(program))
    assert before is not None and not isinstance(before.whole, p.Iterate)
    return before.over(zipped([*_kept(arrays_of(before.whole.x), find)]))


def _kept(arrays: Sequence[Expr], find: Find) -> Iterator[Expr]:
    """Arrays of elements; those that reduce as the cheapest candidate computes them, once.  Of those that differ in the
    names of inputs alone, as the gates of a net, one is searched."""
    known = dict[Expr, Expr]()
    for x in arrays:
        if not any(isinstance(t, COMPUTING) for t in subterms(x)):
            yield x
            continue
        inputs = dict.fromkeys(t for t in subterms(x) if isinstance(t, p.Input))
        names: dict[Expr, Expr] = {t: p.Input(f"operand {k}", t.type) for k, t in enumerate(inputs)}
        form = exchanged(x, names)
        if form not in known:
            best = _cheapest(find(form, False), 1)
            known[form] = best[0].term if best else form
        yield p.To("global", exchanged(known[form], {name: t for t, name in names.items()}))


def of_many(t: Loop, profile: Profile) -> list[Candidate]:
    """Candidates for a loop over arrays whose elements never meet, as many loops that write their results; best first.

    Of a program that goes on with these, each of its elements would else take all steps of its loop again.
    """
    many = beside_each_other(t).get(t)
    if many is None:
        return []
    launch = Launch()
    given = [
        Candidate("side by side", p.To("global", e), {}, launch, profile.limits, 0.0) for e in ahead(many, profile)
    ]
    return _cheapest([*_priced(given, profile)], OTHERS)


def ahead(many: Expr, profile: Profile) -> list[Expr]:
    """Many loops as they are, and as they load several elements before they go on."""
    counts = AHEAD if profile.limits.warp > 1 else ()
    return list(dict.fromkeys((many, *(in_chunks(many, n) for n in counts))))


def of_groups(t: p.Fold, profile: Profile) -> list[Candidate]:
    """Candidates for a fold over arrays in one kernel, by groups that have the state in local memory; best first."""
    if profile.limits.warp == 1:
        return []
    found = list[Candidate]()
    for term in group_loops(t):
        for size in (n for n in GROUPS if n <= profile.limits.group_size):
            launch = Launch(size)
            parameters = {"group_size": size, "max_groups": launch.max_groups}
            given = Candidate("steps of groups", term, parameters, launch, profile.limits, 0.0)
            found += _priced([given], profile)
    return _cheapest(found, OTHERS)


def _started(x: Expr, find: Find) -> Expr:
    """What an iteration begins with, as the cheapest candidate computes it; as it stands where it computes nothing."""
    if not any(isinstance(t, STARTING) for t in subterms(x)):
        return x
    best = _cheapest(find(x, False), 1)
    return best[0].term if best else x


def _cheapest(found: Sequence[Candidate], count: int) -> list[Candidate]:
    return sorted(found, key=lambda c: c.estimate)[:count]


def _steps(steps: Steps, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """The cheapest candidates for one step as candidates for all of them."""
    wanted = type_of(steps.program)
    for c in _cheapest(found, STEPS):
        term = _flat(c.term) if type_of(c.term) != wanted else c.term
        if type_of(term) == wanted:
            with suppress(CodegenError):
                yield _again(steps, replace(c, term=term, form=c.form if term is c.term else None))


def _flat(term: Expr) -> Expr:
    """A tuple of several as one, where a search had it as pairs in pairs: <a, <b, c>> -> <a, b, c>."""
    if not isinstance(term, p.Tup) or not isinstance(term.items[-1], p.Tup):
        return term
    rest = _flat(term.items[-1])
    assert isinstance(rest, p.Tup)
    return p.Tup((*term.items[:-1], *rest.items))


def _again(steps: Steps, c: Candidate) -> Candidate:
    """A candidate for one step as a candidate for all of them."""
    form = c.form and steps.again(c.form) if isinstance(steps.whole, p.Iterate) else None
    if isinstance(form, p.Iterate) and states_in(form.body):
        form = None  # laws know of no names for states
    return replace(c, term=steps.again(c.term), form=form, steps=None)


def _without(program: Expr, steps: Steps) -> Expr:
    """What follows a loop: inputs in its place."""
    known = {value: name for name, value in steps.values(steps.whole).items()}
    return exchanged(program, {steps.whole: steps.value, **known})


def _computes(e: Expr) -> bool:
    return any(not isinstance(t, p.Input | p.Get | p.Tup) for t in subterms(e))


def _as_it_stands(rest: Expr, first: Candidate) -> Candidate:
    return replace(first, structure="", term=rest, form=None, account=None, estimate=0.0)


def _together(steps: Steps, first: Candidate, other: Candidate) -> Candidate:
    term = exchanged(other.term, steps.values(first.term))
    structure = " | ".join(s for s in (first.structure, other.structure) if s)
    return replace(first, structure=structure, term=term, form=None)


def _priced(found: Iterable[Candidate], profile: Profile) -> Iterator[Candidate]:
    """With what the model says of all steps; without those that have no kernels."""
    for c in found:
        with suppress(CodegenError):
            model = estimate(c.plan, profile)
            yield replace(c, estimate=model.seconds, bound=model.sentence())
