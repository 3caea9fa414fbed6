"""`egglift check-rules --coverage`: which laws fire when programs are explored, and which on none of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from egglift.egraph.rules.book import Book, Law
from egglift.egraph.saturation.saturate import saturate
from egglift.ir.patterns import Expr


def coverage(programs: Mapping[str, Expr], whole: Book, laws: Sequence[Law]) -> dict[str, dict[str, int]]:
    """Law -> program -> matches, where there are any, of some laws when a program is explored by the whole book."""
    mine = [law for law in whole.laws if law.group == "user"]
    fired: dict[str, dict[str, int]] = {law.name: {} for law in laws}
    for name, program in programs.items():
        for report in saturate(program, rules=mine).laws:
            if report.name in fired:
                fired[report.name][name] = report.matches
    return fired


def line(law: str, on: Mapping[str, int]) -> str:
    """On how many programs a law fires, and how often on all of them."""
    return f"{law:24} {len(on):4} programs {sum(on.values()):8} matches"


def shown(fired: Mapping[str, Mapping[str, int]], programs: int, as_json: bool) -> str:
    """The table as text: a line a law, and those that fire on none."""
    if as_json:
        return json.dumps(fired, indent=2)
    lines = [line(law, on) for law, on in fired.items()]
    never = [law for law, on in fired.items() if not on]
    lines.append(f"{len(fired) - len(never)} of {len(fired)} laws fire on the {programs} programs")
    return "\n".join([*lines, f"on none: {', '.join(never)}"] if never else lines)
