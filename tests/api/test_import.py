"""What `import egglift` loads: itself and NumPy; a search loads no more of egglog than it uses."""

from __future__ import annotations

import subprocess
import sys

HEAVY = "egglog egglog.bindings networkx pyopencl matplotlib scipy distributed"


def test_an_import_loads_nothing_heavy_before_it_is_used() -> None:
    code = f"import sys, egglift; print([name for name in {HEAVY!r}.split() if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "[]\n"


SEARCH = """
import sys
import egglift as el
el.optimize(el.array("x", el.f32, 8) * 2, "pocl", measure="none", cache=False)
print("egglog" in sys.modules)
"""
LATER = """
import egglog, egglog.bindings as core
from egglog import bindings
print(bindings is core is sys.modules["egglog.bindings"], egglog.EggSmolError is core.EggSmolError)
"""


def test_a_search_loads_egglogs_core_and_a_caller_may_load_all() -> None:
    done = subprocess.run([sys.executable, "-c", SEARCH + LATER], capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("False\nTrue True\n", "")


def test_a_callers_egglog_is_the_one_that_is_used() -> None:
    code = "import egglog; from egglift.egraph.rules import egglog_core as own; import egglog.bindings as its; "
    code += "print(own.EGraph is its.EGraph)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("True\n", "")
