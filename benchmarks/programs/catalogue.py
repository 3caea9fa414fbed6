"""The programs as data: every module of NAMES with its variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

#: the lengths that a program is made for: one, or several
Size: TypeAlias = tuple[int, ...]
#: the programs' modules, from vectors over matrices to stencils
NAMES = (
    "scal",
    "axpy",
    "vec_sum",
    "asum",
    "dot",
    "nrm2",
    "arg_max",
    "mean_variance",
    "cumsum",
    "cumsum_axis",
    "gemv",
    "gesummv",
    "atax",
    "softmax_rows",
    "black_scholes",
    "integer_sums",
    "bitwise_or",
    "ten_maps",
    "matmul",
    "gemm",
    "batched_matmul",
    "linear_relu",
    "syrk",
    "attention",
    "pair_distances",
    "nbody",
    "molecular_dynamics",
    "kmeans",
    "record_distances",
    "nearest",
    "mri_q",
    "laplace",
    "gaussian_kernels",
    "jacobi_1d",
    "heat_1d",
    "game_of_life",
    "gaussian_blur",
    "sobel",
    "gradient",
    "convolution_17",
    "jacobi_2d",
    "stencil_2d",
    "srad",
    "hotspot_2d",
    "jacobi_3d",
    "poisson",
    "heat_3d",
    "hotspot_3d",
    "acoustic",
)


@dataclass(frozen=True)
class Entry:
    """A program for every size: `program(*size)`, `inputs(*size, rng)` and `reference(**inputs)`.

    operations: how much arithmetic a size takes, where that is what takes the time.
    """

    name: str
    program: Callable[..., Any]
    inputs: Callable[..., dict[str, Any]]
    reference: Callable[..., Any]
    sizes: tuple[Size, ...]
    operations: Callable[..., int] | None = None


def entries() -> Iterator[Entry]:
    """Every program, and of those with variants each: `integer_sums-u8`."""
    for name in NAMES:
        module = import_module(f"benchmarks.programs.{name}")
        variants = getattr(module, "VARIANTS", ())
        if not variants:
            yield _entry(name, module)
        for variant in variants:
            yield _entry(f"{name}-{variant}", module, variant=variant)


def _entry(name: str, module: ModuleType, **variant: str) -> Entry:
    functions = (module.program, module.inputs, module.reference)
    sizes = module.SHAPES if hasattr(module, "SHAPES") else tuple((n,) for n in module.LENGTHS)
    operations = partial(module.operations, **variant) if hasattr(module, "operations") else None
    return Entry(name, *(partial(f, **variant) for f in functions), sizes, operations)


def named(name: str) -> list[Entry]:
    """The program of that name; of one with variants, each of them.  ValueError if there is none."""
    found = [e for e in entries() if name in (e.name, e.name.rpartition("-")[0])]
    if not found:
        raise ValueError(f"there is no program {name}; there are {', '.join(e.name for e in entries())}")
    return found


def entry(name: str) -> Entry:
    """The program of that name; of one with variants, the first."""
    return named(name)[0]


def size_text(size: Size) -> str:
    """`1000x1003x997`."""
    return "x".join(map(str, size))


def chosen(wanted: Sequence[str], usual: Callable[[Entry], Size]) -> Iterator[tuple[Entry, Size]]:
    """The programs that a command line names, each with a size: `matmul:1000,1003,997`, or `matmul` at its usual one.

    All programs where it names none.  ValueError says what is wrong with a name or a size.
    """
    for text in wanted:
        name, _, lengths = text.partition(":")
        for e in named(name)[: 1 if lengths else None]:
            yield e, _size(e, lengths) if lengths else usual(e)
    if not wanted:
        yield from ((e, usual(e)) for e in entries())


def _size(e: Entry, text: str) -> Size:
    """The lengths written as `1000,1003,997`, as many as the program takes."""
    example = ",".join(map(str, e.sizes[-1]))
    try:
        size = tuple(map(int, text.split(",")))
    except ValueError:
        raise ValueError(f"{text} is no size; write {e.name}:{example}") from None
    if len(size) != len(e.sizes[0]):
        raise ValueError(f"{e.name} takes {len(e.sizes[0])} lengths, not {len(size)}; write {e.name}:{example}")
    return size
