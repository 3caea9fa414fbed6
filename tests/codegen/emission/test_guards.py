"""Places and values that exist only where an index is in range."""

from __future__ import annotations

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Launch
from egglift.ir.parser import loads


def test_nothing_is_computed_for_places_that_do_not_exist() -> None:
    """Of the concatenation, all that is dropped has no place to go to; below guards that contradict each other even
    indices may be wrong."""
    program = """(map (fn f32 (let ((add (fn (f32, f32) (add (get 0 arg) (get 1 arg)))))
        (reduceSeq add arg (toPrivate (drop 2 (concat (mapSeq (fn f32 (exp arg)) (input x [f32]2))
          (mapSeq (fn f32 (sqrt arg)) (input y [f32]3)))))))) (input z [f32]5))"""
    source = compile_term(loads(program), Launch(1)).source
    assert "sqrt" in source and "exp" not in source
