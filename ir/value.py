"""`Value`: an expression as the user handles it, with arithmetic, indexing and the patterns as methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Protocol, TypeAlias

import numpy as np

from egglift.ir import patterns as p
from egglift.ir import promotion, trace
from egglift.ir.absent_names import ABSENT
from egglift.ir.boundary_modes import boundary
from egglift.ir.check import type_of
from egglift.ir.errors import OperatorError, ProgramError, ShapeError, TypeMismatch
from egglift.ir.indexing import from_the_end, indexed, is_several
from egglift.ir.keywords import bound, methods_explained
from egglift.ir.lengths import Length
from egglift.ir.lifting import (
    adapt,
    arity,
    as_expr,
    component,
    filled,
    is_number,
    lifted,
    numbers,
    parameter_names,
    scalars_in,
    seed,
)
from egglift.ir.numpy_methods import NumPyMethods
from egglift.ir.numpy_protocol import UFUNCS, TakenByNumPy
from egglift.ir.operators import OPERATORS, named, recognise
from egglift.ir.patterns import Expr, Operator
from egglift.ir.products import matmul
from egglift.ir.reducing import Reducing
from egglift.ir.refusals import Refusing
from egglift.ir.scanning import Scanning, element_at_depth, scanned
from egglift.ir.shown import Shown
from egglift.ir.sizes import Size
from egglift.ir.text import brief, pretty
from egglift.ir.traverse import is_expr
from egglift.ir.type_names import TypeLike, as_type
from egglift.ir.types import BOOL, I32, I64, Array, Scalar, Tuple, Type, dims
from egglift.ir.whole_numbers import limits, whole

#: what may stand for a value: a Value, a Python or NumPy number, an ndarray, a tuple of these
Like: TypeAlias = Any
#: how an array goes on: by name, ("constant", value), or a function of an index and the length
Mode: TypeAlias = "str | tuple[str, Like] | Callable[[Value, int], Like]"

#: arrays of at most this many elements can be unpacked and iterated over in Python
UNPACK = 64


class ReduceOperator(Protocol):
    """What `reduce` takes: something that knows its operator for elements of a type."""

    def of(self, t: Type) -> Operator: ...


def elementwise(op: str, *args: Like) -> Value:
    """Scalar function `op` on scalars, and element by element on arrays of one shape (scalars repeated)."""
    return typed(lifted(op, [a if is_number(a) else as_expr(numbers(a)) for a in args]))


def as_value(x: Like) -> Value:
    """`x` as a Value: itself, a number, an ndarray, a tuple of these."""
    return x if isinstance(x, Value) else Value(as_expr(x))


def as_numbers(x: Like) -> Value:
    """`x` as a Value, a list or tuple of numbers as an array."""
    return as_value(np.asarray(x) if isinstance(x, list | tuple) else x)


def array_last(call: str, first: Like, x: Like) -> Value:
    """The array of a call that has it last; TypeMismatch where it stands first, as NumPy has it."""
    if isinstance(first, Value | np.ndarray) and not isinstance(x, Value | np.ndarray):
        raise TypeMismatch(f"{call} takes the array last, and not {brief(as_expr(first))} first: patterns do so")
    return as_value(x)


def typed(e: Expr) -> Value:
    """A new expression as a Value; the checker's error if it has no type."""
    type_of(e)
    return Value(e)


def call(f: Callable[..., Like], *args: Expr) -> Expr:
    """A user's function applied to expressions.

    A function of several arguments, called with one tuple of as many components, gets the components.
    """
    if not callable(f):
        raise TypeMismatch(f"{f!r} is no function: patterns take the function first, as in map(lambda v: v * 2, x)")
    wanted = arity(f)
    if len(args) == 1 and isinstance(t := type_of(args[0]), Tuple) and wanted == len(t.items):
        args = tuple(component(args[0], i) for i in range(len(t.items)))
    if wanted is not None and wanted > len(args):
        given = ", ".join(str(type_of(a)) for a in args)
        raise TypeMismatch(f"the function {_name(f)} takes {wanted} arguments, but is applied to {given}")
    values = [Value(a) for a in args]
    try:
        e = as_expr(f(*values))
    except TypeMismatch:
        raise
    except TypeError:
        bound(f"the function {_name(f)}", f, values, {})
        raise
    type_of(e)
    return e


def _name(f: Callable[..., Any]) -> str:
    return str(getattr(f, "__name__", f))


#: what goes from element to element, where a function is not known to be associative
IN_ORDER = {"reduce": "fold", "scan": "accumulate"}


def operator_of(op: Any, t: Type, pattern: str = "reduce") -> Operator:
    """What `reduce` was given, or another pattern, as an operator on elements of type `t`.

    A Python function must be one of the named operators written out, or one that is known to be associative;
    OperatorError asks for more otherwise.
    """
    known: Any = import_module("egglift.ir.known_operators")
    if isinstance(op, np.ufunc):
        op = known.of_numpy(UFUNCS.get(op.__name__, op.__name__))
    if hasattr(op, "of"):
        found: Operator = op.of(t)
        return found
    if not callable(op):
        raise TypeMismatch(f"{op!r} is not an operator: use {', '.join(OPERATORS)}, or operator(f, ...)")
    body = trace.closed_body(lambda v: call_pair(op, v), Tuple((t, t)), f"the operator {_name(op)}")
    if (own := recognise(body)) is not None:
        return named(own, t)
    associative: Operator | None = known.known_operator(body, t)
    if associative is not None:
        return associative
    if (other := type_of(body)) != t:
        remedy = f"cast the elements, or use {IN_ORDER[pattern]}"
        raise TypeMismatch(f"{pattern} with {brief(body)}: it makes {other} of two {t}; {remedy}")
    raise OperatorError(
        f"{pattern} with {brief(body)}: nothing says that it is associative; use "
        f"operator(f, associative=True, commutative=..., neutral=...), or {IN_ORDER[pattern]}, which goes left to right"
    )


def begun(op: Any, init: Like, t: Type, pattern: str = "reduce") -> tuple[Operator, Expr]:
    """What a pattern was given, as an operator on elements of type `t` and its initial value (None: the neutral)."""
    operator = operator_of(op, t, pattern)
    first = operator.neutral if init is None else adapt(init, t)
    if first is None:
        raise OperatorError(f"operator {operator.name} has no neutral element: give an initial value")
    return operator, first


def call_pair(f: Callable[..., Like], pair: Expr) -> Expr:
    """A binary function applied to the components of a pair (or to the pair, if it takes one argument)."""
    return call(f, pair) if arity(f) == 1 else call(f, p.Get(0, pair), p.Get(1, pair))


def _both_ways(op: str) -> tuple[Callable[[Value, Like], Value], Callable[[Value, Like], Value]]:
    """The methods for `self op other` and `other op self`."""

    def forward(self: Value, other: Like) -> Value:
        return elementwise(op, self, other)

    def backward(self: Value, other: Like) -> Value:
        return elementwise(op, other, self)

    return forward, backward


@methods_explained
class Value(Reducing, Scanning, NumPyMethods, Refusing, TakenByNumPy, Shown):
    """A value of a program: an expression with the patterns as methods and Python's operators on scalars and,
    element by element, on arrays.  `.type` is its type, `.expr` the expression."""

    __slots__ = ("expr",)
    expr: Expr

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    # ------------------------------------------------------------------------------------ what it is

    @property
    def type(self) -> Type:
        """The value's type."""
        return type_of(self.expr)

    @property
    def shape(self) -> tuple[Size, ...]:
        """Lengths of the nested arrays, outermost first."""
        return dims(self.type)

    def __repr__(self) -> str:
        return f"<{brief(self.expr)} : {self.type}>"

    def __str__(self) -> str:
        return pretty(self.expr)

    def __len__(self) -> int:
        match self.type:
            case Array(Length() as n, _):
                raise ShapeError(f"{brief(self.expr)} has {n} elements, known when a kernel is called: use .shape[0]")
            case Array(int() as n, _):
                return n
            case Tuple(items):
                return len(items)
        raise TypeMismatch(f"{brief(self.expr)} is {self.type}: it has no length")

    def __hash__(self) -> int:
        return hash(self.expr)

    @property
    def _count(self) -> int:
        """The length of an array, also one that is known when a kernel is called; how many parts a tuple has."""
        n = self.type.length if isinstance(self.type, Array) else None
        return n if isinstance(n, Length) else len(self)

    # ------------------------------------------------------------------------------------ parts

    def __iter__(self) -> Iterator[Value]:
        if isinstance(self.type, Array) and self._count > UNPACK:
            raise ProgramError(
                f"{brief(self.expr)} has {self._count} elements, and more than {UNPACK} are not taken one by one: use "
                "map, reduce or fold; of Python's functions, egglift's own: el.sum, el.min, el.max, el.any, el.all"
            )
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, at: Any) -> Value:
        """`x[i]`, `x[a:b]`, `x[i, j]`, `x[::-1]`, `x[..., None]` of arrays, as in NumPy; `p[i]` of tuples.

        An integer Value as index gives the element that it names, clamped into the array; an array of them
        gathers, negative ones from the end, and several gather one element for each place in them.
        """
        if is_several(at):
            several = at if isinstance(at, tuple) else (at,)
            return typed(indexed(self.expr, several, lambda x, i: Value(x)[i].expr))
        if isinstance(at, Value | np.ndarray) or is_expr(at):
            index = at if isinstance(at, Value) else Value(as_expr(at))
            if scalars_in(index.type) == BOOL:
                raise TypeMismatch(f"{brief(self.expr)} cannot be indexed by bools: {ABSENT['compress']}")
            if isinstance(index.type, Array):
                return self.gather(from_the_end(self.expr, index.expr))
            return typed(p.At(0, p.Gather(p.Fill(1, index.expr), self.expr)))
        if isinstance(at, slice):
            if is_number(at.step) and at.step == 0:
                raise ShapeError(f"{brief(self.expr)}: a slice in steps of 0 has no end; give another step")
            return self._slice(at)
        if isinstance(self.type, Tuple):
            return typed(component(self.expr, self._position(at)))
        return typed(p.At(self._position(at), self.expr))

    def _position(self, at: Any) -> int:
        try:
            i = at if isinstance(at, Length) else int(at.__index__())
        except AttributeError:
            raise TypeMismatch(f"{at!r} is not an index: use whole numbers, slices or values") from None
        if isinstance(self.type, Scalar):
            raise TypeMismatch(f"{brief(self.expr)} is {self.type}: a scalar has no component {i}")
        n = self._count
        if not -n <= i < n:
            what = "array" if isinstance(self.type, Array) else "tuple"
            raise ShapeError(f"{brief(self.expr)}[{i}]: outside of an {what} of {n}: {self.type}")
        return i + n if i < 0 else i

    def _slice(self, at: slice) -> Value:
        if isinstance(self.type, Tuple):
            return typed(p.Tup(tuple(component(self.expr, i) for i in range(len(self))[at])))
        n = self._count
        if isinstance(n, Length) and (at.start, at.stop, at.step) == (None, None, -1):
            return self.reorder(lambda i: n - 1 - i)
        if isinstance(n, Length) or isinstance(at.start, Length) or isinstance(at.stop, Length):
            start, stop, step = limits(at, n)
        else:
            start, stop, step = at.indices(n)
        if step < 0:
            return self._backwards(range(start, stop, step))
        stop = max(stop, start)
        part = self if stop == n else self.take(stop)
        part = part.drop(start) if start else part
        return part if step == 1 or part._count == 0 else part.slide(1, step).map(lambda window: window[0])

    def _backwards(self, places: range) -> Value:
        n = len(self)
        if not places:
            return self.take(0)
        turned = self.reorder(lambda i: n - 1 - i)
        return turned[n - 1 - places[0] : n - places[-1] : -places.step]

    # ------------------------------------------------------------------------------------ arithmetic

    __add__, __radd__ = _both_ways("add")
    __sub__, __rsub__ = _both_ways("sub")
    __mul__, __rmul__ = _both_ways("mul")
    __truediv__, __rtruediv__ = _both_ways("div")
    __floordiv__, __rfloordiv__ = _both_ways("floordiv")
    __mod__, __rmod__ = _both_ways("mod")

    def __divmod__(self, other: Like) -> tuple[Value, Value]:
        return self // other, self % other

    def __rdivmod__(self, other: Like) -> tuple[Value, Value]:
        return other // self, other % self

    __pow__, __rpow__ = _both_ways("pow")
    __and__, __rand__ = _both_ways("bitwise_and")
    __or__, __ror__ = _both_ways("bitwise_or")
    __xor__, __rxor__ = _both_ways("bitwise_xor")
    __lshift__, __rlshift__ = _both_ways("left_shift")
    __rshift__, __rrshift__ = _both_ways("right_shift")
    __lt__, __gt__ = _both_ways("lt")[0], _both_ways("gt")[0]
    __le__, __ge__ = _both_ways("le")[0], _both_ways("ge")[0]
    __eq__, __ne__ = _both_ways("eq")[0], _both_ways("ne")[0]  # type: ignore[assignment]

    def __matmul__(self, other: Like) -> Value:
        return typed(matmul(self.expr, as_expr(other)))

    def __rmatmul__(self, other: Like) -> Value:
        return typed(matmul(as_expr(other), self.expr))

    def __neg__(self) -> Value:
        return elementwise("neg", self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return elementwise("abs", self)

    def __invert__(self) -> Value:
        return elementwise("invert", self)

    # ------------------------------------------------------------------------------------ computing patterns

    def map(self, f: Callable[..., Like], *others: Like) -> Value:
        """`[f(x0), f(x1), ...]`; with other arrays of the same length, f takes an element of each."""
        x = self.zip(*others).expr if others else self.expr

        def body(v: Expr) -> Expr:
            return call(f, *(p.Get(i, v) for i in range(1 + len(others)))) if others else call(f, v)

        return typed(trace.map_body(body, x, parameter_names(f, 1)[0]))

    def reduce(self, op: ReduceOperator | Callable[..., Like], init: Like = None) -> Value:
        """The elements combined by an associative operator, beginning with `init` (its neutral element)."""
        t = trace.element_of(self.expr)
        operator, first = begun(op, init, t)
        return typed(p.Reduce(operator, first, self.expr))

    def scan(
        self,
        op: ReduceOperator | Callable[..., Like],
        init: Like = None,
        *,
        exclusive: bool = False,
        reverse: bool = False,
        axis: int = 0,
    ) -> Value:
        """All partial results of `reduce` along an axis: see `egglift.scan`."""
        t = element_at_depth(self.expr)
        operator, first = begun(op, init, t, "scan")
        return typed(scanned(operator, first, self.expr, axis, exclusive, reverse))

    def fold(self, f: Callable[..., Like], init: Like) -> Value:
        """`... f(f(init, x0), x1) ...`, left to right; the accumulator may be a tuple or an array."""
        t = trace.element_of(self.expr)

        def traced(z: Expr) -> p.Fold:
            return trace.fold_body(lambda acc, v: call(f, acc, v), z, self.expr, names)

        first, second, *_ = parameter_names(f, 2)
        names = (first, second)
        e = traced(seed(init, scalars_in(t)))
        wanted = type_of(e.body)
        if wanted != type_of(e.init):  # numbers in init are weak: they take the type that f gives
            e = traced(adapt(init, wanted))
        return typed(e)

    def accumulate(self, f: Callable[..., Like], init: Like) -> Value:
        """`[f(init, x0), f(f(init, x0), x1), ...]`: what `fold` has after each element.  See `egglift.accumulate`."""
        e = self.fold(f, init).expr
        assert isinstance(e, p.Fold)
        return typed(p.ScanSeq(p.Tup((e.body, e.body)), e.init, e.x))

    def iterate(self, n: int, f: Callable[..., Like]) -> Value:
        """`f(f(... f(x)))`, n times."""
        count = whole(n, "the number of iterations")
        return typed(trace.iterate_body(count, lambda v: call(f, v), self.expr, parameter_names(f, 1)[0]))

    def cast(self, dtype: TypeLike) -> Value:
        """The value, or each element, converted to a scalar type, or to one that NumPy has: see `egglift.cast`."""
        t = as_type(dtype)
        if isinstance(self.type, Array):
            return self.map(lambda v: v.cast(t))
        if not isinstance(t, Scalar):
            raise TypeMismatch(f"{brief(self.expr)} cannot be cast to {t}: cast takes scalar types")
        return typed(promotion.cast(self.expr, t))

    def astype(self, dtype: TypeLike) -> Value:
        """The value, or each element, of another type: see `egglift.cast`."""
        return self.cast(dtype)

    # ------------------------------------------------------------------------------------ layout patterns

    def zip(self, *others: Like) -> Value:
        """`[<a0, b0, ...>, <a1, b1, ...>, ...]`."""
        if not others:
            raise ProgramError("zip takes two arrays or more")
        return typed(p.Zip((self.expr, *map(as_expr, others))))

    def unzip(self) -> Value:
        """The tuple of arrays that an array of tuples consists of: `a, b = pairs.unzip()`."""
        t = trace.element_of(self.expr)
        if not isinstance(t, Tuple):
            raise TypeMismatch(f"{brief(self.expr)} is {self.type}; unzip takes an array of tuples")
        if isinstance(self.expr, p.Zip):
            return typed(p.Tup(self.expr.arrays))
        return typed(p.Tup(tuple(p.Map(p.Get(i, p.Arg(t)), self.expr) for i in range(len(t.items)))))

    def cross(self, other: Like) -> Value:
        """`[[<a0, b0>, <a0, b1>, ...], [<a1, b0>, ...], ...]`."""
        return typed(p.Cross(self.expr, as_expr(other)))

    def split(self, n: int) -> Value:
        """Chunks of n elements; n divides the length."""
        return typed(p.Split(whole(n, "the chunk length"), self.expr))

    def join(self) -> Value:
        """The elements of all rows, one after the other: the inverse of split."""
        return typed(p.Join(self.expr))

    def stride(self, s: int) -> Value:
        """`y[i] = x[i // n + s * (i % n)]` with n = length / s."""
        return typed(p.Stride(whole(s, "the stride"), self.expr))

    def slide(self, size: int, step: int = 1) -> Value:
        """Windows of `size` elements, each `step` after the one before."""
        return typed(p.Slide(whole(size, "the window"), whole(step, "the step"), self.expr))

    def pad(self, left: int, right: int, mode: Mode = "clamp") -> Value:
        """`left` elements before and `right` after: mode clamp, mirror, reflect, wrap or ("constant", value).

        The value is a number or a value of the program: an element, or what whole elements are made of.
        With a function for mode, element i of -left .. n + right - 1 is `x[mode(i, n)]`, clamped into the array.
        """
        if callable(mode):
            n, before = self._count, whole(left, "the padding")
            places = Value(p.Iota(n + before + whole(right, "the padding"), I32 if n < 1 << 30 else I64))
            return self.gather(places.map(lambda i: mode(i - before, n)))
        name, value = boundary(mode)
        padding = None if value is None else filled(value, trace.element_of(self.expr))
        widths = whole(left, "the padding"), whole(right, "the padding")
        return typed(p.Pad(*widths, name, self.expr, padding))

    def pad_up(self, multiple: int, value: Like = None) -> Value:
        """`value` (or else the last element) appended until `multiple` divides the length."""
        padding = None if value is None else filled(value, trace.element_of(self.expr))
        return typed(p.PadUp(whole(multiple, "the multiple", 1), self.expr, padding))

    def take(self, n: int) -> Value:
        """The first n elements."""
        at = "x[places] and np.take(x, places) take what is at places"
        return typed(p.Take(whole(n, "how many to take", instead=at), self.expr))

    def drop(self, n: int) -> Value:
        """All but the first n elements."""
        return typed(p.Drop(whole(n, "how many to drop"), self.expr))

    def gather(self, indices: Like) -> Value:
        """`[x[i0], x[i1], ...]`; indices are clamped into the array."""
        at = as_expr(np.asarray(indices) if isinstance(indices, list | tuple | range) else indices)
        return typed(p.Gather(at, self.expr))

    def reorder(self, order: Callable[[Value], Like] | Like) -> Value:
        """`y[i] = x[order(i)]` for an index function, or `y[i] = x[order[i]]` for a permutation of 0..n-1."""
        n = self._count
        if callable(order):
            count = I32 if n < 1 << 31 else I64
            return self.gather(Value(p.Iota(n, count)).map(order))
        if isinstance(order, Value):
            return self.gather(order)
        given = np.asarray(order)
        if given.shape != (n,) or given.dtype.kind not in "iu" or (np.sort(given) != np.arange(n)).any():
            raise ShapeError(f"{brief(self.expr)}: not a permutation of 0..{n - 1}; use gather instead")
        return self.gather(given)
