"""The plans that an exported program over run-time lengths chooses from, as it cannot trace any at a call.

A kernel in Python traces a variant when a call's lengths meet the conditions of none (variants.py).  What is exported
is traced before: by the chosen steps for lengths near those that are liked, multiples of tiles and others; and as the
program stands for all other lengths, however short or long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from random import Random

from egglift.codegen.export.host_plan import LengthPlan
from egglift.codegen.kernel.imperative import Launch
from egglift.ir.errors import ArgumentError, EggliftError
from egglift.ir.length_forms import Lengths, RunTimeLength
from egglift.ir.run_time_lengths import lengths_of
from egglift.variants import Variant, Variants, as_it_stands, general, variant_at

#: plans by the chosen steps, and as the program stands with one size of groups, at most
MOST_CHOSEN, MOST_STANDING = 24, 48
#: lengths that are drawn: near the liked ones, and any
NEAR, ANY = 60, 1500
#: what lengths near the liked ones are multiples of
MULTIPLES = (1, 1, 2, 4, 8, 16, 64, 128)
#: the edges of tiles and of integers
EDGES: tuple[int, ...] = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    12,
    15,
    16,
    17,
    24,
    31,
    32,
    33,
    50,
    63,
    64,
    65,
    96,
    100,
    127,
    128,
    129,
    256,
    257,
)
EDGES += (500, 1000, 1009, 1024, 4096, 5003, 70001, 1 << 16, 1 << 20, 1000003, 1 << 24, (1 << 24) + 3, (1 << 28) + 3)
EDGES += ((1 << 31) + 3, 1 << 32, (1 << 35) + 3)
#: all lengths together are below this: no memory holds more
MOST_TOGETHER = 1 << 40


def length_plans(choices: Sequence[Variants]) -> list[LengthPlan]:
    """The plans by the steps of each choice, and then those as the program stands.

    ArgumentError where lengths near those that the first is chosen for are left without a plan.
    """
    first, lengths = choices[0], lengths_of(choices[0].program)
    found = _chosen(first, 0)
    left = [*near(lengths), *edges(lengths)]
    for launch in (Launch(), Launch(1)):
        left = [values for values in left if not _served(found, values)]
        found += _standing(first, left, launch)
    if not all(_served(found, values) for values in near(lengths)):
        given = ", ".join(f"{n.name}={n.liked}" for n in lengths)
        raise ArgumentError(
            "an exported program cannot be compiled for lengths that only a call says, and this one has to be; "
            f"export it for one length: kernel.specialise({given}).export(folder)"
        )
    return [plan for i, c in enumerate(choices[1:], 1) for plan in _chosen(c, i)] + found


def _chosen(c: Variants, choice: int) -> list[LengthPlan]:
    def made(values: Lengths) -> Variant:
        return variant_at(c.program, c.way, values, c.device, strict=True)

    variants = _traced(near(lengths_of(c.program)), MOST_CHOSEN, made) if c.way.steps is not None else []
    return [LengthPlan(v.plan, tuple(v.tracing.conditions), choice) for v in variants]


def _standing(c: Variants, points: Iterable[Lengths], launch: Launch) -> list[LengthPlan]:
    variants = _traced(points, MOST_STANDING, lambda values: as_it_stands(c.program, values, c.device, launch))
    return [LengthPlan(v.plan, tuple(v.tracing.conditions), None) for v in variants]


def _served(plans: Sequence[LengthPlan], values: Lengths) -> bool:
    return any(all(c.holds(values) for c in p.conditions) for p in plans)


def _traced(points: Iterable[Lengths], most: int, made: Callable[[Lengths], Variant]) -> list[Variant]:
    """A variant for each of these lengths that none before it is right for; none where they have no meaning."""
    found: list[Variant] = []
    for values in points:
        if len(found) < most and not any(v.tracing.hold(values) for v in found):
            try:
                found.append(made(values))
            except (EggliftError, ZeroDivisionError):
                continue
    return found


def near(lengths: Sequence[RunTimeLength]) -> list[Lengths]:
    """General lengths, the liked ones, and some within a factor of 8, or of 256, of them."""
    rng = Random(0)
    found = [general(lengths), {n: n.liked for n in lengths}]
    for i in range(NEAR):
        bits = 3 if i % 2 else 8
        drawn = (int(n.liked * 2 ** rng.uniform(-bits, bits / 2)) for n in lengths)
        found.append(_within(lengths, [k // (m := rng.choice(MULTIPLES)) * m for k in drawn]))
    return [values for values in found if min(values.values()) > 0]


def edges(lengths: Sequence[RunTimeLength]) -> list[Lengths]:
    """Lengths at the edges of tiles and integers: of one length all, of several some of the pairs."""
    rng = Random(1)
    if len(lengths) == 1:
        return [_within(lengths, [k]) for k in EDGES]
    drawn = ([rng.choice(EDGES) for _ in lengths] for _ in range(ANY))
    return [_within(lengths, ks) for ks in drawn if prod(max(k, 1) for k in ks) < MOST_TOGETHER]


def _within(lengths: Sequence[RunTimeLength], ks: Iterable[int]) -> dict[RunTimeLength, int]:
    return {n: n.nearest(k) for n, k in zip(lengths, ks, strict=True)}
