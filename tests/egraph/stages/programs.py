"""Small programs of every kind that stages are made of: awkward lengths, all ranks, all types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import egglift as el

Value = Any


def arr(name: str, *shape: int, t: Any = el.f32) -> Value:
    return el.array(name, t, shape if len(shape) > 1 else shape[0])


def add_up(x: Value) -> Value:
    """The sum of an array of any rank."""
    return el.reduce(el.add, 0, x if len(x.shape) == 1 else x.map(add_up))


def dot(a: Value, b: Value) -> Value:
    return add_up(el.zip(a, b).map(lambda v: v[0] * v[1]))


def product(m: int, n: int, k: int, t: Any = el.f32) -> Value:
    return arr("A", m, k, t=t) @ arr("B", k, n, t=t)


def batched(*batch: int) -> Value:
    """Products of matrices in so many batch dimensions."""

    def go(a: Value, b: Value, depth: int) -> Value:
        return a @ b if depth == 0 else el.map(lambda x, y: go(x, y, depth - 1), a, b)

    return go(arr("A", *batch, 5, 7), arr("B", *batch, 7, 3), len(batch))


def convolution(step: int = 1, dilation: int = 1) -> Value:
    """n o h w | c i j."""
    x, w = arr("x", 1, 3, 4 + dilation, 8), arr("w", 2, 3, 2, 3)

    def strided(win: Value) -> Value:
        if dilation == 1:
            return win
        return el.gather([0, dilation], win).map(lambda r: el.gather([0, dilation, 2 * dilation], r))

    def image(img: Value, f: Value) -> Value:
        s = img.map(lambda ch: el.slide2d([dilation + 1, 2 * dilation + 1], step, ch))
        places = el.transpose(s).map(el.transpose)
        return places.map(
            lambda row: row.map(lambda win: add_up(el.map(lambda a, b: el.map(dot, strided(a), b), win, f)))
        )

    return x.map(lambda img: w.map(lambda f: image(img, f)))


def distances() -> Value:
    x, y = arr("X", 7, 5), arr("Y", 9, 5)
    return el.allpairs(lambda a, b: add_up(el.zip(a, b).map(lambda v: (v[0] - v[1]) * (v[0] - v[1]))), x, y)


def mean_and_largest() -> Value:
    """Two reductions in one body."""
    return arr("A", 6, 31).map(lambda r: add_up(r) / 31 + el.reduce(el.maximum, float("-inf"), r))


def uses_several_times() -> Value:
    return product(5, 7, 9).map(lambda r: r.map(lambda v: v * el.exp(-(v * v)) + v))


def softmax(row: Value) -> Value:
    largest = row.reduce(el.maximum, float("-inf"))
    powers = row.map(lambda v: el.exp(v - largest))
    total = add_up(powers)
    return powers.map(lambda v: v / total)


def third_operand() -> Value:
    d = arr("d", 7)
    return arr("A", 5, 7).map(
        lambda r: arr("B", 7, 6).T.map(lambda c: add_up(el.zip(r, c, d).map(lambda v: v[0] * v[1] * v[2])))
    )


def masked() -> Value:
    mask = arr("mask", 5, 7, t=el.bool_)
    return el.map(
        lambda r, m: arr("B", 7, 6).T.map(
            lambda c: add_up(el.zip(r, c, m).map(lambda v: el.where(v[2], v[0] * v[1], 0.0)))
        ),
        arr("A", 5, 7),
        mask,
    )


def rotated(*axes: int) -> Value:
    """The first axis last."""
    x = arr("x", *axes)

    def go(v: Value, depth: int) -> Value:
        return el.transpose(v) if depth == 1 else el.transpose(v).map(lambda r: go(r, depth - 1))

    return go(x, len(axes) - 1)


#: name -> the program
PROGRAMS: dict[str, Callable[[], Value]] = {
    **{
        f"product of {m} {n} {k}": lambda m=m, n=n, k=k: product(m, n, k)
        for m, n, k in (
            (1, 1, 1),
            (2, 3, 5),
            (7, 5, 33),
            (31, 33, 2),
            (64, 1, 3),
            (3, 100, 1),
        )
    },
    **{f"product of {t}": lambda t=t: product(5, 6, 7, getattr(el, t)) for t in ("f64", "i32", "i8", "u8")},
    "reachable": lambda: arr("A", 5, 6, t=el.bool_).map(
        lambda r: arr("B", 6, 4, t=el.bool_).T.map(
            lambda c: el.reduce(el.logical_or, False, el.zip(r, c).map(lambda v: v[0] & v[1]))
        )
    ),
    "product of a transposed": lambda: arr("A", 7, 5).T @ arr("B", 7, 6),
    "product with a transposed": lambda: arr("A", 5, 7) @ arr("B", 6, 7).T,
    "A^T A": lambda: arr("A", 9, 5).T @ arr("A", 9, 5),
    "one batch": lambda: batched(3),
    "two batches": lambda: batched(2, 3),
    "three batches": lambda: batched(2, 3, 2),
    "convolution": convolution,
    "convolution by steps of 2": lambda: convolution(2),
    "dilated convolution": lambda: convolution(1, 2),
    "distances": distances,
    "nearest": lambda: arr("A", 6, 31).map(el.argmin),
    "largest place": lambda: el.argmax(arr("x", 33)),
    "sum and maximum": mean_and_largest,
    "tuple of sums": lambda: el.tuple(
        arr("A", 6, 7).map(add_up), arr("A", 6, 7).T.map(lambda c: el.reduce(el.maximum, float("-inf"), c))
    ),
    "sum and place of a row": lambda: arr("A", 6, 7).map(lambda r: (add_up(r), el.argmax(r))),
    "uses a result several times": uses_several_times,
    "exp(A) @ B": lambda: el.exp(arr("A", 5, 7)) @ arr("B", 7, 6),
    "softmax of rows": lambda: arr("A", 5, 7).map(softmax),
    "third operand": third_operand,
    "masked product": masked,
    "row sums": lambda: arr("A", 33, 7).map(add_up),
    "column sums": lambda: arr("A", 7, 33).T.map(add_up),
    "sum": lambda: add_up(arr("x", 100)),
    "sum of a matrix": lambda: add_up(arr("A", 7, 31)),
    "transposition": lambda: arr("A", 31, 33).T,
    "rotation of 3": lambda: rotated(3, 5, 7),
    "rotation of 4": lambda: rotated(2, 3, 5, 4),
    "swapped inner axes": lambda: arr("x", 3, 5, 7).map(lambda m: m.T),
    "layer": lambda: el.maximum(product(5, 6, 7) + arr("bias", 6), 0),
    "repeated": lambda: arr("x", 5).map(lambda v: el.fill(7, v)),
    "sum of repeated": lambda: arr("x", 5).map(lambda v: add_up(el.fill(7, v))),
    "stencil": lambda: el.stencil(lambda w: add_up(w), [3, 3], [1, 1], [1, 1], [1, 1], "clamp", arr("A", 7, 9)),
    "neighbours": lambda: arr("N", 5, 3, t=el.i32).map(lambda ids: add_up(el.gather(ids, arr("x", 8)))),
    "joined rows": lambda: arr("A", 5, 7).map(lambda r: el.concat(r, el.exp(r))),
}
