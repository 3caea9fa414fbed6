"""Exported programs in Python run where there is no egglift."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from egglift.codegen.export.folder import texts, write_folder
from egglift.ir.signature import inputs_of
from tests.codegen.export.test_c99 import OFTEN, exported
from tests.codegen.low import flat, meaning
from tests.codegen.samples.book import SAMPLES
from tests.codegen.test_samples import agree
from tests.deep import sampled

#: the beginning of a script in which every import of egglift fails
NOWHERE = """
import sys
import numpy as np

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "egglift":
            raise ImportError("there is no egglift here")

sys.meta_path.insert(0, Nowhere())
"""
#: runs `sample` of each folder so
ALONE = (
    NOWHERE
    + """try:
    import egglift
except ImportError:
    pass
else:
    raise SystemExit("egglift can be imported")

def check(folder):
    sys.modules.pop("sample", None)
    sys.path[0] = folder
    from sample import INPUTS, Program

    with np.load(f"{folder}/inputs.npz") as given:
        inputs = [given[f"arr_{i}"] for i in range(len(INPUTS))]
    program = Program()
    program(*inputs)
    found = program(*inputs)
    np.savez(f"{folder}/results.npz", *(found if isinstance(found, tuple) else (found,)))
    if INPUTS and INPUTS[0][2] and inputs[0].size:
        try:
            program(inputs[0][:-1], *inputs[1:])
            raise SystemExit("a wrong shape was taken")
        except ValueError as error:
            assert INPUTS[0][0] in str(error), error

for folder in sys.argv[1:]:
    check(folder)
"""
)
RARELY = [name for name in list(SAMPLES)[1::2] if name not in OFTEN]


@pytest.mark.parametrize("names", sampled((sorted(OFTEN), RARELY), lambda names: names is not RARELY), ids=len)
def test_files_compute_without_egglift(names: list[str], tmp_path: Path) -> None:
    folders = [tmp_path / f"made{i}" for i in range(len(names))]
    for name, folder in zip(names, folders):
        s = SAMPLES[name]
        write_folder(folder, texts(exported(s, "sample"), "python"))
        given = s.inputs()
        shaped = [leaf for n in inputs_of(s.term) for leaf in leaves_of(given[n])]
        np.savez(folder / "inputs.npz", *shaped)
    done = subprocess.run([sys.executable, "-c", ALONE, *folders], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, folder in zip(names, folders):
        with np.load(folder / "results.npz") as found:
            agree(meaning(SAMPLES[name].term, **SAMPLES[name].inputs()), [*map(np.ravel, flat(tuple(found.values())))])


def leaves_of(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
