"""Arrays side by side, and repeated to one shape, by NumPy's names.  Nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from egglift.ir.axes import scalar_of_elements
from egglift.ir.errors import ShapeError, TypeMismatch
from egglift.ir.keywords import explain
from egglift.ir.promotion import promote
from egglift.ir.rearranging import beside, broadcast_to, expand_dims, moveaxis, ravel
from egglift.ir.reducing import recast
from egglift.ir.types import leaves
from egglift.ir.value import Like, Value, as_value, elementwise, typed
from egglift.ir.whole_numbers import whole


def concatenate(arrays: Sequence[Like], axis: int | None = 0) -> Value:
    """Arrays one behind the other along an axis; None: all their elements in one vector.  Elements meet at one type."""
    beside("concatenate", arrays)
    if axis is None:
        first, *rest = _at_one_type([ravel(a) for a in arrays])
        return first.concat(*rest)
    first, *rest = _at_one_type([moveaxis(a, axis, 0) for a in arrays])
    return moveaxis(first.concat(*rest), 0, axis)


def _at_one_type(values: Sequence[Value]) -> list[Value]:
    """Arrays of numbers with elements of the type at which these meet; arrays of tuples as they are."""
    if any(len(leaves(v.type)) > 1 for v in values):
        return list(values)
    t = reduce(promote, (scalar_of_elements(v.expr) for v in values))
    return [typed(recast(v.expr, t)) for v in values]


def vstack(arrays: Sequence[Like]) -> Value:
    """Arrays below each other; a vector is a row."""
    return concatenate([_rows(a) for a in beside("vstack", arrays)], 0)


def hstack(arrays: Sequence[Like]) -> Value:
    """Arrays beside each other; vectors one behind the other."""
    values = [as_value(a) for a in beside("hstack", arrays)]
    return concatenate(values, 0 if values and len(values[0].shape) == 1 else 1)


def column_stack(arrays: Sequence[Like]) -> Value:
    """Arrays beside each other; a vector is a column."""
    values = [as_value(a) for a in beside("column_stack", arrays)]
    return concatenate([_rows(v).T if len(v.shape) == 1 else v for v in values], 1)


def dstack(arrays: Sequence[Like]) -> Value:
    """Arrays behind each other, along the third axis: a vector is a row, a matrix a layer."""
    layers = [_rows(a) for a in beside("dstack", arrays)]
    return concatenate([expand_dims(v, 2) if len(v.shape) == 2 else v for v in layers], 2)


def block(arrays: Like) -> Value:
    """An array of blocks, given as lists of lists of them: `block([[A, B], [C, D]])`."""
    depth, inner = 0, arrays
    while isinstance(inner, list):
        if not inner:
            raise ShapeError("block takes lists of arrays, none of them empty")
        depth, inner = depth + 1, inner[0]

    def joined(x: Like, level: int) -> Value:
        if isinstance(x, list) != (level < depth):
            raise ShapeError(f"block takes lists that are nested alike: {depth} deep as the first, or all less")
        if isinstance(x, list):
            return concatenate([joined(e, level + 1) for e in x], level - depth)
        v = as_value(x)
        return expand_dims(v, list(range(depth - len(v.shape)))) if len(v.shape) < depth else v

    return joined(arrays, 0)


def _rows(x: Like) -> Value:
    v = as_value(x)
    return expand_dims(v, 0) if len(v.shape) == 1 else v


def broadcast_arrays(*arrays: Like) -> tuple[Value, ...]:
    """The arrays repeated until they have one shape."""
    values = [as_value(a) for a in arrays]
    bools = [elementwise("eq", v, v) for v in values]
    shape = reduce(lambda a, b: a | b, bools).shape
    return tuple(broadcast_to(v, [whole(n, "a length") for n in shape]) for v in values)


def meshgrid(*vectors: Like, indexing: str = "xy") -> tuple[Value, ...]:
    """A grid's coordinates: of each vector an array with an axis for every vector; "xy": the first two exchanged."""
    if indexing not in ("xy", "ij"):
        raise TypeMismatch(f'meshgrid: indexing is "xy" or "ij", not {indexing!r}')
    values = [as_value(v) for v in vectors]
    shape, found = [whole(v.shape[0], "a length") for v in values], []
    for place, v in enumerate(values):
        grid = broadcast_to(expand_dims(v, [a for a in range(len(values)) if a != place]), shape)
        found.append(moveaxis(grid, 0, 1) if indexing == "xy" and len(values) > 1 else grid)
    return tuple(found)


explain(globals())
