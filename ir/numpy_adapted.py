"""Functions of NumPy's that egglift has under another name or with other parameters, in NumPy's form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from egglift.ir.errors import ShapeError, TypeMismatch

#: NumPy's modes of `pad`, as egglift calls them
PADDED = {"constant": "constant", "edge": "clamp", "symmetric": "mirror", "wrap": "wrap", "reflect": "reflect"}


def own(name: str) -> Callable[..., Any]:
    """A function of egglift's, which is there when there is a value."""
    return getattr(sys.modules["egglift"], name)  # type: ignore[no-any-return]


def _value(x: Any) -> Any:
    return sys.modules["egglift.ir.value"].as_numbers(x)


def _transpose(a: Any, axes: Sequence[int] | None = None) -> Any:
    order = list(range(len(a.shape)))[::-1] if axes is None else list(axes)
    return own("transpose")(a, order) if len(order) > 1 else a


def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return own("roll")(shift, a, axis)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    return own("clip")(a, a_min if min is None else min, a_max if max is None else max)


def _take(a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    """Indices outside are clamped, as of all gathers: nobody can raise an error on a device."""
    x, at = own("ravel")(a) if axis is None else a, _value(indices)
    place = 0 if axis is None else axis % len(x.shape)
    n = x.shape[place]
    at = {"raise": lambda: own("where")(at < 0, at + n, at), "clip": lambda: at, "wrap": lambda: at % n}[mode]()

    def gathered(i: Any) -> Any:
        return gathered_rows(i) if i.shape else last[i]

    def gathered_rows(i: Any) -> Any:
        return last.gather(i) if len(i.shape) == 1 else i.map(gathered_rows)

    last = own("moveaxis")(x, place, 0)
    found = gathered(at)
    rank = len(at.shape)
    return own("moveaxis")(found, list(range(rank)), list(range(place, place + rank))) if place and rank else found


def _pad(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    x, rank = array, len(array.shape)
    widths = _pairs(pad_width, rank)
    values = _pairs(constant_values, rank)
    if not isinstance(mode, str) or mode not in PADDED:
        raise TypeMismatch(f"numpy.pad: mode {mode!r} is not taken in a program; there are {', '.join(PADDED)}")
    for axis, ((left, right), (before, after)) in enumerate(zip(widths, values, strict=True)):
        moved = own("moveaxis")(x, axis, 0)
        if mode == "constant":
            padded = moved.pad(left, 0, ("constant", before)).pad(0, right, ("constant", after))
        else:
            padded = moved.pad(left, right, PADDED[mode])
        x = own("moveaxis")(padded, 0, axis)
    return x


def _pairs(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """NumPy's short forms of a pair (before, after) for each axis."""
    if not isinstance(given, Sequence):
        return [(given, given)] * rank
    rows = [tuple(r) if isinstance(r, Sequence) else (r,) for r in given]
    if all(not isinstance(r, Sequence) for r in given):
        rows = [tuple(given)]
    rows = rows * rank if len(rows) == 1 else rows
    if len(rows) != rank or any(len(r) not in (1, 2) for r in rows):
        raise ShapeError(f"numpy.pad: {given} is not (before, after) for each of {rank} axes")
    return [(r[0], r[-1]) for r in rows]


def _cross(a: Any, b: Any) -> Any:
    x, y = _value(a), _value(b)
    if x.shape[-1:] != (3,) or y.shape[-1:] != (3,):
        raise ShapeError(f"numpy.cross of {x.shape} and {y.shape}: the last axes must have three elements")
    (x0, x1, x2), (y0, y1, y2) = own("moveaxis")(x, -1, 0), own("moveaxis")(y, -1, 0)
    return own("stack")([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], axis=-1)


def _shifted(sign: int) -> Callable[..., Any]:
    """`fft.fftshift` and its inverse: the middle of each axis comes first, or the first to the middle."""

    def shifted(x: Any, axes: Any = None) -> Any:
        given = range(len(x.shape)) if axes is None else axes if isinstance(axes, Sequence) else (axes,)
        for axis in given:
            half = x.shape[axis] // 2 if sign > 0 else -(x.shape[axis] // 2)
            x = own("roll")(half, x, axis)
        return x

    return shifted


def _at_least(rank: int) -> Callable[..., Any]:
    """`atleast_1d`, `atleast_2d`: new axes before the others."""

    def extended(*arrays: Any) -> Any:
        found = [_value(a) for a in arrays]
        for _ in range(rank):
            found = [own("expand_dims")(v, 0) if len(v.shape) < rank else v for v in found]
        return found[0] if len(found) == 1 else tuple(found)

    return extended


def _renamed(name: str) -> Callable[..., Any]:
    return lambda *args, **named: own(name)(*args, **named)


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise TypeMismatch("numpy.where of a condition alone: how many places there are would depend on values")
    return own("where")(condition, x, y)


def _reshape(a: Any, shape: Any) -> Any:
    return own("reshape")(a, shape)


def _size(a: Any, axis: int | None = None) -> Any:
    return a.size if axis is None else a.shape[axis]


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`numpy.split`, parts of one length, or what lies between places."""
    n = ary.shape[axis]
    if isinstance(indices_or_sections, int) and n % indices_or_sections:
        raise ShapeError(f"numpy.split: {n} elements are not {indices_or_sections} equal parts; array_split takes them")
    return _array_split(ary, indices_or_sections, axis)


def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`numpy.array_split`: the first parts may be longer by one."""
    moved = own("moveaxis")(ary, axis, 0)
    n, parts = moved.shape[0], indices_or_sections
    if isinstance(parts, int):
        if parts < 1:
            raise ShapeError(f"numpy.array_split: there are 1 or more parts, not {parts}")
        places = [k * (n // parts) + min(k, n % parts) for k in range(1, parts)]
    else:
        places = [int(k) for k in parts]
    ends = zip([0, *places], [*places, n], strict=True)
    return [own("moveaxis")(moved[start:end], 0, axis) for start, end in ends]


def _matvec(a: Any, b: Any) -> Any:
    return (_value(a) @ _value(b)[..., None])[..., 0]


def _vecmat(a: Any, b: Any) -> Any:
    return (own("conj")(a)[..., None, :] @ _value(b))[..., 0, :]


#: by NumPy's name; what they take is NumPy's, with what egglift cannot do left out
ADAPTED: Mapping[str, Callable[..., Any]] = {
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
    "size": _size,
    "transpose": _transpose,
    "permute_dims": _transpose,
    "roll": _roll,
    "clip": _clip,
    "take": _take,
    "pad": _pad,
    "cross": _cross,
    "where": _where,
    "reshape": _reshape,
    "fftshift": _shifted(1),
    "ifftshift": _shifted(-1),
    "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2),
    "amax": _renamed("max"),
    "amin": _renamed("min"),
    "cumulative_sum": _renamed("cumsum"),
    "cumulative_prod": _renamed("cumprod"),
    "astype": _renamed("cast"),
    "concat": _renamed("concatenate"),
    "copy": lambda a: a,
    "ediff1d": lambda ary: own("diff")(own("ravel")(ary)),
    "split": _split,
    "array_split": _array_split,
    "divmod": lambda x, y: (own("floor_divide")(x, y), own("remainder")(x, y)),
    "matvec": _matvec,
    "vecmat": _vecmat,
}
