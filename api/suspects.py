"""Which of a user's laws are to blame where candidates computed something else than the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from egglift.candidate import Candidate
from egglift.ir.deadline import TooLate
from egglift.ir.errors import EggliftError
from egglift.options import Laws

#: random instances of each rule of a law
INSTANCES = 20


def suspicion(candidates: Sequence[Candidate], laws: Laws) -> str | None:
    """What to tell a user whose laws led to wrong candidates; None where there are no such laws, or candidates.

    Each law is tested on instances of its own text, alone: what is wrong with it is shown.  Where none is caught, all
    are suspected, and how a candidate was wrong is said.
    """
    wrong = [c for c in candidates if c.status == "wrong"]
    if not laws.rules or not wrong:
        return None
    several = f"{len(wrong)} candidates" if len(wrong) > 1 else "a candidate"
    caught = list(_caught(laws.rules))
    if not caught:
        return (
            f"{several} computed something else than the program, and the laws in `rules` are suspected: "
            f"{wrong[0].reason}; `egglift check-rules FILE.egg --with-book` tests laws at length"
        )
    names = ", ".join(name for name, _ in caught)
    what = f"law {names} in `rules` does" if len(caught) == 1 else f"laws {names} in `rules` do"
    shown = "\n".join(f"This shows what is wrong with {name}:\n{text}" for name, text in caught)
    return (
        f"{what} not hold, and {several} computed something else than the program: leave it out, or mend it.\n{shown}"
    )


def _caught(rules: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and counter-examples of the laws that do not hold on random instances."""
    from egglift.egraph.rules.book import parse  # loads egglog, which a process that is forked later cannot use
    from egglift.egraph.soundness.check_laws import check_law

    for law in (law for text in rules for law in parse(text, "user")):
        with suppress(EggliftError, TooLate):
            if found := check_law(law, each=INSTANCES).wrong:
                yield law.name, str(found)
