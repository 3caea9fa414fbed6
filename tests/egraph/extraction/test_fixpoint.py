"""The fixpoint table: exact outside of cycles, iterated inside."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from egglift.egraph.extraction.fixpoint import Fixpoint

INFINITE = 10**9


def shortest(edges: dict[int, list[tuple[int, int]]], goal: int, count: list[int] | None = None) -> Fixpoint[int, int]:
    """A table whose states are nodes and whose values are distances to `goal`."""
    table: Fixpoint[int, int] = Fixpoint(INFINITE, lambda a, b: a == b, rounds=100)

    def distance(n: int) -> int:
        def compute() -> int:
            if count is not None:
                count[0] += 1
            here = 0 if n == goal else INFINITE
            return min([here, *(w + distance(m) for m, w in edges.get(n, []))])

        return table.get(n, compute)

    table.distance = distance  # type: ignore[attr-defined]
    return table


def bellman_ford(edges: dict[int, list[tuple[int, int]]], goal: int, nodes: range) -> dict[int, int]:
    best = {n: 0 if n == goal else INFINITE for n in nodes}
    for _ in nodes:
        for n, out in edges.items():
            for m, w in out:
                best[n] = min(best[n], w + best[m])
    return best


def test_without_cycles_every_state_is_computed_once() -> None:
    count = [0]
    chain = {n: [(n + 1, 1), (n + 2, 3)] for n in range(30)}
    table = shortest(chain, 30, count)
    assert table.distance(0) == 30  # type: ignore[attr-defined]
    assert count[0] == 32


def test_a_cycle_is_left_by_its_cheapest_exit() -> None:
    ring = {0: [(1, 1)], 1: [(2, 1), (9, 100)], 2: [(0, 1), (9, 5)]}
    table = shortest(ring, 9)
    assert table.distance(0) == 7  # type: ignore[attr-defined]
    assert table.distance(1) == 6  # type: ignore[attr-defined]


@example([(0, 1, 1), (0, 7, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)])
@example([(0, 2, 1), (0, 3, 1), (1, 2, 1), (2, 0, 1), (2, 7, 1), (3, 1, 1), (7, 1, 1)])
@settings(max_examples=500)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 9)), max_size=24))
def test_distances_in_any_graph_are_those_of_bellman_and_ford(arcs: list[tuple[int, int, int]]) -> None:
    edges: dict[int, list[tuple[int, int]]] = {}
    for a, b, w in arcs:
        edges.setdefault(a, []).append((b, w))
    table = shortest(edges, 7)
    want = bellman_ford(edges, 7, range(8))
    for n in range(8):
        got = table.distance(n)  # type: ignore[attr-defined]
        assert min(got, INFINITE) == min(want[n], INFINITE)
