"""Registers that a work-item has something in at the same time: a compiler gives those of the others away.

    float acc[64] ..; { float s[32] = ..; p[32] = f(s); local = p; }  { float t[64] = ..; acc += t; }

takes 64 and the larger of 32 and 64, not all together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from egglift.codegen.kernel.accesses import accesses
from egglift.codegen.kernel.imperative import Buffer, Comment, Declare, If, Let, Loop, Statement, Store
from egglift.codegen.kernel.walk import blocks, walk


def live_bytes(body: Sequence[Statement]) -> int:
    """The most bytes of private arrays that are in use at one place of a kernel."""
    lives = _Lives()
    lives.block(body)
    return lives.most()


@dataclass
class _Lives:
    """From the first to the last place where each private array is used; one that outlasts a loop, all of the loop."""

    place: int = 0
    first: dict[Buffer, int] = field(default_factory=dict)
    last: dict[Buffer, int] = field(default_factory=dict)

    def block(self, body: Sequence[Statement]) -> set[Buffer]:
        """Goes through a block; the arrays that it uses and does not declare."""
        used, declared = set[Buffer](), set[Buffer]()
        for s in body:
            match s:
                case Declare(buffer):
                    declared.add(buffer)
                case _ if not blocks(s) or _is_plain(s):
                    used |= self.used(s)
                case Loop():
                    start, inside = self.place, self.block(s.body)
                    for buffer in inside:
                        self.first[buffer] = min(self.first[buffer], start)
                        self.last[buffer] = self.place
                    used |= inside
                case _:
                    used |= {buffer for inner in blocks(s) for buffer in self.block(inner)}
        return used - declared

    def used(self, s: Statement) -> set[Buffer]:
        """What one statement uses, or loops over registers, which a compiler unrolls and orders as it likes."""
        found = {a.buffer for a in accesses((s,)) if a.buffer.space == "private"}
        self.place += 1
        for buffer in found:
            self.first.setdefault(buffer, self.place)
            self.last[buffer] = self.place
        return found

    def most(self) -> int:
        """The bytes at the place with most: of what is there before it, and of what is there after it."""
        changes = [[0, 0, 0] for _ in range(self.place + 2)]
        for buffer, start in self.first.items():
            end, size = self.last[buffer], buffer.bytes
            if start == end:
                changes[start][2] += size
            else:  # from after `start` to before `end`
                changes[start][0] += size
                changes[end][1] += size
        most = live = 0
        for begun, ended, here in changes:
            most = max(most, live + here, live - ended + begun + here)
            live += begun - ended
        return most


def _is_plain(s: Statement) -> bool:
    """Is it nothing but values in loops that keep none of their own in memory?"""
    return all(isinstance(x, Loop | If | Store | Let | Comment) for x in walk((s,)))
