"""Type checkers find the package in the environment that the README makes."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from tests.typed_links import link

PROGRAM = """
import egglift as el
x = el.array("x", el.f32, 8)
reveal_type(el.exp(x).sum(axis=0))
reveal_type(el.optimize(x).inputs)
"""


def test_an_editable_install_has_types(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    (site,) = tmp_path.glob("env/lib/python*/site-packages")
    (tmp_path / "program.py").write_text(PROGRAM)
    python = str(tmp_path / "env/bin/python")
    command = [sys.executable, "-m", "mypy", "--python-executable", python, "--cache-dir", str(tmp_path / "c")]
    link(site)
    ran = subprocess.run([*command, "--strict", "program.py"], cwd=tmp_path, capture_output=True, text=True)
    assert "egglift.ir.value.Value" in ran.stdout and "tuple[str, ...]" in ran.stdout
    assert "Success" in ran.stdout
