"""Vector statements: what the lanes of a vector do alike, emitted once."""

from __future__ import annotations

from collections.abc import Callable

from egglift.codegen.emission.builder import Builder, NotVector
from egglift.codegen.kernel.index import Index, Var, index


def vector(em: Builder, n: int, body: Callable[[Index], None]) -> None:
    """`body` for n lanes at once: emitted once, with the lane as a variable; lane by lane where that cannot be."""
    lane = Var(em.names.numbered("v"), n, "lane")
    used = em.private_bytes
    try:
        with em.block() as statements, em.running(lane=lane):
            body(index(lane))
    except NotVector:
        em.private_bytes = used
        return em.loop(n, body, unroll=n <= 16)
    em.put(*statements)
