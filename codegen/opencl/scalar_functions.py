"""The OpenCL of each scalar function of ir/scalars.py, per type and vector width.

Integers behave exactly as NumPy's: they wrap around, division floors and gives 0 for a zero divisor, shifts beyond
the width give 0 (or the sign).  Signed sums are therefore computed in unsigned arithmetic: overflow of signed
integers is undefined in C.  No `fma`, `mad`, `min`, `max`, `clamp`: on CPUs they are library calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from egglift.ir.conversions import rounded, stored
from egglift.ir.lengths import Length
from egglift.ir.types import BOOL, F32, TF32, Scalar

C_NAMES = {
    "bool": "uchar",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "u8": "uchar",
    "u16": "ushort",
    "u32": "uint",
    "u64": "ulong",
    "f16": "ushort",  # its bits, and those of bf16: what is computed is float
    "bf16": "ushort",
    "tf32": "float",
    "f32": "float",
    "f64": "double",
}
#: The widest vector that an OpenCL function is given.  PoCL aborts the process beyond it, on CPUs that its LLVM
#: does not know; operators, and functions of our own (they are inlined), have no such limit.
CALL_BYTES = 32
MASKS = {1: "char", 2: "short", 4: "int", 8: "long"}  # the type of a comparison of vectors, by bytes
_FLOAT = {
    "exp": "exp",
    "exp2": "exp2",
    "exp2_or_zero": "exp2",
    "log": "log",
    "log2": "log2",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "tanh": "tanh",
    "erf": "erf",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "pow": "pow",
    "atan2": "atan2",
}
_FLOATS: dict[str, type[np.floating[Any]]] = {"f32": np.float32, "f64": np.float64}
_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "logical_and": "&&",
    "logical_or": "||",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BUILTINS = frozenset({*_FLOAT.values(), "fabs", "fmod", "copysign", "isnan", "abs", "sign", "popcount"})


def memory_type(t: Scalar, width: int = 1) -> str:
    """How a value of type `t` is kept in memory: `float4`; bool as uchar."""
    return C_NAMES[t.name] + (str(width) if width > 1 else "")


def value_type(t: Scalar) -> str:
    """The type of a named scalar value."""
    return "bool" if t == BOOL else C_NAMES[t.name]


def unsigned(t: Scalar) -> str:
    """The unsigned type as wide as the integer type `t`."""
    return f"u{C_NAMES[t.name]}" if t.is_signed else C_NAMES[t.name]


def literal(value: bool | int | float, t: Scalar) -> str:
    """A number as OpenCL text, exactly (of NaN: some NaN).  Its type is `t`, as overloaded functions must see it."""
    if t == BOOL:
        return "1" if value else "0"
    if isinstance(value, Length):  # an argument of the kernel
        return f"({C_NAMES[t.name]}){value}"
    if t.is_integer:
        return _integer(int(value), t)
    if t == TF32:
        return literal(float(rounded(np.asarray(value), t)), F32)
    if t.is_narrow:
        return f"0x{int(stored(rounded(np.asarray(value), t), t).view(np.uint16)):04x}"
    with np.errstate(all="ignore"):
        number = _FLOATS[t.name](value)
    if not np.isfinite(number):
        text = "NAN" if np.isnan(number) else "INFINITY" if number > 0 else "(-INFINITY)"
        return text if t.name == "f32" else f"(({C_NAMES[t.name]}){text})"  # OpenCL's are floats
    if 1e-4 <= abs(float(number)) < 1e6 or not number:
        digits = np.format_float_positional(number, trim="0")
    else:
        digits = np.format_float_scientific(number, trim="0")
    text = digits + {"f32": "f", "f64": ""}[t.name]
    return f"({text})" if text.startswith("-") else text


def initializer(value: bool | int | float, t: Scalar) -> str:
    """`literal` for an array in program scope: there PoCL's NAN, a call, is no constant expression."""
    return "(0.0f / 0.0f)" if t.is_float and not t.is_narrow and np.isnan(value) else literal(value, t)


def _integer(value: int, t: Scalar) -> str:
    suffix = {"u32": "u", "i64": "L", "u64": "UL"}.get(t.name, "")
    if (value == -(1 << 31) and t.name == "i32") or value == -(1 << 63):
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def stripped(text: str) -> str:
    """`text` without the parentheses around all of it."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return text[1:-1] if i == len(text) - 1 else text
    return text


def _called(name: str, args: list[str]) -> str:
    return f"{name}({', '.join(map(stripped, args))})"


# ---------------------------------------------------------------------------------------- scalars


def scalar_call(op: str, t: Scalar, args: list[str], helpers: dict[str, str]) -> str:
    """`op` applied to scalars of type `t` (of `where`: the branches' type); needed functions go into `helpers`."""
    if op == "where":
        return f"({args[0]} ? {args[1]} : {args[2]})"
    if op == "logical_not" or (op == "invert" and t == BOOL):
        return f"(!{args[0]})"
    if op == "popcount" and t == BOOL:
        return args[0]
    if t == BOOL and op in ("left_shift", "right_shift"):  # as bools: only 1 >> 1 is 0
        return args[0] if op == "left_shift" else f"({args[0]} && !{args[1]})"
    if op in COMPARISONS or op in ("logical_and", "logical_or") or t == BOOL:
        return f"({args[0]} {_INFIX[op]} {args[1]})"
    return _float_call(op, t, args, helpers) if t.is_float else _integer_call(op, t, args, helpers)


def _float_call(op: str, t: Scalar, args: list[str], helpers: dict[str, str]) -> str:
    a, b = args[0], args[-1]
    if op in _INFIX:
        return f"({a} {_INFIX[op]} {b})"
    if op in _FLOAT:
        return _called(_FLOAT[op], args)
    match op:
        case "neg":
            return f"(-{a})"
        case "abs":
            return _called("fabs", [a])
        case "fma":
            return f"(({args[0]} * {args[1]}) + {args[2]})"
        case _:
            return _helper(op, t, args, helpers)


def _integer_call(op: str, t: Scalar, args: list[str], helpers: dict[str, str]) -> str:
    a, b, c = args[0], args[-1], C_NAMES[t.name]
    match op:
        case "add" | "sub" | "mul":
            return _wrapping(f"{a}", _INFIX[op], b, t)
        case "neg":
            return _wrapping("0", "-", a, t)
        case "fma":
            return _wrapping(_wrapping(args[0], "*", args[1], t), "+", args[2], t)
        case "bitwise_and" | "bitwise_or" | "bitwise_xor":
            return f"({a} {_INFIX[op]} {b})" if t.size >= 4 else f"({c})({a} {_INFIX[op]} {b})"
        case "invert":
            return f"(~{a})" if t.size >= 4 else f"({c})(~{a})"
        case "popcount":
            return _called("popcount", [a])
        case _:
            return _helper(op, t, args, helpers)


def _wrapping(a: str, op: str, b: str, t: Scalar) -> str:
    """`a op b` modulo 2^bits.  int and long are computed unsigned; smaller types are promoted to int by C."""
    c = C_NAMES[t.name]
    if t.size < 4:
        wide = "(uint)" if op == "*" else ""
        return f"({c})({wide}{a} {op} {wide}{b})"
    if not t.is_signed:
        return f"({a} {op} {b})"
    return f"({c})(({unsigned(t)}){a} {op} ({unsigned(t)}){b})"


def _helper(op: str, t: Scalar, args: list[str], helpers: dict[str, str]) -> str:
    """A call of a function of our own, defined once above the kernels that use it."""
    name = f"{op}_{t.name}"
    helpers[name] = _definition(op, t)
    return _called(name, args)


def _definition(op: str, t: Scalar) -> str:
    c, u, bits = C_NAMES[t.name], "" if t.is_float else unsigned(t), 8 * t.size
    one, two = f"{c} {op}_{t.name}({c} a)", f"{c} {op}_{t.name}({c} a, {c} b)"
    match op:
        case "minimum" | "maximum":
            return f"{two} {{ return {by_comparison(op, t)}; }}"
        case "sign":
            zero = "a" if t.is_float else "0"
            below = f" : a < 0 ? -1 : a == 0 ? 0 : {zero}" if t.is_signed else " : 0"
            return f"{one} {{ return a > 0 ? 1{below}; }}"
        case "abs":
            return f"{one} {{ return a < 0 ? ({c})(0 - ({u})a) : a; }}" if t.is_signed else f"{one} {{ return a; }}"
        case "pow":
            return _integer_power(t)
        case "left_shift":
            return f"{two} {{ return ({u})b < {bits} ? ({c})(({u})a << b) : 0; }}"
        case "right_shift":
            beyond = "a < 0 ? -1 : 0" if t.is_signed else "0"
            return f"{two} {{ return ({u})b < {bits} ? ({c})(a >> b) : ({c})({beyond}); }}"
        case "floordiv" | "mod" if t.is_float:
            return _float_division(op, t)
        case "floordiv":
            if not t.is_signed:
                return f"{two} {{ return b == 0 ? 0 : a / b; }}"
            return (
                f"{two} {{\n  if (b == 0) return 0;\n  if (b == -1) return ({c})(0 - ({u})a);\n"
                f"  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));\n}}"
            )
        case "mod":
            if not t.is_signed:
                return f"{two} {{ return b == 0 ? 0 : a % b; }}"
            return (
                f"{two} {{\n  if (b == 0 || b == -1) return 0;\n  const {c} r = a % b;\n"
                f"  return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n}}"
            )
    raise AssertionError(op)


def by_comparison(op: str, t: Scalar) -> str:
    """The lesser or the greater of scalars a and b of type `t`: NaN where one of them is."""
    nan = " || a != a" if t.is_float else ""
    return f"a {'<' if op == 'minimum' else '>'} b{nan} ? a : b"


def _integer_power(t: Scalar) -> str:
    """By squaring, in an unsigned type that wraps around; a negative power is the reciprocal cut off."""
    c, wide = C_NAMES[t.name], "uint" if t.size <= 4 else "ulong"
    cut_off = "  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;\n" if t.is_signed else ""
    return (
        f"{c} pow_{t.name}({c} a, {c} b) {{\n{cut_off}  {wide} power = 1, square = ({wide})a;\n"
        f"  for ({wide} rest = ({wide})b; rest; rest >>= 1) {{\n"
        f"    if (rest & 1) power *= square;\n    square *= square;\n  }}\n  return ({c})power;\n}}"
    )


def _float_division(op: str, t: Scalar) -> str:
    """NumPy's algorithm (npy_divmod): the remainder has the divisor's sign."""
    c = C_NAMES[t.name]
    remainder = (
        "  {c} r = fmod(a, b);\n  if (b == 0) return {zero};\n  const bool down = r != 0 && (b < 0) != (r < 0);\n"
    ).format(c=c, zero="r" if op == "mod" else "a / b")
    if op == "mod":
        tail = f"  return down ? r + b : r != 0 ? r : copysign(({c})0, b);\n"
    else:
        tail = (
            f"  if (r != r) return r;\n"  # PoCL (3.0) folds `floor` of a NaN wrongly
            f"  const {c} q = (a - r) / b - (down ? 1 : 0);\n"
            f"  if (q == 0) return copysign(({c})0, a / b);\n"
            f"  const {c} whole = floor(q);\n  return q - whole > ({c})0.5 ? whole + 1 : whole;\n"
        )
    return f"{c} {op}_{t.name}({c} a, {c} b) {{\n{remainder}{tail}}}"


# ---------------------------------------------------------------------------------------- vectors


def vector_call(op: str, t: Scalar, args: list[str], width: int, helpers: dict[str, str]) -> str | None:
    """`op` applied component-wise to vectors of type `t` (not bool), or None where OpenCL has no operation for it.

    Comparisons give masks: integers of the operands' width, 0 or -1.
    """
    a, b = args[0], args[-1]
    if op in COMPARISONS:
        return f"({a} {_INFIX[op]} {b})"
    if op in ("minimum", "maximum") or (op == "abs" and t.is_signed and not t.is_float):
        name = f"{op}_{t.name}x{width}"
        helpers[name] = _vector_definition(op, name, t, width)
        return _called(name, args)
    if t.is_float:
        return _float_vector(op, t, args, width, helpers)
    c, u = f"as_{memory_type(t, width)}", f"as_{unsigned(t)}{width}"
    if op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        return f"({a} {_INFIX[op]} {b})"
    if op == "invert":
        return f"(~{a})"
    if op == "abs":
        return a
    if op == "popcount":
        return vector_function("popcount", t, t, args, width, helpers)
    if op in ("add", "sub", "mul"):
        return f"{c}({u}({a}) {_INFIX[op]} {u}({b}))" if t.is_signed else f"({a} {_INFIX[op]} {b})"
    if op == "neg":
        return f"{c}(-{u}({a}))" if t.is_signed else f"(-{a})"
    if op == "fma":
        x, y, z = args
        return f"{c}({u}({x}) * {u}({y}) + {u}({z}))" if t.is_signed else f"({x} * {y} + {z})"
    return None


def _vector_definition(op: str, name: str, t: Scalar, width: int) -> str:
    c = memory_type(t, width)
    if op == "abs":
        zero, negated = f"({c})(0)", f"as_{c}(-as_{unsigned(t)}{width}(a))"
        return f"{c} {name}({c} a) {{ return a < {zero} ? {negated} : a; }}"
    nan = " | (a != a)" if t.is_float else ""
    return f"{c} {name}({c} a, {c} b) {{ return (a {'<' if op == 'minimum' else '>'} b){nan} ? a : b; }}"


def vector_function(
    name: str, source: Scalar, target: Scalar, args: list[str], width: int, helpers: dict[str, str]
) -> str:
    """A call of an OpenCL function from vectors of `source` to one of `target`.

    Wide vectors are cut into halves by a function of our own (see CALL_BYTES): `sqrt(x)` on float16 becomes
    `(float16)(sqrt(x.lo), sqrt(x.hi))`.
    """
    full = f"{name}{width}" if name.startswith("convert_") else name
    if width * max(source.size, target.size) <= CALL_BYTES:
        return _called(full, args)
    own = f"{name}_{source.name}x{width}"
    given, result = memory_type(source, width), memory_type(target, width)
    names = "abc"[: len(args)]
    halves = [
        vector_function(name, source, target, [f"{a}.{part}" for a in names], width // 2, helpers)
        for part in ("lo", "hi")
    ]
    parameters = ", ".join(f"{given} {a}" for a in names)
    helpers[own] = f"{result} {own}({parameters}) {{ return ({result})({', '.join(halves)}); }}"
    return _called(own, args)


def unaligned(t: Scalar, width: int, helpers: dict[str, str]) -> str:
    """The vector type for addresses that are aligned to its elements only.

    CPUs have an instruction for it, while `vload` and `vstore` are calls there.  OpenCL does not promise that a type
    may be less aligned, and NVIDIA's compiler was seen to lose elements that were then written beside such vectors.
    """
    vector = memory_type(t, width)
    own = f"{vector}_any"
    helpers[own] = f"typedef {vector} {own} __attribute__((aligned({t.size})));"
    return own


def vector_load(t: Scalar, width: int, place: str) -> str:
    """The elements from an address on, which is aligned to elements only, in pieces that OpenCL's functions take.

    float4 -> `vload4(0, p)`; double8 -> `(double8)(vload4(0, p), vload4(1, p))`
    """
    piece = min(width, CALL_BYTES // t.size)
    loads = [f"vload{piece}({i}, {place})" for i in range(width // piece)]
    return loads[0] if len(loads) == 1 else f"({memory_type(t, width)})({', '.join(loads)})"


def vector_store(t: Scalar, width: int, value: str, space: str, place: str, helpers: dict[str, str]) -> str:
    """Writes a vector to such an address, likewise.

    float4 -> `vstore4(v, 0, p)`; double8 -> `store_global_f64x8(v, p)`, a function of our own that writes pieces
    """
    piece = min(width, CALL_BYTES // t.size)
    if piece == width:
        return f"vstore{width}({value}, 0, {place})"
    name = f"store_{space}_{t.name}x{width}"
    stores = [f"vstore{piece}({part}, {i}, p);" for i, part in enumerate(_pieces("v", width, piece))]
    parameters = f"{memory_type(t, width)} v, {space} {memory_type(t)}* p"
    helpers[name] = f"void {name}({parameters}) {{ {' '.join(stores)} }}"
    return f"{name}({value}, {place})"


def _pieces(vector: str, width: int, piece: int) -> list[str]:
    if width == piece:
        return [vector]
    return [x for half in ("lo", "hi") for x in _pieces(f"{vector}.{half}", width // 2, piece)]


def _float_vector(op: str, t: Scalar, args: list[str], width: int, helpers: dict[str, str]) -> str | None:
    a, b = args[0], args[-1]
    if op in _INFIX:
        return f"({a} {_INFIX[op]} {b})"
    if op in _FLOAT or op == "abs":
        return vector_function(_FLOAT.get(op, "fabs"), t, t, args, width, helpers)
    match op:
        case "neg":
            return f"(-{a})"
        case "fma":
            return f"(({args[0]} * {args[1]}) + {args[2]})"
        case _:
            return None
