"""How variables vary together: covariances and correlations, by NumPy's names, as products of centred rows."""

from __future__ import annotations

from egglift.ir.axes import scalar_of_elements
from egglift.ir.errors import ShapeError
from egglift.ir.functions import cast
from egglift.ir.joining import concatenate
from egglift.ir.keywords import explain
from egglift.ir.linear_algebra import vector_norm
from egglift.ir.promotion import promote
from egglift.ir.rearranging import expand_dims
from egglift.ir.reshaping import squeeze
from egglift.ir.signs import conj
from egglift.ir.text import brief
from egglift.ir.type_names import TypeLike, as_scalar
from egglift.ir.types import F64
from egglift.ir.value import Like, Value, as_numbers, elementwise
from egglift.ir.whole_numbers import whole


def cov(
    m: Like, y: Like = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, *, dtype: TypeLike = None
) -> Value:
    """The covariances of all pairs of variables, each a row of `m`; a number where there is one variable.

    y: further variables.  rowvar=False: a variable is a column.  ddof: sums are divided by their number - ddof: 1, or
    0 with bias.  dtype: in which they are computed; as in NumPy f64 unless named.  ShapeError of more than two axes.

    cov(A, rowvar=False) -> (A - A.mean(axis=0)).T @ (A - A.mean(axis=0)) / (n - 1)
    """
    rows = _centred(m, y, rowvar, dtype)
    less = (0 if bias else 1) if ddof is None else ddof
    return squeeze(rows @ conj(rows).T / (whole(rows.shape[1], "the number of values") - less))


def corrcoef(x: Like, y: Like = None, rowvar: bool = True, *, dtype: TypeLike = None) -> Value:
    """The correlations of all pairs of variables, between -1 and 1, of what `cov` takes; NaN of one that is constant.

    corrcoef(A) -> unit @ unit.T, with the centred rows of A over their lengths
    """
    rows = _centred(x, y, rowvar, dtype)
    unit = rows / vector_norm(rows, axis=1, keepdims=True)
    found = squeeze(unit @ conj(unit).T)
    if scalar_of_elements(found.expr).is_complex:
        return found
    return elementwise("minimum", elementwise("maximum", found, -1), 1)  # but for rounding it is between


def _centred(m: Like, y: Like, rowvar: bool, dtype: TypeLike) -> Value:
    """The variables as rows, each without its mean."""
    given = [_rows(v, rowvar) for v in ((m,) if y is None else (m, y))]
    rows = concatenate(given) if len(given) > 1 else given[0]
    t = promote(scalar_of_elements(rows.expr), F64) if dtype is None else as_scalar(dtype)
    rows = cast(rows, t)
    return rows - rows.mean(1, keepdims=True)


def _rows(x: Like, rowvar: bool) -> Value:
    v = as_numbers(x)
    match len(v.shape):
        case 0:
            return expand_dims(v, (0, 1))
        case 1:
            return expand_dims(v, 0)
        case 2:
            return v if rowvar else v.T
    raise ShapeError(f"{brief(v.expr)} is {v.type}: variables are a matrix, the rows or columns of which they are")


explain(globals())
