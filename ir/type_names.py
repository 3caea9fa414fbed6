"""What may stand for a type where a user writes one."""

from __future__ import annotations

import builtins
from typing import Any

from egglift.ir.errors import TypeMismatch
from egglift.ir.types import GIVEN, Array, Scalar, Tuple, Type, scalar_of

TypeLike = Any


def as_type(t: TypeLike) -> Type:
    """A type from what may stand for one: a type, its name ("f32"), a NumPy dtype, or a tuple of these."""
    match t:
        case Scalar() | Array() | Tuple():
            return t
        case builtins.tuple() if len(t) > 1:
            return Tuple(builtins.tuple(as_type(item) for item in t))
        case str() if t in GIVEN:
            return GIVEN[t]
    try:
        return scalar_of(t)
    except (KeyError, TypeError):
        raise TypeMismatch(f"{t!r} is no type; there are {', '.join(GIVEN)}, and tuples of them") from None


def as_scalar(t: TypeLike) -> Scalar:
    """A type of numbers or bools; TypeMismatch of another."""
    found = as_type(t)
    if not isinstance(found, Scalar):
        raise TypeMismatch(f"{found} is no type of numbers; arrays of tuples are zipped: zip(zeros(n), ones(n))")
    return found
