"""The catalogue of programs, and how a command line names one at a size."""

from __future__ import annotations

import numpy as np
import pytest

import egglift as el
from benchmarks.baselines import TORCH
from benchmarks.carried import traffic
from benchmarks.programs.catalogue import Entry, chosen, entries, entry
from egglift.costmodel.measurement.expected_results import flatten, sample_inputs
from egglift.ir.signature import inputs_of
from egglift.ir.types import Type, leaves


def shapes(t: Type) -> list[tuple[object, ...]]:
    return [shape for shape, _ in leaves(t)]


@pytest.mark.parametrize("e", list(entries()), ids=lambda e: e.name)
def test_inputs_fit_the_program_at_every_small_size(e: Entry) -> None:
    for size in [s for s in e.sizes if np.prod(s) < 10_000]:
        given = e.inputs(*size, np.random.default_rng(0))
        wanted = inputs_of(el.as_program(e.program(*size)))
        assert given.keys() == wanted.keys()
        for name, value in given.items():
            assert [part.shape for part in flatten(value)] == shapes(wanted[name]), (name, size)


@pytest.mark.parametrize("e", list(entries()), ids=lambda e: e.name)
def test_sizes_are_distinct_and_of_one_dimension(e: Entry) -> None:
    assert len(set(e.sizes)) == len(e.sizes)
    assert len({len(size) for size in e.sizes}) == 1


def test_a_command_line_names_a_program_at_a_size() -> None:
    ((e, size),) = chosen(["matmul:1000,1003,997"], lambda e: e.sizes[0])
    assert (e.name, size) == ("matmul-f32", (1000, 1003, 997))
    ((e, size),) = chosen(["gemm-tn:2,3,4"], lambda e: e.sizes[0])
    assert (e.name, size) == ("gemm-tn", (2, 3, 4))


def test_without_a_size_every_variant_has_its_usual_one() -> None:
    found = list(chosen(["pair_distances", "nbody"], lambda e: e.sizes[0]))
    assert [e.name for e, _ in found] == ["pair_distances-squared", "pair_distances-manhattan", "nbody"]
    assert [size for _, size in found] == [(1, 1, 1), (1, 1, 1), (1,)]


def test_without_a_name_all_programs_are_chosen() -> None:
    assert [e.name for e, _ in chosen([], lambda e: e.sizes[0])] == [e.name for e in entries()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("matmull:3", "there is no program matmull; there are .*matmul-f32"),
        ("matmul:3", "matmul-f32 takes 3 lengths, not 1; write matmul-f32:2048,512,1024"),
        ("nbody:many", "many is no size; write nbody:4096"),
    ],
)
def test_a_wrong_name_or_size_is_explained(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(chosen([text], lambda e: e.sizes[0]))


def test_traffic_is_each_input_and_each_output_once() -> None:
    assert traffic(el.as_program(entry("axpy").program(100))) == 4 * (1 + 3 * 100)
    assert traffic(el.as_program(entry("gemm").program(3, 5, 7))) == 4 * (2 + 3 * 7 + 7 * 5 + 2 * 3 * 5)
    assert traffic(el.as_program(entry("nbody").program(10))) == 4 * 7 * 10


def test_every_baseline_takes_its_programs_inputs() -> None:
    """A stand-in for torch takes any call: what is seen is that names of programs and of inputs are right."""

    class Anything:
        def __getattr__(self, name: str) -> Anything:
            return self

        def __call__(self, *args: object, **named: object) -> Anything:
            return self

        __getitem__ = __add__ = __sub__ = __gt__ = __call__

    names = {e.name: e for e in entries()}
    for name, call in TORCH.items():
        size = names[name].sizes[0]
        inputs = sample_inputs(el.as_program(names[name].program(*size)))
        call(Anything(), **dict.fromkeys(inputs, Anything()))
