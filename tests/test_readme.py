"""The README is true and short: its Python runs as it stands, and the commands of docs/command-line.md exist."""

import re

import pytest

from egglift.cli import parser
from tests.documents import ROOT

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = set(re.findall(r"^egglift ([\w-]+)", (ROOT / "docs/command-line.md").read_text(), re.MULTILINE))
#: what fits on a screen and a half
WORDS = 900


def test_the_blocks_of_the_readme_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    session: dict[str, object] = {}
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"README block {number}", "exec"), session)


def test_there_are_blocks_to_run() -> None:
    assert len(BLOCKS) >= 2


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= WORDS


def test_every_command_is_described_and_exists() -> None:
    assert set(parser()._subparsers._group_actions[0].choices) == COMMANDS  # type: ignore[union-attr, arg-type]
    for command in COMMANDS:
        with pytest.raises(SystemExit) as end:
            parser().parse_args([command, "--help"])
        assert end.value.code == 0
