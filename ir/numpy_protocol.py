"""NumPy's functions called with values of a program: they build the program, where egglift has the same."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from egglift.ir.errors import TypeMismatch
from egglift.ir.refusals import ABSENT, public_names

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
    "float_power": "pow",
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


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: functions over axes: of NumPy's parameters they have the array and the axis, and some by name
OVER_AXES = _words(
    "sum prod max min all any mean var std argmax argmin cumsum cumprod ptp count_nonzero "
    "nansum nanprod nanmean nanvar nanstd"
)
#: functions of the same name, with NumPy's parameters in NumPy's order
SAME = OVER_AXES | _words(
    "where clip dot vdot inner outer ravel swapaxes moveaxis expand_dims broadcast_to tile repeat stack histogram "
    "concatenate vstack hstack column_stack flip flipud fliplr rot90 squeeze reshape broadcast_arrays meshgrid unstack "
    "matrix_transpose diag diagonal trace tril triu kron take_along_axis diff einsum tensordot vecdot matrix_power "
    "zeros_like ones_like full_like nan_to_num isclose allclose average around round sinc fix real imag"
)
#: element by element functions that are made of others
COMPOSED = _words(
    "isnan isinf isfinite square log1p expm1 log2 log10 exp2 sinh cosh hypot reciprocal deg2rad rad2deg degrees "
    "radians rint trunc arcsin arccos arctan arcsinh arccosh arctanh signbit copysign fmod fmax fmin logaddexp "
    "logical_xor heaviside cbrt positive conjugate"
)


def _transpose(x: Any, axes: Sequence[int] | None = None) -> Any:
    order = list(range(len(x.shape)))[::-1] if axes is None else list(axes)
    return _own("moveaxis")(x, order, list(range(len(order))))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is not None:
        raise TypeMismatch(f"numpy.linalg.norm of order {ord!r}: el.norm is the root of the sum of squares")
    return _own("norm")(x, axis, keepdims)


#: functions that egglift has under another name, or with other parameters
ADAPTED: Mapping[str, Callable[..., Any]] = {
    "amax": lambda x, axis=None, keepdims=False: _own("max")(x, axis, keepdims),
    "amin": lambda x, axis=None, keepdims=False: _own("min")(x, axis, keepdims),
    "norm": _norm,
    "roll": lambda x, shift: _own("roll")(shift, x),
    "transpose": _transpose,
}


#: the names of all of egglift's functions that a call of NumPy's may mean
TAKEN = SAME | COMPOSED | frozenset(ACCUMULATED.values())


class TakenByNumPy:
    """`np.sum(x, axis=0)` is `el.sum(x, axis=0)`."""

    __slots__ = ()

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """TypeMismatch where egglift has no such function, or not with these arguments."""
        return called(function.__name__, args, named)


def called(name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a function of NumPy's gives in a program; TypeMismatch where it gives nothing."""
    function = ADAPTED.get(name) or (_own(name) if name in TAKEN else None)
    if function is None:
        raise TypeMismatch(f"numpy.{name} is not taken in a program{instead(name)}")
    if name in OVER_AXES and len(args) > 2:
        raise TypeMismatch(f"numpy.{name}: give all but the array and the axis by name")
    try:
        inspect.signature(function).bind(*args, **named)
    except TypeError as error:
        has = inspect.signature(function)
        parameters = ", ".join(has.parameters)
        raise TypeMismatch(f"numpy.{name}: {error}; in a program it takes ({parameters})") from None
    return function(*args, **named)


def _own(name: str) -> Callable[..., Any]:
    return getattr(sys.modules["egglift"], name)  # type: ignore[no-any-return]


def instead(name: str) -> str:
    """What there is in place of a function of NumPy's, as the end of a sentence."""
    if name in ABSENT:
        return f": {ABSENT[name]}"
    if name in public_names():
        return f"; there is el.{name}, with other parameters"
    return "; README.md lists what there is"
