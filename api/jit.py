"""`jit`: a Python function of arrays as kernels, optimised when it is first called with arrays of a shape."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, overload

import numpy as np

from egglift.codegen.device.arguments import Lies, is_on_device
from egglift.ir.arguments import as_array
from egglift.ir.conversions import integers
from egglift.ir.errors import ArgumentError, EggliftError, ProgramError
from egglift.ir.lifting import as_program, is_number
from egglift.ir.notation import array, scalar
from egglift.ir.patterns import Expr
from egglift.ir.promotion import complex_of, promote
from egglift.ir.rearranging import moveaxis
from egglift.ir.run_time_lengths import size
from egglift.ir.strided import Layout, layout_of, seen, span
from egglift.ir.types import BOOL, F64, FACTS, GIVEN, I64, Scalar, scalar_of
from egglift.ir.value import Value
from egglift.kernel import Kernel
from egglift.optimize import optimize

#: what a call is told apart by: for each argument its dtype and shape, or what it is if it is static
Key = tuple[Any, ...]
#: names of what is passed through
OPTIONS = frozenset(inspect.signature(optimize).parameters) - {"expr"}


@overload
def jit(f: Callable[..., Any], /) -> Jitted:
    """`@el.jit`."""


@overload
def jit(
    *, static: str | Sequence[str] = (), lengths: Mapping[str, str] = {}, **options: Any
) -> Callable[[Callable[..., Any]], Jitted]:
    """`@el.jit(static=..., lengths=..., device=..., ...)`."""


def jit(
    f: Callable[..., Any] | None = None,
    /,
    *,
    static: str | Sequence[str] = (),
    lengths: Mapping[str, str] = {},
    **options: Any,
) -> Jitted | Callable[[Callable[..., Any]], Jitted]:
    """A function of arrays and numbers as one that computes it by optimised kernels.

        @el.jit
        def dot(x, y):
            return (x * y).reduce(el.add, 0.0)

        dot(a, b)  # optimised for a's and b's types and shapes; the next call with such arrays only runs the kernel

    The function is called once for each combination of types and shapes, with egglift's arrays and scalars (`Value`)
    for its arguments; what it returns, one value or a tuple of them, is the program.  Arguments are NumPy arrays, NumPy
    scalars, Python's numbers, pyopencl arrays, or what tells of its memory by `__array_interface__` or DLPack (of the
    host), by position or by name; defaults are arguments too.

    Arrays whose axes lie in another order in memory (order="F", `a.T`) have kernels of their own, which read them as
    they lie; so have arrays with gaps, turned axes or repeated elements (`a[::2]`, `a[:, 0]`, `a[::-1]`, broadcast_to).

    static: names of parameters that the function gets as they are (a size, a name, a function): they must be hashable,
    and each other value is another kernel.  lengths: names of the axes of parameters, `{"A": "n m", "x": "m"}`: of any
    length, known when it is called, and the same where the name is; one kernel serves all of them, chosen for those of
    the first call; an axis named `_` is as long as it is.  options: those of `optimize`, `device=` among them.
    A number of Python's own takes the type that the call's arrays have together, as in NumPy, if that can hold it:
    2.0 is an f32 beside arrays of f32, an f64 beside arrays of i32.  ArgumentError where an argument is none of these.
    """
    if unknown := sorted(set(options) - OPTIONS):
        raise ArgumentError(f"jit takes static, lengths and the options of optimize, not {', '.join(unknown)}")
    names = (static,) if isinstance(static, str) else tuple(static)
    if f is None:
        return lambda g: Jitted(g, names, options, lengths)
    return Jitted(f, names, options, lengths)


class Jitted:
    """A function that `jit` has made; call it as the function.  Several threads may.

    Inside another function of `jit`, or wherever an argument is a Value, it is the function itself.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        static: Sequence[str] = (),
        options: dict[str, Any] | None = None,
        lengths: Mapping[str, str] = {},
    ) -> None:
        if not callable(f):
            raise ArgumentError(f"jit takes a function, not {f!r}")
        functools.update_wrapper(self, f)
        self._function, self._static, self._options = f, frozenset(static), dict(options or {})
        self._signature = inspect.signature(f)
        self._lengths = {name: axes.split() for name, axes in lengths.items()}
        _require_plain(f, self._signature, self._static)
        if unknown := sorted(set(lengths) - set(self._signature.parameters) | set(lengths) & self._static):
            raise ArgumentError(f"{_name(f)}{self._signature} has no array {', '.join(unknown)}, which lengths names")
        self._lock = threading.Lock()
        self._entries: dict[Key, _Entry] = {}

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """The function's value on these arguments, by a kernel that is made if there is none for their shapes."""
        given = self._bind(args, named)
        if any(isinstance(v, Value) for v in given.values()):
            return self._function(*args, **named)
        kernel = self._kernel(given)
        return kernel(*[given[name] for name in kernel.inputs])  # whatever the inputs are called

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickled as functions are, by name: another process has its own kernels."""
        name = str(self._function.__qualname__)
        if getattr(sys.modules.get(self._function.__module__), name, None) is self:
            return name
        lengths = {parameter: " ".join(axes) for parameter, axes in self._lengths.items()}
        return Jitted, (self._function, tuple(self._static), self._options, lengths)

    def __deepcopy__(self, memo: object) -> Jitted:
        """Itself: its kernels are not copied."""
        return self

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """As a method: `self` is the first argument, and must be named in `static`."""
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {_name(self._function)}: {len(self.kernels)} kernels>"

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels made so far, in the order in which they were first asked for."""
        return tuple(e.kernel for e in list(self._entries.values()) if e.kernel is not None)

    def kernel(self, /, *args: Any, **named: Any) -> Kernel:
        """The kernel that a call with these arguments runs, optimised if there is none yet; it is not run."""
        return self._kernel(self._bind(args, named))

    def program(self, /, *args: Any, **named: Any) -> Expr:
        """The program that a call with these arguments is, as the function describes it; nothing is optimised."""
        given = self._bind(args, named)
        return self._traced(self._described(given), given)

    # ------------------------------------------------------------------------------------ kernels

    def _kernel(self, given: dict[str, Any]) -> Kernel:
        """The kernel for these arguments; of several threads that want one, the first makes it, the others wait."""
        described = self._described(given)
        key = tuple(described.values())
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
        with entry.lock:
            if entry.kernel is None:
                kernel = optimize(self._traced(described, given), **self._options)
                orders = {n: d[2] for n, d in described.items() if n not in self._static and len(d) > 2}
                entry.kernel = kernel.taking(orders) if orders else kernel
            return entry.kernel

    def _traced(self, described: dict[str, Any], given: dict[str, Any]) -> Expr:
        """The function's program for arguments of these types and shapes."""
        sizes = self._sizes(given)
        values = {n: given[n] if n in self._static else _input(sizes, n, *d) for n, d in described.items()}
        bound = self._signature.bind_partial()
        bound.arguments.update(values)
        try:
            return as_program(self._function(*bound.args, **bound.kwargs))
        except EggliftError as error:
            error.add_note(f"in {_name(self._function)}({', '.join(map(_said, described.items()))}), traced by jit")
            raise

    def _described(self, given: dict[str, Any]) -> dict[str, Any]:
        """Each argument as a part of the key: its scalar type and shape, or its type and value if it is static."""
        numbers = {n: v for n, v in given.items() if n not in self._static and is_number(v)}
        others = {n: v for n, v in given.items() if n not in self._static | set(numbers) and hasattr(v, "dtype")}
        arrays = [_scalar(n, v.dtype) for n, v in others.items()]
        signature: dict[str, Any] = {}
        for name, v in given.items():
            if name in self._static:
                signature[name] = _hashable(self._function, name, v)
            elif name in numbers:
                signature[name] = _beside(arrays, v), ()
            elif hasattr(v, "dtype") and hasattr(v, "shape"):
                order = () if self._lengths or "devices" in self._options else _order(v)
                signature[name] = (_scalar(name, v.dtype), self._shape(name, v), *order)
            else:
                raise ArgumentError(
                    f"{_name(self._function)}: {name} is {type(v).__name__}, not an array or a number; convert it with "
                    f"numpy.asarray, or name it in jit(static=...) to be given to the function as it is"
                )
        return signature

    def _shape(self, name: str, v: Any) -> tuple[int | str, ...]:
        """The lengths of an array; of axes that are named, their names."""
        axes = self._lengths.get(name)
        if axes is None:
            return tuple(int(n) for n in v.shape)
        if len(axes) != len(v.shape):
            given = f"{name} has {len(v.shape)} axes, and lengths names {len(axes)}: {' '.join(axes)}"
            raise ArgumentError(f"{_name(self._function)}: {given}")
        return tuple(int(n) if axis == "_" else axis for axis, n in zip(axes, v.shape, strict=True))

    def _sizes(self, given: dict[str, Any]) -> dict[str, int]:
        """The lengths that have names, for which kernels are chosen as they are in this call."""
        found: dict[str, int] = {}
        for name, axes in self._lengths.items():
            for axis, n in zip(axes, given[name].shape, strict=True):
                if axis != "_" and axis not in found:
                    found[axis] = size(axis, min=0, like=max(1, int(n)))
        return found

    def _bind(self, args: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """Arguments by parameter, defaults too; ArgumentError where they do not fit the function."""
        try:
            bound = self._signature.bind(*args, **named)
        except TypeError as error:
            raise ArgumentError(f"{_name(self._function)}{self._signature}: {error}") from None
        bound.apply_defaults()
        return {n: v if n in self._static else _held(n, v) for n, v in bound.arguments.items()}


@dataclass
class _Entry:
    """A kernel that is made once, under its own lock: kernels for other shapes need not wait for it."""

    kernel: Kernel | None = None
    lock: Any = field(default_factory=threading.Lock)


def _require_plain(f: Callable[..., Any], signature: inspect.Signature, static: frozenset[str]) -> None:
    """ArgumentError for parameters that stand for any number of arguments, and for static names that are none."""
    various = [p.name for p in signature.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if various:
        raise ArgumentError(
            f"{_name(f)}: jit takes functions whose parameters have names of their own, not *{various[0]}"
        )
    if unknown := sorted(static - set(signature.parameters)):
        raise ArgumentError(f"{_name(f)}{signature} has no parameter {', '.join(unknown)}, which static names")


def _beside(arrays: Sequence[Scalar], number: bool | int | float | complex) -> Scalar:
    """The type of a number of Python's own in a call with such arrays: theirs, if it can hold such a number.

    Of real numbers beside complex arrays it is the type of these arrays' parts.
    """
    if isinstance(number, bool):
        return BOOL
    common = reduce(promote, arrays, BOOL)
    if isinstance(number, complex):
        return complex_of(common)
    common = common.part
    if isinstance(number, float):
        return common if common.is_float else F64
    least, most = integers(common) if common.is_integer else (0, -1)
    return common if common.is_float or least <= number <= most else I64


def _scalar(name: str, dtype: Any) -> Scalar:
    try:
        return scalar_of(dtype)
    except KeyError:
        takes = ", ".join(FACTS[t].numpy for t in GIVEN)
        raise ArgumentError(f"{name} is {dtype}, which has no place in a program; it takes {takes}") from None


def _hashable(f: Callable[..., Any], name: str, value: Any) -> tuple[type, Any]:
    """A static argument as a part of a key: 1, 1.0 and True are different."""
    try:
        hash(value)
    except TypeError:
        raise ArgumentError(
            f"{_name(f)}: {name} is static, but a {type(value).__name__} cannot be hashed; give a tuple or a number"
        ) from None
    return type(value), value


def _held(name: str, v: Any) -> Any:
    """An array of another library's, in the host's memory, as NumPy sees it: by `__array_interface__` or DLPack."""
    if isinstance(v, np.ndarray | np.generic | Value) or is_number(v) or is_on_device(v):
        return v
    return as_array(name, v) if hasattr(v, "__array_interface__") or hasattr(v, "__dlpack__") else v


def _order(v: Any) -> tuple[Lies, ...]:
    """How an array lies in memory, if not in C order: its axes in the order there, or, with gaps, its layout."""
    if v.flags.c_contiguous:
        return ()
    order = tuple(sorted(range(len(v.shape)), key=lambda i: -v.strides[i]))
    if v.transpose(order).flags.c_contiguous:
        return (order,)
    if not (getattr(v.flags, "aligned", True) and v.dtype.isnative):
        return ()
    layout = layout_of(v.shape, v.strides, v.dtype.itemsize)
    return (layout,) if layout else ()


def _input(sizes: Mapping[str, int], name: str, type: Scalar, shape: tuple[int | str, ...], order: Lies = ()) -> Value:
    try:
        lengths = [sizes[n] if isinstance(n, str) else n for n in shape]
        if order and not isinstance(order[0], int):
            layout: Layout = tuple(pair for pair in order if isinstance(pair, tuple))
            return seen(array(name, type, span(layout)), layout)
        if order:
            places = [i for i in order if isinstance(i, int)]
            return moveaxis(array(name, type, [lengths[i] for i in places]), range(len(places)), places)
        return array(name, type, lengths) if shape else scalar(name, type)
    except ProgramError as error:
        raise ArgumentError(f"the argument {name} cannot be an input: {error}") from error


def _said(item: tuple[str, Any]) -> str:
    name, (kind, rest, *_) = item
    return f"{name}: {kind}{list(rest) or ''}" if isinstance(kind, Scalar) else f"{name}={rest!r}"


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", type(f).__name__)
