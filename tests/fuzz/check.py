"""What must hold of every program: its text, its meaning, its kernels and all programs said to be equal to it."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from random import Random
from typing import Any

import numpy as np

from egglift.codegen.compile import compile_term
from egglift.codegen.device.device import Device
from egglift.codegen.kernel.imperative import Barrier, DeviceLimits, If, Launch, Loop, Plan, Statement
from egglift.costmodel.measurement.expected_results import NdArray, agree, flatten
from egglift.costmodel.profiles.profile import Profile, presets
from egglift.costmodel.search.sizes import Point, Search
from egglift.egraph.extraction.extract import Extractor
from egglift.egraph.extraction.weights import weights
from egglift.egraph.graph.graph import Graph
from egglift.egraph.rules.phases import Limits as Rows
from egglift.egraph.saturation.saturate import saturate
from egglift.egraph.soundness.check_laws import drawn
from egglift.ir.check import type_of
from egglift.ir.errors import EggliftError, ShapeError
from egglift.ir.interpret import evaluate
from egglift.ir.parser import loads
from egglift.ir.patterns import Constant, Expr, Input
from egglift.ir.text import dumps, pretty
from egglift.ir.traverse import instantiate, subterms
from egglift.ir.types import leaves
from tests.fuzz.data import random_inputs
from tests.fuzz.guarded import run_all

LAUNCHES = (Launch(16), Launch(1), Launch(32, 2), Launch(5, 3), Launch(7), Launch(64))
#: structures that are drawn for each profile, and sizes tried until one is legal
STRUCTURES, TRIES = 2, 4
MEMBERS = 6
SMALL = Rows(rows=2500, seconds=1.5)
#: the stage of kernels that are right unless the device's compiler optimises them
COMPILER = "compiler"
UNOPTIMISED = ("-cl-opt-disable",)
#: PoCL compiles what lies between two barriers once for each: beyond so many it takes minutes
BARRIERS = 24
SIZES = (1, 2, 3, 4, 5, 7, 8, 16)


@dataclass(frozen=True)
class Failure:
    """What went wrong: in which stage, how, and with what (terms, kernels)."""

    stage: str
    reason: str
    detail: str = ""


@dataclass
class Case:
    """A program on its inputs: what it computes by the interpreter, and what is counted while it is checked."""

    program: Expr
    style: str
    seed: int
    counts: Counter[str] = field(default_factory=Counter)

    @cached_property
    def rng(self) -> Random:
        return Random(self.seed)

    @cached_property
    def inputs(self) -> dict[str, Any]:
        return random_inputs(self.program, self.style, self.seed)

    @cached_property
    def narrow(self) -> list[NdArray]:
        """The result, leaf by leaf, in the program's own types."""
        return flatten(evaluate(self.program, self.inputs))

    @cached_property
    def wide(self) -> list[NdArray]:
        """The result with floats in float64."""
        return flatten(evaluate(self.program, self.inputs, wide=True))

    @cached_property
    def steady(self) -> bool:
        """Is the result known well enough to be compared?  Exactly, or for rounded functions to the last few digits."""
        scalars = [s for _, s in leaves(type_of(self.program))]
        if self.style == "smooth":
            return all(agree(w, n, s) is None for w, n, s in zip(self.wide, self.narrow, scalars))
        return all(np.array_equal(w, n, equal_nan=n.dtype.kind == "f") for w, n in zip(self.wide, self.narrow))

    def disagreement(self, actual: list[NdArray]) -> str | None:
        """Where a result is not the program's; a result that rounding changes is not compared."""
        scalars = [s for _, s in leaves(type_of(self.program))]
        for i, (wide, narrow, got, s) in enumerate(zip(self.wide, self.narrow, actual, scalars, strict=True)):
            problem = agree(wide, got, s)
            if problem and agree(narrow, got, s):
                if self.steady:
                    return f"result {i}: {problem}"
                self.counts["not compared: rounding decides"] += 1
        return None


def check(case: Case, device: Device | None) -> Failure | None:
    """The first thing that does not hold; None: everything does.  Without a device, kernels are left out."""
    stages = (text, meaning, equals, *(() if device is None else (partial(kernels, device=device),)))
    for stage in stages:
        name = getattr(stage, "__name__", "kernels")
        try:
            failure = stage(case)
        except Exception as error:
            return Failure(name, f"{type(error).__name__}: {error}", traceback.format_exc())
        if failure:
            return failure
    return None


def text(case: Case) -> Failure | None:
    """The printed program is read back as it was."""
    e = case.program
    if loads(dumps(e)) is not e:
        return Failure("text", "dumps does not round-trip", dumps(e))
    elided = any(isinstance(t, Constant) and len(t.data) > 64 for t in subterms(e))
    if not elided and loads(pretty(e)) is not e:
        return Failure("text", "pretty does not round-trip", pretty(e))
    return None


def meaning(case: Case) -> Failure | None:
    """The interpreter gives what the type says."""
    for got, (shape, s) in zip(case.narrow, leaves(type_of(case.program)), strict=True):
        if got.shape != shape or got.dtype != s.dtype:
            return Failure("meaning", f"{got.dtype} {got.shape} instead of {s.dtype} {shape}")
    case.counts["rounding decides"] += not case.steady
    return None


# ---------------------------------------------------------------------------------------- equal programs


def equals(case: Case) -> Failure | None:
    """Random programs of the saturated class mean the same."""
    graph = case_graph(case)
    for _ in range(MEMBERS):
        member = drawn(graph, case.rng, depth=case.rng.choice((6, 12, 30)))
        problem = _differs(case, member, graph)
        if problem:
            return Failure("equals", problem, dumps(member))
    return None


def case_graph(case: Case) -> Graph:
    """The e-graph of the program, saturated within small limits; RuleError if a body does not fit."""
    if "graph" not in case.__dict__:
        found = saturate(case.program, limits=SMALL, check=True)
        case.counts[f"saturation: {found.stopped}"] += 1
        case.__dict__["graph"] = found.graph
    graph: Graph = case.__dict__["graph"]
    return graph


def _instance(case: Case, member: Expr, sizes: dict[str, int]) -> Expr:
    """The member with these sizes; with all of them 1 where they are larger than what they cut."""
    found = instantiate(member, sizes)
    try:
        type_of(found)
    except ShapeError:
        case.counts["sizes that do not fit"] += 1
        return instantiate(member, dict.fromkeys(sizes, 1))
    return found


def _differs(case: Case, member: Expr, graph: Graph) -> str | None:
    sizes = {name: case.rng.choice((1, 2, 2, 3, 4, 5)) for name in graph.symbols}
    sizes |= {name: case.rng.choice((0, 1, 2)) for name in sizes if name.startswith("f")}  # how far ahead to fetch
    member = _instance(case, member, sizes)
    names = {t.name for t in subterms(member) if isinstance(t, Input)}
    value = flatten(evaluate(member, {k: v for k, v in case.inputs.items() if k in names}))
    shapes = [(leaf.shape, leaf.dtype) for leaf in value]
    if shapes != [(leaf.shape, leaf.dtype) for leaf in case.narrow]:
        return f"shapes {shapes} differ"
    case.counts["equal programs"] += 1
    return case.disagreement(value)


# ---------------------------------------------------------------------------------------- kernels


@dataclass(frozen=True)
class Candidate:
    """Kernels for a program.  stage: what is wrong if they are; how: what they are made from."""

    stage: str
    how: str
    plan: Plan


def kernels(case: Case, device: Device) -> Failure | None:
    """The program as it stands, and random candidates for a CPU and for a GPU, compute its meaning."""
    launch = case.rng.choice(LAUNCHES)
    found = [Candidate("naive", str(launch), compile_term(case.program, launch, device.limits))]
    for name in ("pocl_cpu", case.rng.choice(("generic_gpu", "nvidia_h200"))):
        limits = device.limits
        if name != "pocl_cpu" and device.kind == "cpu" and case.rng.random() < 0.5:
            limits = replace(limits, private_bytes=16 << 10, warp=32, compute_units=presets()[name].compute_units)
        found.extend(c for c in candidates(case, name, limits) if device.kind != "cpu" or _is_quick(case, c.plan))
    inputs = {name: flatten(value) for name, value in case.inputs.items()}
    for c, actual in zip(found, run_all(device, [c.plan for c in found], inputs), strict=True):
        case.counts[f"{c.stage} kernels"] += 1
        if problem := _problem(case, actual):
            again = run_all(device, [c.plan], inputs, UNOPTIMISED)[0]
            stage = c.stage if _problem(case, again) else COMPILER
            return Failure(stage, problem, f"{c.how}\n{c.plan.source}")
    return None


def _problem(case: Case, actual: list[NdArray] | EggliftError) -> str | None:
    return f"{type(actual).__name__}: {actual}" if isinstance(actual, EggliftError) else case.disagreement(actual)


def candidates(case: Case, name: str, limits: DeviceLimits) -> Iterator[Candidate]:
    """Candidates for the profile of that name."""
    for point in points(case, presets()[name], limits):
        how = f"{name}, {point.launch}, {dict(point.sizes)}\n{dumps(point.term)}"
        yield Candidate("candidate", how, point.plan)


def _is_quick(case: Case, plan: Plan) -> bool:
    """Does PoCL compile this in seconds?"""
    quick = all(_barriers(k.body) <= BARRIERS for k in plan.kernels)
    case.counts["not run: too many barriers in unrolled loops"] += not quick
    return quick


def _barriers(statements: Sequence[Statement]) -> int:
    """Barriers in the kernel's text once its loops are unrolled."""
    total = 0
    for s in statements:
        match s:
            case Barrier():
                total += 1
            case Loop(body=body, unroll=unroll, trips=trips):
                total += _barriers(body) * (trips if unroll else 1)
            case If(body=body, otherwise=otherwise):
                total += _barriers(body) + _barriers(otherwise)
    return total


def points(case: Case, profile: Profile, limits: DeviceLimits) -> Iterator[Point]:
    """Random sizes of random structures, not only of the best ones."""
    graph, rng = case_graph(case), case.rng
    found = Extractor(graph, weights(profile)).run()
    case.counts["structures"] += len(found)
    for structure in rng.sample(found, min(STRUCTURES, len(found))):
        search = Search(structure.term, graph.symbols, profile, limits)
        for _ in range(TRIES):
            wish: dict[str, int] = {}
            for symbol in search.order:
                wish[symbol] = rng.choice((*search.options(symbol, wish), *SIZES))
            launch = rng.choice((*search.launches(), *LAUNCHES))
            point = search.point(wish, launch)
            if isinstance(point, Point):
                yield point
                break
            case.counts["illegal points"] += 1
            case.counts[f"illegal: {point.split(':')[-1].strip()[:60]}"] += 1
