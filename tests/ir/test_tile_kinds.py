"""The kinds of tile lengths: one table, which everything else reads."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from egglift.costmodel.profiles.profile import presets
from egglift.costmodel.search.size_choices import fitted, may_be_zero, wanted
from egglift.ir import tile_kinds
from egglift.ir.tile_kinds import TILE_KINDS, TileKind

ROOT = Path(__file__).parents[2]


def test_each_kind_has_a_letter_a_name_and_a_meaning_of_its_own() -> None:
    for of in (lambda k: k.letter, lambda k: k.name, lambda k: k.meaning):
        assert len({of(kind) for kind in TILE_KINDS.values()}) == len(TILE_KINDS) == 34
    assert all(letter == kind.letter and len(letter) == 1 for letter, kind in TILE_KINDS.items())


@pytest.mark.parametrize("device", ["nvidia_h200", "pocl_cpu"])
@pytest.mark.parametrize("kind", TILE_KINDS.values(), ids=lambda kind: kind.name)
def test_every_kind_has_sizes_to_try(kind: TileKind, device: str) -> None:
    profile = presets()[device]
    sizes = wanted(kind.letter, 4096, "local", profile)
    assert sizes and min(sizes) >= (0 if kind.may_be_zero else 1)
    listed = kind.gpu if profile.kind == "gpu" else kind.cpu
    assert not listed or kind.name == "workers" or tuple(sizes) == listed
    assert all(fitted(kind.letter, size, 7, 1) <= (max(sizes) if kind.may_be_zero else 7) for size in sizes)


def test_a_kind_of_a_users_law_is_shared_out() -> None:
    assert wanted("users", 4095, "lane", presets()["nvidia_h200"]) == [4095 // 32]
    assert not may_be_zero("users")


def test_no_other_file_tells_kinds_by_their_letters() -> None:
    for folder in ("egraph", "costmodel", "codegen", "api"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not list(_letters(ast.parse(path.read_text()))), path


def _letters(tree: ast.AST) -> list[str]:
    """One-letter texts that something called `kind` is compared with; numpy's kinds of types are others."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=right) if _is_kind(left):
                found += [c.value for c in right if isinstance(c, ast.Constant) and _is_letter(c.value)]
            case ast.Match(subject=subject, cases=cases) if _is_kind(subject):
                values = (v.value for case in cases for v in ast.walk(case.pattern) if isinstance(v, ast.MatchValue))
                found += [v.value for v in values if isinstance(v, ast.Constant) and _is_letter(v.value)]
    return found


def _is_kind(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="kind", value=ast.Attribute(attr="dtype")):
            return False
        case ast.Attribute(attr="kind") | ast.Name(id="kind"):
            return True
    return False


def _is_letter(value: object) -> bool:
    return isinstance(value, str) and len(value) == 1


def test_every_kind_has_a_letter_of_its_own() -> None:
    kinds = [kind for kind in vars(tile_kinds).values() if isinstance(kind, TileKind)]
    assert sorted(TILE_KINDS) == sorted(kind.letter for kind in kinds)
