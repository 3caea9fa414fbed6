"""The workers of a dask cluster as devices: each computes blocks with kernels of its own.

A block is a task with all that it needs, so that dask can run it again elsewhere when its worker dies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from egglift.codegen.device.device import Device
from egglift.ir.errors import ClusterError, DeviceLost, EggliftError
from egglift.ir.patterns import Expr
from egglift.ir.text import dumps
from egglift.options import Options
from egglift.processes.executors import client_of

#: how often a block is run again when its worker dies
AGAIN = 3
#: bytes that a worker is taken to have room for: it tells dask, not us
ROOM = 1 << 62
#: computes a program, given as text, from its arguments, in a worker
Task = Callable[[str, Options, tuple[Any, ...]], Any]


@dataclass(frozen=True)
class Room:
    """What a worker has room for, in bytes."""

    memory: int = ROOM
    buffer: int = ROOM


@dataclass(frozen=True)
class Remote:
    """A worker, in the place of a device; which one it is, dask decides for each block."""

    place: int
    name: str
    driver: str = "dask"
    info: Room = Room()


@dataclass(frozen=True)
class Unknown:
    """A time that nobody has measured."""

    seconds: float = 1.0


@dataclass(frozen=True)
class RemoteKernel:
    """A program that workers compute."""

    client: Any
    task: Task
    text: str
    options: Options
    chosen: Unknown = Unknown()
    candidates: tuple[Unknown, ...] = ()

    def __call__(self, /, *args: Any, out: Any = None, allocator: Any = None) -> Any:
        """The value, but not in `out`; DeviceLost where workers die again and again, ClusterError if none is left."""
        # the arguments are part of the task: scattered ones would be lost with the worker that holds them
        future = self.client.submit(self.task, self.text, self.options, args, pure=False, retries=AGAIN)
        try:
            return future.result()
        except EggliftError:
            raise
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise DeviceLost(f"workers died of a block of this program: {error}") from error
            raise ClusterError(f"a worker failed: {type(error).__name__}: {error}") from error


@dataclass
class Cluster:
    """A cluster's workers, and kernels for them."""

    client: Any
    task: Task
    options: Options
    _made: dict[Expr, RemoteKernel] = field(default_factory=dict)

    @classmethod
    def at(cls, address: str, task: Task, options: Options) -> Cluster:
        """The cluster whose scheduler is at an address; ClusterError where none answers, or it has no workers."""
        return cls(client_of(address), task, options)

    @property
    def devices(self) -> tuple[Device, ...]:
        """One for each thread of the workers."""
        workers = self.client.scheduler_info()["workers"]
        names = [address for address, about in workers.items() for _ in range(about["nthreads"])]
        if not names:
            raise ClusterError("the dask cluster has no workers: start some, dask worker ADDRESS")
        return tuple(cast(Device, Remote(i, "worker")) for i in range(len(names)))

    def kernel(self, program: Expr, device: Device, known: Any) -> RemoteKernel:
        """The kernel of a program; the workers find it when they have the first block."""
        if program not in self._made:
            self._made[program] = RemoteKernel(self.client, self.task, dumps(program), self.options)
        return self._made[program]
