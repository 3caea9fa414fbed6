"""Scalar functions: name, arity, result type, NumPy meaning.  Their OpenCL is in codegen/opencl/scalar_functions.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from egglift.ir.errors import TypeMismatch
from egglift.ir.special import erf
from egglift.ir.types import BOOL, C64, C128, F32, F64, Scalar

NdArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Function:
    """A scalar function.  kind says what its arguments may be and what it gives:

    arithmetic  numbers of one type -> that type;   float  floats of one type -> that type
    compare     two of one type -> bool;            logical  bools -> bool
    bits        integers or bools of one type -> that type;   where  (bool, T, T) -> T
    """

    name: str
    arity: int
    kind: str
    numpy: Callable[..., Any]

    @property
    def decides(self) -> bool:
        """Does the least change of an argument make another result, such that f16 and bf16 are rounded before it?"""
        return self.kind == "compare" or self.name in ("floor", "ceil", "sign", "floordiv", "mod")


def _fma(a: NdArray, b: NdArray, c: NdArray) -> NdArray:
    return np.asarray(a * b + c)


def _power(a: NdArray, b: NdArray) -> NdArray:
    """`a ** b`; integers wrap around, and to a negative power they are 1 / a ** -b cut off: 0, but of 1 and -1."""
    if b.dtype.kind != "i":
        return np.asarray(np.power(a, b))
    cut_off = np.where(abs(a) == 1, np.where(b & 1, a, 1), 0)
    return np.asarray(np.where(b < 0, cut_off, np.power(a, np.maximum(b, 0))), a.dtype)


def _popcount(x: NdArray) -> NdArray:
    """How many bits of x are 1: of a negative number, of its two's complement."""
    octets = np.ascontiguousarray(x).reshape(*x.shape, 1).view(np.uint8)
    return np.asarray(np.unpackbits(octets, axis=-1).sum(-1), x.dtype)


def _rsqrt(x: NdArray) -> NdArray:
    return np.asarray(1 / np.sqrt(x), dtype=x.dtype)


_TABLE: list[tuple[str, int, str, Callable[..., Any]]] = [
    ("add", 2, "arithmetic", np.add),
    ("sub", 2, "arithmetic", np.subtract),
    ("mul", 2, "arithmetic", np.multiply),
    ("div", 2, "float", np.divide),
    ("floordiv", 2, "arithmetic", np.floor_divide),
    ("mod", 2, "arithmetic", np.remainder),
    ("neg", 1, "arithmetic", np.negative),
    ("abs", 1, "arithmetic", np.abs),
    ("sign", 1, "arithmetic", np.sign),
    ("minimum", 2, "arithmetic", np.minimum),
    ("maximum", 2, "arithmetic", np.maximum),
    ("fma", 3, "arithmetic", _fma),
    ("exp", 1, "float", np.exp),
    ("exp2", 1, "float", np.exp2),
    ("exp2_or_zero", 1, "float", np.exp2),  # 0 may be what is no normal number
    ("log", 1, "float", np.log),
    ("log2", 1, "float", np.log2),
    ("sqrt", 1, "float", np.sqrt),
    ("rsqrt", 1, "float", _rsqrt),
    ("sin", 1, "float", np.sin),
    ("cos", 1, "float", np.cos),
    ("tan", 1, "float", np.tan),
    ("tanh", 1, "float", np.tanh),
    ("erf", 1, "float", erf),
    ("floor", 1, "float", np.floor),
    ("ceil", 1, "float", np.ceil),
    ("trunc", 1, "float", np.trunc),
    ("rint", 1, "float", np.rint),
    ("pow", 2, "arithmetic", _power),
    ("atan2", 2, "float", np.arctan2),
    ("eq", 2, "compare", np.equal),
    ("ne", 2, "compare", np.not_equal),
    ("lt", 2, "compare", np.less),
    ("le", 2, "compare", np.less_equal),
    ("gt", 2, "compare", np.greater),
    ("ge", 2, "compare", np.greater_equal),
    ("logical_and", 2, "logical", np.logical_and),
    ("logical_or", 2, "logical", np.logical_or),
    ("logical_not", 1, "logical", np.logical_not),
    ("bitwise_and", 2, "bits", np.bitwise_and),
    ("bitwise_or", 2, "bits", np.bitwise_or),
    ("bitwise_xor", 2, "bits", np.bitwise_xor),
    ("invert", 1, "bits", np.invert),
    ("left_shift", 2, "bits", np.left_shift),
    ("right_shift", 2, "bits", np.right_shift),
    ("popcount", 1, "bits", _popcount),
    ("where", 3, "where", np.where),
]
FUNCTIONS = {name: Function(name, arity, kind, f) for name, arity, kind, f in _TABLE}

#: what only complex numbers have, and what makes them of two floats, with how many arguments; where numbers are pairs,
#: no program has them
PARTS = {"real": 1, "imag": 1, "conj": 1, "complex": 2}
#: the other functions that take complex numbers (ir/complex_functions.py says what they are of pairs)
OF_COMPLEX = frozenset(
    ("add", "sub", "mul", "div", "neg", "abs", "exp", "log", "sqrt", "sin", "cos", "pow", "eq", "ne", "where")
)
NO_ORDER = "complex numbers have no order here: compare abs(x), x.real or x.imag"
OF_PARTS = "write it with exp, log, sqrt, sin and cos, or of x.real and x.imag"
_ORDERED = ("lt", "le", "gt", "ge", "minimum", "maximum", "sign", "floordiv", "mod", "floor", "ceil", "trunc", "rint")


def arity(op: str) -> int:
    """How many arguments a scalar function takes."""
    return PARTS.get(op) or FUNCTIONS[op].arity


def result_type(op: str, args: tuple[Scalar, ...]) -> Scalar:
    """The type of `op` applied to scalars of types `args`; TypeMismatch names what it takes."""
    if op not in FUNCTIONS and op not in PARTS:
        raise TypeMismatch(f"unknown scalar function {op!r}; there are {', '.join(sorted(FUNCTIONS))}")
    if len(args) != arity(op):
        raise TypeMismatch(f"{op} takes {arity(op)} arguments, got {len(args)}")
    same = args[1:] if op == "where" else args
    if len(set(same)) != 1 or (op == "where" and args[0] != BOOL):
        given = ", ".join(map(str, args))
        raise TypeMismatch(f"{op} takes arguments of one type, got {given}; cast one of them")
    t = same[0]
    if t.is_complex or op in PARTS:
        return _of_complex(op, t)
    f = FUNCTIONS[op]
    wrong = {
        "float": not t.is_float,
        "arithmetic": t == BOOL,
        "logical": t != BOOL,
        "bits": t.is_float,
    }.get(f.kind, False)
    if wrong:
        raise TypeMismatch(f"{op} does not take {t}; it is {f.kind}")
    return BOOL if f.kind == "compare" else t


def _of_complex(op: str, t: Scalar) -> Scalar:
    """The type of `op` of complex numbers, or of `complex` of floats."""
    if op == "complex" and t in (F32, F64):
        return C64 if t == F32 else C128
    if op == "complex" or not t.is_complex:
        wanted = "two f32 or two f64" if op == "complex" else "a complex number"
        raise TypeMismatch(f"{op} takes {wanted}, not {t}")
    if op not in OF_COMPLEX and op not in PARTS:
        advice = NO_ORDER if op in _ORDERED else OF_PARTS
        raise TypeMismatch(f"{op} does not take {t}; {advice}")
    return BOOL if op in ("eq", "ne") else t.part if op in ("abs", "real", "imag") else t
