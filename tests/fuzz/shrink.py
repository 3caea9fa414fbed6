"""Makes a failing program smaller while it fails in the same stage: what is left says what kind of fault it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError
from egglift.ir.parser import loads
from egglift.ir.patterns import Arg, Constant, Expr, Input, Literal, Operator
from egglift.ir.text import dumps, pretty
from egglift.ir.traverse import children, is_closed, rebuild, subterms
from egglift.ir.types import BOOL, Array, Scalar, Tuple, Type
from tests.fuzz.workers import Outcome, Task, Worker

#: seeds for the random choices of a check: a fault may need luck to show
SEEDS = 3


def shrink(program: Expr, fails: Callable[[Expr], bool]) -> Expr:
    """The smallest program found that fails, as `program` does."""
    smaller = True
    while smaller:
        smaller = False
        for other in simpler(program):
            if fails(other):
                program, smaller = other, True
                break
    return program


def simpler(e: Expr) -> Iterator[Expr]:
    """Programs with less in them, the much smaller ones first."""
    seen, size = {e}, weight(e)
    for other in sorted(_all(e), key=weight):
        if other not in seen and weight(other) < size:
            seen.add(other)
            yield other


def weight(e: Expr) -> tuple[int, int]:
    """Nodes, and characters of the text: lengths count a little."""
    return sum(1 for _ in subterms(e)), len(dumps(e)) + sum(map(_numbers, subterms(e)))


def _numbers(t: Expr) -> int:
    return sum(n for f in fields(t) for n in _sizes_in(getattr(t, f.name)))  # type: ignore[arg-type]


def _all(e: Expr) -> Iterator[Expr]:
    for t in subterms(e):
        yield from _typed(_inputs_for_args(t))
    for t in subterms(e):
        for new in _instead(t):
            yield from _typed(lambda t=t, new=new: _with(e, t, new))  # type: ignore[misc]
    for n in sorted({n for t in subterms(e) for f in fields(t) for n in _sizes_in(getattr(t, f.name))}):  # type: ignore[arg-type]
        for m in (0, 1, 2, 3, n // 2, n - 1):
            if 0 <= m < n:
                yield from _typed(lambda n=n, m=m: _resized(e, n, m))  # type: ignore[misc]


def _typed(make: Callable[[], Expr]) -> Iterator[Expr]:
    """The program that is made, if it is one."""
    try:
        found = make()
        type_of(found)
        names: dict[str, Type] = {}
        once = all(names.setdefault(t.name, t.type) == t.type for t in subterms(found) if isinstance(t, Input))
    except (EggliftError, ValueError, AttributeError):
        return
    if once and is_closed(found):
        yield found


def _inputs_for_args(t: Expr) -> Callable[[], Expr]:
    """A part as a program of its own."""
    memo: dict[Expr, Expr] = {}

    def go(x: Expr) -> Expr:
        if isinstance(x, Arg):
            return Input("arg", x.type)
        if x not in memo:
            memo[x] = rebuild(x, go)
        return memo[x]

    return lambda: go(t)


def _instead(t: Expr) -> Iterator[Expr]:
    """What may stand for a part: parts of it of its type, an input, a number."""
    wanted, seen, stack = type_of(t), set(), [t]
    while stack:
        x = stack.pop()
        if x in seen:
            continue
        seen.add(x)
        stack.extend(children(x))
        if x is not t and type_of(x) == wanted:
            yield x
    if not isinstance(t, Input | Arg | Literal):
        name = "in_" + "".join(c if c.isalnum() else "_" for c in str(wanted))
        yield Input(name, wanted)
        if isinstance(wanted, Scalar):
            yield Literal(True if wanted == BOOL else 1.0 if wanted.is_float else 1, wanted)


def _with(e: Expr, old: Expr, new: Expr) -> Expr:
    memo = {old: new}

    def go(x: Expr) -> Expr:
        if x not in memo:
            memo[x] = rebuild(x, go, go)
        return memo[x]

    return go(e)


# ---------------------------------------------------------------------------------------- lengths


def _sizes_in(value: Any) -> Iterator[int]:
    match value:
        case bool():
            return
        case int():
            yield value
        case Array(n, t):
            yield from (*_sizes_in(n), *_sizes_in(t))
        case Tuple(items):
            for item in items:
                yield from _sizes_in(item)


def _resized(e: Expr, n: int, m: int) -> Expr:
    """Every length n made m."""
    memo: dict[Expr, Expr] = {}

    def length(value: Any) -> Any:
        match value:
            case Array(k, t):
                return Array(m if k == n else k, length(t))
            case Tuple(items):
                return Tuple(tuple(map(length, items)))
            case Operator():
                return replace(value, body=go(value.body), neutral=value.neutral and go(value.neutral))
        return m if type(value) is int and value == n else value

    def go(x: Expr) -> Expr:
        if x not in memo:
            new = rebuild(x, go, go)
            kept = isinstance(x, Literal | Constant)
            changed = {} if kept else {f.name: length(getattr(new, f.name)) for f in fields(new)}  # type: ignore[arg-type]
            memo[x] = replace(new, **changed) if changed else new
        return memo[x]

    return go(e)


# ---------------------------------------------------------------------------------------- files


def shrink_file(file: Path, worker: Worker) -> int:
    """Shrinks the program of a failure's report, prints it and writes it beside the report; 1: it does not fail."""
    first, text, *_ = file.read_text().splitlines()
    seed, style = first.split()
    seen: set[Expr] = set()

    def outcome(program: Expr, stage: str = "") -> Outcome | None:
        for k in range(SEEDS):
            found = worker.check(Task(int(seed) + k, dumps(program), style))
            if found.stage and stage in ("", found.stage):
                return found
        return None

    last = outcome(loads(text))
    if last is None:
        print("it does not fail")
        return 1

    def fails(program: Expr) -> bool:
        nonlocal last
        if program in seen:
            return False
        seen.add(program)
        if (found := outcome(program, last.stage)) is None:
            return False
        last = found
        print(f"{weight(program)} {dumps(program)[:150]}", flush=True)
        return True

    smallest = shrink(loads(text), fails)
    worker.stop()
    parts = (f"{last.seed} {style}\n{dumps(smallest)}", pretty(smallest), f"{last.stage}: {last.reason}", last.detail)
    told = "\n\n".join(parts) + "\n"
    file.with_suffix(".small.txt").write_text(told)
    print(told)
    return 0
