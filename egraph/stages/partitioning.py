"""How a body becomes stages (partition.py): what is written, where it could be computed in place."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Partitioning:
    """What is computed once and written, where it could be computed in place too.

    frugal: what is costly and read again, reductions that need each other's results stay apart, and places are found in
    order: fewer operations and more memory traffic, which a CPU prefers.  again: without that, what is costly and would
    be computed for so many indices of other dimensions.  whole: what is computed of several slices of an array is
    computed of the array, and what many windows share is computed before.  producers: what is read at many places.
    rows: what short rows of a result need of all their elements is computed with them (short_rows.py).  totals: rows
    that need what is reduced of themselves are reduced before they are added up (totals.py).  states: what is reduced
    of several scans at each place is computed with them (side_by_side.py).  chained: a scan of what another one yields
    takes its steps together with it (scans_together.py).  few: few results of long
    reductions are computed by one work-item (few_results.py).  numbered: sums over elements with the number of the sum
    are added by these numbers (by_numbers.py).  down: windows of several directions are taken the outermost direction
    first, where they are taken apart (windows.py).  tables: what takes long and is a function of one small integer is
    looked up (tables.py).  unlike: results of one shape that reduce one array along other axes are stages apart.
    rounded: factors of products of f32 are rounded for matrix units (rounded_factors.py).
    centred: products of distances from means are of distances from estimates of these (centred.py).
    """

    frugal: bool = False
    again: float = inf
    whole: bool = True
    producers: bool = False
    rows: bool = False
    totals: bool = False
    states: bool = True
    chained: bool = False
    few: bool = False
    numbered: bool = True
    down: bool = False
    tables: bool = False
    unlike: bool = False
    rounded: bool = False
    centred: bool = False
