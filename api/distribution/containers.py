"""`el.Vector` and `el.Matrix`: arrays that stay on devices, or on the host, and are copied when needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from egglift.distribution.held import Held
from egglift.ir.errors import ShapeError
from egglift.ir.types import array_of, scalar_of


class Container:
    """An array with a distribution.  A kernel of several devices takes it as an input, and gives such as a result.

    Copies are lazy: what a device was given stays valid there until the array is written, and what a kernel has
    computed comes to the host when NumPy looks at it.
    """

    ndim: int | None = None
    held: Held

    def __init__(self, data: Any) -> None:
        array = np.array(data, order="C")
        if self.ndim is not None and array.ndim != self.ndim:
            raise ShapeError(f"a {type(self).__name__} has {self.ndim} dimensions, and not shape {array.shape}")
        self.held = Held(array_of(scalar_of(array.dtype), array.shape), [array])

    @classmethod
    def of(cls, held: Held) -> Container:
        """The container of a value."""
        made = cls.__new__(cls)
        made.held = held
        return made

    # ------------------------------------------------------------------------------------ what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """Its lengths, the outermost first."""
        return self.held.leaves[0].shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return np.dtype(self.held.leaves[0].scalar.dtype)

    @property
    def distribution(self) -> str:
        """Who has what: "host", "block" with each device's rows, "copy"; several of these where several are valid."""
        found = ["host"] if self.held.is_on_host else []
        if self.held.pieces:
            found.append("block " + ", ".join(f"{p.start}..{p.stop}" for p in self.held.pieces))
        wholes = sum(key[1] is None for key in self.held.parts)
        parts = len(self.held.parts) - wholes
        found += [f"copy on {wholes} devices"] if wholes else []
        found += [f"{parts} parts on devices"] if parts else []
        return "; ".join(found)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype} of shape {self.shape}; {self.distribution})"

    def wait(self) -> Self:
        """Itself, when the devices that have its rows have computed them.  DeviceError names one that failed."""
        self.held.finish()
        return self

    # ------------------------------------------------------------------------------------ on the host

    def numpy(self) -> Any:
        """It on the host; to be read: what is written into it does not reach the devices."""
        return self.held.value()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """What NumPy reads."""
        found = np.asarray(self.numpy(), dtype)
        return found.copy() if copy is None or copy else found

    def __getitem__(self, at: Any) -> Any:
        return self.numpy()[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numpy())

    def __setitem__(self, at: Any, value: Any) -> None:
        """Writes on the host; what devices have is forgotten."""
        self.held.written()
        (array,) = self.held.on_host()
        if not array.flags.writeable:
            self.held.host = [array := array.copy()]
        array[at] = value


class Vector(Container):
    """An array of one dimension with a distribution: `el.Vector(np.arange(10))`; see `Container`."""

    ndim = 1


class Matrix(Container):
    """An array of two dimensions with a distribution; see `Container`."""

    ndim = 2


def contained(held: Held) -> Container | tuple[Container, ...]:
    """The container of a result; of an array of tuples, one for each component."""
    if len(held.leaves) > 1:
        return tuple(contained_leaf(held, i) for i in range(len(held.leaves)))
    kind = {1: Vector, 2: Matrix}.get(len(held.leaves[0].shape), Container)
    return kind.of(held)


def contained_leaf(held: Held, i: int) -> Container:
    """The container of one component of a result."""
    from dataclasses import replace

    leaf = held.leaves[i]
    pieces = tuple(replace(piece, buffers=(piece.buffers[i],)) for piece in held.pieces)
    host = None if held.host is None else [held.host[i]]
    kind = {1: Vector, 2: Matrix}.get(len(leaf.shape), Container)
    return kind.of(Held(array_of(leaf.scalar, leaf.shape), host, pieces))
