"""What earlier calls found: candidates to and from records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from egglift.candidate import Candidate, Part
from egglift.codegen.device.device import Device
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.measurement.bench import Subject
from egglift.costmodel.measurement.journal import Journal
from egglift.costmodel.records.cache_folder import cache_folder
from egglift.costmodel.records.records import Record, Records, record_key
from egglift.costmodel.records.signing import is_own, sealed
from egglift.egraph.schedules.account import Account
from egglift.egraph.schedules.steps import steps_from
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import liked
from egglift.ir.signature import inputs_of
from egglift.ir.text import dumps
from egglift.ir.types import leaves
from egglift.options import Options

PACKAGES = ("egglift", "egglift.ir", "egglift.egraph", "egglift.costmodel", "egglift.codegen")


@dataclass(frozen=True)
class Recalled:
    """The candidates of an earlier call.  own: that call was this user's; else anyone may have written them."""

    candidates: list[Candidate]
    own: bool


def recall(program: Expr, device: Device, options: Options) -> Recalled | None:
    """What an earlier call with the same program, device, options and version of egglift found."""
    folder = cache_folder()
    record = _records(folder).get(_key(program, device, options)) if folder else None
    if record is None or folder is None:
        return None
    read = cache(loads)  # candidates that differ in sizes alone have one form
    try:
        found = [candidate_from(data, device, read) for data in record.candidates]
        right = all(fits(c, program) for c in found)
    except (EggliftError, AttributeError, KeyError, TypeError, ValueError):
        return None  # of a version that wrote something else: find the result again
    return Recalled(found, is_own(record, folder)) if found and right else None


def fits(c: Candidate, program: Expr) -> bool:
    """Has the candidate the program's type and inputs, and numbers where numbers belong?

    Types are alike if they lie alike in memory: laws know pairs only, and have (a, (b, c)) for (a, b, c).
    """
    program = liked(program)
    taken = {name: leaves(t) for name, t in inputs_of(program).items()}
    numbers = [c.estimate] if c.measured is None else [c.estimate, c.measured]
    sizes = [*c.parameters.values(), *astuple(c.launch)]
    texts = (c.structure, c.bound, c.status, c.reason)
    return (
        leaves(type_of(c.term)) == leaves(type_of(program))
        and all(taken.get(name) == leaves(t) for name, t in inputs_of(c.term).items())
        and all(isinstance(n, float | int) and n >= 0 for n in numbers)
        and all(isinstance(n, int) for n in sizes)
        and all(isinstance(text, str) for text in texts)
    )


def remember(program: Expr, device: Device, options: Options, candidates: Sequence[Candidate]) -> None:
    """Keep `candidates`, which come best first, for later calls: all of them, and in their order."""
    best, folder = candidates[0], cache_folder()
    if folder is None:
        return
    record = Record(
        key=_key(program, device, options),
        program=dumps(program),
        device=device.name,
        driver=device.driver,
        term=dumps(best.term),
        parameters=best.parameters,
        estimate=best.estimate,
        measured=best.measured,
        candidates=tuple(map(candidate_data, candidates)),
        rules=rules(),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    _records(folder).put(sealed(record, folder))


def journal(subject: Subject, device: Device, budget: float | None, path: Path | None = None) -> Journal | None:
    """Where measurements for `subject` are kept: `path`, or a file in the cache folder; None: it is off.

    budget: the seconds for all of them, which may have cut them short.
    """
    path = path or measurements_path()
    return Journal(path, subject, device.name, device.driver, rules(), budget) if path else None


def measurements_path() -> Path | None:
    """The file of measurements in the cache folder; None: it is off."""
    folder = cache_folder()
    return folder / "measurements.jsonl" if folder else None


def _key(program: Expr, device: Device, options: Options) -> str:
    return record_key(dumps(program), rules(), device.name, device.driver, options.decisive)


def rules() -> str:
    """The versions of rule book and code: records of others are not used."""
    from egglift.egraph.rules.book import book

    return f"{book().version} {version()}"


@cache
def _records(folder: Path) -> Records:
    """The records kept in `folder`: read once, and then only what was added since."""
    return Records(folder / "records.jsonl")


def _sources(folder: Traversable) -> Iterator[Traversable]:
    """The Python files of a package and of the rooms in it, in a fixed order."""
    for entry in sorted(folder.iterdir(), key=lambda f: f.name):
        if entry.is_dir():
            yield from _sources(entry)
        elif entry.name.endswith(".py"):
            yield entry


@cache
def version() -> str:
    """A hash of egglift's own sources: a changed code generator must not meet old results."""
    digest = sha256()
    for package in PACKAGES:
        for file in _sources(files(package)):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def candidate_data(c: Candidate) -> dict[str, Any]:
    """A candidate as plain data, which `candidate_from` reads."""
    return {
        "structure": c.structure,
        "term": dumps(c.term),
        "parameters": dict(c.parameters),
        "estimate": c.estimate,
        "bound": c.bound,
        "measured": c.measured,
        "status": c.status,
        "reason": c.reason,
        "launch": asdict(c.launch),
        "form": _text(c.form),
        "account": None if c.account is None else asdict(c.account),
        "steps": None if c.steps is None else asdict(c.steps),
        "parts": [[q.structure, dumps(q.program), _text(q.form), dict(q.parameters)] for q in c.parts],
    }


def candidate_from(data: Mapping[str, Any], device: Device, read: Callable[[str], Expr] = loads) -> Candidate:
    """What `candidate_data` wrote, as a candidate for a device; an EggliftError, or Python's, where it wrote none."""
    launch = Launch(**data["launch"])
    parts = tuple(Part(s, read(program), _term(form, read), dict(sizes)) for s, program, form, sizes in data["parts"])
    return Candidate(
        data["structure"],
        loads(data["term"]),
        dict(data["parameters"]),
        launch,
        device.limits,
        data["estimate"],
        data["bound"],
        data["measured"],
        data["status"],
        data["reason"],
        _term(data["form"], read),
        None if data["account"] is None else Account(data["account"]["text"], tuple(data["account"]["laws"])),
        parts,
        None if data["steps"] is None else steps_from(data["steps"]),
    )


def _text(form: Expr | None) -> str | None:
    return None if form is None else dumps(form)


def _term(text: str | None, read: Callable[[str], Expr]) -> Expr | None:
    return None if text is None else read(text)
