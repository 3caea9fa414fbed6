"""C in, C out: what gcc makes of a nest is what the exported program computes on PoCL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.export.folder import texts, write_folder
from egglift.codegen.export.host_program import host_program
from egglift.costmodel.measurement.expected_results import flatten
from egglift.ir.check import type_of
from egglift.ir.signature import inputs_of
from tests.codegen.export.c_compiler import results
from tests.deep import sampled
from tests.frontend.against_gcc import differ
from tests.frontend.random_nests import N, random_function
from tests.frontend.test_nests import NESTS, SIZES

pytestmark = pytest.mark.short

JEPSEN = ("product", "jacobi", "nbody", "laplace", "squared_distances", "gaussian_kernel")


@pytest.fixture
def exported(tmp_path: Path) -> Any:
    """Computes by an exported program: of the kernel that `optimize` chooses, or of the program as it stands."""

    def compute(program: Any, values: Mapping[str, Any], optimised: bool) -> list[Any]:
        inputs = inputs_of(program)
        term = el.optimize(program, "pocl", measure="none", cache=False).plan if optimised else compile_term(program)
        made = host_program("nest", term, inputs, type_of(program))
        write_folder(tmp_path / "made", texts(made, "c99"))
        given = [np.asarray(leaf) for name in inputs for leaf in flatten(values[name])]
        return results(tmp_path / "made", "nest", given, [(p.size, p.scalar.dtype) for p in made.outputs])

    return compute


@pytest.mark.parametrize("name", sampled(JEPSEN, lambda name: name in ("nbody", "jacobi")))
def test_a_nest_comes_out_as_gcc_compiles_it(name: str, exported: Any) -> None:
    def compute(program: Any, values: Mapping[str, Any]) -> list[Any]:
        return exported(program, values, True)

    differ((NESTS / f"{name}.c").read_text(), name, SIZES[name], compute=compute)


@pytest.mark.parametrize("seed", sampled(range(300), lambda seed: seed < 12))
def test_random_nests_come_out_as_gcc_compiles_them(seed: int, exported: Any) -> None:
    def compute(program: Any, values: Mapping[str, Any]) -> list[Any]:
        return exported(program, values, False)

    text = random_function(Random(7000 + seed))
    k = np.random.default_rng(seed).integers(0, N, N).astype(np.int32)
    try:
        differ(text, "f", {}, seed=seed, tolerance=1e-9, compute=compute, k=k)
    except el.CodegenError as error:
        assert "reduction" in str(error) or "fold" in str(error) or "accumulator" in str(error), error
    except el.ProgramError as error:
        assert str(error).startswith("<text>:"), text
