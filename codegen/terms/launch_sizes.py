"""Sizes of launches: work-items per group and groups per dimension, from the levels of a kernel's maps."""

from __future__ import annotations

from math import prod

from egglift.codegen.kernel.distribution import WARP, Shape
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.codegen.kernel.views import length, volume
from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import CodegenError
from egglift.ir.lengths import Length
from egglift.ir.patterns import Expr
from egglift.ir.text import brief
from egglift.ir.traverse import subterms

Sizes = tuple[int, int, int]


def shape_of(term: Expr, launch: Launch, limits: DeviceLimits) -> Shape:
    """How a kernel is launched.

    Local maps: as many work-items as the longest in each dimension has elements; in one dimension
    `launch.group_size` at most, while tiles of two and three dimensions keep their shape.  Global maps: `group_size`
    work-items shared out over the dimensions, or fewer, so that every compute unit gets a group.  Then as many groups
    as there is work for, `launch.max_groups` together at most.
    """
    if not 1 <= launch.group_size <= limits.group_size:
        raise CodegenError(
            f"work-groups of {launch.group_size}: the device allows 1 to {limits.group_size}; choose another group size"
        )
    if launch.max_groups < 1:
        raise CodegenError(f"{launch.max_groups} work-groups: at least one is needed")
    longest = _longest(term)
    gx, gy, gz = (longest.get(("global", d), 0) for d in range(3))
    grid = (gx, gy, gz)
    warps = ("lane", 0) in longest or ("warp", 0) in longest
    wanted = [longest.get(("local", d), 0) for d in range(3)]
    if warps:
        wanted[0] = max(wanted[0], WARP * longest.get(("warp", 0), 1))
        local = _warped(wanted, launch.group_size)
    elif any(wanted[1:]):
        local = _exact(term, (max(wanted[0], 1), max(wanted[1], 1), max(wanted[2], 1)), limits)
    elif any(wanted):
        local = (min(wanted[0], launch.group_size), 1, 1)
    elif any(grid):
        # a few large groups must not leave compute units idle
        fair = max(limits.warp, max(gx, 1) * max(gy, 1) * max(gz, 1) // limits.compute_units)
        local = _shared(grid, _below(min(launch.group_size, fair)))
    else:
        local = (min(max(longest.get(("group", 0), 1), 1), launch.group_size), 1, 1)
    local = _numbers(local)
    needed = [max(longest.get(("workgroup", d), 1), -(-grid[d] // local[d]), 1) for d in range(3)]
    groups = _capped((needed[0], needed[1], needed[2]), launch.max_groups)
    return Shape(local, groups, warps, _swizzle(groups, launch.swizzle))


def _swizzle(groups: Sizes, most: int) -> int:
    """The largest number of rows, at most `most`, that divides them; 1 where there is one column of groups, or where
    how many there are is known when the kernel is called."""
    if most < 1:
        raise CodegenError(f"blocks of {most} rows of work-groups: at least one row is needed")
    if groups[0] == 1 or any(isinstance(n, Length) for n in groups):
        return 1
    return next(n for n in range(min(most, groups[1]), 0, -1) if groups[1] % n == 0)


def _numbers(local: Sizes) -> Sizes:
    """Work-items per group, which are numbers: for lengths known when the kernel is called, the next power of 4."""
    x, y, z = (_above(n) if isinstance(n, Length) else n for n in local)
    return x, y, z


def _above(n: int) -> int:
    """The smallest power of 4 that is not below `n`."""
    found = 1
    while found < n:
        found *= 4
    return found


def _below(n: int) -> int:
    """`n`; of a length known when the kernel is called, the largest power of 4 that is not above it."""
    return max(1, _above(n + 1) // 4) if isinstance(n, Length) else n


def _longest(term: Expr) -> dict[tuple[str, int], int]:
    """Per level and dimension, the longest array that is mapped; "group": what a group works on without local maps."""
    found: dict[tuple[str, int], int] = {}
    for e in subterms(term):
        match e:
            case p.Map(_, x, level) if level is not None:
                key, n = (level.kind, level.dim), length(type_of(x))
            case p.ScanLinked(x=x):
                key, n = ("workgroup", 0), length(type_of(x))
            case p.To("local", x):
                key, n = ("group", 0), volume(type_of(x))
            case p.Tree(_, _, p.To("private")):
                continue  # a work-item's own
            case p.ScanDoubling(x=x) | p.Count(x=x):
                key, n = ("group", 0), length(type_of(x))
            case p.Tree(_, _, x):
                key, n = ("group", 0), (length(type_of(x)) + 1) // 2
            case _:
                continue
        found[key] = max(found.get(key, 0), n)
    return found


def _exact(term: Expr, wanted: Sizes, limits: DeviceLimits) -> Sizes:
    """`wanted`, if the device has groups that large."""
    if (items := prod(wanted)) > limits.group_size:
        shape = " x ".join(str(n) for n in wanted if n > 1)
        raise CodegenError(
            f"{brief(term)}: its local maps take work-groups of {shape} = {items} work-items, the device allows "
            f"{limits.group_size}; choose smaller tiles, or larger ones for each work-item"
        )
    return wanted


def _capped(wanted: Sizes, most: int) -> Sizes:
    """`wanted`, at least 1 each, cut such that the product is at most `most`; dimension 0 first."""
    x, y, z = (max(n, 1) for n in wanted)
    if x * y * z <= most:
        return x, y, z
    x = min(x, most)
    y = min(max(wanted[1], 1), most // x)
    return x, y, min(max(wanted[2], 1), most // (x * y))


def _warped(wanted: list[int], most: int) -> Sizes:
    if most < WARP:
        raise CodegenError(f"mapWarp and mapLane need work-groups of {WARP} or more, not {most}")
    x = min(max(-(-wanted[0] // WARP), 1), most // WARP) * WARP
    _, y, z = _capped((x, wanted[1], wanted[2]), most)
    return x, y, z


def _shared(grid: Sizes, items: int) -> Sizes:
    """`items` work-items over the dimensions of global maps; 32 along dimension 0 if there are several."""
    several = sum(n > 1 for n in grid) > 1
    x = min(grid[0] or 1, 32 if several and items > 32 else items)
    y = min(grid[1] or 1, items // x)
    z = min(grid[2] or 1, items // (x * y))
    x = min(grid[0] or 1, items // (y * z))
    return x, y, z
