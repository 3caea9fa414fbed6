"""`session`: a kernel derived by hand, law by law, each step priced, checked and undone where it was no good."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from egglift.candidate import Candidate
from egglift.codegen.device.arguments import operands
from egglift.codegen.device.device import open_device
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.expected_results import expect
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import load_profile
from egglift.ir.check import type_of
from egglift.ir.errors import ArgumentError, EggliftError, WrongResult
from egglift.ir.inner_program import inner
from egglift.ir.lifting import as_program
from egglift.ir.pairs import paired
from egglift.ir.patterns import Expr
from egglift.ir.plain_numbers import plain
from egglift.ir.signature import inputs_of
from egglift.ir.text import pretty
from egglift.ir.traverse import instantiate
from egglift.kernel import Kernel
from egglift.optimize import optimize
from egglift.options import Laws, Options
from egglift.report import duration

PHASES = ("simplify", "fuse", "tile", "lower", "user")


@dataclass(frozen=True)
class Step:
    """A law, applied: at which of its places, counted from 0, and with which lengths of tiles."""

    law: str
    place: int
    sizes: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        where = f" at {self.place}" if self.place else ""
        return f"apply {self.law}{where}" + "".join(f" {name}={n}" for name, n in self.sizes)


@dataclass(frozen=True)
class State:
    """A program on the way, how it came about, and its price in seconds; None where it has no kernels yet: why.

    form: the program with lengths of tiles as symbols, which `tiles` and `sizes` say more of.
    """

    form: Expr
    tiles: Mapping[str, Any]
    sizes: Mapping[str, int]
    program: Expr
    steps: tuple[Step, ...]
    seconds: float | None
    why: str = ""


@dataclass(frozen=True)
class Possible:
    """A law that applies: at which of its places, what it changes there, with which tiles, and the price then."""

    step: Step
    change: str
    state: State
    before: float | None

    def __str__(self) -> str:
        now = self.state.seconds
        gain = "no kernels yet" if now is None else duration(now)
        if now is not None and self.before:
            gain += f" ({plain(now / self.before, 2)} of now)"
        return f"{self.step}: {gain}\n    {self.change}"


class Session:
    """A derivation in progress.  Every state is run and compared with the interpreter's value of the first program.

    program: the current one; steps: what was applied; seconds: what the model says of it, None: it has no kernels yet.
    """

    def __init__(
        self, program: Any, device: object = None, rules: Sequence[str] = (), reassociate: bool = True
    ) -> None:
        from egglift.egraph.graph.encode import binary
        from egglift.research import book

        self._given, self.device = as_program(program), open_device(device)
        self.source = inner(self._given)
        self.laws = Laws(reassociate, tuple(rules))
        self._profile, self._book = load_profile(self.device), book().extended(rules)
        self._names = [
            law.name
            for law in self._book.laws
            if set(law.phases) & {*PHASES} and (reassociate or not law.reassociating)
        ]
        self._states = [self._state(binary(self.source), {}, {}, ())]
        self._pins: dict[str, State] = {}

    # ------------------------------------------------------------------------------------ where it is

    @property
    def state(self) -> State:
        """The program as it is now."""
        return self._states[-1]

    @property
    def program(self) -> Expr:
        """The current program; tuples of three and more are pairs of pairs in it."""
        return self.state.program

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was applied so far."""
        return self.state.steps

    @property
    def seconds(self) -> float | None:
        """What a call takes, by the model."""
        return self.state.seconds

    @property
    def script(self) -> str:
        """The steps as lines that `run` takes: a derivation to be kept."""
        return "".join(f"{s}\n" for s in self.steps)

    def __str__(self) -> str:
        price = self.state.why if self.seconds is None else f"{duration(self.seconds)} by the model"
        return f"{pretty(self.program)}\n{len(self.steps)} steps; {price}"

    # ------------------------------------------------------------------------------------ laws

    def possible(self, law: str | None = None) -> list[Possible]:
        """All that one step can make of the program, or those of one law; RuleError where there is no such law."""
        from egglift.egraph.explanation.one_step import rewritings

        names = self._names if law is None else [self._book[law].name]
        count: dict[str, int] = {}
        found = []
        for r in rewritings(self.state.form, self.state.tiles, self._book, names):
            place = count.get(r.law, 0)
            count[r.law] = place + 1
            try:
                found.append(self._possible(r, place, {}))
            except EggliftError:
                continue
        return found

    def apply(self, law: str, at: int = 0, **sizes: int) -> Session:
        """Applies a law at one of its places, with lengths for its tiles; itself, so that steps can be chained.

        ArgumentError where the law does not apply there, or a length does not fit.  WrongResult, and no step, where
        the device computes something else then.
        """
        from egglift.egraph.explanation.one_step import rewritings

        there = rewritings(self.state.form, self.state.tiles, self._book, [self._book[law].name])
        if not 0 <= at < len(there):
            places = f"it does at {len(there)} places, from 0 on" if there else "it does nowhere: undo, or take another"
            raise ArgumentError(f"{law} does not apply at {at}: {places}")
        state = self._possible(there[at], at, sizes).state
        self._check(state)
        self._states.append(state)
        return self

    def undo(self) -> Session:
        """Takes the last step, or the last `back`, back; ArgumentError where there is none."""
        if len(self._states) == 1:
            raise ArgumentError("nothing to undo: this is the program as it was given")
        self._states.pop()
        return self

    def pin(self, name: str) -> Session:
        """Keeps the program as it is now under a name, to come back to."""
        self._pins[name] = self.state
        return self

    def back(self, name: str) -> Session:
        """Goes on from what was pinned under a name; ArgumentError lists the names."""
        if name not in self._pins:
            raise ArgumentError(f"nothing is pinned as {name}; there are {', '.join(self._pins) or 'no pins'}")
        self._states.append(self._pins[name])
        return self

    def _possible(self, r: Any, place: int, sizes: Mapping[str, int]) -> Possible:
        from egglift.costmodel.search.sizes import Search

        search = Search(r.program, r.tiles, self._profile, self.device.limits)
        own = [n for n in search.order if n not in self.state.sizes]
        unknown = [n for n in sizes if n not in own]
        if unknown:
            raise ArgumentError(f"{r.law} leaves no tile {unknown[0]} open; it leaves {', '.join(own) or 'none'}")
        fixed = {**{n: k for n, k in self.state.sizes.items() if n in search.order}, **sizes}
        env = search.fitting({**search.start(), **fixed})
        for name, n in fixed.items():
            if env[name] != n:
                raise ArgumentError(f"{name}={n} does not fit; {env[name]} would")
        program = instantiate(r.program, env)
        if type_of(program) != type_of(self.program):
            raise ArgumentError(f"{r.law} makes {type_of(program)} of {type_of(self.program)} with {dict(env)}")
        step = Step(r.law, place, tuple((n, env[n]) for n in sorted(own)))
        return Possible(step, str(r), self._state(r.program, r.tiles, env, (*self.steps, step)), self.seconds)

    def _state(self, form: Expr, tiles: Mapping[str, Any], sizes: Mapping[str, int], steps: tuple[Step, ...]) -> State:
        program = instantiate(form, dict(sizes))
        try:
            model = estimate(self._candidate(program).plan, self._profile)
        except EggliftError as error:
            return State(form, tiles, sizes, program, steps, None, f"no kernels yet: {error}")
        return State(form, tiles, sizes, program, steps, model.seconds)

    # ------------------------------------------------------------------------------------ kernels

    def kernel(self) -> Kernel:
        """The kernel of the program as it is now; CodegenError where it has none yet."""
        return self._kernel(self.state)

    def measure(self) -> float:
        """Seconds that a call takes on the device, after its result was compared with the interpreter's."""
        self._check(self.state)
        return self.kernel().profile().seconds

    def finish(self, **options: Any) -> Kernel:
        """The best kernel that the search finds from here on; options are those of `optimize`."""
        found = optimize(self.program, self.device.device, rules=self.laws.rules, **options)
        return Kernel(self._given, found.chosen, self.device, [found.chosen], found.options)

    def _candidate(self, program: Expr) -> Candidate:
        return Candidate("by hand", program, {}, Launch(), self.device.limits, 0.0)

    def _kernel(self, state: State) -> Kernel:
        candidate = self._candidate(state.program)
        return Kernel(self._given, candidate, self.device, [candidate], Options(self.laws, measure="none"))

    def _check(self, state: State) -> None:
        if state.seconds is None:
            return  # it has no kernels that could be run
        program, kernel = paired(self._given), self._kernel(state)
        expected = expect(program, seed=1)
        given = operands(self.device, inputs_of(program), expected.inputs)
        problem = expected.disagreement(kernel.executable.run(given, poison=True, rows=expected.rows))
        if problem is not None:
            last = state.steps[-1] if state.steps else "the program as it was given"
            raise WrongResult(f"after {last} the device computes something else: {problem}")

    # ------------------------------------------------------------------------------------ scripts

    def run(self, script: str) -> Session:
        """Steps from a text, one a line: `apply LAW [at PLACE] [TILE=N ...]`, `undo`, `pin NAME`, `back NAME`.

        `#` begins a comment.  ArgumentError names the line that it cannot follow; the steps before it stay.
        """
        for number, line in enumerate(script.splitlines(), 1):
            try:
                self.do(line)
            except EggliftError as error:
                raise type(error)(f"line {number}, {line.strip()!r}: {error}") from None
        return self

    def do(self, line: str) -> None:
        """One line of a script."""
        words = shlex.split(line, comments=True)
        match words:
            case []:
                return
            case ["apply", law, "at", place, *rest] if place.isdigit():
                self.apply(law, int(place), **_sizes(rest))
            case ["apply", law, *rest]:
                self.apply(law, **_sizes(rest))
            case ["undo"]:
                self.undo()
            case ["pin", name]:
                self.pin(name)
            case ["back", name]:
                self.back(name)
            case _:
                raise ArgumentError("a step is: apply LAW [at PLACE] [TILE=N ...], undo, pin NAME or back NAME")


def _sizes(words: Sequence[str]) -> dict[str, int]:
    pairs = [w.partition("=") for w in words]
    if not all(n.isdigit() for _, _, n in pairs):
        raise ArgumentError(f"{' '.join(words)} is not TILE=N ...")
    return {name: int(n) for name, _, n in pairs}


def session(program: Any, device: object = None, *, rules: Sequence[str] = (), reassociate: bool = True) -> Session:
    """A derivation by hand: `s = el.session(A @ B, "pocl")`, then `s.possible()`, `s.apply("hoist-capture")`, ...

    program, device, rules, reassociate: as for `optimize`.
    """
    return Session(program, device, rules, reassociate)
