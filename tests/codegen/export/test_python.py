"""Exported programs in Python run where there is no egglift."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from egglift.codegen.export.folder import texts, write_folder
from egglift.ir.signature import inputs_of
from tests.codegen.export.test_c99 import OFTEN, exported
from tests.codegen.low import flat, meaning
from tests.codegen.samples.book import SAMPLES
from tests.codegen.test_samples import agree
from tests.deep import sampled

#: runs `sample` where every import of egglift fails
ALONE = """
import sys
import numpy as np

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "egglift":
            raise ImportError("there is no egglift here")

sys.meta_path.insert(0, Nowhere())
try:
    import egglift
except ImportError:
    pass
else:
    raise SystemExit("egglift can be imported")
from sample import INPUTS, Program

with np.load("inputs.npz") as given:
    inputs = [given[f"arr_{i}"] for i in range(len(INPUTS))]
program = Program()
program(*inputs)
found = program(*inputs)
np.savez("results.npz", *(found if isinstance(found, tuple) else (found,)))
if INPUTS and INPUTS[0][2] and inputs[0].size:
    try:
        program(inputs[0][:-1], *inputs[1:])
        raise SystemExit("a wrong shape was taken")
    except ValueError as error:
        assert INPUTS[0][0] in str(error), error
"""


@pytest.mark.parametrize("name", sampled(dict.fromkeys([*sorted(OFTEN), *list(SAMPLES)[1::2]]), OFTEN.__contains__))
def test_a_file_computes_without_egglift(name: str, tmp_path: Path) -> None:
    s = SAMPLES[name]
    write_folder(tmp_path / "made", texts(exported(s, "sample"), "python"))
    given = s.inputs()
    shaped = [leaf for n in inputs_of(s.term) for leaf in (given[n] if isinstance(given[n], tuple) else (given[n],))]
    np.savez(tmp_path / "made" / "inputs.npz", *shaped)
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=tmp_path / "made", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "made" / "results.npz") as found:
        agree(meaning(s.term, **given), [*map(np.ravel, flat(tuple(found.values())))])
