"""Equality saturation, stepped from here: a cap on rows, a clock, and a report of what happened."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from egglift.egraph.graph.body_types import check_bodies
from egglift.egraph.graph.encode import Encoder, binary, cancelled
from egglift.egraph.graph.engine import Engine, engine
from egglift.egraph.graph.graph import Graph, freeze
from egglift.egraph.rules.book import Book, Law, book
from egglift.egraph.rules.phases import EXPLORE, SIMPLIFY, Limits, Phase, rulesets, without
from egglift.egraph.saturation.subprocess_run import Stopped, Tell, apart
from egglift.ir.check import type_of
from egglift.ir.deadline import left, require_time
from egglift.ir.errors import RuleError
from egglift.ir.patterns import Expr
from egglift.ir.progress import tick


@dataclass(frozen=True)
class LawReport:
    """What one law did.  `rows` (new rows, administrative ones included) and `seconds` only with `detail`."""

    name: str
    matches: int
    rows: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class PhaseReport:
    """How a phase went.  `why` it stopped: "fixpoint", "iterations", "rows" or "seconds"."""

    name: str
    iterations: int
    rows: int
    seconds: float
    why: str


@dataclass(frozen=True)
class Saturated:
    """A saturated e-graph as plain data, with reports.

    schedule: the phases that ran.  forced: "", or why an iteration was ended by force: "seconds", "memory" or "crash".
    From that iteration on the schedule is without the user's laws.
    """

    program: Expr
    graph: Graph
    laws: tuple[LawReport, ...]
    phases: tuple[PhaseReport, ...]
    rows: int
    seconds: float
    schedule: tuple[Phase, ...]
    forced: str = ""

    @property
    def stopped(self) -> str:
        """Why it stopped: "fixpoint" if every phase ran to its end, or the limit that was met."""
        met = [p.why for p in self.phases if p.why in ("rows", "seconds")]
        return self.forced or (met[0] if met else "fixpoint")

    def __str__(self) -> str:
        lines = [f"{self.rows} rows, {self.graph.size} nodes, {1e3 * self.seconds:.0f} ms, stopped at {self.stopped}"]
        for p in self.phases:
            lines.append(f"  {p.name:8} {p.iterations:3} iterations {p.rows:6} rows {1e3 * p.seconds:7.1f} ms  {p.why}")
        for r in sorted(self.laws, key=lambda r: -r.matches):
            detail = f" {r.rows:6} rows {1e3 * (r.seconds or 0):7.1f} ms" if r.rows is not None else ""
            lines.append(f"  {r.name:20} {r.matches:6} matches{detail}")
        return "\n".join(lines)


def saturate(
    program: Expr,
    *,
    rules: Iterable[Law | str] = (),
    laws: Iterable[str] | None = None,
    disabled: Iterable[str] = (),
    limits: Limits = Limits(),
    reassociate: bool = True,
    phases: Sequence[Phase] = EXPLORE,
    detail: bool = False,
    check: bool = False,
) -> Saturated:
    """All programs that the laws show equal to `program`.

    rules: laws of the user's own, as Law or .egg text.  laws: use these only.  disabled: leave these out.
    reassociate=False leaves out laws that change the order of floating-point operations.
    detail: run law by law, for rows and seconds of each (slower).  check: compare the type of each body's Arg
    with what the body is applied to; RuleError names the disagreement.
    At a limit, what is there is returned.  Laws of the user's run in a process of their own: where they explode within
    an iteration, that is ended by force, and what was there before it is explored further by the book alone.
    """
    type_of(program)
    require_time()
    limits = limits.within(left())
    whole = book().extended(rules)
    work = Work(program, whole, allowed_laws(whole, laws, disabled, reassociate), limits, tuple(phases), detail, check)
    try:
        return _saturated(work)
    except RuleError as error:
        if detail or " clash" not in str(error):
            raise
    _saturated(replace(work, detail=True))
    raise AssertionError("a clash is found only when laws run together")


@dataclass(frozen=True)
class Work:
    """A saturation to be done, in this process or another; call it."""

    program: Expr
    book: Book
    allowed: frozenset[str]
    limits: Limits
    phases: tuple[Phase, ...]
    detail: bool
    check: bool

    def __call__(self, tell: Tell | None = None) -> Saturated:
        run = Run(self.book, self.allowed, self.limits, self.detail, tell=tell)
        return run(self.program, self.phases, self.check)


def _saturated(work: Work) -> Saturated:
    """Saturation is the same each time: what an iteration that was ended by force has lost is made again."""
    users = foreign(work.allowed)
    if not users:
        return work()
    most = work.limits.seconds + work.limits.grace, work.limits.memory
    try:
        return apart(work, *most)
    except Stopped as stop:
        why, at = stop.why, stop.told
    try:
        found = apart(replace(work, phases=tuple(without(users, work.phases, at))), *most)
    except Stopped:  # what they had made before is too much for the book as well
        found = replace(work, phases=tuple(without(users, work.phases)))()
    return replace(found, forced=why)


def check_domains(program: Expr, **options: object) -> None:
    """Saturate `program` and check every body against what it is applied to; RuleError: an ill-typed law."""
    saturate(program, check=True, **options)  # type: ignore[arg-type]


def allowed_laws(whole: Book, laws: Iterable[str] | None, disabled: Iterable[str], reassociate: bool) -> frozenset[str]:
    """Names of the laws to use; RuleError if there is no such law."""
    names = [whole[name].name for name in (whole.names if laws is None else laws)]
    off = {whole[name].name for name in disabled}
    return frozenset(n for n in names if n not in off and (reassociate or not whole[n].reassociating))


def foreign(laws: frozenset[str]) -> frozenset[str]:
    """Those laws that are not the book's: nobody knows how many rows an iteration of theirs makes."""
    return laws - {*book().names}


@dataclass
class Run:
    """One saturation in progress."""

    book: Book
    allowed: frozenset[str]
    limits: Limits
    detail: bool = False
    trace: bool = False
    matches: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)
    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    start: float = field(default_factory=lambda: perf_counter())
    rules: Counter[str] = field(default_factory=Counter)
    done: int = 0  # iterations
    base: int = 0  # rows of the program itself
    most: int = 0  # rows seen last
    tell: Tell | None = None  # told the phase and the iteration that begins
    at: tuple[str, int] | None = None

    def __call__(self, program: Expr, phases: Sequence[Phase], check: bool) -> Saturated:
        with engine(self.book, trace=self.trace) as e:
            encoder = Encoder()
            root = encoder.add(binary(cancelled(program)))
            e.add([*encoder.actions, f"(root (slot {root}))"])
            self.prepare(e)
            reports = [self.phase(e, phase) for phase in phases]
            self._announce(self.limits.grace)
            rows, graph = e.rows(), freeze(e, encoder)
        if check:
            check_bodies(graph)
        laws = tuple(
            LawReport(n, self.matches[n], *((self.new[n], self.spent[n]) if self.detail else ()))
            for n in self.book.names
            if self.matches[n]
        )
        return Saturated(program, graph, laws, tuple(reports), rows, perf_counter() - self.start, tuple(phases))

    def _announce(self, seconds: float) -> None:
        """Says how far it has come, and that it goes on within so many seconds."""
        if self.tell:
            self.tell(self.at, seconds)

    def prepare(self, e: Engine) -> None:
        """Declare the administrative rules of this run and settle what was put in."""
        simplify = " ".join(n for n in SIMPLIFY if n in self.allowed)
        e.run(f"(unstable-combined-ruleset administrative typing subst {simplify})")
        self.settle(e)
        self.base = e.rows()

    def settle(self, e: Engine) -> None:
        """Administrative rules to a fixpoint, or to a limit."""
        while True:
            (out,) = e.run("(run-schedule (repeat 16 (run administrative)))")
            self._count(dict(out.report.num_matches_per_rule))
            if not out.report.updated:
                e.run("(run-schedule (seq (run not-open) (run pruned)))")
                return
            if self.limit(e, slack=4):
                e.run("(run-schedule (saturate (run typing)))")  # what is there has types
                return

    def limit(self, e: Engine, slack: float = 1) -> str | None:
        """The limit that is met, or None; `slack` times the limits are allowed."""
        if perf_counter() - self.start > self.limits.seconds * slack:
            return "seconds"
        self.most = e.rows()
        return "rows" if self.most - self.base > self.limits.rows * slack else None

    def phase(self, e: Engine, phase: Phase) -> PhaseReport:
        """Step a phase until nothing changes, its iterations are done, or a limit is met."""
        start, why, done = perf_counter(), "iterations", 0
        for why in self._iterations(e, phase):
            done += not why
        return PhaseReport(phase.name, done, e.rows(), perf_counter() - start, why)

    def steps(self, e: Engine, phases: Sequence[Phase]) -> Iterator[None]:
        """Step phases, stopping after each iteration, until a limit is met."""
        for phase in phases:
            for why in self._iterations(e, phase):
                if why in ("rows", "seconds"):
                    return
                yield

    def _iterations(self, e: Engine, phase: Phase) -> Iterator[str]:
        """Yields "" after each iteration that changed something, and at last why it stops."""
        sets = list(rulesets(phase, self.book, self.allowed))
        if sets and not self.detail:
            e.run(f"(unstable-combined-ruleset phase-{phase.name} {' '.join(sets)})")
        for i in range(phase.iterations if sets else 0):
            slack = 4 if i == 0 and phase.share == 1 else phase.share
            if met := self.limit(e, slack):
                yield met
                return
            self.at = phase.name, i
            spare = phase.share * self.limits.seconds - (perf_counter() - self.start)
            self._announce(self.limits.grace + max(0.0, spare))
            tick("saturation", phase.name, iteration=i, rows=self.most)
            updated = self._each(e, sets) if self.detail else self._together(e, phase)
            if not updated:
                yield "fixpoint"
                return
            self.done += 1
            yield ""
        yield self.limit(e, phase.share) or ("iterations" if sets else "fixpoint")

    def _together(self, e: Engine, phase: Phase) -> bool:
        (out,) = e.run(f"(run-schedule (run phase-{phase.name}))")
        self._count(dict(out.report.num_matches_per_rule))
        if out.report.updated:
            self.settle(e)
        return bool(out.report.updated)

    def _each(self, e: Engine, sets: Sequence[str]) -> bool:
        updated = False
        for ruleset in sets:
            name = ruleset.removesuffix("/back")
            start, before = perf_counter(), e.rows()
            try:
                (out,) = e.run(f"(run-schedule (run {ruleset}))")
                if out.report.updated:
                    self.settle(e)
            except RuleError as error:
                raise RuleError(f"law {name} ({self.book[name].equation}): {error}") from None
            self._count(dict(out.report.num_matches_per_rule))
            self.new[name] += e.rows() - before
            self.spent[name] += perf_counter() - start
            updated |= bool(out.report.updated)
        return updated

    def _count(self, matches: dict[str, int]) -> None:
        for rule, n in matches.items():
            if n and "#" in rule:
                self.matches[rule.partition("#")[0]] += n
                self.rules[rule] += n
