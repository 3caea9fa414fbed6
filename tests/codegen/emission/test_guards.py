"""Places and values that exist only where an index is in range."""

from __future__ import annotations

from collections import Counter

import pytest

import egglift as el
from egglift.codegen.compile import compile_term
from egglift.codegen.kernel import index_values
from egglift.codegen.kernel.imperative import Launch
from egglift.codegen.kernel.index import Index
from egglift.ir.lifting import as_program
from egglift.ir.parser import loads


def test_nothing_is_computed_for_places_that_do_not_exist() -> None:
    """Of the concatenation, all that is dropped has no place to go to; below guards that contradict each other even
    indices may be wrong."""
    program = """(map (fn f32 (let ((add (fn (f32, f32) (add (get 0 arg) (get 1 arg)))))
        (reduceSeq add arg (toPrivate (drop 2 (concat (mapSeq (fn f32 (exp arg)) (input x [f32]2))
          (mapSeq (fn f32 (sqrt arg)) (input y [f32]3)))))))) (input z [f32]5))"""
    source = compile_term(loads(program), Launch(1)).source
    assert "sqrt" in source and "exp" not in source


def test_an_index_is_computed_from_shared_numbers_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Counter[str]()
    computed = index_values.computed

    def counted(op: str, args: list[Index]) -> Index | None:
        calls[op] += 1
        return computed(op, args)

    def doubled(v: el.Value) -> el.Value:
        for _ in range(14):
            v = v + v
        return v % 64

    monkeypatch.setattr(index_values, "computed", counted)
    compile_term(as_program(el.array("x", el.f32, 64).gather(el.iota(16).map(doubled))))
    assert 0 < calls["add"] <= 14


def test_a_loaded_index_names_what_it_shares() -> None:
    def squared(v: el.Value) -> el.Value:
        for _ in range(12):
            v = v * v + v
        return v % 64

    program = as_program(el.array("x", el.f32, 64).gather(el.array("j", el.i32, 16).map(squared)))
    assert len(compile_term(program).source) < 4000
