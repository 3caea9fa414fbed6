"""All assignments of sizes of a structure, as arrays: what the search would try, made to fit the lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from egglift.costmodel.closed.footprint import numbered
from egglift.costmodel.closed.work import evaluated
from egglift.costmodel.profiles.profile import Profile
from egglift.costmodel.search.size_choices import fitted, may_be_zero, wanted
from egglift.costmodel.search.sizes import Symbol
from egglift.ir import tile_kinds as kinds
from egglift.ir.sizes import Size, symbols

Columns = dict[str, npt.NDArray[np.int64]]


def assignments(
    order: Sequence[str],
    tiles: Mapping[str, Symbol],
    roles: Mapping[str, str],
    profile: Profile,
    given: Columns,
    most: int,
) -> Columns:
    """Every assignment of `order`'s symbols to each of those `given`; of more than `most`, some at random.

    order: symbols after those that their lengths depend on.
    """
    columns, chunks = dict(given), dict[Size, npt.NDArray[np.int64]]()
    rows = len(next(iter(columns.values()))) if columns else 1
    rng = np.random.default_rng(0)
    for name in order:
        tile = tiles[name]
        length = evaluated(tile.length, columns).astype(np.int64)
        pairs, where = _pairs(length, chunks.get(tile.length, np.ones(1, np.int64)), rows)
        inner = bool(symbols(tile.length))
        options = [_options(tile.kind, int(n), int(c), roles.get(name, ""), profile, inner) for n, c in pairs]
        lengths = np.array([len(o) for o in options])
        counts = lengths[where]
        source = np.repeat(np.arange(rows), counts)
        first = (np.cumsum(lengths) - lengths)[where] - (np.cumsum(counts) - counts)
        flat = np.array([x for o in options for x in o], np.int64)
        values = flat[first[source] + np.arange(len(source))]
        if len(source) > most:
            kept = np.sort(rng.choice(len(source), most, replace=False))
            source, values = source[kept], values[kept]
        columns = {s: column[source] for s, column in columns.items()} | {name: values}
        chunks = {size: column[source] for size, column in chunks.items()}
        if tile.kind == kinds.CHUNK.letter:
            chunks[tile.length] = values
        rows = len(source)
    return columns


def _pairs(
    a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], rows: int
) -> tuple[list[tuple[int, int]], npt.NDArray[np.int64]]:
    """The different pairs of numbers, and which of them each row has."""
    if a.size == b.size == 1:  # mostly
        return [(int(a.item()), int(b.item()))], np.zeros(rows, np.int64)
    a, b = np.broadcast_to(a, rows), np.broadcast_to(b, rows)
    count, where = numbered(a * (int(b.max(initial=0)) + 1) + b)
    first = np.empty(count, np.int64)
    first[where] = np.arange(rows)
    return list(zip(a[first].tolist(), b[first].tolist(), strict=True)), where


def _options(kind: str, n: int, chunk: int, role: str, profile: Profile, inner: bool) -> list[int]:
    n = max(1, n)
    wishes = (w if may_be_zero(kind) else max(1, min(w, n)) for w in wanted(kind, n, role, profile, inner))
    return list(dict.fromkeys(fitted(kind, w, n, chunk) for w in wishes))
