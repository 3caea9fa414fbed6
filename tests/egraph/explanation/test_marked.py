"""Derivations with what changed marked."""

from __future__ import annotations

from egglift.egraph.explanation.marked import compared, marked_account
from egglift.ir.markup import html, tag


def test_what_is_gone_and_what_is_new_is_marked() -> None:
    before, after = compared("(map f (map g x))", "(map (compose f g) x)")
    assert html(tag("p", *before)) == "<p>(map f <del>(map </del>g x)<del>)</del></p>"
    assert html(tag("p", *after)) == "<p>(map <ins>(compose </ins>f g<ins>)</ins> x)</p>"


def test_texts_that_are_the_same_have_no_marks() -> None:
    before, after = compared("(map f x)", "(map f x)")
    assert html(tag("p", *before)) == html(tag("p", *after)) == "<p>(map f x)</p>"


def test_line_breaks_are_never_marked() -> None:
    _, after = compared("x", "(concat\n  (a)\n  (b))")
    assert all("\n" not in (mark.text or "") for mark in tag("p", *after).iter("ins"))


def test_an_account_marks_what_was_chosen_for_loops() -> None:
    loops = ("    for 0 by m0: global0", "      keep operand 0 in private memory")
    text = "\n".join(["stage0[0 < 64] = (add for 1 < 8 of A[0,1])", "  tile: m0 = 4", *loops])
    marked = marked_account(text, ("split", "keep"))
    assert [m.text for m in marked.iter("ins")] == ["m0", "global0", "keep operand 0 in private memory"]
    assert "".join(marked.itertext()).startswith(text)
