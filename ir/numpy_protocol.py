"""NumPy's functions called with values of a program: they build the program, where egglift has the same."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from egglift.ir.absent_names import ABSENT, reason
from egglift.ir.errors import TypeMismatch
from egglift.ir.keywords import INSTEAD, bound
from egglift.ir.numpy_adapted import ADAPTED, own
from egglift.ir.refusals import public_names
from egglift.ir.scalars import FUNCTIONS

#: NumPy's names for functions that egglift calls otherwise
UFUNCS = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "negative": "neg",
    "absolute": "abs",
    "fabs": "abs",
    "power": "pow",
    "arctan2": "atan2",
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "bitwise_invert": "invert",
    "bitwise_not": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
}
#: what accumulates by a function of NumPy's: `np.add.accumulate(x)` is `el.cumsum(x, axis=0)`
ACCUMULATED = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
#: what reduces by a function of NumPy's: `np.add.reduce(x)` is `el.sum(x, axis=0)`
REDUCED = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
REDUCED |= {"logical_and": "all", "logical_or": "any", "fmax": "nanmax", "fmin": "nanmin"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: functions of the same name, whose parameters are called as NumPy's
SAME = _words(
    "sum prod max min all any mean var std argmax argmin cumsum cumprod ptp count_nonzero "
    "nansum nanprod nanmean nanvar nanstd nanmax nanmin norm vector_norm matrix_norm "
    "dot vdot inner outer ravel swapaxes moveaxis expand_dims broadcast_to tile repeat stack histogram "
    "concatenate vstack hstack column_stack flip flipud fliplr rot90 squeeze broadcast_arrays meshgrid unstack "
    "matrix_transpose diag diagonal trace tril triu kron take_along_axis diff einsum tensordot vecdot matrix_power "
    "zeros_like ones_like full_like nan_to_num isclose allclose average around round sinc fix real imag angle "
    "sliding_window_view convolve correlate gradient trapezoid polyval interp digitize select isin append array_equal "
    "searchsorted cov corrcoef dstack block"
)
#: element by element functions that are made of others
COMPOSED = _words(
    "isnan isinf isfinite square log1p expm1 log2 log10 exp2 sinh cosh hypot reciprocal deg2rad rad2deg degrees "
    "radians rint trunc arcsin arccos arctan arcsinh arccosh arctanh signbit copysign fmod fmax fmin logaddexp "
    "logaddexp2 float_power logical_xor heaviside cbrt positive conjugate bitwise_count vecdot divmod matvec vecmat"
)


#: the names of all of egglift's functions that a call of NumPy's may mean
TAKEN = SAME | COMPOSED | frozenset(ACCUMULATED.values()) | frozenset(REDUCED.values())


class TakenByNumPy:
    """`np.sum(x, axis=0)` is `el.sum(x, axis=0)`."""

    __slots__ = ()

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """TypeMismatch where egglift has no such function, or not with these arguments."""
        return called(function.__name__, *written(function, args, named))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **named: Any) -> Any:
        """TypeMismatch where egglift has no such function, or not with these words."""
        name = ufunc.__name__
        match method:
            case "__call__" if ufunc is np.matmul and not named:
                return own("matmul")(*args)
            case "__call__" if name in COMPOSED and not named:
                return called(name, args, named)
            case "__call__" if UFUNCS.get(name, name) in FUNCTIONS:
                _require_no_words(name, named)
                return sys.modules["egglift.ir.value"].elementwise(UFUNCS.get(name, name), *args)
            case "accumulate" if name in ACCUMULATED:
                return called(ACCUMULATED[name], args, {"axis": 0, **named})
            case "reduce" if name in REDUCED:
                return called(REDUCED[name], args[:1], {"axis": args[1] if len(args) > 1 else 0, **named})
            case "outer" if UFUNCS.get(name, name) in FUNCTIONS and len(args) == 2:
                _require_no_words(name, named)
                a, b = (sys.modules["egglift.ir.value"].as_value(v) for v in args)
                inner = a if not b.shape else own("expand_dims")(a, [len(a.shape) + i for i in range(len(b.shape))])
                return self.__array_ufunc__(ufunc, "__call__", inner, b)
        reductions = import_module("egglift.ir.ufunc_reductions")
        if (found := reductions.combined(UFUNCS.get(name, name), method, args, named)) is not None:
            return found
        whole = name if method == "__call__" else f"{name}.{method}"
        _require_no_words(whole, named)
        advice = instead(name) if method == "__call__" else _of_method(name, method)
        raise TypeMismatch(f"numpy.{whole} is not taken in a program{advice}")


def _of_method(name: str, method: str) -> str:
    """What there is in place of a method of a function of NumPy's, as the end of a sentence."""
    if (why := ABSENT.get(name)) is not None:
        return f": {why}"
    one_by_one = "it is not known to be associative: fold goes from element to element"
    return f": {one_by_one}" if method in ("reduce", "accumulate") else ""


def _require_no_words(name: str, named: Mapping[str, Any]) -> None:
    """TypeMismatch where a function of NumPy's has words that say how and where it computes."""
    for word in named:
        raise TypeMismatch(f"numpy.{name} with {word}= is not taken in a program: {INSTEAD.get(word, 'leave it out')}")


def called(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a function of NumPy's gives in a program; TypeMismatch where it gives nothing."""
    function = ADAPTED.get(name) or (own(name) if name in TAKEN else None)
    if function is None:
        raise TypeMismatch(f"numpy.{name} is not taken in a program{instead(name)}")
    bound(f"numpy.{name}", function, args, named)
    return function(*args, **named)


def written(function: Any, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """A call's arguments: by position what must be given, by name what was given of the rest and is not the default.

    np.sum(x, 0, None, None, True) -> (x,), {"axis": 0, "keepdims": True}
    """
    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **named).arguments
    except (ValueError, TypeError):  # few of NumPy's have none; what does not fit is refused by ours
        return args, named
    needed, rest = list[Any](), dict[str, Any]()
    for name, value in given.items():
        parameter = signature.parameters[name]
        match parameter.kind:
            case parameter.VAR_POSITIONAL:
                needed += value
            case parameter.VAR_KEYWORD:
                rest |= value
            case _ if parameter.default is parameter.empty and parameter.kind != parameter.KEYWORD_ONLY:
                needed.append(value)
            case _ if value is not parameter.default:
                rest[name] = value
    return needed, rest


def instead(name: str) -> str:
    """What there is in place of a function of NumPy's, as the end of a sentence."""
    if (why := ABSENT.get(name)) is not None:
        return f": {why}"
    if name in public_names():
        return f"; there is el.{name}, with other parameters"
    return f": {reason(name)}" if reason(name) else "; docs/numpy.md lists what there is"
