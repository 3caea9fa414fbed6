"""The analytic model knows what makes kernels slow."""

from dataclasses import replace

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.costmodel.model.estimate import estimate
from egglift.costmodel.profiles.profile import Profile, presets
from egglift.ir import patterns as p
from egglift.ir.patterns import Expr, Level
from egglift.ir.types import F32, Array, Tuple

GPU, CPU = presets()["nvidia_h200"], presets()["pocl_cpu"]
N = 1 << 24
X = p.Input("x", Array(N, F32))
SQUARE = p.Apply("mul", (p.Arg(F32), p.Arg(F32)))
PAIR = p.Arg(Tuple((F32, F32)))
ADD = p.Apply("add", (p.Get(0, PAIR), p.Get(1, PAIR)))


def seconds(term: Expr, profile: Profile, launch: Launch = Launch(256)) -> float:
    return estimate(compile_term(term, launch), profile).seconds


def grid(body: Expr, x: Expr) -> Expr:
    return p.Map(body, x, Level("global"))


def vectors(width: int) -> Expr:
    row = p.Arg(Array(width, F32))
    return p.Join(grid(p.Map(SQUARE, row, Level("vec")), p.Split(width, X)))


@pytest.mark.parametrize("profile", [GPU, CPU], ids=["gpu", "cpu"])
def test_no_estimate_undercuts_the_memory(profile: Profile) -> None:
    for term in (grid(SQUARE, X), vectors(4), vectors(16)):
        assert seconds(term, profile) >= 0.95 * 8 * N / profile.bandwidth


@pytest.mark.parametrize("profile", [GPU, CPU], ids=["gpu", "cpu"])
def test_vectors_pay(profile: Profile) -> None:
    assert seconds(vectors(16 if profile.kind == "cpu" else 4), profile) < seconds(grid(SQUARE, X), profile)


def test_neighbours_that_read_far_apart_cost_a_gpu_dearly() -> None:
    sums = p.Fold(ADD, p.Literal(0.0, F32), p.Arg(Array(64, F32)))
    apart = grid(sums, p.Split(64, X))  # item i reads row i
    together = grid(sums, p.Transpose(p.Split(N // 64, X)))  # item i reads column i
    assert seconds(apart, GPU) > 2 * seconds(together, GPU)


def test_a_cpu_prefers_the_rows() -> None:
    rows = Array(4096, F32)
    sums = p.Fold(ADD, p.Literal(0.0, F32), p.Arg(rows))
    assert seconds(grid(sums, p.Split(4096, X)), CPU) < seconds(grid(sums, p.Transpose(p.Split(4096, X))), CPU)


def test_a_cpu_prefers_steps_within_a_page() -> None:
    """Blocks of 16 columns that lie one behind the other are read faster than those of a matrix of long rows."""

    def blocks(x: Expr) -> Expr:  # the sum of each column, 16 columns in vectors
        columns = p.Arg(Array(1024, Array(16, F32)))
        lanes = p.Map(p.Fold(ADD, p.Literal(0.0, F32), p.Arg(Array(1024, F32))), p.Transpose(columns), Level("vec"))
        return grid(lanes, x)

    rows = p.Arg(Array(1024, F32))
    matrix = p.Map(p.Split(16, rows), p.Split(1024, p.Input("x", Array(1 << 20, F32))))
    packed = p.Split(1024, p.Split(16, p.Input("x", Array(1 << 20, F32))))
    assert seconds(blocks(packed), CPU) < seconds(blocks(p.Transpose(matrix)), CPU)


@pytest.mark.parametrize("profile", [GPU, CPU], ids=["gpu", "cpu"])
def test_one_work_item_alone_is_slow(profile: Profile) -> None:
    alone = p.Fold(ADD, p.Literal(0.0, F32), X)
    shared = grid(p.Fold(ADD, p.Literal(0.0, F32), p.Arg(Array(N >> 12, F32))), p.Split(N >> 12, X))
    assert seconds(alone, profile) > 1.5 * seconds(shared, profile)


def test_a_small_program_is_bound_by_its_launch() -> None:
    small = grid(SQUARE, p.Input("x", Array(64, F32)))
    assert "launch" in estimate(compile_term(small), GPU).sentence()


def test_a_barrier_takes_what_groups_of_its_size_took() -> None:
    chunk = p.Arg(Array(256, F32))
    body = p.Map(SQUARE, p.To("local", p.Map(SQUARE, chunk, Level("local"))), Level("local"))
    plan = compile_term(p.Join(p.Map(body, p.Split(256, X), Level("workgroup"))), Launch(256))
    measured = {"64": 1e-8, "256": 1e-6}

    def barriers(profile: Profile) -> float:
        return estimate(plan, profile).kernels[0].terms["barriers"]

    for profile in (GPU, CPU):
        alike = replace(profile, barriers={}, barrier=1e-6 / (256 / 128 if profile.kind == "gpu" else 1))
        assert barriers(replace(profile, barriers=measured)) == pytest.approx(barriers(alike))
        assert barriers(alike) > 0


def test_every_kernel_of_a_plan_is_paid_for() -> None:
    partial = p.To("global", grid(p.Fold(ADD, p.Literal(0.0, F32), p.Arg(Array(N >> 12, F32))), p.Split(N >> 12, X)))
    two = p.Fold(ADD, p.Literal(0.0, F32), partial)
    found = estimate(compile_term(two, Launch(256)), GPU)
    assert len(found.kernels) == 2
    assert found.seconds == pytest.approx(sum(k.seconds for k in found.kernels))


def test_loops_around_a_block_in_registers_cost_a_cpu() -> None:
    """Sums of 64 columns: loops over two dimensions of a group around each block, or over one."""
    block = p.Arg(Array(128, Array(4, Array(16, F32))))
    lanes = p.Arg(Tuple((Array(16, F32), Array(16, F32))))
    rows = p.Arg(Tuple((Array(4, Array(16, F32)), Array(4, Array(16, F32)))))
    vectors = p.Map(ADD, p.Zip((p.Get(0, lanes), p.Get(1, lanes))), Level("vec"))
    step = p.Map(vectors, p.Zip((p.Get(0, rows), p.Get(1, rows))), Level("seq"))
    sums = p.Fold(step, p.Fill(4, p.Fill(16, p.Literal(0.0, F32))), block)
    blocks = p.Split(64, p.Split(128, p.Split(4, p.Split(16, p.Input("x", Array(1 << 24, F32))))))
    each = p.Map(p.Map(sums, p.Arg(Array(64, block.type)), Level("global")), blocks, Level("global", 1))
    line, square = (estimate(compile_term(each, Launch(n)), replace(CPU, simd_bytes=32)).kernels[0] for n in (16, 64))
    assert square.terms["instructions"] > 1.1 * line.terms["instructions"]
