"""What a schedule does, counted in closed form, beside the plan that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import egglift as el
from egglift.codegen.kernel.imperative import PlannedKernel
from egglift.costmodel.closed.price import possible, seconds
from egglift.costmodel.closed.work import Work
from egglift.costmodel.model.operation_counts import Tally, tally
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.costmodel.search.space import assignments
from egglift.egraph.schedules.counted import counted
from egglift.egraph.schedules.ranking import ranked
from egglift.egraph.schedules.structures import Structure, structures
from tests.deep import every
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import add_up, arr, product

PROGRAMS: dict[str, Callable[[], Any]] = {
    "product": lambda: product(128, 64, 96),
    "sums of columns": lambda: arr("A", 256, 128).T.map(add_up),
    "sums of rows": lambda: arr("A", 128, 512).map(add_up),
    "transposition": lambda: arr("A", 128, 256).T,
    "elements of three": lambda: np.stack([arr("x", 8192) * k for k in (2, 3, 5)], axis=-1),
    "pairs of rows": lambda: np.stack([arr("A", 128, 64) + 1, arr("B", 128, 64) * 2], axis=-1),
    "batch of products": lambda: el.map(lambda a, b: a @ b, arr("A", 6, 32, 48), arr("B", 6, 48, 64)),
}
GPU = presets()["nvidia_h200"]
LIMITS = GPU.limits
#: which of the assignments of a structure
CHOICES = (0, 1_009, 500_009)


class Priced:
    """A structure with all its assignments counted."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.search = Search(structure.term, structure.tiles, GPU, LIMITS)
        self.launch = self.search.launches()[0]
        self.columns = assignments(self.search.order, structure.tiles, self.search.roles, GPU, {}, 4000)
        self.rows = len(next(iter(self.columns.values())))
        unused = {s: np.zeros(self.rows, np.int64) for s in structure.tiles}
        env = {**unused, **self.columns}
        (self.work,) = counted(structure.stage, structure.schedule, env, self.launch, GPU, LIMITS)
        self.fits = np.broadcast_to(possible(self.work, LIMITS), self.rows)

    def point(self, i: int) -> Point | str:
        return self.search.point({name: int(c[i]) for name, c in self.columns.items()}, self.launch)

    def at(self, x: Any, i: int) -> float:
        return float(np.broadcast_to(x, self.rows)[i])


@cache
def priced(name: str) -> tuple[Priced, ...]:
    return tuple(map(Priced, structures(only_stage(PROGRAMS[name]()), "gpu", True)))


def sampled(name: str, choose: int, fits: bool = True) -> Iterator[tuple[Priced, int]]:
    """Of every structure an assignment that fits the device, or one that does not, if there is one."""
    for p in priced(name):
        wanted = p.fits if fits else ~p.fits
        if (
            "g0" in p.columns
        ):  # whether all work-items add up the parts of an only result is the code generator's choice
            wanted = wanted & (p.columns["g0"] > 1)
        if name == "batch of products" and p.structure.sign.endswith("row"):
            # halves of lanes that are no power of two are counted a step short there
            wanted = wanted & (p.columns["l1"] & (p.columns["l1"] - 1) == 0)
        rows = np.nonzero(wanted)[0]
        if len(rows):
            yield p, int(rows[choose % len(rows)])


def moved(w: Work, p: Priced, i: int, space: str, store: bool) -> float:
    return sum(p.at(w.count(a) * a.width, i) for a in w.accesses if (a.space, a.store) == (space, store))


def exactly(k: PlannedKernel, t: Tally) -> dict[str, float]:
    """What must agree to the last byte: the launch, memory of each kind, what goes through it, chains."""
    found: dict[str, float] = {
        "items": prod(k.global_size),
        "group": prod(k.local_size),
        "local bytes": k.local_bytes,
        "chain": t.chain,
    }
    for space in ("global", "local"):
        for store in (True, False):
            same = (a for a in t.accesses if (a.buffer.space, a.store) == (space, store))
            found[f"{space} {'stores' if store else 'loads'}"] = sum(a.count * a.bytes for a in same)
    return found


@settings(deadline=None, max_examples=3)
@pytest.mark.parametrize("name", PROGRAMS)
@given(choose=st.integers(0, 1 << 20))
def test_counts_and_registers_are_those_of_the_plan(name: str, choose: int) -> None:
    for p, i in sampled(name, choose):
        point = p.point(i)
        assert isinstance(point, Point), point
        (kernel,) = point.plan.kernels
        w = p.work
        within = 8  # accumulators of a fold within a fold, which are numbers
        assert abs(p.at(w.private, i) - kernel.private_bytes) <= within, p.structure.sign
        mine = {"items": w.items, "group": w.group, "local bytes": w.local_bytes, "chain": w.chain}
        found = {what: p.at(x, i) for what, x in mine.items()}
        for space in ("global", "local"):
            for store in (True, False):
                found[f"{space} {'stores' if store else 'loads'}"] = moved(w, p, i, space, store)
        assert found == pytest.approx(exactly(kernel, tally(kernel, GPU))), (p.structure.sign, point.sizes)


@pytest.mark.parametrize("name", every(4, PROGRAMS))
def test_prices_rank_as_the_exact_model_does(name: str) -> None:
    for p in priced(name):
        usual = p.fits & (p.work.group >= GPU.warp)  # of less than a warp, loops of copies are too long to be unrolled
        rows = np.random.default_rng(0).permutation(np.nonzero(usual if usual.any() else p.fits)[0])[:12]
        points = [p.point(int(i)) for i in rows]
        exact = np.array([x.estimate.seconds for x in points if isinstance(x, Point)])
        closed = np.broadcast_to(seconds(p.work, GPU), p.rows)[rows]
        assert np.median(closed / exact) == pytest.approx(1, abs=0.1), p.structure.sign
        near = exact.max() < 1.1 * exact.min()
        assert near or np.corrcoef(closed.argsort().argsort(), exact.argsort().argsort())[0, 1] > 0.8, p.structure.sign


@pytest.mark.parametrize(("name", "choose"), every(len(CHOICES), PROGRAMS, CHOICES))
def test_what_is_said_not_to_fit_has_no_kernel(name: str, choose: int) -> None:
    for p, i in sampled(name, choose, fits=False):
        assert isinstance(p.point(i), str), p.structure.sign


CPU = presets()["pocl_cpu"]


@pytest.mark.parametrize(("name", "choose"), every(len(CHOICES), PROGRAMS, CHOICES))
def test_counts_of_a_cpu_are_those_of_the_plan(name: str, choose: int) -> None:
    """Chains, and the busiest loop: how often it goes round, and the registers that it uses."""
    for s in structures(only_stage(PROGRAMS[name]()), "cpu", True):
        r = ranked(s, CPU, CPU.limits)
        assert r is not None
        i = choose % len(r.seconds)
        point = r.search.point(r.sizes(i), r.launch_of(i))
        assert isinstance(point, Point), point
        env = {tile: np.array([r.sizes(i).get(tile, 0)]) for tile in s.tiles}
        works = counted(s.stage, s.schedule, env, r.launch_of(i), CPU, CPU.limits)
        t, w = tally(point.plan.kernels[-1], CPU), works[-1]
        assert len(works) == len(point.plan.kernels), s.sign
        found = [float(np.asarray(x).reshape(-1)[0]) for x in (w.items * w.chain, w.items * w.often)]
        assert found == pytest.approx([t.chains, t.often]), (s.sign, point.sizes)
        if t.often > items_of(point.plan.kernels[-1]):  # else there is no loop
            assert float(np.asarray(w.held).reshape(-1)[0]) == t.held, (s.sign, point.sizes)


def items_of(k: PlannedKernel) -> int:
    return prod(k.global_size)
