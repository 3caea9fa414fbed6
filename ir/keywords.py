"""Calls that do not fit a function's parameters: the error says which word is wrong, and what to write instead."""

from __future__ import annotations

import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from traceback import walk_tb
from types import FrameType
from typing import Any, TypeVar

from egglift.ir.errors import EggliftError, TypeMismatch

C = TypeVar("C", bound=type)
#: words of NumPy's calls that say how and where to compute: what a program has instead
INSTEAD = {
    "out": "values do not change; use what the call returns, and give out= when the kernel is called",
    "where": "write where(condition, ..., other) around it: elements have values everywhere",
    "dtype": "cast what goes in, or what comes out, with x.astype(type)",
    "type": "the word is dtype=",
    "casting": "types meet as in NumPy; cast with x.astype(type)",
    "order": "arrays of a program have no order in memory, and are read row by row: transpose, then read",
    "subok": "leave it out: there is one class of values",
    "copy": "leave it out: values do not change",
    "like": "leave it out: there is one class of values",
    "device": "leave it out: el.optimize(program, device) says where a program runs",
    "axis": "it takes all elements, or a fixed axis: moveaxis(x, axis, 0) brings another there",
    "axes": "moveaxis brings axes to their places",
    "dim": "the word is axis=",
    "keepdim": "the word is keepdims=",
    "keepdims": "expand_dims(result, axis) brings back an axis of length 1",
    "initial": "combine the result with it: result + initial, or maximum(result, initial)",
    "correction": "the word is ddof=",
    "mean": "leave it out: a mean that is computed twice is found and computed once",
    "weights": "multiply by them first",
    "density": "divide the counts by their sum and by the widths of the bins",
    "returned": "the sum of the weights is weights.sum(axis)",
    "optimize": "leave it out: products are combined in the order that takes the fewest steps",
    "sparse": "leave it out, and use v[:, None] where lengths of 1 are to be repeated",
    "retstep": "leave it out: the step is (stop - start) / (num - 1)",
    "minlength": "the number of counts is a length, given as n",
    "include_initial": "el.scan(op, init, x, exclusive=True) begins with init",
    "a_min": "the word is min=",
    "a_max": "the word is max=",
    "shift": "the number comes first: roll(shift, x)",
    "mode": "indices are clamped into the array",
    "constant_values": 'write pad(left, right, ("constant", value), x)',
    "shape": "give the lengths without the word",
    "newshape": "give the lengths without the word",
}


def bound(name: str, function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """TypeMismatch where a function does not take these arguments: which one, what it takes, what to do."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **named)
    except TypeError as error:
        wrong = next((word for word in named if word not in signature.parameters), None)
        what = str(error) if wrong is None else f"it has no {wrong}="
        advice = "" if wrong not in INSTEAD else f": {INSTEAD[wrong]}"
        raise TypeMismatch(f"{name}: {what}{advice}; it takes ({_parameters(signature)})") from None


def _parameters(signature: inspect.Signature) -> str:
    return ", ".join(p.name if p.default is p.empty else f"{p.name}=" for p in signature.parameters.values())


def explained(function: Callable[..., Any], name: str, bare: int = 0) -> Callable[..., Any]:
    """The function; called with what it does not take, it raises TypeMismatch instead of Python's errors.

    bare: how many arguments Python adds: 1 of a method, whose `self` is not spoken of.
    """

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except EggliftError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            own = functools.partial(function, *args[:bare]) if bare else function
            if isinstance(error, TypeError):
                bound(name, own, args[bare:], named)
            if not is_own(sys._getframe(1)) and all(is_own(frame) for frame, _ in walk_tb(error.__traceback__)):
                signature = inspect.signature(own)
                shown = ", ".join([*map(_brief, args[bare:]), *(f"{word}={_brief(x)}" for word, x in named.items())])
                raise TypeMismatch(f"{name}({shown}): {error}; it takes ({_parameters(signature)})") from error
            raise

    return called


def is_own(frame: FrameType) -> bool:
    """Is it egglift that runs there, and not what calls it, or a function that it was given?"""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "egglift"


def _brief(x: Any) -> str:
    return textwrap.shorten(repr(x), 40, placeholder=" ...")


def explain(namespace: MutableMapping[str, Any]) -> None:
    """Every public function that a module defines, and its other names, explained: for the end of the module."""
    own = {
        f: explained(f, f"el.{f.__name__}")
        for f in namespace.values()
        if inspect.isfunction(f) and f.__module__ == namespace["__name__"] and not f.__name__.startswith("_")
    }
    for name, value in [*namespace.items()]:
        if inspect.isfunction(value) and value in own:
            namespace[name] = own[value]


def methods_explained(kind: C) -> C:
    """A class whose public methods are explained."""
    for name, value in [*vars(kind).items()]:
        if inspect.isfunction(value) and not name.startswith("_"):
            setattr(kind, name, explained(value, f"x.{name}", 1))
    return kind
