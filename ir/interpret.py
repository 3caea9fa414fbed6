"""The NumPy meaning of every pattern, high level and low level: the oracle of all tests.

Bodies are evaluated on whole batches: the iterations of enclosing maps are leading axes of every array.
Since bodies are closed, a batch is the value of `Arg` and nothing else, and can be cut into chunks that bound
the memory of large products.  Levels and memory spaces do not change the meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from egglift.ir import patterns as p
from egglift.ir import traverse
from egglift.ir.arguments import convert, require_names, result
from egglift.ir.batch import (
    NdArray,
    Value,
    along,
    along_axis,
    arrays,
    at,
    contract,
    cut,
    each,
    elementwise,
    halves,
    join_structures,
    neighbours,
    repeat,
    under,
)
from egglift.ir.called_lengths import CalledLengths
from egglift.ir.check import type_of
from egglift.ir.conversions import converted, loaded, rounded, stored
from egglift.ir.deadline import require_time
from egglift.ir.errors import OutOfMemory, ProgramError
from egglift.ir.layouts import view
from egglift.ir.length_forms import Lengths
from egglift.ir.linked import in_turn
from egglift.ir.named_states import bound, states_in
from egglift.ir.operators import recognise
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import at_lengths, lengths_of
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.signature import inputs_of
from egglift.ir.sizes import evaluate as number
from egglift.ir.special import counted, summed
from egglift.ir.text import brief
from egglift.ir.types import Array, Scalar, Tuple, Type, is_floating, leaves, zero_or_one

#: iterations of a map are evaluated together up to about this many elements
CHUNK = 1 << 20


def evaluate(e: Expr, inputs: Mapping[str, Any], wide: bool = False) -> Any:
    """The value of program `e`: an array, a NumPy scalar, or a tuple of these (arrays of tuples are tuples of
    arrays).  With `wide`, floats are computed, and given, in float64.  Without, f16 and bf16 are computed in f32, and
    rounded where something is decided by them (compared, made whole, cast) and where the program ends.

    ArgumentError where inputs are missing, too many, or of another shape or dtype; OutOfMemory.
    """
    type_of(e)
    if not traverse.is_closed(e):
        raise ProgramError(f"{brief(e)} depends on the argument of a body; only whole programs have a value")
    if lengths_of(e):
        e = at_lengths(e, lengths_called(e, inputs))
    types = inputs_of(e)
    values = convert(types, inputs)
    try:
        with np.errstate(all="ignore"):
            run = _Run({name: each_leaf(loaded, v, types[name]) for name, v in values.items()}, wide)
            value = run.closed(e)
            value = value if wide else each_leaf(stored, value, type_of(e))
        return result(value, arrays(tuple(values.values())))
    except MemoryError as error:
        raise OutOfMemory(f"{brief(e)}: its values do not fit into memory: {error}") from None


def lengths_called(e: Expr, inputs: Mapping[str, Any]) -> Lengths:
    """The run-time lengths that the inputs say."""
    called = CalledLengths(e)
    require_names(called.types, inputs)
    return called.of(inputs)


@dataclass(frozen=True)
class _Step:
    """Evaluate `e` (outside: as a closed expression, once for all), then forget the values of `dead`."""

    e: Expr
    dead: list[Expr]
    outside: bool


class _Run:
    """One evaluation: the inputs, and the values of closed expressions, each computed once."""

    def __init__(self, inputs: Mapping[str, Value], wide: bool) -> None:
        self.inputs, self.wide = inputs, wide
        self.values: dict[Expr, Value] = {}
        self.plans: dict[Expr, list[_Step]] = {}
        self.open: dict[Expr, bool] = {}
        self.sizes: dict[Expr, int] = {}

    def dtype(self, t: Scalar) -> np.dtype[Any]:
        return np.dtype("float64") if self.wide and t.is_float else t.computed.dtype

    def rounded(self, a: NdArray, t: Scalar) -> NdArray:
        """`a` as numbers of type `t`; with `wide`, floats are not rounded."""
        return converted(a, self.dtype(t)) if self.wide else rounded(a, t)

    def _widened(self, a: NdArray) -> NdArray:
        return a.astype(np.float64) if self.wide and is_floating(a.dtype) else a

    # ------------------------------------------------------------------------------------ scopes

    def closed(self, e: Expr) -> Value:
        """The value of a closed expression."""
        if e not in self.values:
            self.values[e] = self._execute(self._plan(e, top=True), (), ())
        return self.values[e]

    def scope(self, body: Expr, batch: tuple[int, ...], arg: Value) -> Value:
        """The value of a body for a whole batch of arguments."""
        if body not in self.plans:
            self.plans[body] = self._plan(body, top=False)
        return self._execute(self.plans[body], batch, arg)

    def over(self, body: Expr, batch: tuple[int, ...], n: int, arg: Value) -> Value:
        """The value of a body for the batch and n arguments in each, so many at a time as memory allows."""
        chunk = max(1, CHUNK // max(1, prod(batch) * self.footprint(body)))
        if chunk >= n:
            return self.scope(body, (*batch, n), arg)
        axis = len(batch)
        parts = []
        for start in range(0, n, chunk):
            stop = min(start + chunk, n)
            parts.append(self.scope(body, (*batch, stop - start), each(cut(axis, start, stop), arg)))
        return join_structures(parts, axis)

    def _execute(self, plan: list[_Step], batch: tuple[int, ...], arg: Value) -> Value:
        values: dict[Expr, Value] = {}
        value: Value = ()
        for step in plan:
            require_time()
            if step.outside or step.e in self.values:
                value = under(self.closed(step.e), batch)
            else:
                value = self._node(step.e, batch, arg, values)
            values[step.e] = value
            for d in step.dead:
                del values[d]
        return value

    def _plan(self, root: Expr, top: bool) -> list[_Step]:
        """The nodes of a scope, parts first.  In a body, closed expressions are leaves: evaluated once."""
        self._mark(root)
        order: list[Expr] = []
        seen: set[Expr] = set()
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            e, done = stack.pop()
            if done:
                order.append(e)
            elif e not in seen:
                seen.add(e)
                stack.append((e, True))
                if e not in self.values and (top or self.open[e]):
                    stack.extend((c, False) for c in reversed(_parts(e)))
        last = {c: i for i, e in enumerate(order) for c in _parts(e)}
        dead: list[list[Expr]] = [[] for _ in order]
        for e in order[:-1]:
            dead[last[e]].append(e)
        return [_Step(e, d, not top and not self.open[e]) for e, d in zip(order, dead, strict=True)]

    def _mark(self, root: Expr) -> None:
        """Finds which nodes of this scope depend on its argument."""
        stack = [root]
        while stack:
            e = stack[-1]
            todo = [c for c in traverse.children(e) if c not in self.open]
            if e in self.open or not todo:
                stack.pop()
                self.open[e] = isinstance(e, p.Arg) or any(self.open[c] for c in traverse.children(e))
            else:
                stack.extend(todo)

    def footprint(self, body: Expr) -> int:
        """Elements of the largest value that one iteration of `body` computes (views cost nothing)."""
        if body not in self.sizes:
            self._mark(body)
            largest, seen, stack = 1, set(), [body]
            while stack:
                e = stack.pop()
                if e not in seen and self.open[e]:
                    seen.add(e)
                    stack.extend(_parts(e))
                    largest = max(largest, self._elements(e))
            self.sizes[body] = largest
        return self.sizes[body]

    def _elements(self, e: Expr) -> int:
        shapes = () if isinstance(e, _VIEWS) else leaves(type_of(e))
        own = max(1, sum(prod(map(number, shape)) for shape, _ in shapes))
        match e:
            case p.Map(body, x) | p.Tree(body, _, x):
                return _length(x) * self.footprint(body) if self._computes(body) or own > 1 else 1
            case p.Fold(body) | p.Iterate(_, body) | p.ScanSeq(body) | p.ScanDoubling(body) | p.ScanLinked(_, body):
                return max(own, self.footprint(body))
            case p.Reduce(op, _, x) if recognise(op.body) is None:
                return _length(x) * self.footprint(op.body)
        return own

    def _computes(self, body: Expr) -> bool:
        return any(not isinstance(e, _VIEWS) for e in traverse.subterms(body))

    # ------------------------------------------------------------------------------------ nodes

    def _node(self, e: Expr, batch: tuple[int, ...], arg: Value, values: dict[Expr, Value]) -> Value:
        axis = len(batch)
        match e:
            case p.Arg():
                return arg
            case p.Input(name):
                return each(self._widened, self.inputs[name])
            case p.Literal(value, t):
                return rounded(np.asarray(value), t).astype(self.dtype(t))
            case p.Constant():
                return self._constant(e)
            case p.Iota(n, t):
                return self.rounded(np.arange(number(n)), t)
            case p.Apply(op, args):
                return elementwise(FUNCTIONS[op].numpy, [self._operand(op, a, _array(values[a])) for a in args])
            case p.Cast(t, x):
                given = self._decisive(_array(values[x]), x) if not t.is_float else _array(values[x])
                return elementwise(lambda a: self.rounded(a, t), [given])
            case p.Tup(parts) | p.Zip(parts):
                return tuple(values[i] for i in parts)
            case p.Get(i, x):
                return values[x][i]
            case p.To(_, x):
                return values[x]
            case p.Fill(n, x):
                return repeat(values[x], axis, number(n))
            case p.Map() | p.Reduce() | p.Fold() | p.Tree() | p.Iterate():
                return self._computing(e, batch, values)
            case p.ScanSeq(body, init, x):
                return self._in_turn(body, batch, values[init], values[x])
            case p.ScanLinked(init=init, x=x, rows=rows):
                scans = [each(along_axis(axis, slice(i, None, number(rows))), values[x]) for i in range(number(rows))]
                found = join_structures([self._in_turn(in_turn(e), batch, values[init], v) for v in scans], axis)
                order = np.arange(_count(values[x], batch)).reshape(number(rows), -1).T.ravel()
                return each(along_axis(axis, order), found)
            case p.Scan(p.Operator(body=body), init, x) | p.ScanDoubling(body, init, x):
                if (named := recognise(body)) is None:
                    return self._doubled(body, batch, values[init], values[x])
                return _accumulators(FUNCTIONS[named].numpy, _array(values[init]), _array(values[x]))
            case p.Sums(n, sums, x):
                places, added = values[x]
                total: Value = summed(_array(places), added, number(n), sums, self.dtype)
                return total
            case p.Count(n, Scalar() as counts, x):
                return counted(_array(values[x]), number(n), counts.dtype)
        return view(e, axis, values)

    def _constant(self, e: p.Constant) -> NdArray:
        t, shape = e.type, []
        while isinstance(t, Array):
            shape.append(number(t.length))
            t = t.element
        if isinstance(t, Tuple):
            raise ProgramError(f"{brief(e)}: a constant holds scalars; zip one constant for each component")
        data = zero_or_one(np.frombuffer(e.data, t.dtype))
        return loaded(data.reshape(shape), t).astype(self.dtype(t), copy=False)

    def _operand(self, op: str, e: Expr, a: NdArray) -> NdArray:
        return self._decisive(a, e) if FUNCTIONS[op].decides else a

    def _decisive(self, a: NdArray, e: Expr) -> NdArray:
        """The value of `e` where something is decided by it: as it would be stored, also where it is not."""
        t = type_of(e)
        return elementwise(lambda x: self.rounded(x, t), [a]) if isinstance(t, Scalar) and t.is_narrow else a

    def _computing(self, e: Expr, batch: tuple[int, ...], values: dict[Expr, Value]) -> Value:
        match e:
            case p.Map(body, x):
                return self.over(body, batch, _count(values[x], batch), values[x])
            case p.Iterate(n, body, x):
                value = values[x]
                for _ in range(number(n)):
                    value = self._step(body, batch, value)
                return value
            case p.Fold(body, init, x):
                return self._fold(body, batch, values[init], values[x])
            case p.Tree(body, init, x):
                return self._halve(body, batch, values[init], values[x], halves)
            case p.Reduce(op, init, x):
                if (name := recognise(op.body)) is None:
                    return self._halve(op.body, batch, values[init], values[x], neighbours)
                total = self._total(name, e, batch, values)
                f = FUNCTIONS[name].numpy
                return values[init] if total is None else elementwise(f, [_array(values[init]), total])
        raise AssertionError(e)

    def _total(self, name: str, e: p.Reduce, batch: tuple[int, ...], values: dict[Expr, Value]) -> NdArray | None:
        """The elements of a named reduction combined, without its initial value; None if there are none."""
        axis = len(batch)
        if (product := _product(e)) is None:
            x = _array(values[e.x])
        else:
            factors, elements = product
            inner = (*batch, _count(values[elements], batch))
            a, b = (_array(self.scope(f, inner, values[elements])) for f in factors)
            if (done := contract(a, b)) is not None:
                return done
            x = elementwise(np.multiply, [a, b])
        if x.shape[axis] == 0:
            return None
        f: Any = FUNCTIONS[name].numpy
        return along(lambda a: np.asarray(f.reduce(a, axis=axis, dtype=a.dtype)), x, (axis,))

    def _halve(self, body: Expr, batch: tuple[int, ...], init: Value, x: Value, pairs: _Pairs) -> Value:
        """Combines pairs until one element is left, then the initial value with it."""
        axis = len(batch)
        n = _count(x, batch)
        while n > 1:
            left, right, rest = (each(along_axis(axis, s), x) for s in pairs(n))
            x = self.over(body, batch, n // 2, (left, right))
            if n % 2:
                x = join_structures([x, rest], axis)
            n -= n // 2
        return self.scope(body, batch, (init, each(lambda a: a.take(0, axis), x))) if n else init

    def _fold(self, body: Expr, batch: tuple[int, ...], acc: Value, x: Value) -> Value:
        axis, n = len(batch), _count(x, batch)
        if (simple := _accumulation(body)) is not None and not isinstance(acc, tuple):
            return self._accumulate(*simple, batch, acc, x)
        for i in range(n):
            acc = self._step(body, batch, acc, each(at(axis, i), x))
        return acc

    def _step(self, body: Expr, batch: tuple[int, ...], *given: Value) -> Value:
        """The body of a loop for a state, and maybe an element, which it may have names for."""
        if named := states_in(body):
            return _Run(bound(self.inputs, named, *given), self.wide).closed(body)
        return self.scope(body, batch, given if len(given) > 1 else given[0])

    def _in_turn(self, body: Expr, batch: tuple[int, ...], acc: Value, x: Value) -> Value:
        """What the body keeps of each element, which are taken one after the other."""
        axis, found = len(batch), list[Value]()
        if (same := _same_twice(body)) is not None and not isinstance(acc, tuple):
            return self._all_accumulators(*same, batch, acc, x)
        for i in range(max(_count(x, batch), 1)):  # of none, what one would be tells of what kind they are
            item = each(at(axis, i), x) if _count(x, batch) else _nothing(x, axis)
            acc, kept = self._step(body, batch, acc, item)
            found.append(each(lambda a: np.expand_dims(a, axis), kept))
        return each(cut(axis, 0, _count(x, batch)), join_structures(found, axis))

    def _all_accumulators(self, op: str, term: Expr, batch: tuple[int, ...], acc: NdArray, x: Value) -> NdArray:
        unused = np.broadcast_to(np.zeros((), acc.dtype), (*batch, _count(x, batch)))
        terms = _array(self.over(term, batch, _count(x, batch), (unused, x)))
        return _accumulators(FUNCTIONS[op].numpy, acc, terms)

    def _doubled(self, body: Expr, batch: tuple[int, ...], init: Value, x: Value) -> Value:
        """What precedes an element combined with it from twice as far in each step, then the initial value with it."""
        axis, n, far = len(batch), _count(x, batch), 1
        while far < n:
            later = self.over(body, batch, n - far, (each(cut(axis, 0, n - far), x), each(cut(axis, far, n), x)))
            x = join_structures([each(cut(axis, 0, far), x), later], axis)
            far *= 2
        return self.over(body, batch, n, (repeat(init, axis, n), x)) if n else x

    def _accumulate(self, op: str, term: Expr, batch: tuple[int, ...], acc: NdArray, x: Value) -> NdArray:
        """A fold whose body is `op(acc, term)`: the terms as a batch, then strictly left to right."""
        axis, n, f = len(batch), _count(x, batch), FUNCTIONS[op].numpy
        chunk = max(1, CHUNK // max(1, prod(batch) * self.footprint(term)))
        for start in range(0, n, chunk):
            part = each(cut(axis, start, min(start + chunk, n)), x)
            m = _count(part, batch)
            unused = np.broadcast_to(np.zeros((), acc.dtype), (*batch, m))
            terms = _array(self.scope(term, (*batch, m), (unused, part)))
            acc = _left_to_right(f, acc, terms)
        return acc


# ---------------------------------------------------------------------------------------- parts of values


def each_leaf(f: Callable[[NdArray, Scalar], NdArray], value: Value, t: Type) -> Value:
    """`f` of every array of a value of type `t`, and its scalar type."""
    scalars = iter([scalar for _, scalar in leaves(t)])
    return each(lambda a: f(a, next(scalars)), value)


_Pairs = Callable[[int], tuple[slice, slice, slice]]
_VIEWS = (
    p.Arg,
    p.Input,
    p.Literal,
    p.Constant,
    p.Iota,
    p.Fill,
    p.Tup,
    p.Get,
    p.Zip,
    p.Distl,
    p.Cross,
    p.Split,
    p.Transpose,
    p.Slide,
    p.Take,
    p.Drop,
    p.At,
    p.To,
    p.Map,
)


def _array(value: Value) -> NdArray:
    assert not isinstance(value, tuple), "a tuple where a scalar is computed"
    return value


def _count(x: Value, batch: tuple[int, ...]) -> int:
    return int(arrays(x)[0].shape[len(batch)])


def _length(x: Expr) -> int:
    t = type_of(x)
    assert isinstance(t, Array)
    return number(t.length)


def _parts(e: Expr) -> tuple[Expr, ...]:
    """What must be evaluated before `e`: its children, or the factors' array of a sum of products."""
    if isinstance(e, p.Reduce) and (product := _product(e)) is not None:
        return (e.init, product[1])
    return traverse.children(e)


def _product(e: p.Reduce) -> tuple[tuple[Expr, ...], Expr] | None:
    """The factors, as bodies, and the array they are mapped over, of a sum of products: never stored."""
    match e:
        case p.Reduce(op, _, p.Map(p.Apply("mul", factors), x)) if recognise(op.body) == "add":
            return factors, x
    return None


def _accumulation(body: Expr) -> tuple[str, Expr] | None:
    """(op, term) of a body `op(acc, term)` whose term does not read the accumulator."""
    match body:
        case p.Apply(op, (p.Get(0, p.Arg()), term)) if isinstance(FUNCTIONS[op].numpy, np.ufunc):
            return (op, term) if not _reads_accumulator(term) and FUNCTIONS[op].kind != "compare" else None
    return None


def _reads_accumulator(term: Expr) -> bool:
    stack, seen = [term], set()
    while stack:
        e = stack.pop()
        if isinstance(e, p.Arg):
            return True
        if e not in seen and not (isinstance(e, p.Get) and e.index == 1 and isinstance(e.x, p.Arg)):
            seen.add(e)
            stack.extend(traverse.children(e))
    return False


def _same_twice(body: Expr) -> tuple[str, Expr] | None:
    """(op, term) of a body `<op(acc, term), op(acc, term)>`: a scan that keeps its accumulators."""
    match body:
        case p.Tup((a, b)) if a is b or a == b:
            return _accumulation(a)
    return None


def _nothing(x: Value, axis: int) -> Value:
    """An element of an empty array: zeros."""
    return each(lambda a: np.zeros((*a.shape[:axis], *a.shape[axis + 1 :]), a.dtype), x)


def _accumulators(f: Any, acc: NdArray, terms: NdArray) -> NdArray:
    """`[f(acc, terms[..., 0]), f(f(acc, terms[..., 0]), terms[..., 1]), ...]`."""
    line = np.concatenate([acc[..., None], terms], -1)
    return np.asarray(f.accumulate(line, axis=-1, dtype=acc.dtype)[..., 1:])


def _left_to_right(f: Any, acc: NdArray, terms: NdArray) -> NdArray:
    """`f(... f(f(acc, terms[..., 0]), terms[..., 1]) ...)`."""
    if acc.size >= 64 or terms.shape[-1] < 8:
        for i in range(terms.shape[-1]):
            acc = elementwise(f, [acc, terms[..., i]])
        return acc
    line = np.concatenate([acc[..., None], terms], -1)
    return np.asarray(f.accumulate(line, axis=-1, dtype=acc.dtype)[..., -1])
