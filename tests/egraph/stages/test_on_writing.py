"""What all readers make of an element is made where it is written: when, and what it means then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import egglift as el
from tests.egraph.staged import texts


def f32(name: str, *shape: int) -> Any:
    return el.array(name, el.f32, shape)


def f16(name: str, *shape: int) -> Any:
    return el.array(name, el.f16, shape)


def product() -> Any:
    return f32("A", 12, 20) @ f32("B", 20, 16)


def windows(x: Any, f: Callable[[Any], Any]) -> Any:
    """The sums of f over three neighbours."""
    return el.map(lambda w: el.reduce(el.add, 0.0, el.map(f, w)), el.slide(3, 1, x))


C = f32("C", 16, 8)
#: programs of two stages, by what the second makes of the first, and what the first writes then
MOVED: dict[str, tuple[Callable[[], Any], str]] = {
    "a function": (lambda: el.maximum(product(), 0) @ C, "(maximum (add for"),
    "a function that reads it twice": (lambda: (lambda y: y * el.tanh(y))(product()) @ C, "(tanh (add for"),
    "fewer bytes": (
        lambda: el.maximum((f16("a", 12, 20) @ f16("b", 20, 16)).astype(el.f32), 0).astype(el.f16) @ f16("c", 16, 8),
        "(cast f16 (maximum (cast f32 (cast f16 (add for",
    ),
    "where it is read across": (lambda: C.T @ el.exp(product()).T, "(exp (add for"),
    "where borders are elements of it, too": (
        lambda: windows(el.pad(1, 1, "mirror", f32("A", 64, 96).sum(axis=1)), el.exp),
        "(exp (add for",
    ),
    "where it is read in windows": (lambda: windows(f32("A", 64, 96).sum(axis=1), el.exp), "(exp (add for"),
}
#: the same where it stays as it is
KEPT: dict[str, Callable[[], Any]] = {
    "two functions": lambda: el.tuple(el.tanh(product()) @ C, el.exp(product()) @ C),
    "itself, too": lambda: el.tuple(el.tanh(product()) @ C, product() @ C),
    "it is a result": lambda: el.tuple(product(), el.tanh(product()) @ C),
    "something of a row": lambda: (product() + f32("v", 16)) @ C,
    "more bytes": lambda: product().astype(el.f64) @ C.astype(el.f64),
    "other values at borders": lambda: windows(el.pad(1, 1, ("constant", 2.0), f32("A", 64, 96).sum(axis=1)), el.exp),
}


@pytest.mark.parametrize("name", MOVED)
def test_it_is_made_where_it_is_written(name: str) -> None:
    make, text = MOVED[name]
    first, last = texts(make())
    assert text in first
    assert text[: text.index(" (add for")] not in last


@pytest.mark.parametrize("name", KEPT)
def test_it_stays_where_not_all_want_the_same(name: str) -> None:
    assert " = (add for" in texts(KEPT[name]())[0]
