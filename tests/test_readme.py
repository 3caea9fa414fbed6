"""The README is true: its Python runs as it stands, and its commands exist."""

import re
from pathlib import Path

import pytest

from egglift.cli import parser

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_blocks_of_the_readme_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    session: dict[str, object] = {}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"README block {number}", "exec"), session)


def test_there_are_blocks_to_run() -> None:
    assert len(BLOCKS) >= 2


def test_every_command_of_the_readme_exists() -> None:
    commands = set(re.findall(r"^egglift ([\w-]+)", README, re.MULTILINE))
    assert commands == {
        *["devices", "optimize", "offload", "session", "batch", "calibrate", "records", "laws", "check-rules"]
    }
    for command in commands:
        with pytest.raises(SystemExit) as end:
            parser().parse_args([command, "--help"])
        assert end.value.code == 0
