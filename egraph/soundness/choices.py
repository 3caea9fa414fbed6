"""Random choices that are written down and can be made again: what a counter-example is shrunk by."""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")
S = TypeVar("S")

_UNIT = 1 << 10  # steps of `random()`


class Spent(Exception):
    """More choices are asked for than were given."""


class Choices(Random):
    """Random choices, each kept in `made` as a number whose 0 is the simplest; `given` ones are made again.

    source: where choices beyond those given come from; without one, Spent is raised.
    Whoever asks puts what is simplest first: `choice` of a sequence, `random()` below a probability.
    """

    def __init__(self, source: Random | None = None, given: Sequence[int] = ()) -> None:
        super().__init__(0)
        self.made: list[int] = []
        self._source = source
        self._given = iter(given)

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        made = next(self._given, None)
        if made is None:
            if self._source is None:
                raise Spent
            made = self._source.randrange(n)
        self.made.append(min(made, n - 1))
        return self.made[-1]

    def forget(self, mark: int) -> None:
        """What was chosen since `len(made)` was `mark` led nowhere: made again, it is left out."""
        del self.made[mark:]

    def randint(self, a: int, b: int) -> int:
        """A number from a to b; the simplest is the one nearest to 0, then positive."""
        step = self.below(b - a + 1)
        if not a < 0 <= b:
            return a + step if a >= 0 else b - step
        return sorted(range(a, b + 1), key=lambda i: (abs(i), i < 0))[step]

    def randrange(self, n: int, *more: Any) -> int:
        """A number below n."""
        return self.below(n)

    def choice(self, items: Any) -> Any:
        """One of a sequence; the first is the simplest."""
        return items[self.below(len(items))]

    def random(self) -> float:
        """A number in [0, 1); 0 is the simplest."""
        return self.below(_UNIT) / _UNIT


def shrunk(
    first: Sequence[int], found: T, again: Callable[[Sequence[int]], tuple[Sequence[int], T] | None], limit: int
) -> T:
    """What fewer and smaller choices find: choices are left out, set to 0, halved and made one less while `again`,
    which makes the choices that it is given, still finds something.  At most `limit` trials."""
    best, tried = list(first), {tuple(first)}

    def shorter(candidate: MutableSequence[int]) -> bool:
        nonlocal best, found
        if tuple(candidate) in tried or len(tried) > limit:
            return False
        tried.add(tuple(candidate))
        result = again(candidate)
        if result is None or (len(result[0]), list(result[0])) >= (len(best), best):
            return False
        best, found = list(result[0]), result[1]
        return True

    improved = True
    while improved and len(tried) <= limit:
        improved = False
        for size in (16, 8, 4, 2, 1):
            at = len(best) - size
            while at >= 0:
                done = shorter(best[:at] + best[at + size :])
                improved |= done
                at = min(at - (not done) * max(1, size // 2), len(best) - size)
        for at in range(len(best)):
            for smaller in (lambda n: 0, lambda n: n // 2, lambda n: n - 1):
                while at < len(best) and best[at] and shorter([*best[:at], smaller(best[at]), *best[at + 1 :]]):
                    improved = True
    return found
