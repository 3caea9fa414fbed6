"""Memoised recursion over a cyclic graph: every strongly connected component is iterated to its own fixpoint.

An e-graph is cyclic (`x = join (split k x)`), so a dynamic program over it meets states whose value is still
being computed.  Such a state answers with its value of the last round; the first state of the cycle repeats
until its value no longer changes.  States outside of cycles are computed exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

OPEN = 1 << 60  # no state in progress was asked for


@dataclass
class Fixpoint(Generic[K, V]):
    """`get(key, compute)`: the least fixpoint of the equations `key = compute()`, from `bottom`."""

    bottom: V
    same: Callable[[V, V], bool]
    rounds: int = 6
    final: dict[K, V] = field(default_factory=dict)
    _rough: dict[K, tuple[V, int]] = field(default_factory=dict)  # value, first state of its cycle
    _order: list[K] = field(default_factory=list)
    _active: dict[K, int] = field(default_factory=dict)
    _last: dict[K, V] = field(default_factory=dict)
    _low: int = OPEN

    def get(self, key: K, compute: Callable[[], V]) -> V:
        """The value of `key`; `compute` may call `get` for other keys, this one included."""
        if key in self.final:
            return self.final[key]
        if key in self._rough:
            value, low = self._rough[key]
            self._low = min(self._low, low)
            return value
        if key in self._active:
            self._low = min(self._low, self._active[key])
            return self._last.get(key, self.bottom)
        return self._solve(key, compute)

    def _solve(self, key: K, compute: Callable[[], V]) -> V:
        me, outer, start = len(self._active), self._low, len(self._order)
        self._active[key] = me
        value = self.bottom
        for round in range(self.rounds):
            self._low = OPEN
            value = compute()
            if self._low != me:
                break
            if round == self.rounds - 1 or self._settled(key, value, start):
                break
            self._last[key] = value
            self._forget(start, keep=True)
        low = self._low
        del self._active[key]
        if low < me:
            self._hand_over(start, me, low)
            self._rough[key] = (value, low)
            self._order.append(key)
        else:
            for k in self._order[start:]:
                self.final[k] = self._rough[k][0]
            self._forget(start, keep=False)
            self.final[key] = value
            low = OPEN
        self._low = min(outer, low)
        return value

    def _hand_over(self, start: int, me: int, low: int) -> None:
        """States that wait for `me` wait for what it waits for; else the next state at this depth would pass for it."""
        for k in self._order[start:]:
            value, waits = self._rough[k]
            if waits >= me:
                self._rough[k] = (value, low)

    def _settled(self, key: K, value: V, start: int) -> bool:
        """Has no state of the cycle changed since the last round?  Not only its first one may be asked for."""
        if not self.same(value, self._last.get(key, self.bottom)):
            return False
        return all(self.same(self._rough[k][0], self._last.get(k, self.bottom)) for k in self._order[start:])

    def _forget(self, start: int, keep: bool) -> None:
        """Drop the rough values of the cycle; with `keep`, the next round starts from them."""
        for k in self._order[start:]:
            value, _ = self._rough.pop(k)
            if keep:
                self._last[k] = value
        del self._order[start:]
