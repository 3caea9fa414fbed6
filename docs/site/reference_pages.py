"""The reference: an entry for every public name of egglift, from its docstring, sorted by what it is for.

mkdocstrings writes functions and classes; constants, which have no docstring of their own, and second names of the
same function are said in tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import egglift
from egglift.ir.reduction import Named
from egglift.ir.types import FACTS, Scalar


@dataclass(frozen=True)
class Topic:
    """A page of the reference: what is defined in these modules, in this order."""

    place: str
    title: str
    about: str
    modules: tuple[str, ...]


TOPICS = (
    Topic(
        "optimising",
        "Optimising and running",
        "From a program to a kernel, and what a kernel does. [Use kernels](../kernels.md) shows it.",
        ("optimize", "jit", "loading", "kernel", "length_kernel", "candidate", "session", "codegen.device.device"),
    ),
    Topic(
        "values",
        "Values and types",
        "What programs are made of, their text form, and their meaning without a device.",
        ("ir.value", "ir.lifting", "ir.type_names", "ir.text", "ir.parser", "ir.run_time_lengths"),
    ),
    Topic(
        "patterns",
        "Patterns",
        "The patterns of [the language](../language.md): their array comes last, what they need to know of it first.",
        ("ir.notation", "ir.reduction", "ir.scans", "ir.recurrences", "ir.counting", "ir.stencils"),
    ),
    Topic(
        "rearranging",
        "Making and rearranging",
        "Arrays out of nothing, and elements at other places. Nothing here computes, and nothing is copied.",
        ("ir.making", "ir.rearranging", "ir.reshaping", "ir.joining", "ir.windows", "ir.matrix_parts"),
    ),
    Topic(
        "elementwise",
        "Element by element",
        "Functions of numbers, and of arrays element by element. Shapes meet as in NumPy.",
        ("ir.functions", "ir.inverse_functions", "ir.composed", "ir.signs", "ir.nan_and_infinities", "ir.selecting"),
    ),
    Topic(
        "axes",
        "Along axes",
        "Statistics, signals, and linear algebra.",
        (
            *("ir.statistics", "ir.covariance", "ir.nan_statistics", "ir.along_axis", "ir.signals"),
            *("ir.linear_algebra", "ir.contractions"),
        ),
    ),
    Topic(
        "proofs",
        "Laws and proofs",
        "The rule book and e-graphs from Python. [Write an own law](../own-law.md) shows it.",
        ("research", "egraph.rules.limits"),
    ),
    Topic(
        "c", "C", "Loop nests in C as programs. [Write C, read C](../c.md) shows it.", ("frontend.programs", "offload")
    ),
    Topic(
        "devices",
        "Several devices",
        "Arrays that stay on devices. [Compute on several devices](../devices.md) shows it.",
        ("distribution.containers",),
    ),
    Topic("errors", "Errors", "All errors are an `EggliftError`.", ("ir.errors",)),
)
#: where constants are said
VALUES = "values"
NUMBERS = {
    "e": "Euler's number",
    "inf": "infinity",
    "nan": "not a number",
    "newaxis": "`None`: an axis of length 1, as an index",
}
NUMBERS |= {"pi": "half the angle of a whole turn"}


def reference_pages() -> dict[str, str]:
    """The pages of the reference, by place in the site."""
    return {
        "reference/index.md": "\n".join(_index()),
        **{f"reference/{t.place}.md": "\n".join(_page(t)) for t in TOPICS},
    }


@cache
def entries() -> dict[str, tuple[str, ...]]:
    """The names that have an entry of their own, by topic; RuntimeError for a name that no topic takes."""
    by_module = {f"egglift.{module}": topic.place for topic in TOPICS for module in topic.modules}
    found: dict[str, list[str]] = {topic.place: [] for topic in TOPICS}
    for name in sorted(set(egglift.__all__)):
        thing = getattr(egglift, name)
        if first_name(name) != name or not _has_docstring(thing):
            continue
        if thing.__module__ not in by_module:
            raise RuntimeError(f"egglift.{name} is of {thing.__module__}: name that module in a topic of {__file__}")
        found[by_module[thing.__module__]].append(name)
    order = [f"egglift.{module}" for topic in TOPICS for module in topic.modules]
    return {
        place: tuple(sorted(names, key=lambda n: (order.index(getattr(egglift, n).__module__), n)))
        for place, names in found.items()
    }


def constants() -> list[str]:
    """The public names of scalar types and numbers."""
    return [name for name in sorted(set(egglift.__all__)) if not _has_docstring(getattr(egglift, name))]


@cache
def first_name(name: str) -> str:
    """The name under which a thing is described: its own, if that is public, else the first of its names."""
    thing = getattr(egglift, name)
    own = getattr(thing, "__name__", getattr(thing, "name", name))
    same = [n for n in sorted(set(egglift.__all__)) if getattr(egglift, n) is thing]
    return own if own in same else same[0] if _has_docstring(thing) else name


def _has_docstring(thing: object) -> bool:
    return not (thing is None or isinstance(thing, float | Scalar))


# ---------------------------------------------------------------------------------------------- pages


def _index() -> Iterator[str]:
    names = sorted(set(egglift.__all__), key=str.lower)
    yield f"# Reference\n\nThe {len(names)} public names of `egglift`, which is imported `as el`."
    yield f"`el.sqrt(x)` is also a method where that reads better, `x.sqrt()`: see {_link('Value')}.\n"
    yield "| page | names |\n|---|---|"
    for topic in TOPICS:
        own = " ".join(map(_link, entries()[topic.place]))
        more = f" {' '.join(f'`{name}`' for name in constants())}" if topic.place == VALUES else ""
        yield f"| [{topic.title}]({topic.place}.md) | {own}{more} |"
    yield "\n## Second names\n\nOthers for the same functions, mostly NumPy's and the array API standard's.\n"
    yield from _table(("name", "is"), [(f"`{name}`", _link(first_name(name))) for name in second_names()])


def _link(name: str) -> str:
    """To where a name is described."""
    return f"[{name}](patterns.md#operators)" if _is_operator(name) else f"[{name}][{_path(name)}]"


def _path(name: str) -> str:
    """Where a thing is defined, which is what its entry is called."""
    thing = getattr(egglift, name)
    return f"{thing.__module__}.{thing.__qualname__}"


def second_names() -> list[str]:
    """Names of what is described under another one."""
    return [name for name in sorted(set(egglift.__all__), key=str.lower) if first_name(name) != name]


def _page(topic: Topic) -> Iterator[str]:
    yield f"# {topic.title}\n\n{topic.about}\n"
    if topic.place == VALUES:
        yield from _types()
    named = [name for name in entries()[topic.place] if _is_operator(name)]
    if named:
        yield from _operators(named)
    for name in entries()[topic.place]:
        if name not in named:
            yield f"::: {_path(name)}\n"


def _types() -> Iterator[str]:
    yield "## Scalar types and numbers\n"
    known = [(n, getattr(egglift, n)) for n in constants() if isinstance(getattr(egglift, n), Scalar)]
    types = sorted(known, key=lambda pair: list(FACTS).index(pair[1].name))
    rows = [(f"`{name}`", f"{8 * FACTS[t.name].size} bits", f"`{FACTS[t.name].numpy}`") for name, t in types]
    yield from _table(("type", "in memory", "NumPy's"), rows)
    yield from _table(("number", "is"), [(f"`{name}`", NUMBERS[name]) for name in constants() if name in NUMBERS])


def _is_operator(name: str) -> bool:
    return isinstance(getattr(egglift, name), Named)


def _operators(names: Sequence[str]) -> Iterator[str]:
    yield "## Operators\n\nOperators of `reduce` and `scan`; called, element-wise functions of two arguments.\n"
    yield " ".join(f"`{name}`" for name in names) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |\n|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
