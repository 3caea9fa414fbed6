"""The text of kernels: golden files, names, widths of indices, numbering."""

from __future__ import annotations

from pathlib import Path

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import DeviceLimits, Launch
from egglift.codegen.opencl.names import Names, identifier
from egglift.ir import patterns as p
from egglift.ir.patterns import Level
from egglift.ir.types import F32, I32, Array
from tests.codegen.low import fmap, op, total, vector
from tests.codegen.samples.book import SAMPLES
from tests.harness import run

GOLDEN = Path(__file__).parents[2] / "golden"
SHOWN = (
    "axpy",
    "groups and items, fewer groups",
    "matrix product",
    "sum over a concatenation",
    "softmax by groups",
    "softmax by items",
    "dealt sum",
    "chunked sum",
    "llp1",
    "llp3",
    "fig11_intel",
    "pad mirror",
    "pad with a constant",
    "pad up and take",
    "gather",
    "argmax",
    "masks",
    "vectors padded",
    "array accumulator, unrolled",
    "an accumulator that moves",
    "iterate in a group",
    "two kernels",
    "arrays of tuples",
    "a constant matrix",
    "register blocks",
    "register blocks at edges",
    "local tiles at edges",
    "tiles of windows",
    "staged four at once",
    "tiled product",
    "tiled product, prefetched",
    "tiled product, two buffers",
    "tiled product, three dimensions",
    "tiled product and sum",
    "tiled product, rest of the rows",
    "all pairs, four each",
    "an accumulator of a group",
)


@pytest.mark.parametrize("name", SHOWN)
def test_kernels_read_as_they_did(name: str, request: pytest.FixtureRequest) -> None:
    s = SAMPLES[name]
    source = compile_term(s.term, s.launch).source
    path = GOLDEN / f"{name.replace(',', '').replace(' ', '_')}.cl"
    if request.config.getoption("--update-golden"):
        path.write_text(source)
    assert source == path.read_text(), f"pytest --update-golden writes what {name} looks like now"


def test_every_golden_file_is_a_sample() -> None:
    assert {f.stem for f in GOLDEN.glob("*.cl")} == {n.replace(",", "").replace(" ", "_") for n in SHOWN}


def test_the_same_program_gives_the_same_text() -> None:
    s = SAMPLES["softmax by groups"]
    assert compile_term(s.term, s.launch).source == compile_term(s.term, s.launch).source


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", "x"),
        ("float", "float_"),
        ("float4", "float4_"),
        ("my input!", "my_input_"),
        ("2x", "v2x"),
        ("exp", "exp_"),
        ("get_global_id", "get_global_id_"),
        ("größe", "gr__e"),
        ("", "_"),
        ("kernel", "kernel_"),
    ],
)
def test_input_names_become_identifiers(name: str, expected: str) -> None:
    assert identifier(name) == expected


def test_names_are_handed_out_once() -> None:
    names = Names(("i1",))
    assert [names.numbered("i") for _ in range(3)] == ["i0", "i2", "i3"]
    assert names.own("g0") != "g0"  # a work-item id
    assert names.own("a b") == "a_b" != names.own("a_b")


def test_programs_may_use_any_name_for_their_inputs() -> None:
    terms = [p.Input(n, Array(4, F32)) for n in ("g0", "float", "out", "acc0", "i0", "k0", "tmp0", "a-b", "a_b")]
    term = p.Tup(tuple(total(fmap(lambda e: op("neg", e), t)) for t in terms))
    import numpy as np

    results = run(compile_term(term), {t.name: np.full(4, k, "f4") for k, t in enumerate(terms)})
    assert [float(r[0]) for r in results] == [-4.0 * k for k in range(len(terms))]


def test_indices_are_64_bits_wide_only_where_they_must() -> None:
    gpu = DeviceLimits(warp=32)
    small = compile_term(p.Transpose(vector("M", 30000, 50000)), Launch(256), gpu).source
    assert "long" not in small  # 1.5e9 elements
    wide = compile_term(p.Transpose(vector("M", 70000, 50000)), Launch(256), gpu).source
    assert "70000L*" in wide and "50000L*" in wide and "(long)" not in wide
    line = compile_term(fmap(lambda e: op("neg", e), vector("x", 3 << 30), "global"), Launch(256, 1000), gpu).source
    assert "for (long i0 = g0; i0 < 3221225472; i0 += 256000)" in line


def test_ids_of_a_cpu_are_as_wide_as_an_address() -> None:
    """Else its compiler extends the sign of every index in a loop.  A value of 32 bits that is made of them has 32."""
    squared = p.Map(op("mul", p.Arg(I32), p.Arg(I32)), p.Iota(1000, I32), Level("global"))
    source = compile_term(squared, Launch(256)).source
    assert "const long g0 = get_global_id(0);" in source and "(uint)(int)g0 * (uint)(int)g0" in source


def test_loops_of_one_trip_have_no_header() -> None:
    source = compile_term(fmap(lambda r: fmap(total, p.Split(8, r), "seq"), vector("M", 64, 8), "global")).source
    assert source.count("for (") == 1
