"""Stages as texts to be read:  %stage2[0 < 4096, 1 < 4096] = (mul (add for 2 < 128 of (mul P[0,2] Q[1,2])) n[0])."""

from __future__ import annotations

from egglift.egraph.stages.stage import Dim, Names, Read, Reduction, Stage, substituted
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr
from egglift.ir.text import brief

LIMIT = 400  # characters of a body


def text_of(stage: Stage) -> str:
    """A stage as one line."""
    order = {d: str(i) for i, d in enumerate(stage.dims)}
    dims = ", ".join(f"{order[d]} < {d.extent}" for d in stage.dims)
    body = _body(stage.names, stage.body, order)
    if stage.scan is not None:
        init = _body(stage.names, stage.scan.init, order)
        way = "down" if stage.scan.backwards else "up"
        body = f"({stage.scan.op.name} {way} to {len(stage.dims) - 1} from {init} of {body})"
        if (after := stage.scan.after) is not None:
            own = p.Input(body, stage.scan.type)
            body = _body(stage.names, substituted(after, {stage.scan.result: own}), order)
        if (across := stage.scan.across) is not None:
            over = ", ".join(f"{order[d]} < {d.extent}" for d in across.dims)
            own = p.Input(f"({across.op.name} across {over} of {body})", across.result.type)
            body = _body(stage.names, substituted(across.finish, {across.result: own}), order)
            dims = ", ".join(f"{order[d]} < {d.extent}" for d in stage.dims if d not in across.dims)
        if (combined := stage.scan.combined) is not None:
            last = len(stage.dims) - 1
            body = f"({combined.op.name} over {last} < {stage.dims[-1].extent} of {body})"
            dims = ", ".join(dims.split(", ")[:-1])
    if (counts := stage.counts) is not None:
        last, what = len(stage.dims) - 1, "sums" if isinstance(stage.body, p.Tup) else "count"
        dims, body = ", ".join(dims.split(", ")[:-1]), f"({what} for {last} < {stage.dims[-1].extent} of {body})"
        dims = f"{dims}, {last} < {counts.length}" if dims else f"0 < {counts.length}"
    laid = (
        ""
        if stage.scan is None or stage.scan.axis is None
        else f" as [{', '.join(order[d] for d in stage.array_dims)}]"
    )
    laid = laid if stage.planes is None else f"{laid} as planes before {stage.planes}"
    return f"{stage.name.lstrip('%')}[{dims}]{laid} = {body}"


def _body(names: Names, body: Expr, order: dict[Dim, str]) -> str:
    shown: dict[Expr, Expr] = {x: p.Input(_shown(names, what, order), x.type) for x, what in names.of(body)}
    return brief(substituted(body, shown), LIMIT)


def _shown(names: Names, what: Read | Reduction, order: dict[Dim, str]) -> str:
    match what:
        case Read(view, dims):
            return f"{brief(view, 60).lstrip('%')}[{','.join(order.get(d, '?') for d in dims)}]"
        case Reduction(_, init, dims, element, op):
            inner = order | {d: str(len(order) + i) for i, d in enumerate(dims)}
            space = ", ".join(f"{inner[d]} < {d.extent}" for d in dims)
            before = names.reductions.get(init.name) if isinstance(init, p.Input) else None
            begin = f" after {_shown(names, before, order)}" if before else ""
            return f"({op.name if op else 'fold'} for {space} of {_body(names, element, inner)}{begin})"
