"""record_distances: the distance of each record, a place on the map, to a target (NN of Rodinia and Lift)."""

from __future__ import annotations

from typing import Any

import numpy as np

import egglift as el
from benchmarks.programs.lengths import VECTOR as LENGTHS

__all__ = ["LENGTHS", "inputs", "program", "reference"]


def program(n: int) -> Any:
    """`map (\\(u, v). sqrt ((u - latitude)^2 + (v - longitude)^2)) records`"""
    records = el.array("records", (el.f32, el.f32), n)
    latitude, longitude = el.scalar("latitude", el.f32), el.scalar("longitude", el.f32)
    return records.map(lambda u, v: el.sqrt((u - latitude) ** 2 + (v - longitude) ** 2))


def inputs(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random arguments of `program(n)`."""
    records = (90 * rng.random(n, np.float32), 180 * rng.random(n, np.float32))
    return {"records": records, "latitude": np.float32(30), "longitude": np.float32(90)}


def reference(records: Any, latitude: Any, longitude: Any) -> Any:
    """The program in NumPy."""
    return np.sqrt((records[0] - latitude) ** 2 + (records[1] - longitude) ** 2)
