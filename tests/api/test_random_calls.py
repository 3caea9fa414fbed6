"""Random sequences of calls, of arrays on every kind of queue and of NumPy's, end with what NumPy computes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import open_device
from tests.gates import array, queue

pytestmark = pytest.mark.short

N = 1 << 10
x, y = el.array("x", el.f32, N), el.array("y", el.f32, N)
slowly = el.map(lambda v: el.fold(lambda s, _: s * 0.5 + 1.0, v, el.iota(40)), x)
#: programs, and what they compute; some are two kernels
PROGRAMS: dict[str, tuple[el.Value, Callable[..., Any]]] = {
    "difference": (x - y[::-1], lambda a, b: a - b[::-1]),
    "by the greatest": ((x - el.max(y)) * 0.5, lambda a, b: (a - b.max()) * np.float32(0.5)),
    "slowly": (slowly + y * 0.25, lambda a, b: _halved(a) + b * np.float32(0.25)),
    "both ways": (el.tuple(x + y, x[::-1] - y), lambda a, b: (a + b, a[::-1] - b)),
}


def _halved(a: Any) -> Any:
    for _ in range(40):
        a = a * np.float32(0.5) + np.float32(1)
    return a


@cache
def kernel(name: str) -> el.Kernel:
    return el.optimize(PROGRAMS[name][0], "pocl", measure="none", cache=False)


class Play:
    """Arrays on queues and on the host, each with what it should hold, and random steps on them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        context = open_device("pocl").context
        kinds = ("in order", "out of order")
        self.queues = [queue(context, self.rng.choice(kinds)) for _ in range(3)]
        self.kernels = {name: kernel(name) for name in PROGRAMS}
        self.pairs: list[tuple[Any, Any]] = []  # an array, and what it should hold
        for _ in range(6):
            self.add(np.float32(np.random.default_rng(self.rng.randrange(99)).integers(-9, 9, N)))

    def add(self, values: Any) -> None:
        """An array of these values, somewhere."""
        home = self.rng.choice([None, *self.queues])
        kept = values.copy() if home is None else array(home, values)
        self.pairs.append((kept, values.copy()))

    def pick(self, there: bool | None = None) -> int:
        places = [i for i, (a, _) in enumerate(self.pairs) if there is None or isinstance(a, np.ndarray) != there]
        return self.rng.choice(places)

    def step(self) -> None:
        kinds = ("call", "call", "call", "into", "into", "bound", "overwrite", "part")
        getattr(self, self.rng.choice(kinds))()

    def given(self) -> tuple[list[Any], list[Any]]:
        i, j = self.pick(), self.pick()
        return [self.pairs[i][0], self.pairs[j][0]], [self.pairs[i][1], self.pairs[j][1]]

    def call(self) -> None:
        name = self.rng.choice([*PROGRAMS])
        arrays, values = self.given()
        words = {"queue": self.rng.choice(self.queues)} if self.rng.random() < 0.3 else {}
        results = self.kernels[name](*arrays, **words)
        wanted = PROGRAMS[name][1](*values)
        if name == "both ways":
            place = self.rng.randrange(2)
            results, wanted = results[place], wanted[place]
        self.pairs[self.pick()] = results, wanted

    def into(self) -> None:
        name = self.rng.choice(["difference", "by the greatest", "slowly"])
        arrays, values = self.given()
        there = any(not isinstance(a, np.ndarray) for a in arrays)
        if there and all(isinstance(a, np.ndarray) for a, _ in self.pairs):
            return
        target = self.pick(True if there else None)
        wanted = PROGRAMS[name][1](*values)
        self.kernels[name](*arrays, out=self.pairs[target][0])
        self.holds(target, wanted)

    def holds(self, target: int, wanted: Any) -> None:
        """Arrays may be in several places of the list."""
        written = self.pairs[target][0]
        self.pairs = [(a, wanted.copy() if a is written else v) for a, v in self.pairs]

    def bound(self) -> None:
        arrays, values = self.given()
        if all(isinstance(a, np.ndarray) for a in arrays):
            return
        launch = self.kernels["slowly"].bind(*arrays)
        for _ in range(self.rng.randint(1, 3)):
            result = launch()
        self.pairs[self.pick()] = result, PROGRAMS["slowly"][1](*values)

    def overwrite(self) -> None:
        place = self.pick()
        kept, values = self.pairs[place]
        if isinstance(kept, np.ndarray):
            kept += 1
        else:
            kept += np.float32(1)
        self.holds(place, values + np.float32(1))

    def part(self) -> None:
        place = self.pick()
        kept, values = self.pairs[place]
        if not isinstance(kept, np.ndarray) and kept.queue is not None:
            twice = array(kept.queue, np.concatenate([values, values + 3]))
            self.pairs[self.pick()] = twice[N:], values + 3


@pytest.mark.parametrize("seed", range(20))
def test_random_calls_end_as_in_numpy(seed: int) -> None:
    play = Play(seed)
    for _ in range(25):
        play.step()
    for kept, wanted in play.pairs:
        got = kept if isinstance(kept, np.ndarray) else kept.get()
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-3)
