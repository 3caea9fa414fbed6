"""An accumulator is updated in place only where that is proved."""

from __future__ import annotations

import pytest

from egglift.codegen.compile import compile_term
from egglift.codegen.kernel.imperative import Buffer, Call, Const, Declare, Load, Loop, Statement, Store
from egglift.codegen.kernel.in_place import in_place, pointwise
from egglift.codegen.kernel.index import Data, Index, Var, index
from egglift.codegen.kernel.rewrite import redirected
from egglift.ir.types import F32
from tests.codegen.samples.book import SAMPLES

ACC, NEW, OTHER = (Buffer(name, "private", F32, 16) for name in ("acc", "next", "x"))
I, J = Var("i", 4, "loop"), Var("j", 4, "loop")


def store(to: Index, *reads: Index, target: Buffer = NEW) -> Store:
    """target[to] = the sum of acc at `reads`."""
    value = Load(OTHER, to)
    for at in reads:
        value = Call("add", (Load(ACC, at), value), F32)  # type: ignore[assignment]
    return Store(target, to, value)


def loop(var: Var, *body: Statement) -> Loop:
    return Loop(var, var.count, body)


ROW = index(I) * 4 + J
PARTS = index(I) // 2 * 8 + index(I) % 2
KEEP = Store(NEW, index(I), Load(ACC, index(I)))
UPDATE = Store(NEW, index(J), Call("neg", (Load(NEW, index(J)),), F32))
CASES: dict[str, tuple[list[Statement], bool]] = {
    "element by element": ([loop(I, loop(J, store(ROW, ROW)))], True),
    "accumulator not read": ([loop(I, store(index(I)))], True),
    "another element": ([loop(I, store(index(I), 3 - index(I)))], False),
    "the element before": ([loop(I, store(index(I) + 1, index(I)))], False),
    "written twice": ([loop(I, loop(J, store(index(J), index(J))))], False),
    "overlapping elements": ([loop(I, loop(J, store(index(I) * 2 + J, index(I) * 2 + J)))], False),
    "read in another loop": (
        [loop(I, store(index(I), index(I))), loop(J, store(index(J), index(J), target=OTHER))],
        False,
    ),
    "read after the write": ([loop(I, store(index(I)), store(index(I), index(I), target=OTHER))], False),
    "through a quotient and a remainder": ([loop(I, store(PARTS, PARTS))], True),
    "through a remainder alone": ([loop(I, store(index(I) % 2, index(I) % 2))], False),
    "copied first": ([loop(I, KEEP), loop(J, store(index(J), target=NEW), UPDATE)], True),
    "copied later": ([loop(J, UPDATE), loop(I, KEEP)], False),
    "copied, and read again": ([loop(I, KEEP), loop(J, store(index(J), 3 - index(J)))], False),
    "through a quotient": ([loop(I, loop(J, store(ROW // 3, ROW // 3)))], False),
}


@pytest.mark.parametrize("name", CASES)
def test_only_element_wise_updates_are_in_place(name: str) -> None:
    statements, expected = CASES[name]
    assert pointwise(statements, [(ACC, NEW)]) == expected


def test_redirection_drops_the_second_array_and_what_it_kept() -> None:
    keep = Store(NEW, index(J), Load(ACC, index(J)))
    body: list[Statement] = [Declare(NEW), loop(I, store(index(I), index(I))), loop(J, keep)]
    assert redirected(body, {NEW: ACC}) == [loop(I, store(index(I), index(I), target=ACC))]


def test_register_arrays_are_updated_in_place() -> None:
    for name in ("array accumulator", "array accumulator, vectors", "array accumulator in local memory"):
        assert "next" not in compile_term(SAMPLES[name].term, SAMPLES[name].launch).source
    moved = SAMPLES["an accumulator that moves"]
    assert "next0[" in compile_term(moved.term, moved.launch).source


def test_what_is_read_of_the_second_array_is_read_of_the_first() -> None:
    body: list[Statement] = [Declare(NEW), loop(I, KEEP), loop(J, UPDATE)]
    (update,), apart = in_place(body, [[(ACC, NEW)]])
    assert not apart
    assert update == loop(J, Store(ACC, index(J), Call("neg", (Load(ACC, index(J)),), F32)))


def test_a_second_array_that_is_read_as_an_index_stays() -> None:
    at = index(Data(Load(NEW, index(I)), 0, 15))
    body: list[Statement] = [loop(I, store(index(I), index(I)), Store(OTHER, at, Const(1.0, F32)))]
    assert in_place(body, [[(ACC, NEW)]]) == (body, [[(ACC, NEW)]])


ITEM = Var("l0", 4, "local", 0)
OWN = index(ITEM) * 4 + I
OWNED: dict[str, tuple[list[Statement], bool]] = {
    "read twice before": ([loop(I, store(OWN, OWN, target=OTHER)), loop(I, store(OWN))], True),
    "scaled, then added to": ([loop(I, store(OWN, OWN)), loop(J, loop(I, Store(NEW, OWN, Load(NEW, OWN))))], True),
    "read after the write": ([loop(I, store(OWN)), loop(I, store(OWN, OWN, target=OTHER))], False),
    "another item's": ([loop(I, store(OWN, index(I) * 4 + ITEM, target=OTHER)), loop(I, store(OWN))], False),
    "in one loop": ([loop(J, loop(I, store(OWN, OWN, target=OTHER)), loop(I, store(OWN)))], False),
    "written where others read": ([loop(I, store(OWN, OWN)), loop(I, store(index(I) * 4 + ITEM))], False),
}


@pytest.mark.parametrize("name", OWNED)
def test_items_update_elements_of_their_own_in_place(name: str) -> None:
    statements, expected = OWNED[name]
    _, apart = in_place(statements, [[(ACC, NEW)]], frozenset({ITEM}))
    assert (not apart) == expected


def test_arrays_that_may_not_be_in_place_keep_a_second_one() -> None:
    other, new = (Buffer(name, "private", F32, 4) for name in ("acc1", "next1"))
    moved = Store(new, index(J), Load(other, 3 - index(J)))
    statements, apart = in_place([loop(I, store(index(I))), loop(J, moved)], [[(ACC, NEW)], [(other, new)]])
    assert statements == [loop(I, store(index(I), target=ACC)), loop(J, moved)]
    assert apart == [[(other, new)]]
