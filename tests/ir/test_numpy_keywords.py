"""Words of NumPy's calls: each works as in NumPy, or is refused by an error of ours that says what to do."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.ir.array_api import LEFT_OUT, STANDARD
from egglift.ir.keywords import INSTEAD
from egglift.ir.types import scalar_of

GRID = np.random.default_rng(5).normal(size=(3, 4)).astype("f4")
MASK, WHOLE = GRID > 0, (GRID * 9).astype("i4")
Call = Callable[[Any, Any], Any]

#: calls that work alike: `m` is egglift and NumPy, `x` the program's input and its array
WORK: list[Call] = [
    lambda m, x: m.sum(x, axis=(-1, 0), keepdims=True),
    lambda m, x: m.sum(x, dtype=np.float64),
    lambda m, x: m.sum(x, axis=0, initial=3.5),
    lambda m, x: m.sum(x, axis=0, where=MASK, initial=2),
    lambda m, x: m.prod(x, axis=-1, dtype="f8", initial=2),
    lambda m, x: m.mean(x, axis=1, dtype=np.float64),
    lambda m, x: m.var(x, axis=0, ddof=1, dtype=np.float64, keepdims=True),
    lambda m, x: m.std(x, axis=(0, 1), ddof=0.5),
    lambda m, x: m.max(x, axis=0, where=MASK, initial=-9),
    lambda m, x: m.amin(x, axis=-2),
    lambda m, x: m.nanmax(m.where(MASK, x, np.nan), axis=0, keepdims=True),
    lambda m, x: m.nanmin(m.where(x > 9, x, np.nan), axis=1),
    lambda m, x: m.cumsum(x, axis=-1, dtype=np.float64),
    lambda m, x: m.cumprod(x, dtype="f8"),
    lambda m, x: m.average(x, axis=0, weights=[1, 2, 3]),
    lambda m, x: m.average(x, axis=1, weights=np.arange(4.0), keepdims=True),
    lambda m, x: m.average(x[:, :3], axis=0, weights=[1, 2, 3]),
    lambda m, x: m.average(x, axis=(1, 0), weights=np.arange(12.0).reshape(4, 3)),
    lambda m, x: m.argmax(x, axis=-1, keepdims=True),
    lambda m, x: m.transpose(x, (1, 0)),
    lambda m, x: m.transpose(m.stack([x, x], axis=-1), (2, 0, 1)),
    lambda m, x: x.transpose(1, 0),
    lambda m, x: m.repeat(x, repeats=2, axis=1),
    lambda m, x: x.repeat(2, axis=0),
    lambda m, x: m.tile(x, reps=(2, 1)),
    lambda m, x: m.swapaxes(x, axis1=0, axis2=-1),
    lambda m, x: m.clip(x, min=-0.5, max=0.5),
    lambda m, x: x.clip(max=0),
    lambda m, x: m.diagonal(x, offset=1),
    lambda m, x: m.diagonal(m.stack([x, 2 * x]), axis1=1, axis2=2),
    lambda m, x: m.trace(x, offset=-1, dtype=np.float64),
    lambda m, x: m.rot90(m.stack([x, 2 * x]), k=3, axes=(1, 2)),
    lambda m, x: m.diff(x, n=2, axis=0, prepend=np.float32(0), append=x[:1]),
    lambda m, x: m.diff(x > 0, axis=1),
    lambda m, x: m.vecdot(x, x, axis=0),
    lambda m, x: m.round(x, decimals=2),
    lambda m, x: m.isclose(x, 0, rtol=1e-3, atol=0.5),
    lambda m, x: m.nan_to_num(m.where(x > 0, np.nan, x), nan=7.0),
    lambda m, x: x.astype(np.float64),
    lambda m, x: x.astype(dtype="i4"),
    lambda m, x: m.eye(3, 4, k=1, dtype=np.float32) * x,
    lambda m, x: m.linspace(0, 1, num=4, endpoint=False, dtype="f4") + x,
    lambda m, x: m.arange(4, dtype="f4") + x,
    lambda m, x: m.full((3, 4), fill_value=2, dtype="f4") + x,
    lambda m, x: m.ones_like(x, dtype=np.int32),
    lambda m, x: m.tril(x, k=-1),
    lambda m, x: m.meshgrid(x[0], x[1], indexing="ij")[1],
]
#: calls of NumPy's own functions, where egglift's have another name or order
NUMPYS: list[Call] = [
    lambda m, x: np.roll(x, 5),
    lambda m, x: np.roll(x, 1, axis=1),
    lambda m, x: np.roll(x, shift=(1, -2), axis=(0, 1)),
    lambda m, x: np.roll(x, 1, axis=(0, 1)),
    lambda m, x: np.sum(x, 0, None, None, True),
    lambda m, x: np.var(x, 1, np.float64),
    lambda m, x: np.clip(x, a_min=0, a_max=None),
    lambda m, x: np.transpose(np.stack([x, x, x])),
    lambda m, x: np.take(x, [2, -1, 0], axis=1),
    lambda m, x: np.take(x, np.array([[2, 7], [1, 0]])),
    lambda m, x: np.take(x, [5, 9, -3], axis=0, mode="clip"),
    lambda m, x: np.take(x, [5, 9, -3], axis=0, mode="wrap"),
    lambda m, x: np.pad(x, 1),
    lambda m, x: np.pad(x, ((1, 0), (0, 2)), constant_values=((1, 2), (3, 4))),
    lambda m, x: np.pad(x, (2, 1), mode="edge"),
    lambda m, x: np.pad(x, 2, mode="reflect"),
    lambda m, x: np.pad(x, 2, mode="symmetric"),
    lambda m, x: np.pad(x, 2, mode="wrap"),
    lambda m, x: np.cross(x[:, :3], x[0, 1:]),
    lambda m, x: np.linalg.norm(x, 1, axis=1),
    lambda m, x: np.linalg.norm(x, np.inf),
    lambda m, x: np.linalg.norm(x, -np.inf, axis=0, keepdims=True),
    lambda m, x: np.linalg.norm(x, 3, axis=0),
    lambda m, x: np.linalg.norm(x, "fro", keepdims=True),
    lambda m, x: np.linalg.norm(x, 1, axis=(1, 0)),
    lambda m, x: np.linalg.vector_norm(x, ord=1),
    lambda m, x: np.linalg.matrix_norm(np.stack([x, 2 * x]), ord=-1),
    lambda m, x: np.reshape(x, (2, -1)),
    lambda m, x: np.add.reduce(x),
    lambda m, x: np.maximum.reduce(x, axis=1, keepdims=True),
    lambda m, x: np.multiply.outer(x[0], x),
    lambda m, x: np.concatenate([x, x], axis=-1),
]


def interpreted(e: Any, array: Any) -> Any:
    """What a program means for its input, if it has one."""
    return el.interpret(e, **{name: array for name in ("x",) if "input x" in el.dumps(e)})


def same(f: Call) -> None:
    """What the interpreter says of a call on the input is what NumPy says of it on the array."""
    with np.errstate(all="ignore"):
        want = np.asarray(f(np, GRID))
    got = interpreted(f(el, el.array("x", el.f32, GRID.shape)), GRID)
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", WORK, ids=range(len(WORK)))
def test_words_mean_what_they_mean_in_numpy(f: Call) -> None:
    same(f)


@pytest.mark.parametrize("f", NUMPYS, ids=range(len(NUMPYS)))
def test_calls_of_numpys_functions_keep_its_order(f: Call) -> None:
    same(f)


def test_weights_are_added_for_each_number() -> None:
    k, w = np.array([3, 1, 1, 0, 9, -1], "i4"), np.arange(6, dtype="f4")
    e = el.bincount(el.array("k", el.i32, 6), 4, weights=el.array("w", el.f32, 6))
    got = el.interpret(e, k=k, w=w)
    assert got.dtype == np.float64 and got.tolist() == np.bincount(k[:4], w[:4], 4).tolist()


def test_patterns_have_axes_too() -> None:
    x = el.array("x", el.f32, GRID.shape)
    for e, want in (
        (el.roll(1, x), np.roll(GRID, 1, 0)),
        (el.roll(-1, x, axis=1), np.roll(GRID, -1, 1)),
        (x.roll((1, 2), axis=(0, -1)), np.roll(GRID, (1, 2), (0, 1))),
        (el.roll(3, x, axis=None), np.roll(GRID, 3)),
        (el.concat(x, x, axis=1), np.concatenate([GRID, GRID], 1)),
        (x.concat(2 * x, x, axis=-1), np.concatenate([GRID, 2 * GRID, GRID], 1)),
        (el.transpose(x, (1, 0)), GRID.T),
    ):
        np.testing.assert_array_equal(el.interpret(e, x=GRID), want)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: el.roll(x, 1), r"roll\(shift, x\) takes the array last"),
        (lambda x: el.slide(x, 3, 1), r"slide\(size, step, x\) takes the array last"),
        (lambda x: el.pad(x, 1, 1, "clamp"), r"pad\(left, right, mode, x\) takes the array last"),
        (lambda x: el.exp(x, out=x), "el.exp: it has no out=: values do not change"),
        (lambda x: np.exp(x, out=x), "numpy.exp with out= is not taken in a program: values do not change"),
        (lambda x: np.add(x, 1, where=x > 0), r"numpy.add with where= .*: write where\(condition"),
        (lambda x: el.zeros(3, type=el.f32), "el.zeros: it has no type=: the word is dtype="),
        (lambda x: x.sum(0, np.float64), "keepdims must be True or False"),
        (lambda x: el.clip(x, a_min=0), "the word is min="),
        (lambda x: el.var(x, correction=1), "the word is ddof="),
        (lambda x: np.linalg.norm(x, 2), "norm of order 2 of matrices needs singular values"),
        (lambda x: np.where(x > 0), "numpy.where of a condition alone"),
        (lambda x: np.add.at(x, 0, 1), "numpy.add.at is not taken in a program"),
        (lambda x: np.mean(x, dtype=int), "a mean or variance of x in i64: give a float type"),
        (lambda x: el.average(x, weights=[1, 2, 3]), "give weights of its shape, or of the lengths of the axes"),
        (lambda x: el.bincount(x.cast("i4")[0], 3, weights=[1.0]), "give as many"),
        (lambda x: np.pad(x, 1, mode="linear_ramp"), "numpy.pad: mode 'linear_ramp' is not taken in a program"),
        (lambda x: el.roll((1, 2, 3), x, axis=(0, 1)), "3 shifts along 2 axes; give one for each"),
        (lambda x: el.transpose(x, (0,)), "it has 2 axes, and .0,. names 1"),
    ],
)
def test_what_does_not_fit_says_what_to_do(f: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(el.EggliftError, match=message):
        f(el.array("x", el.f32, GRID.shape))


# ---------------------------------------------------------------------------------------- all functions, all words

#: arguments of functions that take others than one array
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "take_along_axis": (np.zeros((3, 4), "i8"),),
    "matrix_power": (),
    "expand_dims": (0,),
    "swapaxes": (0, 1),
    "moveaxis": (0, 1),
    "tile": (2,),
    "repeat": (2,),
    "broadcast_to": ((2, 3, 4),),
    "permute_dims": ((1, 0),),
    "full_like": (1,),
    "astype": (np.float64,),
}
FORMS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "where": lambda x: (x > 0, x, x),
    "stack": lambda x: ([x, x],),
    "concatenate": lambda x: ([x, x],),
    "hstack": lambda x: ([x, x],),
    "vstack": lambda x: ([x, x],),
    "column_stack": lambda x: ([x, x],),
    "meshgrid": lambda x: (x[0], x[1]),
    "einsum": lambda x: ("ij,kj->ik", x, x),
    "matrix_power": lambda x: (x[:, :3], 2),
    "diag": lambda x: (x[0],),
    "eye": lambda x: (3,),
    "zeros": lambda x: (3,),
    "ones": lambda x: (3,),
    "full": lambda x: (3, 1.0),
    "linspace": lambda x: (0.0, 1.0),
    "arange": lambda x: (5,),
    "matmul": lambda x: (x, x.T),
    "dot": lambda x: (x, x.T),
    "histogram": lambda x: (x, 4, (0, 1)),
    "bincount": lambda x: (x[0].astype(np.int32), 5),
}
WORDS: dict[str, list[Any]] = {
    "axis": [0, -1, (0, 1)],
    "keepdims": [True],
    "dtype": [np.float64],
    "initial": [0.5],
    "ddof": [1],
    "where": [np.array([[True], [False], [True]])],
    "k": [1],
    "offset": [1],
    "decimals": [1],
    "weights": [GRID],
    "out": [np.zeros((3, 4), "f4")],
    "casting": ["same_kind"],
    "order": ["F"],
    "subok": [True],
    "equal_nan": [True],
}
NAMES = sorted(
    {n for names in STANDARD.values() for n in names.split() if n not in LEFT_OUT} | set(el.numpy_names.__all__)
)


def functions() -> Iterator[str]:
    """The names that are functions of NumPy's as well."""
    for name in NAMES:
        if (
            callable(getattr(el, name))
            and callable(getattr(np, name, None))
            and name not in ("cross", "take", "roll", "concat")
        ):
            yield name


def given(name: str, x: Any, mine: bool) -> tuple[Any, ...]:
    """What a function is called with: of an input of a program, or of an array of NumPy's."""
    if name in FORMS:
        return FORMS[name](x)[: 1 if name == "bincount" and not mine else None]
    if name in ARGUMENTS:
        return (x, *ARGUMENTS[name])
    return (x,) * (getattr(np, name).nin if isinstance(getattr(np, name), np.ufunc) else needed(name))


def needed(name: str) -> int:
    parameters = inspect.signature(getattr(el, name)).parameters.values()
    return sum(q.default is q.empty and q.kind != q.VAR_POSITIONAL for q in parameters)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*functions()])
def test_every_word_works_or_is_refused_by_us(name: str) -> None:
    x = el.array("x", scalar_of(GRID.dtype), GRID.shape)
    whole = name.startswith(("bitwise", "left", "right", "invert"))
    array = WHOLE if whole else GRID
    x = el.array("x", scalar_of(array.dtype), array.shape)
    for word, values in WORDS.items():
        for value in values:
            try:
                e = getattr(el, name)(*given(name, x, True), **{word: value})
                got = interpreted(e, array)
            except el.EggliftError:
                continue
            try:
                want = np.asarray(getattr(np, name)(*given(name, array, False), **{word: value}))
            except (TypeError, ValueError):  # NumPy has not everything that egglift has
                continue
            assert np.shape(got) == want.shape, (word, value)
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-6, err_msg=f"{word}={value}")


def test_words_that_are_refused_say_what_to_write() -> None:
    x = el.array("x", el.f32, GRID.shape)
    for name in ("exp", "maximum", "sqrt", "log1p", "isclose", "transpose"):
        for word in ("out", "dtype", "casting", "order", "subok"):
            with pytest.raises(el.TypeMismatch) as error:
                getattr(el, name)(*given(name, x, True), **{word: None})
            assert INSTEAD[word] in str(error.value), name
