"""What `import egglift` loads: itself and NumPy."""

from __future__ import annotations

import subprocess
import sys

HEAVY = "egglog networkx pyopencl matplotlib scipy distributed"


def test_an_import_loads_nothing_heavy_before_it_is_used() -> None:
    code = f"import sys, egglift; print([name for name in {HEAVY!r}.split() if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "[]\n"
