"""Calibration of arithmetic: the rates of operations by type, and how many work-groups reach them."""

from __future__ import annotations

import math

import numpy as np

from egglift.codegen.device.execute import Executable
from egglift.codegen.opencl.natives import natives
from egglift.costmodel.calibration import arithmetic_probes
from egglift.costmodel.calibration.memory_rates import Changes, group_counts
from egglift.costmodel.calibration.probe_timer import Rig
from egglift.costmodel.profiles.profile import preset_of

#: operations per second on components, by type and operation
Rates = dict[str, dict[str, float]]
COMMON = ("add", "mul", "fma", "div", "mod", "convert")
FUNCTIONS = ("sqrt", "exp")
RARER = ("log", "sin", "pow", "minimum", "exp2_or_zero")  # of f32 alone
LONG = 3e-4  # seconds that can be timed well
#: operations on f32 that are about as costly as another one, which is measured
LIKE = {
    "rsqrt": "sqrt",
    "exp2": "exp",
    "log2": "log",
    "cos": "sin",
    "tan": "sin",
    "tanh": "exp",
    "erf": "exp",
    "atan2": "pow",
    "maximum": "minimum",
}


def arithmetic(rig: Rig) -> Changes:
    """The rates of all operations, and what the model makes of them: costs in multiply-adds, and their latency."""
    limits = rig.device.limits
    kinds = ["f32", "i32", "i64", *(["f64"] if limits.float64 else [])]  # f16 and bf16 are computed in f32
    measured = {t: {op: _rate(rig, t, op) for op in _operations(t)} for t in kinds}
    unit = measured["f32"]["fma"] or 0.0  # without it there is nothing to compare the others with
    # an addition may be half of a multiply-add
    most = {"f32": 3 * unit, "i32": 3 * unit, "f64": 2 * unit, "i64": 2 * unit}
    rates = {t: {op: r for op, r in of.items() if r is not None and r < most[t]} for t, of in measured.items()}
    unmeasured = {t: missing for t, of in measured.items() if (missing := [op for op in of if op not in rates[t]])}
    if not unit:
        return {"rates": None, "issue_rate": None, "unmeasured": unmeasured}
    before, preset = rig.profile.rates, preset_of(rig.device).rates
    kept = {t: preset.get(t, {}) | before.get(t, {}) for t in kinds}
    return {
        "rates": {t: {op: r for op in of if (r := rates[t].get(op, kept[t].get(op)))} for t, of in measured.items()},
        "unmeasured": unmeasured,
        **_derived(rig, rates),
    }


def _operations(type: str) -> tuple[str, ...]:
    """The operations on a type that are measured."""
    return (*COMMON, *(FUNCTIONS if type[0] == "f" else ()), *(RARER if type == "f32" else ()))


def _derived(rig: Rig, rates: Rates) -> Changes:
    """What the model reads, by the rates that were measured."""
    p = rig.profile
    simd = p.simd_bytes if rig.gpu else rig.device.info.vector_bytes or p.simd_bytes
    unit = rates["f32"]["fma"]
    measured = {op: unit / rates["f32"][op] for op in ("div", *FUNCTIONS, *RARER) if op in rates["f32"]}
    if "div" in rates["i32"]:
        measured |= {"floordiv": unit / rates["i32"]["div"], "mod": unit / rates["i32"]["div"]}
    costs = measured | {op: measured[known] for op, known in LIKE.items() if known in measured}
    # a CPU's vectors hold fewer of the wide types; that is in their number, not in their cost
    width = {t: 1.0 if rig.gpu else int(t[1:]) / 32 for t in rates}
    types = {t: unit / of["fma"] / width[t] for t, of in rates.items() if "fma" in of and t != "f32"}
    types |= {"u" + t[1:]: c for t, c in types.items() if t[0] == "i"}
    types = p.type_costs | types
    steps = 1 << 16
    return {
        "simd_bytes": simd,
        "issue_rate": unit / (1 if rig.gpu else simd // 4),
        "op_costs": p.op_costs | {op: round(max(1.0, c), 2) for op, c in costs.items()},
        "type_costs": {t: round(c, 2) for t, c in types.items() if c > 1.1},
        "op_latency": rig.seconds(arithmetic_probes.dependent(steps)) / steps,
    }


def _rate(rig: Rig, type: str, op: str) -> float | None:
    """Operations per second on components, all of the device busy; None: they take no time, however many."""
    groups = rig.units * (8 if rig.gpu else 4)
    limits = rig.device.limits
    plan, operations = arithmetic_probes.chain(type, op, rig.gpu, groups, natives(limits))
    executable = rig.build(plan)
    steps = _enough(rig, executable)
    if steps is None:
        return None
    return operations * steps / rig.seconds(executable, 0.04, numbers=[steps, 3])


def _enough(rig: Rig, executable: Executable) -> int | None:
    """As many steps as take long enough to time, without a guess of the device's speed; None: no number does."""
    steps = 32
    while steps <= 1 << 24:
        given = {"numbers": [np.array([steps, 3], np.int32)]}
        seconds = min(executable.time(given, warmup=1, least=2, most=2).samples) - rig.profile.launch
        if seconds > LONG:
            return steps
        steps *= 1 << max(1, round(math.log2(1e-3 / max(seconds, 1e-6))))
    return None


def parallelism(rig: Rig) -> Changes:
    """The part of the rate of multiply-adds that a number of work-groups reaches."""
    rates: dict[int, float] = {}
    steps: int | None = None
    for groups in group_counts(rig):
        plan, operations = arithmetic_probes.chain("f32", "fma", rig.gpu, groups, natives(rig.device.limits))
        executable = rig.build(plan)
        steps = steps or _enough(rig, executable)
        if steps is None:
            return {"rate_share": None}
        rates[groups] = operations * steps / rig.seconds(executable, 0.04, numbers=[steps, 3])
    best = max(rates.values())
    return {"rate_share": {str(g): r / best for g, r in rates.items()}}
