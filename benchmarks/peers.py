"""The peers, and what the programs are in numexpr, a well-kept compiler of NumPy's expressions for CPUs.

A peer is a function of a program's inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.jitted import jitted

Peer = Callable[..., Any]

#: names of the peers, each with the module that it needs; torch runs on a GPU, clblast on egglift's own device
PEERS = {"numpy": "numpy", "numexpr": "numexpr", "numba": "numba", "torch": "torch", "clblast": "pyclblast"}
#: programs that are one expression of whole arrays; of an array of records, the parts are `records_0`, `records_1`
EXPRESSIONS = {
    "scal": "a * x",
    "axpy": "a * x + y",
    "vec_sum": "sum(x)",
    "asum": "sum(abs(x))",
    "dot": "sum(x * y)",
    "ten_maps": "3 * minimum(1 / maximum(sqrt(abs(((x + 1) * half) ** 2 - quarter)), eighth), 4) - 1",
    "record_distances": "sqrt((records_0 - latitude) ** 2 + (records_1 - longitude) ** 2)",
}
#: numbers that numexpr would take for doubles
NUMBERS = {"half": np.float32(0.5), "quarter": np.float32(0.25), "eighth": np.float32(0.125)}


def absent(kind: str) -> str | None:
    """Why a peer cannot take part here, in a few words; None where it can."""
    try:
        module = import_module(PEERS[kind])
    except ImportError as error:
        return f"{PEERS[kind]} cannot be imported ({error})"
    return "torch sees no GPU" if kind == "torch" and not module.cuda.is_available() else None


def peer(kind: str, program: str) -> Peer | None:
    """The program as "numexpr" or "numba" have it; None where it is not written, or the library is not there."""
    try:
        match kind:
            case "numexpr" if program in EXPRESSIONS:
                import numexpr

                return partial(_evaluated, numexpr, EXPRESSIONS[program])
            case "numba":
                return jitted().get(program)
    except ImportError:
        return None
    return None


def _evaluated(numexpr: Any, text: str, **inputs: Any) -> Any:
    """With the results of numexpr's own types: it has no float32 sums."""
    parts = {f"{n}_{i}": part for n, v in inputs.items() if isinstance(v, tuple) for i, part in enumerate(v)}
    return numexpr.evaluate(text, local_dict=NUMBERS | inputs | parts)
