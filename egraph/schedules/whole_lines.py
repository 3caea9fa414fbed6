"""Steps of a product that are padded with zeros to whole lines of 128 bytes, as warp groups read them.

sum_2 Q[0,2] * K[1,2], 80 steps of f16   ->   sum_2 Q'[0,2] * K'[1,2], 128 steps, Q' = padUp 64 0 Q along 2, K' alike
"""

from __future__ import annotations

from dataclasses import replace

from egglift.codegen.kernel.views import LINE
from egglift.egraph.stages.matrix_products import factors_of
from egglift.egraph.stages.stage import Read, Reduction, Stage, number, substituted
from egglift.egraph.stages.sums import is_sum
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.patterns import Expr
from egglift.ir.types import Scalar


def in_whole_lines(stage: Stage) -> Stage:
    """A stage whose products of elements, as they are read, have whole lines of steps; others as they are."""
    new: dict[Expr, Expr] = {}
    for x, r in stage.names.of(stage.body):
        if isinstance(r, Reduction) and is_sum(r) and len(r.dims) == 1 and (line := _line(stage, r)):
            new[x] = _padded(stage, r, line)
    return replace(stage, body=substituted(stage.body, new)) if new else stage


def _line(stage: Stage, r: Reduction) -> int:
    """Steps of a line; 0 where there are whole ones already, or factors are computed: of zeros they may be infinite."""
    (d,), factors = r.dims, [f.x if isinstance(f, p.Cast) else f for f in factors_of(r.element)]
    reads = [f for f in factors if isinstance(f, p.Input) and f.name in stage.names.reads]
    if len(reads) < len(factors) or not isinstance(d.extent, int):
        return 0
    (size, *others) = {t.size for f in reads if isinstance(t := type_of(f), Scalar)}
    line = LINE // size
    return 0 if others or d.extent % line == 0 else line


def _padded(stage: Stage, r: Reduction, line: int) -> Expr:
    (d,) = r.dims
    whole = stage.names.dim(-(-number(d) // line) * line)

    def padded(read: Read) -> Read:
        assert isinstance(read.type, Scalar)
        zero = p.Literal(0.0 if read.type.is_float else 0, read.type)
        return read.along(d, lambda a: p.PadUp(line, a, zero), (whole,))

    return stage.names.reduced(replace(r, dims=(whole,), element=stage.names.with_reads(r.element, padded)))
