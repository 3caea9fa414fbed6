"""Names of torch, JAX and SciPy are answered with what to write here, and not with what is spelt nearly so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.foreign_names import FOREIGN, TYPES

X, Y = el.array("x", el.f32, (3, 4)), el.array("y", el.f32, (3, 4))
GIVEN = np.arange(12, dtype="f4").reshape(3, 4) - 5


def softmax(x: Any) -> Any:
    p = np.exp(x - x.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("relu", np.maximum(GIVEN, 0)),
        ("relu6", np.clip(GIVEN, 0, 6)),
        ("sigmoid", 1 / (1 + np.exp(-GIVEN))),
        ("softplus", np.log1p(np.exp(GIVEN))),
        ("softmax", softmax(GIVEN)),
        ("log_softmax", np.log(softmax(GIVEN))),
        ("silu", GIVEN / (1 + np.exp(-GIVEN))),
        ("leaky_relu", np.where(GIVEN > 0, GIVEN, 0.01 * GIVEN)),
        ("elu", np.where(GIVEN > 0, GIVEN, np.expm1(GIVEN))),
        ("layer_norm", (GIVEN - GIVEN.mean(-1, keepdims=True)) / np.sqrt(GIVEN.var(-1, keepdims=True) + 1e-5)),
        ("t", GIVEN.T),
        ("unsqueeze", GIVEN[:, None]),
    ],
)
def test_what_is_advised_computes_what_was_meant(name: str, wanted: Any) -> None:
    text, _, where = FOREIGN[name].partition(", or ")[0].partition(", with ")
    names: dict[str, Any] = {"el": el, "x": X, "math": math, "np": np}
    if where:
        bound, _, value = where.partition(" = ")
        names[bound] = eval(value, names)
    assert np.allclose(el.interpret(eval(text, names), x=GIVEN), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", sorted({**FOREIGN, **TYPES}))
def test_no_name_is_one_that_there_is(name: str) -> None:
    assert not hasattr(X, name)
    if name not in el.__all__:
        with pytest.raises(AttributeError, match="egglift has no"):
            getattr(el, name)


@pytest.mark.parametrize(
    ("name", "of_module", "of_value"),
    [
        ("relu", "el.maximum(x, 0)", "el.maximum(x, 0)"),
        ("float32", "el.f32 is that type", "x.cast(el.f32)"),
        ("view", "x.reshape(shape)", "x.reshape(shape)"),
        ("relu_", "values do not change: el.maximum(x, 0)", "values do not change: el.maximum(x, 0)"),
        ("vmap", "el.map(f, x)", "el.map(f, x)"),
    ],
)
def test_modules_and_values_say_what_to_write(name: str, of_module: str, of_value: str) -> None:
    for owner, advice in ((el, of_module), (X, of_value)):
        with pytest.raises(AttributeError) as refused:
            getattr(owner, name)
        assert advice in str(refused.value) and "did you mean" not in str(refused.value)


def test_torchs_words_of_calls_are_told() -> None:
    with pytest.raises(el.TypeMismatch, match="the word is axis="):
        X.sum(dim=0)  # type: ignore[call-arg]
    with pytest.raises(el.TypeMismatch, match="the word is keepdims="):
        el.max(X, axis=1, keepdim=True)  # type: ignore[call-arg]


@pytest.mark.parametrize("second", [3, 0.5, Y])
def test_the_greater_of_two_is_not_sought_along_an_axis(second: Any) -> None:
    with pytest.raises(el.EggliftError, match=r"the second argument of max is an axis; .* is el.maximum\(x, y\)"):
        el.max(X, second)
    with pytest.raises(el.EggliftError, match=r"the lesser of two, element by element, is el.minimum\(x, y\)"):
        X.min(second)
