"""Checking results: sample inputs, the expected result, and what counts as agreement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from egglift.codegen.device.execute import Rows
from egglift.costmodel.measurement.row_samples import portions, sampled_rows
from egglift.ir.check import type_of
from egglift.ir.errors import OutOfMemory
from egglift.ir.interpret import evaluate
from egglift.ir.patterns import Apply, Expr, Fold, Literal, Reduce, Scan
from egglift.ir.places import Leaf, places
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import Size
from egglift.ir.sizes import evaluate as number
from egglift.ir.traverse import replaced, subterms
from egglift.ir.types import BF16, BOOL, F16, F32, Array, Scalar, Tuple, Type, is_floating, leaves, scalar_of

NdArray: TypeAlias = np.ndarray[Any, Any]
#: a value as NumPy holds it: an array, or for tuples (and arrays of tuples) a tuple of values
HostValue: TypeAlias = Any

#: beyond this many elements a sample repeats itself, with a prime period: drawing numbers is slow
PERIOD = 1048573
#: of integers that say places in an array longer than this, the part that stays as any other integers are
LEAST_PLACES, STAYS = 9, 1 / 16
#: elements that are looked at together
AT_ONCE = 1 << 18
#: a sample must give at least this part of finite results; else positive inputs are tried
ENOUGH_FINITE = 0.9
#: times as far as two computations of the interpreter lie apart may a result lie from one of them
SPREAD = 64
#: computations with inputs some units in the last place off: what rounding decides is otherwise in one of them
DECIDED = 24
#: functions of floats whose values are rounded, whatever they are of
ROUNDING = frozenset(
    ("div", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "erf", "pow", "atan2")
)
#: relative error that different orders of the same float operations may make; f16 and bf16 are computed in f32, and
#: rounded where they are stored: a few times, not once for each operation
TOLERANCE = {"f16": 4 * F16.epsilon, "bf16": 4 * BF16.epsilon, "f32": 2.0**-12, "f64": 2.0**-36}

#: the same where factors of products are rounded to 11 bits, each by half of the last one
TF32 = 2.0**-9


def sample_inputs(program: Expr, seed: int = 0, *, positive: bool = False) -> dict[str, HostValue]:
    """Random values for the inputs of `program`, the same for the same seed.

    Floats are multiples of 1/8 in [-1, 1]: sums of them and of their products are exact in most orders.  Where what is
    rounded decides about places or other integers, they are any numbers between: of such, hardly two are nearly alike.
    Integers lie in -9..9 (unsigned: 1..9).  Nothing is 0, bools aside; with `positive`, nothing is negative.  Integers
    that say places in an array are most often any of its places: how far these lie apart decides what reading takes.
    """
    rng, coarse = np.random.default_rng(seed), not _rounding_decides(program)
    said = places(program)
    try:
        drawn = {name: _sample(t, rng, positive, coarse) for name, t in sorted(inputs_of(program).items())}
        return {name: _placed(name, inputs_of(program)[name], x, said, seed) for name, x in drawn.items()}
    except MemoryError as error:
        raise OutOfMemory(f"a sample of this program's inputs does not fit into memory: {error}") from None


def _rounding_decides(program: Expr) -> bool:
    """Is a result an integer or a bool, while the program has functions of floats that round?"""
    if all(scalar.is_float for _, scalar in leaves(type_of(program))):
        return False
    rounding = (type_of(e) for e in subterms(program) if isinstance(e, Apply) and e.op in ROUNDING)
    return any(isinstance(t, Scalar) and t.is_float for t in rounding)


def _sample(type: Type, rng: np.random.Generator, positive: bool, coarse: bool) -> HostValue:
    shapes = [(tuple(number(n) for n in shape), scalar) for shape, scalar in leaves(type)]
    return unflatten(type, iter([_draw(shape, scalar, rng, positive, coarse) for shape, scalar in shapes]))


def _placed(name: str, type: Type, value: HostValue, said: Mapping[Leaf, Size], seed: int) -> HostValue:
    """`value` with any places of an array, mostly, where its integers say places."""
    if not any(leaf == name for leaf, _ in said):
        return value
    parts = [
        _anywhere(x, number(said[name, k]), seed) if (name, k) in said else x for k, x in enumerate(flatten(value))
    ]
    return unflatten(type, iter(parts))


def _anywhere(drawn: NdArray, length: int, seed: int) -> NdArray:
    """Places of an array of `length`, and in one of 16 cases what was drawn, which may lie outside."""
    last = min(length - 1, np.iinfo(drawn.dtype).max) if drawn.dtype != bool else 0
    if last <= LEAST_PLACES:
        return drawn
    rng, count = np.random.default_rng(seed), min(drawn.size, PERIOD)
    few = np.where(rng.random(count) < STAYS, drawn.reshape(-1)[:count], rng.integers(0, last, count, endpoint=True))
    return np.resize(few.astype(drawn.dtype), drawn.size).reshape(drawn.shape)


def unflatten(type: Type, parts: Iterator[NdArray]) -> HostValue:
    """A value from its leaves, left to right: tuples as the type nests them.  The inverse of `flatten`."""
    match type:
        case Tuple(items):
            return tuple(unflatten(t, parts) for t in items)
        case Array(_, element):
            return unflatten(element, parts)
        case _:
            return next(parts)


def flatten(value: HostValue) -> list[NdArray]:
    """The leaves of a value, left to right, as arrays (a scalar is an array of shape ())."""
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in flatten(item)]
    return [np.asarray(value)]


def _draw(shape: tuple[int, ...], scalar: Scalar, rng: np.random.Generator, positive: bool, coarse: bool) -> NdArray:
    size = int(np.prod(shape, dtype=np.int64))
    count = min(size, PERIOD)
    few: NdArray
    if scalar == BOOL:
        few = rng.integers(0, 2, count, dtype=np.int8)
    else:
        few = rng.integers(1, 9 if scalar.is_float else 10, count, dtype=np.int8)
        if scalar.is_float and not coarse:
            few = few - rng.random(count, np.float32) / 2
        if scalar.is_signed and not positive:
            few = few * (2 * rng.integers(0, 2, count, dtype=np.int8) - 1)
    few = np.asarray((few / np.float32(8) if scalar.is_float else few).astype(scalar.dtype))
    return (few if size == count else np.resize(few, size)).reshape(shape)


@dataclass(frozen=True)
class Expected:
    """Sample inputs of a program with its result on them by the interpreter, leaf by leaf.

    wide: floats computed in float64; narrow: in the program's own types.  A result may agree with either, and where
    rounding decides about digits (a quotient by what nearly cancels), as far from them as these lie apart.
    rows: of a large result, those that are compared (None: all); an actual result may be them alone.
    tf32: may factors of products have been rounded to 11 bits?
    """

    program: Expr
    inputs: dict[str, HostValue]
    wide: tuple[NdArray, ...]
    scalars: tuple[Scalar, ...]
    rows: Rows | None = None
    tf32: bool = False

    def only_rounded(self, actual: Sequence[NdArray]) -> bool:
        """Are differences within what adding the longest array one by one may lose, n half units in the last place?"""
        pairs = zip(self.wide, self._compared(actual), self.scalars, strict=True)
        bound = _longest(self.program) / 2
        return not any(
            agree(wide, np.asarray(got), s, bound * s.epsilon if s.is_float else None) for wide, got, s in pairs
        )

    def disagreement(self, actual: Sequence[NdArray]) -> str | None:
        """None where the leaves `actual` (flat or shaped) agree; else a line that says where they do not."""
        compared = self._compared(actual)
        for i, (wide, scalar) in enumerate(zip(self.wide, self.scalars, strict=True)):
            got = compared[i]
            tolerance = TF32 if self.tf32 and scalar == F32 else None
            problem = agree(wide, got, scalar, tolerance)
            if (
                problem
                and agree(self.narrow[i], got, scalar, tolerance)
                and agree(wide, got, scalar, tolerance, self.spread[i])
                and agree(wide, got, scalar, tolerance, self.spread[i], self.undecided[i])
            ):
                return f"result {i}: {problem}" if len(self.wide) > 1 else problem
        return None

    @cached_property
    def undecided(self) -> tuple[NdArray, ...]:
        """Of each element: does rounding decide whether it is finite?  So it is of the root of what cancels to zero."""
        wide = [np.isfinite(x) for x in self.wide]
        found = [np.zeros(x.shape, np.bool_) for x in wide]
        for seed in range(DECIDED):
            for i, off in enumerate(self._off(seed)):
                found[i] |= np.isfinite(off) != wide[i]
        return tuple(found)

    @cached_property
    def narrow(self) -> tuple[NdArray, ...]:
        """The result in the program's own types, computed when first asked for."""
        return _evaluate(self.program, self.inputs, self.rows, wide=False)

    @cached_property
    def spread(self) -> tuple[NdArray, ...]:
        """How far apart results lie that only rounding tells apart, element by element: of the program's own types, and
        of inputs and fractions in the program that are some units in the last place off."""
        others = zip(self.narrow, *map(self._off, range(3)), strict=True)
        with np.errstate(all="ignore"):
            return tuple(
                np.max([np.abs(x.astype(np.float64) - wide.astype(np.float64)) for x in each], axis=0)
                for wide, each in zip(self.wide, others, strict=True)
            )

    def _off(self, seed: int) -> tuple[NdArray, ...]:
        """The result of inputs, and fractions in the program, that are some units in the last place off."""
        return _evaluate(_with_rounded_fractions(self.program, seed), _rounded(self.inputs, seed), self.rows, wide=True)

    def _compared(self, actual: Sequence[NdArray]) -> list[NdArray]:
        """The part of a result that is compared."""
        got = [np.asarray(a) for a in actual]
        rows = self.rows
        if rows is None:
            return got
        return [
            a if a.size == wide.size else a.reshape(rows.of, -1)[list(rows.indices)]
            for a, wide in zip(got, self.wide, strict=True)
        ]


def expect(program: Expr, seed: int = 0, tf32: bool = False, given: Mapping[str, HostValue] | None = None) -> Expected:
    """Sample inputs of `program` and its result; positive inputs where otherwise much of it is not finite.

    given: inputs that are as they are.
    """
    given = given or {}
    scalars = tuple(scalar for _, scalar in leaves(type_of(program)))
    inputs, rows = sample_inputs(program, seed) | dict(given), sampled_rows(program, seed)
    wide = _evaluate(program, inputs, rows, wide=True)
    if _finite(wide) < ENOUGH_FINITE:
        positive = sample_inputs(program, seed, positive=True) | dict(given)
        again = _evaluate(program, positive, rows, wide=True)
        if _finite(again) > _finite(wide):
            inputs, wide = positive, again
    return Expected(program, inputs, wide, scalars, rows, tf32)


def _evaluate(program: Expr, inputs: dict[str, HostValue], rows: Rows | None, *, wide: bool) -> tuple[NdArray, ...]:
    if rows is None:
        return tuple(flatten(evaluate(program, inputs, wide=wide)))
    parts = [flatten(evaluate(portion, inputs, wide=wide)) for portion in portions(program, rows)]
    leaves = ([np.atleast_1d(x) for x in leaf] for leaf in zip(*parts, strict=True))
    return tuple(np.concatenate(leaf).reshape(len(rows.indices), -1) for leaf in leaves)


def _with_rounded_fractions(program: Expr, seed: int) -> Expr:
    """A program whose fractions are some units in the last place larger or smaller; whole numbers stay as they are.

    Places that are computed from indices alone (`0.96 * i + 11.5`) depend on no input, but are rounded too.
    """
    rng = np.random.default_rng(seed)

    def off(e: Expr) -> Expr | None:
        match e:
            case Literal(float(x), Scalar() as t) if t.is_float and np.isfinite(x) and not x.is_integer():
                return Literal(x * (1 + float(rng.integers(-3, 4)) * t.epsilon), t)
        return None

    return replaced(program, off)


def _rounded(value: HostValue, seed: int) -> HostValue:
    """Inputs whose floats are some units in the last place larger or smaller."""
    rng = np.random.default_rng(seed)

    def off(x: HostValue) -> HostValue:
        match x:
            case dict():
                return {name: off(v) for name, v in x.items()}
            case tuple():
                return tuple(map(off, x))
            case _ if is_floating(x.dtype):
                units = rng.integers(-3, 4, x.shape) * scalar_of(x.dtype).epsilon
                return (x.astype(np.float64) * (1 + units)).astype(x.dtype)
            case _:
                return x

    return off(value)


def _finite(values: tuple[NdArray, ...]) -> float:
    """The part of the floats in `values` that is finite."""
    floats = [v for v in values if is_floating(v.dtype) and v.size]
    flat = (v.reshape(-1) for v in floats)
    finite = sum(int(np.isfinite(v[i : i + AT_ONCE]).sum()) for v in flat for i in range(0, v.size, AT_ONCE))
    return finite / sum(v.size for v in floats) if floats else 1.0


def _longest(program: Expr) -> int:
    """Elements of the longest array that is reduced or scanned."""
    lengths = [type_of(e.x) for e in subterms(program) if isinstance(e, Reduce | Fold | Scan)]
    return max((number(t.length) for t in lengths if isinstance(t, Array)), default=1)


def agree(
    expected: NdArray,
    actual: NdArray,
    scalar: Scalar,
    tolerance: float | None = None,
    spread: NdArray | None = None,
    undecided: NdArray | None = None,
) -> str | None:
    """None where `actual` is `expected`; else a line with how many differ and the first that does.

    Integers and bools agree exactly.  Floats agree within TOLERANCE, relative to the expected value or to the
    root mean square of all of them (a sum that cancels has no digits of its own), or within SPREAD times `spread`,
    if that is given; NaN agrees with NaN.  undecided: elements that agree with anything.
    """
    if expected.size != actual.size:
        return f"{actual.size} elements instead of {expected.size}"
    want, got = np.atleast_1d(expected), np.atleast_1d(actual.reshape(expected.shape))
    if _all_same(want, got, scalar):
        return None
    limit = TOLERANCE.get(scalar.name, 0.0) if tolerance is None else tolerance
    wrong = _differ(want, got, scalar, limit, spread) if scalar.is_float else want != got
    if undecided is not None:
        wrong &= ~undecided.reshape(wrong.shape)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    where = f" [{', '.join(map(str, first))}]" if expected.ndim else ""
    return f"{count} of {want.size} elements differ; the first{where}: {got[first]} instead of {want[first]}"


def _all_same(want: NdArray, got: NdArray, scalar: Scalar) -> bool:
    """Is every element the same number, or NaN in both?  Some at a time, for what does not fit a cache is slow."""
    one, other = want.reshape(-1), got.reshape(-1)
    for start in range(0, one.size, AT_ONCE):
        with np.errstate(over="ignore"):  # what overflows f32 is infinite there
            x, y = one[start : start + AT_ONCE].astype(scalar.dtype), other[start : start + AT_ONCE]
        if not bool(((x == y) | ((x != x) & (y != y))).all()):
            return False
    return True


def _usual(sizes: NdArray) -> float:
    """How large numbers of these sizes are: their root mean square, but for a few that are much larger than most."""
    middle, mean = float(np.median(sizes)), float(np.sqrt(np.mean(np.square(sizes))))
    return min(mean, 16 * middle) if middle else mean


def _differ(want: NdArray, got: NdArray, scalar: Scalar, tolerance: float, spread: NdArray | None) -> NdArray:
    with np.errstate(all="ignore"):
        rounded = want.astype(scalar.dtype)  # what overflows f32 is infinite there
        finite = np.isfinite(rounded)
        same = np.asarray((rounded == got) | (np.isnan(rounded) & np.isnan(got)))
        if bool(same.all()):
            return ~same
        exact = want.astype(np.float64)
        scale = _usual(np.abs(exact[finite])) if finite.any() else 0.0
        off = np.abs(exact - got.astype(np.float64))
        close = off <= tolerance * np.maximum(np.abs(exact), scale)
        if spread is not None:
            close |= off <= SPREAD * spread.reshape(off.shape)
    return np.asarray(~(same | (finite & close)))
