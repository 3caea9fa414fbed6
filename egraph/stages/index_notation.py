"""From patterns to index notation: what the element of each pattern at an index is.

    map f x                [d]     =  f (x[d])
    zip x y                [d]     =  <x[d], y[d]>
    distl a x              [d]     =  <a, x[d]>
    cross x y              [d, e]  =  <x[d], y[e]>
    transpose x            [d, e]  =  x[e, d]
    fill n x               [d]     =  x
    concat x y             [d]     =  x[d] for d < n, y[d - n] for the others
    gather i x             [d]     =  x[i[d]]
    reduce (+) z x                 =  z + (sum_d x[d])
    reduce (+) z (join x)          =  z + (sum_d,e x[d, e])
    reduce (map2 (+)) z x  [e]     =  z[e] + (sum_d x[d, e])
    scan (+) z x           [d]     =  s[d], s an array that a stage of its own yields; count n x likewise
    V (A[.., d, ..])               =  (map (.. V) A)[.., d', ..]     for split, join, slide, pad, take, ... (one axis)

The last one floats a layout pattern to the array that is read, so that a computed array that is laid out anew is
computed in place, and every read is of a closed array at dimensions.  An array of what is read at its own index is
what is read: [ A[.., d] for d ] = A[..].
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

from egglift.egraph.stages.absence import with_absence
from egglift.egraph.stages.as_pattern import computed, reads_of
from egglift.egraph.stages.backwards import from_the_end, in_order_of_scan, turned, turned_read
from egglift.egraph.stages.by_numbers import ByNumbers, by_numbers
from egglift.egraph.stages.merging import Merged, joined_axes
from egglift.egraph.stages.parting import unfilled, unjoined
from egglift.egraph.stages.pointwise import of_elements, pointwise
from egglift.egraph.stages.reshapes import without_reshapes
from egglift.egraph.stages.stage import Counted, Dim, Names, Read, Reduction, Scanned, Stage, number, wherever
from egglift.egraph.stages.values import Computed, Tuples, Value, View, laid_together, type_at, unpacked
from egglift.egraph.stages.windows import by_windows_apart, shared_by_windows
from egglift.ir import patterns as p
from egglift.ir.axes import length_of, permuted, transposed
from egglift.ir.backwards import is_backwards
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.sizes import Size
from egglift.ir.traverse import applied, is_closed, subterms
from egglift.ir.types import BOOL, Array, Scalar, Tuple, Type, leaves

#: a body that has more nodes than this is not taken: what it reads is better computed first
LARGE = 400


class NoStages(Exception):
    """A program that has no index notation, in words."""


@dataclass
class IndexNotation:
    """Translates closed programs whose lengths are numbers.

    reassociate: may reductions of one operator within each other become one, and change the order of additions?
    apart: are windows of several directions taken one direction at a time, where that saves steps?  down: the outermost
    direction first, down the columns of an image?
    numbered: are sums over elements with the number of the sum added by these numbers?
    """

    reassociate: bool = True
    apart: bool = True
    down: bool = False
    numbered: bool = True
    names: Names = field(default_factory=Names)
    along: list[Stage] = field(default_factory=list)  # each after those that it reads
    _known: dict[Hashable, Stage] = field(default_factory=dict)  # those of `along`, by what they do

    def program(self, e: Expr) -> Value:
        """The value of a closed program.  NoStages if it has none in index notation."""
        return self._reads(self._value(e, None, {}), without_reshapes)

    def dim(self, extent: object) -> Dim:
        """A new dimension."""
        if not isinstance(extent, int):
            raise NoStages(f"a length of {extent}")
        if extent == 0:
            raise NoStages("an empty array")
        return self.names.dim(extent)

    # ------------------------------------------------------------------------------------ the patterns

    def _value(self, e: Expr, arg: Value | None, memo: dict[Expr, Value]) -> Value:
        if e not in memo:
            memo[e] = self._pattern(e, arg, memo)
        return memo[e]

    def _pattern(self, e: Expr, arg: Value | None, memo: dict[Expr, Value]) -> Value:
        def of(x: Expr) -> Value:
            return self._value(x, arg, memo)

        match e:
            case p.Arg():
                assert arg is not None
                return arg
            case p.Input() | p.Constant() | p.Iota():
                return self._opened(View(e, ()))
            case p.Literal():
                return e
            case p.Apply(op, args):
                return p.Apply(op, tuple(self._scalar(of(a)) for a in args))
            case p.Cast(t, x):
                return p.Cast(t, self._scalar(of(x)))
            case p.Tup(items):
                return Tuples(tuple(of(x) for x in items))
            case p.Get(i, x):
                return self._part(of(x), i)
            case p.Map(body, x):
                dim, element = self.element(of(x))
                return self._array(dim, self._value(body, element, {}))
            case p.Fill(n, x):
                return self._array(self.dim(n), of(x))
            case p.Reduce() | p.Scan() if self.reassociate and (known := with_absence(e)):
                return of(known)
            case p.Reduce(op, init, x):
                return self._reduction(op.body, of(init), of(x), op)
            case p.Fold(body, init, x):
                return self._reduction(body, of(init), of(x), None)
            case p.Scan(op, init, x):
                return self._along(of(x), Scanned(op, self.packed(of(init))))
            case p.Count(n, t, x) | p.Sums(n, t, x):
                return self._along(of(x), Counted(n, t))
            case p.Zip(arrays):
                return self._zip([of(x) for x in arrays])
            case p.Distl(a, b):
                dim, element = self.element(of(b))
                return self._array(dim, Tuples((of(a), element)))
            case p.Cross(a, b):
                rows, columns = self.element(of(a)), self.element(of(b))
                return self._array(rows[0], self._array(columns[0], Tuples((rows[1], columns[1]))))
            case p.Iterate(x=x) if not any(shape for shape, _ in leaves(type_of(x))):
                return unpacked(replace(e, x=self.packed(of(x))))
            case p.To(_, x):
                return of(x)
            case _:
                return self._layout(e, of)

    def _layout(self, e: Expr, of: Callable[[Expr], Value]) -> Value:
        """Layout patterns: of what is read as they are, of what is computed on every read."""
        match e:
            case p.Transpose(x):
                value = of(x)
                if isinstance(value, View):
                    return value.laid(transposed)
                i, row = self.element(value)
                j, element = self.element(row)
                return self._array(j, self._array(i, element))
            case p.Split(n, x):
                return self._axis(of(x), lambda a: p.Split(n, a), 2)
            case p.Slide(size, step, x):
                return self._axis(of(x), lambda a: p.Slide(size, step, a), 2)
            case p.Stride(s, x):
                return self._axis(of(x), lambda a: p.Stride(s, a), 1)
            case p.Take(n, x):
                return self._axis(of(x), lambda a: p.Take(n, a), 1)
            case p.Roll(n, x):
                return self._axis(of(x), lambda a: p.Roll(n, a), 1)
            case p.Drop(n, x):
                return self._axis(of(x), lambda a: p.Drop(n, a), 1)
            case p.Gather(_, x) if is_backwards(e):
                return self._turned(of(x))
            case p.Gather(indices, x) if is_closed(indices):
                return self._axis(of(x), lambda a: p.Gather(indices, a), 1)
            case p.Gather(indices, x):
                return self._gathered(self._read(of(indices)), of(x))
            case p.Concat(a, b):
                return self._concatenated(of(a), of(b))
            case p.At(i, x):
                return self._axis(of(x), lambda a: p.At(i, a), 0)
            case p.Pad(left, right, mode, x, None):
                return self._axis(of(x), lambda a: p.Pad(left, right, mode, a), 1)
            case p.PadUp(n, x, None):
                return self._axis(of(x), lambda a: p.PadUp(n, a), 1)
            case p.Pad(left, right, _, x, v) if v is not None:

                def pad(a: Expr, v: Expr | None) -> Expr:
                    return p.Pad(left, right, "clamp" if v is None else "constant", a, v)

                return self._padded(of(x), v, of(v), pad)
            case p.PadUp(n, x, v) if v is not None:
                return self._padded(of(x), v, of(v), lambda a, v: p.PadUp(n, a, v))
            case p.Join(x):
                return self._joined(of(x))
            case _:
                raise NoStages(f"{type(e).__name__.lower()} has no index notation here")

    def _padded(self, value: Value, constant: Expr, outside: Value, pad: Callable[[Expr, Expr | None], Expr]) -> Value:
        """Constant padding: as it is for what is read, else a choice by a mask that is padded so."""
        if isinstance(value, View) and is_closed(constant):
            return self._opened(value.laid(lambda a: pad(a, constant)))
        dim, element = self.element(value)
        mask = pad(p.Fill(dim.extent, p.Literal(True, BOOL)), p.Literal(False, BOOL))
        wider = self.dim(length_of(mask))
        inside = self._on_axis(element, dim, lambda a: pad(a, None), (wider,))
        return self._array(wider, self._chosen(self.names.read(Read(mask, (wider,))), inside, outside))

    def _concatenated(self, first: Value, second: Value) -> Value:
        if isinstance(first, View) and isinstance(second, View):
            return self._opened(laid_together([first, second], p.Concat))
        (i, x), (j, y) = self.element(first), self.element(second)
        n, m = i.extent, j.extent
        mask = p.Pad(0, m, "constant", p.Fill(n, p.Literal(True, BOOL)), p.Literal(False, BOOL))
        both = self.dim(length_of(mask))
        x = self._on_axis(x, i, lambda a: p.Pad(0, m, "clamp", a), (both,))
        y = self._on_axis(y, j, lambda a: p.Pad(n, 0, "clamp", a), (both,))
        return self._array(both, self._chosen(self.names.read(Read(mask, (both,))), x, y))

    def _chosen(self, mask: Expr, yes: Value, no: Value) -> Value:
        """`where mask yes no`, also of tuples and arrays."""
        match yes, no:
            case Tuples(a), Tuples(b):
                return Tuples(tuple(self._chosen(mask, x, y) for x, y in zip(a, b, strict=True)))
            case ((View() | Computed()), _):
                (i, x), (j, y) = self.element(yes), self.element(no)
                return self._array(i, self._chosen(mask, x, self._renamed(y, {j: i})))
            case _:
                return p.Apply("where", (mask, self._scalar(yes), self._scalar(no)))

    def _turned(self, value: Value) -> Value:
        """An array from its last element to its first."""
        if isinstance(value, View):
            return self._opened(View(turned(len(value.dims), value.expr), value.dims))
        dim, element = self.element(value)
        return self._array(dim, self._reads(element, lambda r: turned_read(r, dim)))

    def _gathered(self, indices: View, value: Value) -> Value:
        if isinstance(value, View):
            return self._opened(laid_together([indices, value], p.Gather))
        dim, element = self.element(value)
        at = self.dim(indices.length)

        def gathered(read: Read) -> Read:
            if dim not in read.dims:
                return read
            others = tuple(d for d in read.dims if d != dim)
            found = laid_together([indices, View(permuted(read.view, read.dims, (*others, dim)), others)], p.Gather)
            return Read(found.expr, (*found.dims, at))

        return self._array(at, self._reads(element, gathered))

    def _read(self, value: Value) -> View:
        """An array as one that is read: what is computed of it is computed where it is read."""
        if isinstance(value, View):
            return value
        dim, element = self.element(value)
        body = self._scalar(element)
        if self.names.has_reductions(body):
            raise NoStages("indices that are reduced")
        dims = tuple(sorted(self.names.free(body) - {dim}, key=lambda d: d.number))
        return View(computed(self.names, (*dims, dim), body), dims)

    # ------------------------------------------------------------------------------------ elements of values

    def element(self, value: Value) -> tuple[Dim, Value]:
        """The element of an array at a new dimension."""
        match value:
            case View(expr, dims):
                t = value.type
                if not isinstance(t, Array):
                    raise NoStages("an element of no array")
                dim = self.dim(t.length)
                return dim, self._opened(View(expr, (*dims, dim)))
            case Computed(dim, element):
                new = self.dim(dim.extent)
                return new, self._renamed(element, {dim: new})
            case _:
                raise NoStages("an element of no array")

    def _array(self, dim: Dim, element: Value) -> Value:
        """The array of `element` for every index of `dim`; what is read at its own index is read as it is."""
        read = self.names.reads.get(element.name) if isinstance(element, p.Input) else element
        match read:
            case Read(x, (*outer, last)) | View(x, (*outer, last)) if last == dim and dim not in outer:
                return View(x, tuple(outer))
            case _:
                return Computed(dim, element)

    def opened(self, read: Read) -> Value:
        """What is read: a scalar, a tuple of such, or an array."""
        return self._opened(View(read.view, read.dims))

    def renamed(self, body: Expr, new: dict[Dim, Dim]) -> Expr:
        """A body with other dimensions."""
        return self.packed(self._renamed(body, new))

    def _opened(self, view: View) -> Value:
        match view.type:
            case Scalar() if not view.dims:
                return view.expr
            case Scalar():
                return self.names.read(Read(view.expr, view.dims))
            case Tuple(items):
                return Tuples(tuple(self._opened(view.part(i)) for i in range(len(items))))
            case _:
                return view

    def _part(self, value: Value, i: int) -> Value:
        match value:
            case Tuples(items):
                return items[i]
            case View():
                raise AssertionError("tuples are opened")
            case Computed():
                raise NoStages("a component of an array")
            case _:
                return p.Get(i, value)

    def _zip(self, values: list[Value]) -> Value:
        dim, first = self.element(values[0])
        items = [first]
        for v in values[1:]:
            other, element = self.element(v)
            items.append(self._renamed(element, {other: dim}))
        return self._array(dim, Tuples(tuple(items)))

    def _scalar(self, value: Value) -> Expr:
        if isinstance(value, View | Computed | Tuples):
            raise NoStages("an array or a tuple where a scalar is taken")
        if sum(1 for _ in subterms(value)) > LARGE:
            raise NoStages("a body of many parts")
        return value

    def packed(self, value: Value) -> Expr:
        """A scalar, or a tuple of scalars, as one expression."""
        if isinstance(value, Tuples):
            return p.Tup(tuple(self.packed(v) for v in value.items))
        return self._scalar(value)

    def _along(self, x: Value, what: Scanned | Counted) -> Value:
        """What goes along an axis as a whole, for each index that it depends on: an array that is read."""
        last, value = self.element(x)
        element = self.packed(self._reads(value, without_reshapes))
        scan = what if isinstance(what, Scanned) else None
        free = (self.names.free(element) | (self.names.free(scan.init) if scan else frozenset())) - {last}
        dims = tuple(sorted(free, key=lambda d: d.number))
        counts = what if isinstance(what, Counted) else None
        plain = Stage(f"%along{len(self.along)}", (*dims, last), element, self.names, scan=scan, counts=counts)
        return self._opened(View(in_order_of_scan(self._once(plain)), dims))

    def _once(self, s: Stage) -> Stage:
        """What goes along an axis, or what does so in the same way and is there already."""
        if (key := wherever(s)) not in self._known:
            self._known[key] = from_the_end(s)
            self.along.append(self._known[key])
        return self._known[key]

    # ------------------------------------------------------------------------------------ reductions

    def _reduction(self, step: Expr, init: Value, x: Value, op: p.Operator | None) -> Value:
        if isinstance(init, View | Computed):
            return self._of_arrays(step, init, x, op)
        dim, element = self.element(x)
        begin, body = self.packed(init), self.packed(element)
        if not self.names.is_closed(begin):
            return self._begun(step, begin, x, op)
        body, dims = self._unjoined(body, dim)
        if self.numbered and (found := self._numbered(step, begin, dims, body, op)) is not None:
            return found
        dims, body = self._by_directions(step, dims, body, op)
        return unpacked(self.names.reduced(Reduction(step, begin, dims, body, op)))

    def _numbered(
        self, step: Expr, begin: Expr, dims: tuple[Dim, ...], body: Expr, op: p.Operator | None
    ) -> Value | None:
        """An element of sums by numbers, which are a stage of their own; None where it is no such sum."""
        inner = self._inner(body)
        if inner and self._is_one(op, inner) and not shared_by_windows(self.names, inner, dims, self.apart):
            dims, body = (*dims, *inner.dims), inner.element
        found = by_numbers(self.names, Reduction(step, begin, dims, body, op), self.reassociate)
        return None if found is None else self._by_numbers(found, dims)

    def _by_numbers(self, found: ByNumbers, dims: tuple[Dim, ...]) -> Value:
        """An element of sums, which are a stage of their own."""
        merged = Merged(self.names, dims)
        element = self.names.with_reads(found.element, lambda r: without_reshapes(merged.read(r)))
        outer = tuple(sorted(self.names.free(element) - {merged.dim}, key=lambda d: d.number))
        plain = Stage(f"%along{len(self.along)}", (*outer, merged.dim), element, self.names, counts=found.counted)
        stage = self._once(plain)
        sums = self._opened(View(p.Input(stage.name, stage.type), (*outer, found.number)))
        return sums if found.cast is None else p.Cast(found.cast, self._scalar(sums))

    def _by_directions(
        self, step: Expr, dims: tuple[Dim, ...], body: Expr, op: p.Operator | None
    ) -> tuple[tuple[Dim, ...], Expr]:
        """Dimensions and element of a reduction, as one with that within it, but for what windows share."""
        inner = self._inner(body)
        is_one = inner is not None and self._is_one(op, inner)
        whole = ((*dims, *inner.dims), inner.element) if inner and is_one else (dims, body)
        apart = op if self.reassociate and self.apart else None
        if self.down and (found := by_windows_apart(self.names, step, *whole, apart, down=True)) != whole:
            return found
        if inner and is_one and shared_by_windows(self.names, inner, dims, self.apart):
            whole = dims, body
        return by_windows_apart(self.names, step, *whole, apart)

    def _inner(self, body: Expr) -> Reduction | None:
        """The reduction that a body is the result of."""
        return self.names.reductions.get(body.name) if isinstance(body, p.Input) else None

    def _is_one(self, op: p.Operator | None, inner: Reduction) -> bool:
        """Is a reduction of reductions one of all their elements: a sum of sums one sum?"""
        return self.reassociate and op is not None and inner.op == op and inner.init == op.neutral

    def _begun(self, step: Expr, begin: Expr, x: Value, op: p.Operator | None) -> Value:
        """A reduction that begins with what is computed: with the neutral element, and that before the result."""
        if op is None or op.neutral is None or not self.reassociate:
            raise NoStages("a reduction that begins with what is computed")
        found = self.packed(self._reduction(step, self._value(op.neutral, None, {}), x, op))
        return unpacked(applied(op.body, begin, found))

    def _of_arrays(self, step: Expr, init: Value, x: Value, op: p.Operator | None) -> Value:
        """A reduction of arrays, element by element, as an array of reductions."""
        plain = pointwise(step)
        if plain is None:
            raise NoStages("a reduction of arrays that is not element by element")
        outer, row = self.element(x)
        (dim, begin), (other, element) = self.element(init), self.element(row)
        own = Computed(outer, self._renamed(element, {other: dim}))
        return self._array(dim, self._reduction(plain, begin, own, None if op is None else of_elements(op, plain)))

    def _unjoined(self, body: Expr, dim: Dim) -> tuple[Expr, tuple[Dim, ...]]:
        """A body over a dimension of joined arrays, over their two dimensions each; and these, in order."""
        apart = {r: unjoined(r.view, r.dims.index(dim)) for r in reads_of(self.names, body) if dim in r.dims}
        shapes = {_lengths(x, r.dims.index(dim)) if x is not None else None for r, x in apart.items()}
        if len(shapes) != 1 or None in shapes:
            return body, (dim,)
        ((n, m),) = shapes  # type: ignore[misc]
        i, j = self.dim(n), self.dim(m)

        def split(read: Read) -> Read:
            view = apart.get(read)
            if view is None:
                return read
            at = read.dims.index(dim)
            return unfilled(unfilled(Read(view, (*read.dims[:at], i, j, *read.dims[at + 1 :])), j), i)

        body, outer = self._unjoined(self.names.with_reads(body, split), i)
        body, inner = self._unjoined(body, j)
        return body, (*outer, *inner)

    # ------------------------------------------------------------------------------------ axes

    def _axis(self, value: Value, f: Callable[[Expr], Expr], axes: int) -> Value:
        """A layout pattern that turns the outermost axis into `axes` others."""
        if isinstance(value, View):
            return self._opened(value.laid(f))
        dim, element = self.element(value)
        t: Type = type_of(f(p.Fill(dim.extent, p.Literal(True, BOOL))))
        new = []
        for _ in range(axes):
            assert isinstance(t, Array)
            new.append(self.dim(t.length))
            t = t.element
        found = self._on_axis(element, dim, f, tuple(new))
        for d in reversed(new):
            found = self._array(d, found)
        return found

    def _joined(self, value: Value) -> Value:
        if isinstance(value, View):
            return self._opened(value.laid(p.Join))
        i, row = self.element(value)
        j, element = self.element(row)
        h = self.dim(number(i) * number(j))
        return self._array(h, self._reads(element, lambda read: joined_axes(read, i, j, h)))

    def _on_axis(self, value: Value, dim: Dim, f: Callable[[Expr], Expr], new: tuple[Dim, ...]) -> Value:
        def axis(read: Read) -> Read:
            if read.dims.count(dim) > 1:
                raise NoStages("a diagonal that is laid out anew")
            return read.along(dim, f, new)

        return self._reads(value, axis)

    def _renamed(self, value: Value, new: dict[Dim, Dim]) -> Value:
        return self._reads(value, lambda r: r.at(new))

    def _reads(self, value: Value, f: Callable[[Read], Read]) -> Value:
        """`value` with every read changed."""
        match value:
            case View(expr, dims):
                read = f(Read(expr, dims))
                return View(read.view, read.dims)
            case Computed(dim, element):
                return self._array(dim, self._reads(element, f))
            case Tuples(items):
                return Tuples(tuple(self._reads(v, f) for v in items))
            case _:
                return self.names.with_reads(value, f)


def _lengths(x: Expr, depth: int) -> tuple[Size, Size]:
    outer = type_at(x, depth)
    assert isinstance(outer, Array) and isinstance(outer.element, Array)
    return outer.length, outer.element.length
