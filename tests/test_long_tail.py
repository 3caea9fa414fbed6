"""What a commit does without is listed, and is there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.long_tail import LONG, Long

HERE = Path(__file__).parent


@pytest.mark.parametrize("x", LONG, ids=lambda x: x.test.rsplit("::")[-1])
def test_what_is_listed_is_a_test(x: Long) -> None:
    file, name = x.test.split("::")
    tree = ast.parse((HERE / file).read_text())
    (found,) = (f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == name)
    drawn = any("parametrize" in ast.unparse(d) for d in found.decorator_list)
    assert drawn if x.one_in > 1 else x.one_in == 0 and x.instead


def test_each_test_is_listed_once() -> None:
    assert len({x.test for x in LONG}) == len(LONG)
