"""What no program can do faster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import egglift as el
from egglift.costmodel.profiles.profile import presets
from egglift.egraph.schedules.bounds import (
    kernel_seconds,
    operations_seconds,
    parts_seconds,
    products_seconds,
    served_by_stages,
    traffic_seconds,
)
from egglift.ir.lifting import as_program
from tests.egraph.staged import only_stage
from tests.egraph.stages.programs import add_up, arr, dot, product

GPU, CPU = presets()["nvidia_h200"], presets()["pocl_cpu"]


def test_inputs_are_read_and_the_result_written_once() -> None:
    a = arr("A", 1 << 14, 1 << 14)
    total = 4 * ((1 << 28) + (1 << 14))
    assert traffic_seconds(as_program(a.T.map(add_up)), GPU) == pytest.approx(total / GPU.bandwidth)
    assert traffic_seconds(as_program(a.map(lambda r: dot(r, r))), GPU) == pytest.approx(total / GPU.bandwidth)


def test_what_fits_the_cache_is_read_from_there() -> None:
    assert traffic_seconds(as_program(arr("x", 1000).map(lambda v: v * 2)), GPU) == pytest.approx(
        8000 / GPU.cache_bandwidth
    )


def test_a_product_takes_its_multiplications() -> None:
    program = as_program(product(64, 32, 128))
    assert products_seconds(program, GPU, True) == pytest.approx(64 * 32 * 128 / GPU.issue_rate)
    assert products_seconds(program, CPU, True) == pytest.approx(64 * 32 * 128 / 16 / CPU.issue_rate)


def test_doubles_are_multiplied_on_matrix_units() -> None:
    a, b = (el.array(name, el.f64, shape) for name, shape in (("A", (64, 128)), ("B", (128, 32))))
    assert products_seconds(as_program(a @ b), GPU, True) == pytest.approx(64 * 32 * 128 / GPU.issue_rate)
    assert products_seconds(as_program(a @ b), replace(GPU, matrix_costs={}), True) == pytest.approx(
        64 * 32 * 128 * GPU.type_costs["f64"] / GPU.issue_rate
    )


def test_of_a_symmetric_product_half_is_wanted() -> None:
    a = arr("A", 64, 128)
    program = as_program(a @ a.T)
    assert products_seconds(program, GPU, True) == pytest.approx(64 * 65 / 2 * 128 / GPU.issue_rate)
    assert products_seconds(program, GPU, True, halves=False) == pytest.approx(64 * 64 * 128 / GPU.issue_rate)


def test_sums_of_windows_may_become_others() -> None:
    weights, image = arr("w", 3), arr("x", 4096)
    program = as_program(el.slide(3, 1, image).map(lambda win: dot(win, weights)))
    assert products_seconds(program, GPU, True) == 0


def test_sums_in_one_dimension_bound_no_cpu() -> None:
    program = as_program(arr("A", 64, 64).map(add_up))
    assert products_seconds(program, CPU, True) == 0
    assert products_seconds(program, GPU, True) > 0


def served(value: object) -> bool:
    return served_by_stages(as_program(value), 1.0, GPU, True)


def test_laws_are_searched_on_gpus_where_neighbours_are_read() -> None:
    weights, image = arr("w", 3), arr("x", 4097)
    for step in (1, 2):
        assert not served(el.slide(3, step, image).map(lambda win: dot(win, weights)))
    assert not served(image[1:] - image[:-1])
    assert not served(el.slide2d(3, 1, arr("A", 66, 66)).map(lambda row: row.map(lambda win: add_up(win.join()))))


def test_laws_are_not_searched_on_gpus_for_other_stages() -> None:
    a, x = arr("A", 4096, 64), arr("x", 4096)
    assert served(add_up(x)) and served(a.map(add_up)) and served(a.T.map(add_up))
    assert served(product(64, 32, 128)) and served(x.map(lambda v: v * v)) and served(x[::-1] + x)
    assert served(el.slide(4, 4, x).map(add_up)), "these windows share nothing"
    assert not served_by_stages(as_program(add_up(x)), 1.0, CPU, True)


def convolution(channels: int) -> object:
    """Windows of 3 x 3, of 4 channels, each of which is read for so many channels of the result."""
    x, w = arr("x", 4, 34, 34), arr("w", channels, 4, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    return el.einsum("chwij,kcij->khw", windows, w)


def test_windows_that_many_results_read_are_a_products_operand() -> None:
    assert served(convolution(8)) and not served(convolution(2))


def test_laws_save_no_operations_of_elements() -> None:
    image = arr("A", 4098, 4098)
    slopes = image[1:-1, 2:] - image[1:-1, 1:-1]
    costly = as_program(el.exp(el.sin(slopes) / el.cos(slopes)) / el.sqrt(slopes))
    least = 2 * 4 * 4096 * 4096 / GPU.bandwidth
    assert served_by_stages(costly, 1.1 * least, GPU, True)
    assert not served_by_stages(as_program(slopes), 1.1 * least, GPU, True)
    assert not served_by_stages(costly, 1.1 * least, CPU, True)


def test_each_part_reads_its_inputs_and_writes_its_result() -> None:
    long, short = as_program(arr("x", 1 << 26).map(lambda v: v * 2)), as_program(arr("x", 1000).map(lambda v: v * 2))
    assert parts_seconds([long], GPU) == pytest.approx(2 * (4 << 26) / GPU.bandwidth)
    assert parts_seconds([short], GPU) == pytest.approx(8000 / GPU.cache_bandwidth)
    assert parts_seconds([long, short], GPU) == pytest.approx(
        2 * (4 << 26) / GPU.bandwidth + 8000 / GPU.cache_bandwidth + GPU.launch
    )


def test_a_part_that_chooses_elements_may_read_few() -> None:
    x = arr("x", 1 << 26)
    assert parts_seconds([as_program(x[::1024] * 2)], GPU) == pytest.approx((4 << 16) / GPU.cache_bandwidth)


def test_a_kernel_is_launched_and_writes_its_results() -> None:
    stage = only_stage(arr("A", 1 << 14, 64).map(add_up))
    assert kernel_seconds(stage, GPU) == pytest.approx(GPU.launch + (4 << 14) / GPU.cache_bandwidth)


def test_tiles_of_chains_are_multiplied_one_by_one() -> None:
    a, b = (el.array(name, el.f16, (256, 256)) for name in "AB")
    stage = only_stage(a @ b)
    assert operations_seconds([stage], GPU) > 4 * products_seconds(as_program(a @ b), GPU, True)
