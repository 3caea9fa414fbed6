"""Does a law hold?  Random instances of its own text, both sides through the interpreter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random

from egglift.egraph.graph.graph import Graph, build
from egglift.egraph.rules.book import Book, Law, book, rules_of
from egglift.egraph.soundness.batched_rewriting import Rewritten, rewritten
from egglift.egraph.soundness.choices import Choices, Spent, shrunk
from egglift.egraph.soundness.comparison import meeting, same
from egglift.egraph.soundness.counterexample import Wrong, simplest
from egglift.egraph.soundness.instances import Instance, instance_of
from egglift.ir import patterns as p
from egglift.ir.errors import RuleError
from egglift.ir.patterns import Expr

TOGETHER = 32  # instances in one e-graph
FEW = 8  # with a book
TRIES = 40  # attempts for each instance
AGAIN = 64  # draws that look for a counter-example on its instance alone
HOPELESS = 2000  # attempts without any


@dataclass(frozen=True)
class Verdict:
    """What a soundness test found.

    instances: programs that contain a left side.  fired: those in which each rule of the law matched.
    compared: how often two different programs were compared.  void: instances without a value on what was drawn for
    them, with which nothing was compared.
    """

    law: str
    instances: int
    fired: dict[int, int]
    compared: int
    wrong: Wrong | None
    void: int = 0

    @property
    def sound(self) -> bool:
        """No counter-example, every rule fired, and there was something to compare."""
        return self.wrong is None and self.compared > 0 and all(self.fired.values())


@dataclass(frozen=True)
class Trial:
    """What one instance showed."""

    matched: bool
    compared: int
    wrong: Wrong | None
    void: bool = False


@dataclass(frozen=True)
class Case:
    """An instance of a law, and the choices that led to it, which go on."""

    instance: Instance
    choices: Choices
    start: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", len(self.choices.made))


def share(law: Law, instances: int) -> int:
    """Instances for each rule of a law, so that together they have so many."""
    return -(-instances // len(rules_of(law)))


@dataclass(frozen=True)
class Setting:
    """How a law is tested: alone, or with a book, and by how many draws from each instance's graph."""

    law: Law
    book: Book | None
    draws: int


def check_law(
    law: Law | str, *, each: int = 10, draws: int = 6, seed: int = 0, shrink: int = 400, whole: Book | None = None
) -> Verdict:
    """Test a law (of the book by name, or a user's): `each` random instances of each of its rules.

    The law alone rewrites programs that contain its left side, many in one e-graph; `draws` random programs that it
    then holds equal to each are evaluated and compared with it.  A counter-example is made again on its instance alone
    and made simpler in at most `shrink` trials.  whole: a book that holds the law; then all its laws rewrite what the
    law has made.  RuleError if a rule has no instance.
    """
    law = book()[law] if isinstance(law, str) else law
    setting = Setting(law, whole, draws)
    fired: Counter[int] = Counter()
    made = compared = void = 0
    cases = _cases(law, each, seed)
    while together := list(islice(cases, FEW if whole else TOGETHER)):
        for case, trial in zip(together, _trials(setting, together), strict=True):
            fired[case.instance.rule] += trial.matched
            compared += trial.compared
            void += trial.void
            made += 1
            if trial.wrong:
                wrong = _simplified(setting, case, trial.wrong, shrink)
                return Verdict(law.name, made, dict(fired), compared, wrong, void)
    for number in range(len(rules_of(law))):
        if number not in fired:
            raise RuleError(f"law {law.name}: no instance of its rule {number} was found; are its types consistent?")
    return Verdict(law.name, made, dict(fired), compared, None, void)


def _cases(law: Law, each: int, seed: int) -> Iterator[Case]:
    """`each` instances of each rule, if there are so many.  More instances begin with the same ones."""
    for number, rule in enumerate(rules_of(law)):
        made = 0
        for attempt in range(TRIES * each):
            choices = Choices(Random(f"{law.name} {number} {attempt} {seed}"))
            instance = instance_of(rule, number, choices, f"_{number}_{attempt}")
            if instance is not None:
                yield Case(instance, choices)
                made += 1
            if made == each or (attempt >= HOPELESS and not made):
                break


def _trials(setting: Setting, cases: Sequence[Case]) -> Iterable[Trial]:
    """What instances show together; alone, where types clash."""
    try:
        found = rewritten(setting.law, [case.instance for case in cases], setting.book)
    except RuleError as error:
        if len(cases) > 1:
            return _apart(setting, cases, error)
        return [Trial(True, 0, _clash(setting, cases[0].instance.program, error))]
    return (_trial(setting, case, there) for case, there in zip(cases, found, strict=True))


def _apart(setting: Setting, cases: Sequence[Case], error: RuleError) -> list[Trial]:
    """The trials of instances one by one, where together they end in an error."""
    trials = [trial for case in cases for trial in _trials(setting, [case])]
    if not any(trial.wrong for trial in trials):
        trials[-1] = replace(trials[-1], wrong=_clash(setting, p.Tup(tuple(c.instance.program for c in cases)), error))
    return trials


def _clash(setting: Setting, program: Expr, error: RuleError) -> Wrong:
    """A counter-example whose saturation ends in an error.  Rules of a law are given to it without their ruleset."""
    known = setting.book is not None and setting.law.name in book().names
    rules = "" if known else re.sub(r"\s*:ruleset\s+[^\s)]+", "", setting.law.text).strip()
    return Wrong(program, program, str(error), rules=rules, alone=setting.book is None)


def _trial(setting: Setting, case: Case, found: Rewritten) -> Trial:
    """What one instance shows: half of the draws are compared on other inputs than the rest."""
    rng, compared, void = case.choices, 0, True
    for left in (setting.draws - setting.draws // 2, setting.draws // 2):
        rng.forget(case.start)
        here = meeting(case.instance.program, found, not setting.law.reassociating, rng) if left else None
        mark = len(rng.made)
        for _ in range(left if here else 0):
            rng.forget(mark)
            if here and (wrong := here.differs(drawn(found.graph, rng))):
                return Trial(found.matched, compared + len(here.met), wrong)
        compared += len(here.met) if here else 0
        void &= here is None
    return Trial(found.matched, compared, None, void)


def _simplified(setting: Setting, case: Case, wrong: Wrong, limit: int) -> Wrong:
    """A counter-example that fewer and smaller choices lead to, on simple inputs.  It is of its instance alone, if that
    shows any; else of instances together, as it was found."""

    def again(given: Sequence[int], source: Random | None = None) -> tuple[Sequence[int], Wrong] | None:
        rng = Choices(source, given)
        try:
            instance = instance_of(rules_of(setting.law)[case.instance.rule], case.instance.rule, rng)
            once = replace(setting, draws=AGAIN if source else 1)
            trials = [] if instance is None else list(_trials(once, [Case(instance, rng)]))
        except Spent:
            return None
        return next(((rng.made, trial.wrong) for trial in trials if trial.wrong), None)

    alone = again(case.choices.made[: case.start], Random(0))
    found = shrunk(*alone, again, limit) if alone else wrong
    return simplest(found, same(not setting.law.reassociating))


def drawn(graph: Graph, rng: Random, depth: int = 12) -> Expr:
    """A random program of the root's class; below `depth` choices the smallest."""

    def go(c: int, left: int) -> Expr:
        if left <= 0:
            return graph.term(c)
        node = rng.choice(graph.classes[c])
        return build(node, [go(k, left - 1) for k in node.children])

    return go(graph.root, rng.randint(1, depth))
