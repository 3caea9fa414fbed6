"""Reads of arrays in other shapes are simplified, and read the same elements."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import egglift as el
from egglift.egraph.stages.reshapes import without_reshapes
from egglift.egraph.stages.stage import Dim, Read
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth, transposed
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.text import dumps
from egglift.ir.types import dims
from tests.deep import every
from tests.egraph.staged import texts
from tests.egraph.stages.programs import arr

MOST = 3000  # elements of an array that is read


def step(x: Expr, rng: Random) -> Expr:
    """`x` with an axis cut or repeated, or two as one or exchanged."""
    lengths = dims(type_of(x))
    axis, inside = rng.randrange(len(lengths)), rng.randrange(len(lengths)) + 1 < len(lengths)
    n, block = rng.choice((2, 3, 4)), rng.choice([d for d in range(1, lengths[axis] + 1) if lengths[axis] % d == 0])
    steps = [lambda e: p.Split(block, e), lambda e: p.Fill(n, e)]
    steps += [p.Join, p.Join, transposed] if inside and axis + 1 < len(lengths) else []
    return at_depth(axis, x, rng.choice(steps))


@pytest.mark.parametrize("seed", every(10, range(40)))
def test_simpler_reads_read_the_same_elements(seed: int) -> None:
    rng = Random(seed)
    for _ in range(25):
        shape = tuple(rng.choice((1, 2, 3, 4, 6, 8)) for _ in range(rng.randint(1, 3)))
        view: Expr = p.Input("x", el.array("x", el.i64, shape).type)
        for _ in range(rng.randint(1, 7)):
            view = step(view, rng) if np.prod(dims(type_of(view))) <= MOST else view
        lengths = dims(type_of(view))
        read = Read(view, tuple(Dim(i, n) for i, n in enumerate(lengths)))
        found = without_reshapes(read)
        values = np.arange(np.prod(shape)).reshape(shape)
        own = np.asarray(el.interpret(found.view, x=values)).transpose(np.argsort([d.number for d in found.dims]))
        spread = own.reshape([n if d in found.dims else 1 for d, n in zip(read.dims, lengths, strict=True)])
        expected = np.asarray(el.interpret(view, x=values))
        assert (np.broadcast_to(spread, expected.shape) == expected).all(), dumps(view)


def test_a_statistic_of_groups_in_another_shape_is_one_a_group() -> None:
    x = arr("x", 4, 12, 3, 5)
    g = x.reshape(4, 3, 60)
    scaled = (g / el.sqrt(g.map(lambda m: m.map(lambda v: v.reduce(el.add, 0.0))))[..., None]).reshape(4, 12, 3, 5)
    first, second = texts(scaled)
    assert first.startswith("stage0[0 < 4, 1 < 3] = (add for 2 < 60 of")
    assert second.startswith("stage1[0 < 4, 1 < 12, 2 < 3, 3 < 5] = (div x[0,1,2,3] ")


def test_products_of_batches_that_are_squared_read_plain_rows() -> None:
    """What is the same for all rows, or for all columns, is read without that axis."""
    a, b = arr("a", 3, 9, 20), arr("b", 3, 9, 20)
    far = a @ np.swapaxes(a, 1, 2) - b @ np.swapaxes(b, 1, 2)
    found = texts((far * far).sum(axis=(1, 2)))
    assert found and not any("fill" in text for text in found)
