"""`continue` as the condition that it is: what follows it is left out where it is reached.

for (...) { if (c) continue; rest }   ->   for (...) { if (c) { } else { rest } }
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from pycparser import c_ast

from egglift.frontend.variables import all_nodes, block

LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def without_continues(tree: Any) -> None:
    """Rewrites the bodies of all `for` loops in a tree; a `continue` that is left stands within another statement."""
    for loop in [n for n in all_nodes(tree) if isinstance(n, c_ast.For)]:
        if any(isinstance(n, c_ast.Continue) for n in _of_this_loop(loop.stmt)):
            loop.stmt = c_ast.Compound(_rewritten(block(loop.stmt)), loop.stmt.coord)


def _of_this_loop(node: Any) -> Iterator[Any]:
    """The nodes of a body, without those of loops in it."""
    if node is None or isinstance(node, LOOPS):
        return
    yield node
    for _, child in node.children():
        yield from _of_this_loop(child)


def _rewritten(items: list[Any]) -> list[Any]:
    for k, item in enumerate(items):
        if isinstance(item, c_ast.Continue):
            return items[:k]
        if isinstance(item, c_ast.If) and any(isinstance(n, c_ast.Continue) for n in _of_this_loop(item)):
            yes, no = ([*block(way), *map(deepcopy, items[k + 1 :])] for way in (item.iftrue, item.iffalse))
            if any(isinstance(n, c_ast.Decl) for way in (item.iftrue, item.iffalse) for n in block(way)):
                return items  # its names are not those of what follows
            ways = [c_ast.Compound(_rewritten(way), item.coord) for way in (yes, no)]
            return [*items[:k], c_ast.If(item.cond, *ways, item.coord)]
    return items
