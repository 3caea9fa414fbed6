"""Random well-typed programs, written as users write them: lambdas that capture, nested up to four deep.

A program grows from its inputs; each step applies a pattern to random values in scope.  The names of the steps are
those of the patterns.  What a program may use depends on what can be compared (see `Style`).
"""

from __future__ import annotations

import random

import egglift as el
from egglift.ir.check import type_of
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.ir.traverse import subterms
from egglift.ir.value import Value
from tests.fuzz.computing_steps import COMPUTING_STEPS, ComputingSteps
from tests.fuzz.layout_steps import LAYOUT_STEPS, LayoutSteps
from tests.fuzz.scalar_steps import SCALAR_STEPS, ScalarSteps
from tests.fuzz.style import Room, Style, elements


def random_program(rng: random.Random, style: Style, room: Room = Room()) -> Expr:
    """A closed program of that style."""
    while True:
        found = as_program(Maker(rng, style, room).whole())
        dull = elements(type_of(found)) == 0 or sum(1 for _ in subterms(found)) < rng.choice((1, 9, 12, 16))
        if not dull or rng.random() < 0.05:
            return found


#: where no body may nest any more
SHALLOW = {"apply": 6, "cast": 1, "tuple": 0.5, "get": 1, "index": 1}


class Maker(ComputingSteps, ScalarSteps, LayoutSteps):
    """Grows one program, by all steps."""

    steps = COMPUTING_STEPS | SCALAR_STEPS | LAYOUT_STEPS
    shallow = SHALLOW

    def whole(self) -> Value:
        """The program."""
        self.inputs = self.make_inputs()
        made = self.grow(self.inputs, self.inputs, self.rng.randint(3, 8), self.room)
        return el.tuple(made, self.rng.choice(self.inputs)) if self.rng.random() < 0.03 else made

    def make_inputs(self) -> list[Value]:
        rng, (a, b) = self.rng, self.scalars
        n = self.length(most=min(300, self.room.elements))
        m, k = (self.length(most=max(1, min(40, self.room.elements // max(n, 1)))) for _ in range(2))
        found = [
            el.array("x", a, n),
            el.array("y", rng.choice((a, b)), n),
            el.array("A", a, (m, n)),
            el.array("B", a, (n, k)),
            el.scalar("s", b),
            el.array("pairs", (a, b), m),
        ]
        return rng.sample(found, rng.randint(2, 4))
