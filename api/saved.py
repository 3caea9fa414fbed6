"""Kernels as text, to be kept in files and sent to other processes: the program, the chosen candidate, the options.

The device's binaries are not kept: where the text is read, the chosen term is compiled again, for the device there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

from egglift.admission import admit
from egglift.candidate import Candidate
from egglift.codegen.device.arguments import Lies
from egglift.codegen.device.device import Device
from egglift.ir.errors import EggliftError, RecordError
from egglift.ir.inner_program import inner
from egglift.ir.lengths_liked import choices_of_lengths, with_like
from egglift.ir.parser import loads
from egglift.ir.patterns import Expr
from egglift.ir.run_time_lengths import liked
from egglift.ir.text import dumps
from egglift.memory import candidate_data, candidate_from, fits
from egglift.options import Laws, Options

#: what a text begins with, and the version of the rest
KIND, FORMAT = "egglift kernel", 2


@dataclass(frozen=True)
class Saved:
    """What a kernel is made of, next to its device."""

    program: Expr
    chosen: Candidate
    options: Options
    #: how inputs lie in memory, where that is otherwise than kernels take them
    orders: Mapping[str, Lies] = field(default_factory=dict)
    #: what was chosen for the other lengths that it likes, in their order
    others: tuple[Candidate, ...] = ()


def text_of(saved: Saved, device: Device) -> str:
    """A kernel as text; `read` reads it."""
    options = saved.options
    return json.dumps(
        {
            "kind": KIND,
            "format": FORMAT,
            "egglift": metadata.version("egglift"),
            "device": device.name,
            "program": dumps(saved.program),
            "chosen": candidate_data(saved.chosen),
            "laws": asdict(options.laws),
            "measure": options.measure,
            "fast_math": options.fast_math,
            "orders": dict(saved.orders),
            "others": [candidate_data(c) for c in saved.others],
        },
        indent=1,
    )


def read(text: str, device: Device, where: str) -> Saved:
    """What `text_of` wrote, for `device`.

    where: where the text comes from, for messages.  RecordError where it is no kernel, or one of another version;
    DeviceError where the device lacks what the program needs.
    """
    data = _checked(text, where)
    try:
        program, laws = loads(data["program"]), data["laws"]
        chosen = candidate_from(data["chosen"], device)
        laws = Laws(laws["reassociate"], tuple(laws["rules"]), tuple(laws["disabled"]), bool(laws["tf32"]))
        options = Options(laws, data["measure"], fast_math=bool(data["fast_math"]))
        others = tuple(candidate_from(c, device) for c in data["others"])
        right = _fit((chosen, *others), program)
        orders = {str(name): _lies(order) for name, order in data["orders"].items()}
    except (EggliftError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{where} is damaged: {error}; optimise the program again, and save that") from error
    if not right:
        raise RecordError(f"{where} is damaged: its term is not of its program's type; optimise the program again")
    admit(liked(inner(program)), device)
    return Saved(program, chosen, options, orders, others)


def _lies(order: Sequence[Any]) -> Lies:
    """How an input lies in memory, from the lists of JSON."""
    return tuple(o if isinstance(o, int) else (int(o[0]), int(o[1])) for o in order)


def _fit(chosen: Sequence[Candidate], program: Expr) -> bool:
    """Are these what was chosen for each of the lengths that a program likes?"""
    programs = [with_like(program, i) for i in range(choices_of_lengths(program))]
    return len(programs) == len(chosen) and all(map(fits, chosen, map(inner, programs)))


def _checked(text: str, where: str) -> dict[str, Any]:
    """The data of a kernel of this version."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise RecordError(f"{where} is no kernel of egglift; kernel.save(path) writes one")
    mine = metadata.version("egglift")
    if (data.get("format"), data.get("egglift")) != (FORMAT, mine):
        raise RecordError(
            f"{where} was saved by egglift {data.get('egglift')} (format {data.get('format')}), and this is egglift "
            f"{mine} (format {FORMAT}); optimise the program again, and save that"
        )
    return data
