"""Why two programs are equal: proofs inside the e-graph, and the smallest set of laws that finds one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from xml.etree.ElementTree import Element

from egglift.egraph.explanation.marked import in_notebook, listed, marked_law, shown
from egglift.egraph.graph.encode import Encoder, binary, binary_type
from egglift.egraph.graph.engine import Engine, engine
from egglift.egraph.graph.graph import freeze
from egglift.egraph.rules.book import GROUPS, Book, Law, book
from egglift.egraph.rules.phases import GRACE, Limits, Phase, proof
from egglift.egraph.saturation.saturate import Run, allowed_laws, foreign, saturate
from egglift.egraph.saturation.subprocess_run import Stopped, Tell, apart
from egglift.ir.check import type_of
from egglift.ir.errors import RuleError
from egglift.ir.markup import tag
from egglift.ir.patterns import Expr
from egglift.ir.traverse import instantiate
from egglift.ir.types import Array, Tuple, Type

UNPROVED = "No short proof was found within the limits.  It was reached by laws among these, all that matched:"


@dataclass(frozen=True)
class ProofStep:
    """A law of an explanation, and the sub-expressions that it rewrote (the first few, as short text)."""

    law: Law
    places: tuple[str, ...]

    def __str__(self) -> str:
        where = "".join(f"\n    at {place}" for place in self.places)
        return f"{self.law.name}: {self.law.equation}  {self.law.cited}{where}"


@dataclass(frozen=True)
class Explanation:
    """Laws that together show `source` equal to `target`; without any one of them the proof is not found.

    proved=False: no proof was found within the limits; these are the laws by which `target` was reached when it was
    found: all that matched.
    """

    source: Expr
    target: Expr
    steps: tuple[ProofStep, ...]
    proved: bool = True

    @property
    def laws(self) -> tuple[str, ...]:
        """Names of the laws, in reading order."""
        return tuple(step.law.name for step in self.steps)

    def markup(self) -> Element:
        """The same as HTML: laws, and the places where they applied."""
        why = None if self.proved else tag("p", UNPROVED)
        return shown(why, listed(marked_law(s.law, s.places, len(s.places)) for s in self.steps))

    def _repr_html_(self) -> str:
        return in_notebook(self.markup())

    def __str__(self) -> str:
        steps = [f"{i}. {step}" for i, step in enumerate(self.steps, 1)]
        return "\n".join(steps if self.proved else [UNPROVED, *steps])


def prove(
    a: Expr,
    b: Expr,
    laws: Iterable[str] | None = None,
    *,
    rules: Iterable[Law | str] = (),
    disabled: Iterable[str] = (),
    reassociate: bool = True,
    sizes: dict[str, int] | None = None,
    limits: Limits = Limits(20_000, 10.0),
) -> bool:
    """Do the laws show `a` and `b` equal?  False means that no proof was found within the limits.

    Both programs go into one e-graph and every law runs in both directions, so that lengths are those of the
    two programs, numbers or symbols.  sizes: numbers for the tile symbols in either program.  Laws of the user's that
    explode within an iteration are stopped by force, and so is the attempt.
    """
    if sizes:
        a, b = instantiate(a, sizes), instantiate(b, sizes)
    whole = book().extended(rules)
    attempt = Proof(a, b, whole, limits)
    allowed = allowed_laws(whole, laws, disabled, reassociate)
    if not foreign(allowed):
        return attempt.holds(allowed)
    try:
        return apart(partial(_proved, attempt, allowed), limits.seconds + GRACE, limits.memory)
    except Stopped:
        return False


def _proved(attempt: Proof, laws: frozenset[str], tell: Tell) -> bool:
    return attempt.holds(laws)


def explain(
    source: Expr,
    target: Expr,
    *,
    rules: Iterable[Law | str] = (),
    reassociate: bool = True,
    limits: Limits = Limits(20_000, 10.0),
    seconds: float = 10.0,
) -> Explanation:
    """The smallest set of laws (by ablation) that joins `source` and `target`; RuleError if none does.

    reassociate=False: no law that changes the order of floating-point operations is used.
    After `seconds` the set found so far is returned: a proof, but perhaps not the smallest.
    """
    whole = book().extended(rules)
    allowed = allowed_laws(whole, None, (), reassociate)
    work = partial(_explained, Proof(source, target, whole, limits), allowed, seconds)
    if not foreign(allowed):
        return work()
    try:
        return apart(work, limits.seconds + seconds + GRACE, limits.memory)
    except Stopped as stop:
        raise RuleError(f"no proof within the limits ({stop.why}): laws among rules=[...] grow too fast") from None


def _explained(attempt: Proof, laws: frozenset[str], seconds: float, tell: Tell | None = None) -> Explanation:
    if not attempt.holds(laws):
        raise RuleError("the laws do not show the two programs equal within the limits; raise them, or add a law")
    deadline = perf_counter() + seconds
    needed = attempt.smallest(attempt.fired, deadline)
    return Explanation(attempt.a, attempt.b, tuple(attempt.steps(needed)))


def explored(source: Expr, target: Expr, *, rules: Iterable[Law | str] = (), reassociate: bool = True) -> Explanation:
    """The laws that match while `source` is explored: what is known where `explain` finds no proof."""
    whole = book().extended(rules)
    saturated = saturate(source, rules=rules, reassociate=reassociate)
    laws = [whole[report.name] for report in saturated.laws if report.matches]
    return Explanation(source, target, tuple(ProofStep(law, ()) for law in laws), proved=False)


@dataclass
class Proof:
    """Attempts to show two programs equal."""

    a: Expr
    b: Expr
    book: Book
    limits: Limits
    fired: frozenset[str] = frozenset()  # of the last attempt: the laws that matched, iterations, rows
    rows: int = 0
    done: int = 0
    reached: str = ""  # the phase in which both programs met
    iterations: int = 1000  # at most
    phases: tuple[Phase, ...] = ()

    def holds(self, laws: frozenset[str]) -> bool:
        """Do these laws suffice?  Leaves the names of those that matched in `fired`."""
        if not _comparable(binary_type(type_of(self.a)), binary_type(type_of(self.b))):
            return False
        run = Run(self.book, laws, self.limits)
        with engine(self.book) as e:
            _, goals = self._enter(e)
            run.prepare(e)
            found = self._search(e, run, goals)
        self.fired, self.done, self.rows = frozenset(run.matches), run.done, run.most
        return found

    def _enter(self, e: Engine) -> tuple[Encoder, str]:
        encoder = Encoder()
        a, b = encoder.add(binary(self.a)), encoder.add(binary(self.b))
        e.add([*encoder.actions, f"(root (slot {a}))", f"(goal (slot {b}))"])
        return encoder, f"(check (= (slot {a}) (slot {b})))"

    def _search(self, e: Engine, run: Run, goals: str) -> bool:
        """Step the proof phases until both programs are in one class, nothing changes, or a limit is met."""
        for phase in self.phases or proof(self.book):
            for _ in run.steps(e, [phase]):
                if e.holds(goals):
                    self.reached = phase.name
                    return True
                if run.done > self.iterations:
                    return False
            if run.limit(e, slack=2):  # another phase would begin with a step of its own, which no limit ends
                break
        return e.holds(goals)

    def smallest(self, laws: frozenset[str], deadline: float) -> frozenset[str]:
        """Leave out laws, several at once while that works, as long as a proof is left.

        An attempt may cost a little more than the proof that is known: what needs much more is no simpler.
        """
        self.limits = Limits(min(self.limits.rows, 3 * self.rows // 2 + 300), self.limits.seconds)
        self.iterations = self.done + 3
        every = proof(self.book)
        self.phases = every[: 1 + max(i for i, phase in enumerate(every) if self.reached in ("", phase.name))]
        # what rearranges is tried first: a reader expects the laws of the literature to stay
        order = sorted(self.book.laws, key=lambda law: law.group != "layout")
        needed = [law.name for law in order if law.name in laws]
        chunk = max(1, len(needed) // 2)
        while perf_counter() < deadline:
            for i in range(0, len(needed), chunk):
                without = needed[:i] + needed[i + chunk :]
                if self.holds(frozenset(without)):
                    needed = [n for n in without if n in self.fired]
                    break
            else:
                if chunk == 1:
                    break
                chunk = max(1, chunk // 2)
        return frozenset(needed)

    def steps(self, laws: frozenset[str]) -> Iterator[ProofStep]:
        """Each law with the places where it applied, from the algorithm down to memory."""
        places = self._places(laws)
        order = {name: i for i, name in enumerate(("user", *GROUPS))}
        named = [self.book[name] for name in self.book.names if name in laws]
        for law in sorted(named, key=lambda law: order[law.group]):
            yield ProofStep(law, tuple(places.get(law.name, ())))

    def _places(self, laws: Collection[str], most: int = 3) -> dict[str, list[str]]:
        """Sub-expressions that each law rewrote: the smallest program of each class, largest first."""
        from egglift.ir.text import brief

        run = Run(self.book, frozenset(laws), self.limits, trace=True)
        with engine(self.book, trace=True) as e:
            encoder, goals = self._enter(e)
            run.prepare(e)
            self._search(e, run, goals)
            graph = freeze(e, encoder)
        found: dict[str, list[Expr]] = {}
        for name, c in graph.applied:
            found.setdefault(name, []).append(graph.term(c))
        return {name: [brief(t) for t in _largest(terms)[:most]] for name, terms in found.items()}


def _comparable(a: Type, b: Type) -> bool:
    """The same type, as far as lengths are numbers."""
    match a, b:
        case Array(n, s), Array(m, t):
            return (n == m or not (isinstance(n, int) and isinstance(m, int))) and _comparable(s, t)
        case Tuple(s), Tuple(t):
            return len(s) == len(t) and all(map(_comparable, s, t))
    return a == b


def _largest(terms: Sequence[Expr]) -> list[Expr]:
    from egglift.ir.traverse import subterms

    return sorted(set(terms), key=lambda t: (-sum(1 for _ in subterms(t)), str(type(t))))
