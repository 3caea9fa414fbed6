"""What random programs have found, made small: each failed once."""

from __future__ import annotations

import pytest

from egglift.codegen.runtime import open_device
from egglift.ir.text import loads
from tests.fuzz.check import Case, check

FOUND = {
    "the rows of an array without elements, read behind a constant edge": """
        (pad 2 3 "constant" 0.0:f64 (join (input B [[f64]0]5)))""",
    "three transpositions: the law for two subsumed the only node left": """
        (map (fn [f32]4 (reduce add:f32 0.0:f32 arg)) (transpose (transpose (transpose (input A [[f32]6]4)))))""",
    "a join undone and done: two laws at once left nothing of it": """
        (join (split 6 (join (input A [[f32]6]4))))""",
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND.keys())
def test_what_was_found_once_holds(text: str) -> None:
    for style in ("exact", "extreme"):
        assert check(Case(loads(text), style, 0), open_device(None)) is None
