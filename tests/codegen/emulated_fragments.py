"""Kernels for matrix units on any device: instructions of NVIDIA's as macros that go through local memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from egglift.codegen.kernel.fragment_sums import UNITS
from egglift.codegen.kernel.imperative import Plan
from egglift.codegen.opencl.own_target import GUARD


@dataclass(frozen=True)
class Layout:
    """PTX's layout of a unit's fragments, whose totals are alike: lane l has rows l / 4 and l / 4 + 8 of A and C, and
    column l / 4 of B.

    low: is the i-th of a lane's elements of A in its first row?  a, b: the step of its i-th elements of A and B.
    number: a factor x, as the unit takes it.
    """

    low: str
    a: str
    b: str
    number: str = "x"


_OF_HALVES = Layout("i / 2 % 2 * 8", "lane % 4 * 2 + i % 2 + i / 4 * 8", "lane % 4 * 2 + i % 2 + i / 2 * 8")
_OF_ONES = Layout("i % 2 * 8", "i / 2 * 4 + lane % 4", "i * 4 + lane % 4")
LAYOUTS = {
    "f64": _OF_ONES,
    "f16": replace(
        _OF_HALVES, number="copysign(as_float((uint)((x) & 0x7fff) << 13) * 0x1p112f, as_float((uint)(x) << 16))"
    ),
    "bf16": replace(_OF_HALVES, number="as_float((uint)(x) << 16)"),
    "i8": Layout(
        "i / 4 % 2 * 8", "lane % 4 * 4 + i % 4 + i / 8 * 16", "lane % 4 * 4 + i % 4 + i / 4 * 16", "(char)(x)"
    ),
    "tf32": replace(_OF_ONES, number="as_float((as_uint(x) + 0x1000) & ~0x1fffu)"),
    "rounded tf32": replace(_OF_ONES, number="as_float(as_uint(x) & ~0x1fffu)"),
}
#: whose numbers those of warp groups are, and how these lie in memory
GROUPS = {"f16": ("f16", "ushort"), "bf16": ("bf16", "ushort"), "tf32": ("rounded tf32", "float")}
#: how they are compiled: PoCL was seen to drop tests of a loop behind barriers within branches, where it optimises
UNOPTIMISED = "-cl-opt-disable"
#: what units add up in, where that is not a float
TOTALS = {"f64": "double", "i8": "int"}
_IDS = """  const int lane = (get_local_id(0) + {x} * get_local_id(1)) % 32; \\
  const int warp = (get_local_id(0) + {x} * (get_local_id(1) + {y} * get_local_id(2))) / 32; \\
"""
_PRODUCT = """
#define unit_value(x) ({number})
#define {name}({parameters}) {{ \\
{ids}  const {total} a[{m}] = {{ {rows} }}, b[{n}] = {{ {columns} }}; \\
  for (int i = 0; i < {m}; ++i) A_[warp][lane / 4 + {layout.low}][{layout.a}] = a[i]; \\
  for (int i = 0; i < {n}; ++i) B_[warp][{layout.b}][lane / 4] = b[i]; \\
  barrier(CLK_LOCAL_MEM_FENCE); \\
  for (int k = 0; k < {steps}; ++k) {{ \\
    *c0 += A_[warp][lane / 4][k] * B_[warp][k][lane % 4 * 2]; \\
    *c1 += A_[warp][lane / 4][k] * B_[warp][k][lane % 4 * 2 + 1]; \\
    *c2 += A_[warp][lane / 4 + 8][k] * B_[warp][k][lane % 4 * 2]; \\
    *c3 += A_[warp][lane / 4 + 8][k] * B_[warp][k][lane % 4 * 2 + 1]; \\
  }} \\
  barrier(CLK_LOCAL_MEM_FENCE); }}
"""
_LOAD = """
#define {name}({parameters}, row) {{ \\
{ids}  R_[warp][lane] = (ulong)(row); \\
  barrier(CLK_LOCAL_MEM_FENCE); \\
{reads}  barrier(CLK_LOCAL_MEM_FENCE); }}
"""
#: the 4 bytes of row l / 4 that are lane l's; and element l / 4 of the two rows that are
_READ = "  *r{i} = ((const local uint*)R_[warp][{first} + lane / 4])[lane % 4]; \\\n"
_READ_TRANSPOSED = (
    "  *r{i} = ((const local ushort*)R_[warp][{first} + lane % 4 * 2])[lane / 4] \\\n"
    "    | (uint)((const local ushort*)R_[warp][{first} + lane % 4 * 2 + 1])[lane / 4] << 16; \\\n"
)
#: of a warp group: 64 rows by all columns, from rows of 128 bytes whose chunks are exchanged by their numbers
_GROUP_PRODUCT = """
#define {name}(c, d, rows, columns) {{ \\
{ids}  for (int j = 0; j < {columns} / 4; ++j) for (int k = 0; k < {steps}; ++k) {{ \\
    const int r = warp % 4 * 16 + lane / 4, m = j / 2 * 8 + lane % 4 * 2 + j % 2; \\
    const float y = unit_value({right}); \\
    (c)[j] += unit_value({low}) * y; \\
    (d)[j] += unit_value({high}) * y; \\
  }} }}
"""
_ALONG = "exchanged_at({place}, {step} / IN_LINE * {far}, {line}, {step} % IN_LINE)"
_ACROSS = "exchanged_at({place}, ({line}) / IN_LINE * {far}, {step}, ({line}) % IN_LINE)"
_EXCHANGED = """#define unit_value(x) ({number})
#define tile_place(at, far) (at)
#define IN_LINE (128 / (int)sizeof({bits}))
#define exchanged_at(place, far, row, i) *(const local {bits}*)((place) + (far) + (row) * 128 \\
  + (((i) * 8 / IN_LINE) ^ ((row) % 8)) * 16 + (i) % (IN_LINE / 8) * sizeof({bits}))
"""
_COPY = (
    "#define {name}(to, from) {{ local uint* t = (local uint*)(to); const global uint* f = (const global uint*)(from);"
    " for (int i = 0; i < {words}; ++i) t[i] = f[i]; }}"
)
_FUNCTION = re.compile(r"^(?:void|uint|ulong) (\w+)\((.*?)\) \{\n.*?^}$", re.MULTILINE | re.DOTALL)
_NAMES = re.compile(
    r"multiply_(?P<group>\w+)_groups_64x(?P<n>\d+)x(?P<k>\d+)_(?P<rows>\w+?)(?P<far>\d*)_(?P<columns>\w+?)(?P<wide>\d*)"
    r"|multiply_(?P<unit>\w+)_\d+x\d+x\d+|load_matrices_(?P<count>\d)(?P<transposed>_transposed)?|copy_(?P<bytes>\d+)"
    r"|(?P<waits>close_copies|await_copies_\d+|show_units)|(?P<rounds>tf32|tile_place)|(?P<awaits>await_products_\d+)"
)


def emulated(plan: Plan) -> Plan:
    """The plan with no instruction of NVIDIA's left in its kernels."""
    kernels = []
    for k in plan.kernels:
        x, y, z = (*k.local_size, 1, 1)[:3]
        warps, ids = max(1, x * y * z // 32), _IDS.format(x=x, y=y)
        source = k.source.replace("(uint)(ulong)", "(ulong)")  # addresses are wider here
        source = source.replace(GUARD, "")
        source = _FUNCTION.sub(lambda found, ids=ids: _macro(found, ids), source)  # type: ignore[misc]
        names = [found for f in _FUNCTION.finditer(k.source) if (found := _NAMES.fullmatch(f[1]))]
        staging = f"local ulong R_[{warps}][32];" if any(n["count"] for n in names) else ""
        for unit in {n["unit"].replace("_", " ") for n in names if n["unit"]}:
            total, steps = TOTALS.get(unit, "float"), UNITS[unit].steps
            staging += f" local {total} A_[{warps}][16][{steps}], B_[{warps}][{steps}][8];"
        source = source.replace(") {\n  const int", f") {{\n  {staging}\n  const int", 1)
        assert staging in source and "asm volatile" not in source
        kernels.append(replace(k, source=source))
    return replace(plan, kernels=tuple(kernels))


def _macro(found: re.Match[str], ids: str) -> str:
    """What takes the place of a function; of others, they themselves."""
    name = _NAMES.fullmatch(found[1])
    if name is None:
        return found[0]
    if unit := name["unit"]:
        return _product(found[1], unit.replace("_", " "), ids)
    if name["group"]:
        return _group_product(name, ids)
    if name["awaits"]:
        return f"#define {found[1]}(c, d)"
    if count := name["count"]:
        return _load(found[1], int(count), bool(name["transposed"]), ids)
    if size := name["bytes"]:
        return _COPY.format(name=found[1], words=int(size) // 4)
    return f"#define {found[1]}()" if name["waits"] else ""


def _product(name: str, unit: str, ids: str) -> str:
    steps, packed, bits = UNITS[unit].steps, UNITS[unit].packed, 8 * UNITS[unit].scalar.size
    m, n = steps // 2, steps // 4
    a, b = [f"a{i}" for i in range(m // packed)], [f"b{i}" for i in range(n // packed)]
    if packed == 1:
        numbers = [[f"unit_value({x})" for x in xs] for xs in (a, b)]
    else:
        parts = [f">> {bits * i} & {(1 << bits) - 1}" for i in range(packed)]
        numbers = [[f"unit_value(({x}) {part})" for x in xs for part in parts] for xs in (a, b)]
    rows, columns = map(", ".join, numbers)
    layout = LAYOUTS[unit]
    return _PRODUCT.format(
        **{"number": layout.number, "name": name, "parameters": ", ".join(["c0", "c1", "c2", "c3", *a, *b])},
        **{"ids": ids, "total": TOTALS.get(unit, "float"), "m": m, "n": n, "rows": rows, "columns": columns},
        **{"layout": layout, "steps": steps},
    )


def _group_product(name: re.Match[str], ids: str) -> str:
    def value(side: str, far: str, place: str, line: str) -> str:
        way = _ALONG if name[side] == "along" else _ACROSS
        return way.format(place=place, far=name[far] or 0, line=line, step="k")

    numbers = {"right": value("columns", "wide", "columns", "m"), "low": value("rows", "far", "rows", "r")}
    product = _GROUP_PRODUCT.format(
        **{"name": name[0], "ids": ids, "columns": name["n"], "steps": name["k"]},
        **{**numbers, "high": value("rows", "far", "rows", "r + 8")},
    )
    layout, bits = GROUPS[name["group"]]
    return _EXCHANGED.format(number=LAYOUTS[layout].number, bits=bits) + product


def _load(name: str, count: int, transposed: bool, ids: str) -> str:
    read = _READ_TRANSPOSED if transposed else _READ
    reads = "".join(read.format(i=i, first=8 * i) for i in range(count))
    return _LOAD.format(name=name, parameters=", ".join(f"r{i}" for i in range(count)), ids=ids, reads=reads)
