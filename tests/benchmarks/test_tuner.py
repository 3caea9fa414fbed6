"""The model's order beside Kernel Tuner's strategies: one space, one set of times."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from benchmarks import tuner
from benchmarks.programs.catalogue import entry
from benchmarks.tuner import Choice, Space, after, cache, in_order, points, space, tuned
from egglift.codegen.device.device import open_device
from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.sizes import Point
from egglift.ir.lifting import as_program

#: 3 x 4 choices less one, of which (2, 30) is the fastest and (1, 10) the model's first; and one without a neighbour
SPACE = Space(
    "1F[g{Gr0(T[p(F(c))])}](c)",
    ("m", "launch"),
    tuple(Choice((m, n), m + n, abs(m - 2) + abs(n - 30) + 1.0) for m, n in product((1, 2, 3), (10, 20, 30, 40)))[:-1]
    + (Choice((7, 70), 77.0, 50.0),),
    0,
)


def test_a_space_is_all_choices_that_fit_and_differ() -> None:
    device, profile = open_device("pocl"), presets()["pocl_cpu"]
    _, search = tuner.best_structure(as_program(entry("nrm2").program(4097)), profile, device)
    found = points(search, 120)
    for values, point in found.items():
        wish = dict(zip(search.order, values, strict=False))
        assert dict(point.sizes) == wish and point.launch == search.launches()[values[-1]]
    made = [tuple((k.source, k.global_size, k.local_size) for k in p.plan.kernels) for p in found.values()]
    assert len(set(made)) == len(made) >= tuner.LEAST
    best = search.run(12)[0]
    assert isinstance(best, Point) and min(p.estimate.seconds for p in found.values()) <= best.estimate.seconds


def test_of_a_large_space_there_are_fewer_options_of_each() -> None:
    _, search = tuner.best_structure(
        as_program(entry("matmul").program(128, 128, 128)), presets()["pocl_cpu"], open_device("pocl")
    )
    found = points(search, 20)
    assert 2 <= len(found) <= 20
    for i, name in enumerate(search.order):
        options = search.options(name, dict(zip(search.order, next(iter(found)), strict=False)))
        assert len({values[i] for values in found}) == 2 or len(options) == 1


def test_a_part_of_a_space_is_measured() -> None:
    found = space(as_program(entry("nrm2").program(4097)), presets()["pocl_cpu"], open_device("pocl"), 4)
    assert 2 <= len(found.choices) + found.failed <= 4
    assert found.best > 0 and all(len(c.values) == len(found.parameters) for c in found.choices)


def test_the_models_order_is_by_estimate() -> None:
    times = in_order(SPACE)
    assert times[0] == 22.0 and len(times) == 12
    assert (after(times, 1), after(times, 12)) == (22.0, SPACE.best) and SPACE.best == 1.0


@pytest.mark.parametrize("strategy", tuner.STRATEGIES)
def test_a_strategy_searches_the_recorded_times(strategy: str, tmp_path: Path) -> None:
    pytest.importorskip("kernel_tuner", reason="Kernel Tuner is not installed: pip install 'egglift[bench]'")
    path = cache(SPACE, tmp_path / "times.json")
    times = tuned(path, strategy, 4, seed=1)
    assert 0 < len(times) <= 4
    assert all(any(t == pytest.approx(c.seconds) for c in SPACE.choices) for t in times)
    assert times == tuned(path, strategy, 4, seed=1)
    for seed in range(3):
        assert len(tuned(path, strategy, 12, seed)) > 0


def test_a_table_has_a_row_for_each_way() -> None:
    found = {way: [2.0, 1.5, 1.0, 1.0] for way in (tuner.MODEL, "random_sample")}
    line = {"program": "dot", "size": "8", "choices": SPACE.choices, "best": 1e-6, "found": found}
    rows = tuner.table([line]).splitlines()
    assert rows[2] == "| dot | 8 | 12 | 1.0 | the model's order | 2.00 | 1.50 | 1.00 | 1.00 |"
    assert rows[3] == "|  |  |  |  | random_sample | 2.00 | 1.50 | 1.00 | 1.00 |"
