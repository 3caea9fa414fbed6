"""A program in NumPy, run by another library that has NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any


def rebound(function: Callable[..., Any], library: Any) -> Callable[..., Any]:
    """The function, and those of the benchmarks that it calls, with `library` for NumPy.

    `rebound(lambda x: np.exp(x), jax.numpy)` is `lambda x: jax.numpy.exp(x)`.
    """
    if isinstance(function, partial):
        return partial(rebound(function.func, library), *function.args, **function.keywords)
    return _Binder(library).of(function) if isinstance(function, FunctionType) else function


class _Binder:
    """Copies of functions, one for each; those of a module share their globals, as they did."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._scopes: dict[int, dict[str, Any]] = {}

    def of(self, f: FunctionType) -> FunctionType:
        """The copy of a function, with the closure that it had."""
        return FunctionType(f.__code__, self._scope(f.__globals__), f.__name__, f.__defaults__, f.__closure__)

    def _scope(self, scope: dict[str, Any]) -> dict[str, Any]:
        if id(scope) not in self._scopes:
            copy = self._scopes[id(scope)] = dict(scope)
            copy.pop("__name__", None)  # torch.compile would look names up in the module itself
            for name, value in scope.items():
                if name == "np":
                    copy[name] = self.library
                elif isinstance(value, FunctionType) and (value.__globals__ is scope or _is_ours(value)):
                    copy[name] = self.of(value)
        return self._scopes[id(scope)]


def _is_ours(f: FunctionType) -> bool:
    return f.__module__.startswith("benchmarks.programs.")
