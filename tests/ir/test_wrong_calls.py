"""Calls with what a function does not take: the error names the function, what it was given, and what to do."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import egglift as el

X, A, K = el.array("x", el.f32, 8), el.array("A", el.f32, (4, 6)), el.array("k", el.i32, 8)
WRONG: tuple[Any, ...] = (None, "text", -1, 2.5, [1, 2], object(), {}, X, A, K, el.scalar("s", el.f32), np.zeros(8))
#: what works with devices, files and laws, and not on values
APART = frozenset(["optimize", "jit", "session", "batch", "load", "saturate", "prove", "laws", "book", "devices"])


def functions() -> list[str]:
    own = [(name, getattr(el, name)) for name in sorted(set(el.__all__) - APART)]
    return [name for name, f in own if inspect.isfunction(f) and f.__module__.startswith("egglift.ir.")]


@pytest.mark.parametrize("name", functions())
def test_no_wrong_argument_meets_an_error_of_pythons(name: str) -> None:
    function: Callable[..., Any] = getattr(el, name)
    needed = [
        p for p in inspect.signature(function).parameters.values() if p.default is p.empty and p.kind != p.VAR_KEYWORD
    ]
    for args in itertools.product(WRONG, repeat=min(2, max(1, len(needed)))):
        try:
            function(*args, *[args[-1]] * (len(needed) - len(args)))
        except el.EggliftError as error:
            assert "positional argument" not in str(error) or "takes" in str(error)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: el.take(K, X), r"not <k : \[i32\]8>; x\[places\] and np.take\(x, places\)"),
        (lambda: X.take([1, 2]), "np.take"),
        (lambda: el.scan(lambda a, b: a - b, 0.0, X), "^scan with .* accumulate, which goes left to right"),
        (lambda: el.scan(lambda a, b: (a, b), 0.0, X), "^scan with .* or use accumulate"),
        (lambda: el.reduce(lambda a, b: a - b, 0.0, X), "^reduce with .* fold, which goes left to right"),
        (lambda: el.hstack(None), r"not None: hstack\(\[x, y\]\)"),
        (lambda: el.stack([]), r"not \[\]: stack\(\[x, y\]\)"),
        (lambda: el.permute_dims(A, None), r"^el.permute_dims\(<A .*it takes \(x, axes\)"),
        (lambda: [1, 2][K[0]], "gather"),
        (lambda: el.loads(3), "the text of a program"),  # type: ignore[arg-type]
    ],
)
def test_messages_say_what_to_do(call: Callable[[], Any], why: str) -> None:
    with pytest.raises(el.EggliftError, match=why):
        call()


def test_what_a_users_function_raises_is_the_users() -> None:
    def wrong(v: Any) -> Any:
        return len(5)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len") as raised:
        el.map(wrong, X)
    assert not isinstance(raised.value, el.EggliftError)
