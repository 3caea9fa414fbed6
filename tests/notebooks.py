"""Notebooks that are run: their cells, one after the other, in one session, as Jupyter runs them."""

from __future__ import annotations

import ast
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import nbformat


def read(path: Path) -> Any:
    """A notebook; nbformat's error where the file is none."""
    found = nbformat.read(path, as_version=4)
    nbformat.validate(found)
    return found


def run(notebook: Any) -> list[str]:
    """Runs the cells of code: what each prints, and how it shows the value of its last line."""
    session: dict[str, Any] = {"__name__": "notebook"}
    return [_cell(cell.source, session) for cell in notebook.cells if cell.cell_type == "code"]


def _cell(source: str, session: dict[str, Any]) -> str:
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(StringIO()) as out:
        exec(compile(tree, "cell", "exec"), session)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), session) if last else None
    if value is None:
        return out.getvalue()
    return out.getvalue() + (value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
