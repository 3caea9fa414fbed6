"""docs/devices.md shows what its code prints where there are three devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.documents import ROOT, run

PAGE = ROOT / "docs" / "devices.md"


def false_blocks() -> list[tuple[str, str]]:
    return [(block.code, printed) for block, printed in run(PAGE.read_text()) if not block.is_true(printed)]


@pytest.mark.deep
def test_the_page_shows_what_its_code_prints(three: Callable[..., Any]) -> None:
    how = 'POCL_DEVICES="pthread pthread pthread" python -m tests.documents docs/devices.md writes it anew'
    assert three(false_blocks) == [], how
