"""What a kernel's page shows: its program, why it is as it is, and what else there was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol
from xml.etree.ElementTree import Element

from egglift.candidate import Candidate
from egglift.codegen.device.device import Device
from egglift.codegen.kernel.imperative import FragmentProduct
from egglift.codegen.kernel.walk import walk
from egglift.costmodel.model.estimate import Estimate, estimate
from egglift.costmodel.profiles.profile import Profile, load_profile
from egglift.costmodel.search.around import SizeMap, around
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.schedules.account import Account
from egglift.ir.errors import EggliftError
from egglift.ir.markup import html, tag
from egglift.ir.patterns import Expr
from egglift.ir.picture import picture
from egglift.ir.plain_numbers import duration, plain
from egglift.ir.shown import drawn, shortened
from egglift.ir.text import brief, pretty
from egglift.ir.traverse import subterms
from egglift.ir.types import F32
from egglift.options import Options
from egglift.pages import candidates as candidates_part
from egglift.pages.candidates import Row
from egglift.pages.machine import Launch, Level, hierarchy, roofline
from egglift.pages.page import Section, folded, note, page, scrolled
from egglift.pages.size_map import heat_map
from egglift.pages.source_lines import listing
from egglift.report import USUAL
from egglift.steps import Steps, time_steps

if TYPE_CHECKING:
    from egglift.egraph.saturation.saturate import Saturated

NO_SIZES = (
    "No tile sizes of it are known: it is the program as it stands, was made by hand, or is of a kind that keeps none."
)
LONG = 400  # lines of a text, of which no more are shown


class Explained(Protocol):
    """How a candidate follows from its program."""

    @property
    def laws(self) -> tuple[str, ...]: ...
    def markup(self) -> Element: ...


@dataclass(frozen=True)
class KernelPage:
    """A kernel's page in the making."""

    program: Expr
    chosen: Candidate
    candidates: Sequence[Candidate]
    device: Device
    options: Options
    explanation: Explained

    def text(self) -> str:
        """The file."""
        c = self.chosen
        figures = [
            ("measured", duration(c.measured) if c.measured else "not measured"),
            ("estimate", duration(c.estimate)),
            ("kernels", str(len(c.plan.kernels))),
            ("candidates", str(len(self.candidates))),
            ("structure", c.structure),
        ]
        sections = (self._program, self._derivation, self._candidates, self._sizes, self._machine, self._source)
        parts = [*(part() for part in sections), self._egraph()]
        return page(brief(self.program, 90), f"on {self.device.name}: {c.bound}", figures, parts)

    # ------------------------------------------------------------------------------------ the program

    def _program(self) -> Section:
        says = (
            "Arrays flow from top to bottom; the body of a pattern is drawn within it, and gets its argument as `arg`."
        )
        low = self.chosen.term
        parts = (_both(self.program), folded("the low-level program", _both(low)))
        return Section("program", "Program", says, parts)

    def _derivation(self) -> Section:
        none = note("It is the source program as it stands: no law was needed.")
        if isinstance(self.explanation, Account):
            says = "The program in index notation, by stages, and the loops of each: what was chosen for them is green."
            return Section("derivation", "Derivation", says, (self.explanation.markup(),))
        says = "How the low-level program follows, law by law: what a law took away is red, what it put there green."
        each = f" Each of {steps.count} steps, from one state to the next." if (steps := self._steps) else ""
        shows = self.explanation.markup() if self.explanation.laws else none
        return Section("derivation", "Derivation", says + each, (shows,))

    # ------------------------------------------------------------------------------------ the search

    def _candidates(self) -> Section:
        rows = [_row(c, c is self.chosen) for c in self.candidates]
        timed = sum(1 for c in self.candidates if c.measured)
        says = f"{_count(len(rows), 'low-level program')} that compute the same; {timed} of them measured."
        notes = list[Element]()
        if len(rows) == 1:
            alone = "This kernel knows no other candidates: it was loaded from a file, made by hand, or none was found."
            notes.append(note(alone))
        if not timed:
            notes.append(note("Nothing was measured: the chart has the model's estimates alone."))
        else:
            notes.append(tag("p", "Below the dashed line a candidate was faster than the model said, above it slower."))
        chart = candidates_part.chart(rows)
        parts = (*notes, None if chart is None else scrolled(chart), candidates_part.table(rows))
        return Section("candidates", "Candidates", says, parts)

    def _sizes(self) -> Section:
        says = "The model's estimates over the two tile sizes that matter most, all other sizes as they were chosen."
        found = self._size_map()
        if isinstance(found, str):
            return Section("sizes", "Sizes", says, (note(found),))
        sign, sizes = found
        times = ", ".join(f"{name} {plain(x)}" for name, x in sorted(sizes.influence.items(), key=lambda i: -i[1]))
        which = "Of the stage that takes longest, " if sign != self.chosen.structure else "Of "
        which = "Of one step of the iteration, " if self._steps else which
        what = tag("p", which, tag("code", sign), f". Worst option over best, one size at a time: {times}.")
        late = None if sizes.complete else note("Not all assignments were priced in time: cells may be missing.")
        return Section("sizes", "Sizes", says, (what, scrolled(heat_map(sizes)), late))

    def _size_map(self) -> tuple[str, SizeMap] | str:
        """The map of the chosen structure, of the stage that takes longest where there are several; or why not."""
        try:
            found = [(sign, s, sizes) for sign, s, sizes in self._structures() if s.order]
        except EggliftError as error:
            return f"The chosen structure is not made again: {error}."
        if not found:
            return NO_SIZES
        launch = self.chosen.launch
        prices = [s.point(sizes, launch) for _, s, sizes in found]
        costs = [p.estimate.seconds if isinstance(p, Point) else 0.0 for p in prices]
        sign, search, sizes = found[costs.index(max(costs))]
        sizes_map = around(search, sizes, launch)
        if sizes_map is None or not sizes_map.seconds:
            return "No assignment of sizes could be priced."
        return sign, sizes_map

    def _structures(self) -> list[tuple[str, Search, dict[str, int]]]:
        """The chosen candidate's structures with their sizes: of each of its stages, or of the laws on patterns."""
        from egglift.egraph.schedules.again import structures_again

        c, limits = self.chosen, self.device.limits
        if c.steps is not None:
            made = structures_again(self.program, c.steps, self.device.kind, self.options.laws.reassociate)
            return [(x.sign, Search(x.term, x.tiles, self.profile, limits), sizes) for x, sizes in made]
        if c.form is None:
            return []
        form = self._steps.of(c.form) if self._steps else c.form
        symbols = self._saturated.graph.symbols
        return [(c.structure, Search(form, symbols, self.profile, limits), c.parameters)]

    # ------------------------------------------------------------------------------------ the device

    def _machine(self) -> Section:
        p, model = self.profile, self._model
        says = f"What the model counts for one call, against the rates of {p.name} ({p.compute_units} compute units)."
        once = {k.name: k for k in model.kernels}
        alone = self.chosen.measured if len(model.kernels) == 1 else None
        launches = [Launch(k.name, k.flops, k.bytes, alone or k.seconds, alone is not None) for k in once.values()]
        roofs = [("memory", p.bandwidth), ("last cache", p.cache_bandwidth)]
        chart = roofline(launches, roofs, self._peaks())
        none = note("No roofline: no kernel both computes (adds, multiplies, divides) and moves bytes of memory.")
        terms = folded("the terms of the model, kernel by kernel", *(_terms(model)))
        return Section(
            "machine",
            "Memory and roofline",
            says,
            (hierarchy(self._levels()), none if chart is None else scrolled(chart), terms),
        )

    def _levels(self) -> list[Level]:
        p, kernels = self.profile, self._model.kernels
        gpu = p.kind == "gpu"
        moved, terms = [k.moved for k in kernels], [k.terms for k in kernels]
        dram, memory = sum(m.dram for m in moved), sum(t["memory"] for t in terms)
        served = (
            ": from the last cache, where all of it stays between calls" if dram > 1.05 * p.bandwidth * memory else ""
        )
        near = Level("caches of units", sum(m.near for m in moved), p.local_bandwidth, None, "what lanes ask for")
        shared = sum(k.local for k in kernels), p.local_bandwidth, sum(t["local"] for t in terms)
        local = Level("local memory", *shared, "what groups share")
        cached = sum(m.cached for m in moved), p.cache_bandwidth, sum(t["cache"] for t in terms)
        cache = Level("last cache", *cached, "the cache of all units" if gpu else "cache lines of all cores")
        last = Level("memory", dram, p.bandwidth, memory, f"global memory, read and written{served}")
        return [*([near] if gpu else []), *([local] if gpu or shared[0] else []), cache, last]

    def _peaks(self) -> list[tuple[str, float]]:
        """Operations per second of multiplications that are added to: of the result's type, as measured or by
        instructions; of matrix units, where they are used."""
        p, outputs = self.profile, self.chosen.plan.outputs
        scalar = (outputs[0].scalar if outputs else F32).computed
        lanes = max(1, p.simd_bytes // scalar.size) if p.kind == "cpu" else 1
        by_instructions = lanes * p.issue_rate / p.type_costs.get(scalar.name, 1.0)
        rate = p.rates.get(scalar.name, {}).get("fma", by_instructions)
        peaks = [(f"{scalar.name}, multiply and add", 2 * rate)]
        statements = (s for k in self.chosen.plan.kernels for s in walk(k.body))
        units = dict.fromkeys(s.unit.name for s in statements if isinstance(s, FragmentProduct))
        return peaks + [(f"{n} units", 2 * p.issue_rate / p.matrix_costs[n]) for n in units if n in p.matrix_costs]

    def _source(self) -> Section:
        says = (
            "Each line with the pattern that the code generator was translating, as its comments say, and the laws of "
            "the derivation that put this pattern there."
        )
        source = self.chosen.plan.source
        if not source.strip():
            return Section("opencl", "OpenCL", says, (note("No kernel runs: the results have no elements."),))
        return Section("opencl", "OpenCL", says, (listing(source, self._laws_of()),))

    def _laws_of(self) -> Callable[[str], Sequence[str]]:
        if isinstance(self.explanation, Account):
            laws = self.explanation.laws
            loops = ("map", "reduceSeq")
            return lambda pattern: [n for n in laws if pattern.startswith("to" if n == "keep" else loops)]
        from egglift.egraph.rules.book import book

        known = book().extended(self.options.laws.rules)
        made = {name: _made(known[name].equation) for name in self.explanation.laws}
        return lambda pattern: [n for n, heads in made.items() if heads & _spellings(pattern.split(" ")[0])]

    # ------------------------------------------------------------------------------------ the e-graph

    def _egraph(self) -> Section:
        from egglift.egraph.extraction.class_prices import class_prices
        from egglift.egraph.extraction.extract import Extractor
        from egglift.egraph.extraction.weights import weights
        from egglift.pages.class_browser import browser

        whole = self._saturated
        extractor = Extractor(whole.graph, weights(self.profile), seconds=10.0)
        late = None
        try:
            extractor.run()
        except TimeoutError:
            late = note("Extraction was not done in time: some prices are missing.")
        says = (
            f"All programs that the laws on patterns show equal to this one: {whole.rows} rows, {whole.graph.size} "
            f"nodes in {len(whole.graph.classes)} classes, found in {duration(whole.seconds)} for this page; "
            f"it ended at: {whole.stopped}. Prices are in scalar operations of one work-item while the device is full."
        )
        made = "The chosen kernel is made by schedules of stages, which search loops and not these classes."
        by = note(made) if isinstance(self.explanation, Account) else None
        each = note("The classes are those of one step of the iteration.") if self._steps else None
        shows = (by, each, late, _phases(whole), browser(whole.graph, class_prices(extractor)))
        return Section("egraph", "E-graph", says, shows)

    # ------------------------------------------------------------------------------------ what is found once

    @cached_property
    def profile(self) -> Profile:
        """The device's rates."""
        return load_profile(self.device)

    @cached_property
    def _model(self) -> Estimate:
        return estimate(self.chosen.plan, self.profile)

    @cached_property
    def _steps(self) -> Steps | None:
        """The steps of an iteration, where the laws were searched for one step."""
        return time_steps(self.program) if self.chosen.form is not None else None

    @cached_property
    def _saturated(self) -> Saturated:
        from egglift.egraph.saturation.saturate import saturate

        laws = self.options.laws
        program = self._steps.program if self._steps else self.program
        return saturate(program, limits=laws.limits, **laws.of_book)


def in_notebook(title: str, bound: str, measured: float | None, program: Expr, source: str) -> str:
    """A kernel in a few lines, with its OpenCL folded."""
    time = f"{duration(measured)} measured; the model: {bound}" if measured else f"by the model: {bound}"
    lines = folded("OpenCL", tag("pre", shortened(source)))
    return html(tag("div", tag("code", title), tag("p", time), folded("program", *drawn(program)), lines))


# ---------------------------------------------------------------------------------------- parts


def _row(c: Candidate, chosen: bool) -> Row:
    sizes = " ".join(f"{name}={n}" for name, n in c.parameters.items())
    note = sizes if c.status in USUAL else c.reason
    state = {"ok": "measured", "model": "by the model"}.get(c.status, c.status)
    return Row(c.structure, c.estimate, c.measured, state, note, chosen)


def _drawn(program: Expr) -> Element:
    svg = picture(program)
    count = sum(1 for _ in subterms(program))
    return note(f"The program has {count} patterns, too many to be drawn.") if svg is None else scrolled(svg)


def _both(program: Expr) -> Element:
    """A program as a picture and, beside it where there is room, as a text."""
    return tag("div", _drawn(program), scrolled(tag("pre", shortened(pretty(program, 80), LONG))), class_="beside")


def _terms(model: Estimate) -> list[Element]:
    once = {k.name: k for k in model.kernels}
    names = list(dict.fromkeys(n for k in once.values() for n in k.terms))
    head = tag("tr", *(tag("th", text, scope="col") for text in ("kernel", "in all", *names)))
    rows = [
        tag("tr", tag("td", k.name), *(tag("td", duration(s), class_="number") for s in (k.seconds, *k.terms.values())))
        for k in once.values()
    ]
    how = "Most of them overlap: the longest counts, and a part of the others."
    return [tag("p", how), scrolled(tag("table", tag("thead", head), tag("tbody", *rows)))]


def _phases(whole: Saturated) -> Element:
    head = tag("tr", *(tag("th", text, scope="col") for text in ("phase", "iterations", "rows", "seconds", "until")))
    rows = [
        tag("tr", *(tag("td", str(x)) for x in (p.name, p.iterations, p.rows, f"{p.seconds:.3f}", p.why)))
        for p in whole.phases
    ]
    laws = sorted(whole.laws, key=lambda r: -r.matches)
    text = ", ".join(f"{r.name} {r.matches}" for r in laws)
    return tag(
        "div",
        scrolled(tag("table", tag("thead", head), tag("tbody", *rows))),
        folded("laws that matched", tag("p", text)),
    )


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n > 1 else ''}"


def _made(equation: str) -> set[str]:
    """The patterns that a law makes: words of the right side of its equation that the left side does not have."""
    left, _, right = equation.partition(" = ")
    return _words(right) - _words(left)


def _words(text: str) -> set[str]:
    return {"".join(c for c in word if c.isalnum()) for word in text.split()}


def _spellings(head: str) -> set[str]:
    """How laws spell what a comment calls by this word."""
    return {head, "fold"} if head == "reduceSeq" else {head}
