"""Candidates as a user wishes them: others are left out before any is measured; sizes are changed where they can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from egglift.candidate import Candidate
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile
from egglift.egraph.schedules.steps import Alone, InPieces, Steps
from egglift.ir.errors import ArgumentError, CodegenError, EggliftError
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate
from egglift.options import SCHEDULES, Laws
from egglift.steps import time_steps
from egglift.wishes import Wishes

LISTED = 8  # of what there is instead, in messages


def for_laws(laws: Laws, wishes: Wishes) -> Laws:
    """The laws for a search whose candidates need some; RuleError where there is no such law.

    Schedules of stages need no laws on patterns: they are left out, unless they are what is required.
    """
    from egglift.research import book

    whole = book().extended(laws.rules)
    for name in wishes.require:
        if name != SCHEDULES:
            _ = whole[name]
    return laws if SCHEDULES in wishes.require else replace(laws, disabled=(*laws.disabled, SCHEDULES))


def granted(
    candidates: Sequence[Candidate], wishes: Wishes, program: Expr, profile: Profile, laws: Laws
) -> list[Candidate]:
    """The candidates that are as wished; ArgumentError where none is, with what there is instead."""
    found = list(candidates)
    if wishes.sizes:
        found = _resized(found, dict(wishes.sizes), program, profile, laws)
    if wishes.group_size is not None:
        found = _grouped(found, wishes.group_size, profile)
    if wishes.parallel is not None:
        shapes = [(c, max(map(_dimensions, c.plan.kernels), default=0)) for c in found]
        found = _some(
            [c for c, n in shapes if n == wishes.parallel], "parallel", wishes.parallel, [n for _, n in shapes]
        )
    if wishes.require:
        found = needing(found, wishes.require, program, laws)
    return sorted(found, key=lambda c: c.estimate)[: wishes.candidates] if wishes.candidates else found


def _some(found: list[Candidate], what: str, wished: Any, there: Iterable[Any]) -> list[Candidate]:
    if found:
        return found
    known = ", ".join(map(str, list(dict.fromkeys(there))[:LISTED])) or "none"
    raise ArgumentError(f"no candidate has {what}={wished}; there are {known}")


# ---------------------------------------------------------------------------------------- sizes and shapes


def _resized(
    candidates: Sequence[Candidate], sizes: Mapping[str, int], program: Expr, profile: Profile, laws: Laws
) -> list[Candidate]:
    able = [c for c in candidates if set(sizes) <= set(c.parameters)]
    names = sorted({n for c in candidates for n in c.parameters} - {"group_size", "max_groups"})
    able = _some(able, "tiles of", dict(sizes), names)
    made, why = [], ""
    for c in able:
        try:
            made.append(_with_sizes(c, sizes, program, profile, laws))
        except (EggliftError, ZeroDivisionError) as error:
            why = str(error)
    if not made:
        raise ArgumentError(f"no candidate can have the sizes {dict(sizes)}: {why}")
    return list({(c.term, c.launch): c for c in made}.values())


def _with_sizes(c: Candidate, sizes: Mapping[str, int], program: Expr, profile: Profile, laws: Laws) -> Candidate:
    from egglift.egraph.schedules.again import made_again  # loads egglog, as the search does

    parameters = {**c.parameters, **sizes}
    if c.form is not None:
        term = instantiate(c.form, parameters)
        return _priced(replace(c, term=term, parameters=parameters), profile)
    if c.steps is None:
        raise CodegenError(f"{c.structure} is not made again with other sizes")
    steps = _steps_with(c.steps, sizes)
    term = made_again(program, steps, profile.kind, laws.reassociate)
    return _priced(replace(c, term=term, parameters=parameters, steps=steps, account=None), profile)


def _steps_with(steps: Steps, sizes: Mapping[str, int]) -> Steps:
    alone = [x for s in steps.stages for x in ((s.parts, s.added) if isinstance(s, InPieces) else (s,))]
    several = iter(range(len(alone)))

    def changed(x: Alone) -> Alone:
        k = next(several)
        name = f"{k}." if len(alone) > 1 else ""
        return replace(x, sizes=tuple((n, sizes.get(name + n, old)) for n, old in x.sizes))

    stages = tuple(
        replace(s, parts=changed(s.parts), added=changed(s.added)) if isinstance(s, InPieces) else changed(s)
        for s in steps.stages
    )
    return replace(steps, stages=stages)


def _grouped(candidates: Sequence[Candidate], group: tuple[int, ...] | int, profile: Profile) -> list[Candidate]:
    """Those whose groups have this shape, or are made again with so many work-items."""
    found, shapes = [], []
    for c in candidates:
        with_this = [c, replace(c, launch=Launch(group))] if isinstance(group, int) else [c]
        for made in with_this:
            try:
                local = [tuple(n for n in k.local_size if n > 1) or (1,) for k in made.plan.kernels]
            except CodegenError:
                continue
            shapes += local
            count = 1
            for n in max(local, default=()):
                count *= n
            if local and (count == group if isinstance(group, int) else max(local) == _trimmed(group)):
                found.append(c if made is c else _priced(made, profile))
                break
    return _some(found, "group_size", group, sorted(set(shapes)))


def _trimmed(group: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in group if n > 1) or (1,)


def _dimensions(kernel: Any) -> int:
    return max(1, len([n for n in kernel.global_size if n > 1]))


def _priced(c: Candidate, profile: Profile) -> Candidate:
    """A candidate that was changed, with its price."""
    model = estimate(c.plan, profile)
    return replace(c, estimate=model.seconds, bound=model.sentence())


# ---------------------------------------------------------------------------------------- laws


def needing(candidates: Sequence[Candidate], laws: Sequence[str], program: Expr, own: Laws) -> list[Candidate]:
    """Those that are not found without each of these laws."""
    found = [c for c in candidates if c.account is None] if SCHEDULES not in laws else list(candidates)
    for law in laws:
        if law == SCHEDULES:
            found = [c for c in found if c.account is not None or c.steps is not None]
        else:
            found = list(_needing(found, law, program, own))
        if not found:
            why = "it does not apply to this program, or other laws lead to the same"
            raise ArgumentError(f"no candidate needs the law {law}: {why}")
    return found


def _needing(candidates: Sequence[Candidate], law: str, program: Expr, own: Laws) -> Iterator[Candidate]:
    from egglift.egraph.explanation.ablation import contains
    from egglift.egraph.explanation.embedding import Host
    from egglift.egraph.graph.encode import binary
    from egglift.egraph.saturation.saturate import saturate

    steps = time_steps(program)
    options = {"rules": own.rules, "reassociate": own.reassociate, "limits": own.limits}
    disabled = tuple(n for n in own.disabled if n != SCHEDULES)
    whole, hosts = steps.program if steps else program, list[tuple[Any, Any]]()
    for c in candidates:
        form = c.form and (steps.of(c.form) if steps else c.form)
        if form is None:
            continue
        if not hosts:
            every = saturate(whole, disabled=disabled, **options)  # type: ignore[arg-type]
            others = saturate(whole, disabled=(*disabled, law), **options)  # type: ignore[arg-type]
            hosts.append((Host(every.graph), others.graph))
        host, without = hosts[0]
        if host.holds(binary(form), host.values) and not contains(without, host, binary(form)):
            yield c
