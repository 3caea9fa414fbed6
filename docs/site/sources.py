"""Source files and folders that pages link to, as pages: a file in colours, a folder with what is in it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from docs.site.links import ELSEWHERE, PICTURES, is_page, links

ROOT = Path(__file__).resolve().parents[2]
#: by ending, what colours a file
LANGUAGES = {
    ".py": "python",
    ".md": "markdown",
    ".json": "json",
    ".egg": "scheme",
    ".c": "c",
    ".h": "c",
    ".yml": "yaml",
}
#: characters; longer files are data, of which the beginning is shown
LONGEST, BEGINNING = 60_000, 3_000
#: no results of searches: the same words are in every file
HEAD = "---\nsearch:\n  exclude: true\nhide: [navigation]\n---\n\n"
NOT_SHOWN = {"__pycache__", "py.typed"}


def linked(written: Mapping[str, str]) -> set[str]:
    """Files and folders outside docs/ that the documents, by path, link to, and every file in these folders."""
    found = {to for path, text in written.items() for to in links(text, path) if _is_source(to)}
    inside = {
        str(f.relative_to(ROOT)) for to in found if (ROOT / to).is_dir() for f in _entries(ROOT / to) if f.is_file()
    }
    return {path for path in found | inside if not path.endswith(PICTURES)}


def picture_paths(written: Mapping[str, str]) -> set[str]:
    """Pictures outside docs/ that the documents show."""
    found = {to for path, text in written.items() for to in links(text, path)}
    return {to for to in found if to.endswith(PICTURES) and not to.startswith("docs/")}


def source_page(path: str) -> str:
    """The page of a source file or folder."""
    body = _folder(path) if (ROOT / path).is_dir() else _file(path)
    return f"{HEAD}# `{path}`\n\n{body}\n"


def _is_source(path: str) -> bool:
    return not is_page(path) and path not in ELSEWHERE and (ROOT / path).exists()


def _entries(folder: Path) -> Iterable[Path]:
    return sorted(f for f in folder.iterdir() if f.name not in NOT_SHOWN)


def _folder(path: str) -> str:
    rows = ["| | |", "|---|---|"]
    for entry in _entries(ROOT / path):
        linkable = entry.is_file() and not entry.name.endswith(PICTURES)
        name = f"[`{entry.name}`]({Path(path).name}/{entry.name}.md)" if linkable else f"`{entry.name}`"
        rows.append(f"| {name} | {_about(entry)} |")
    return "\n".join(rows)


def _about(entry: Path) -> str:
    """What a file says of itself: the first line of its docstring, or comment."""
    if entry.suffix == ".py":
        return (ast.get_docstring(ast.parse(entry.read_text())) or "").partition("\n")[0].replace("|", "\\|")
    if entry.suffix == ".egg":
        return entry.read_text().partition("\n")[0].lstrip("; ").replace("|", "\\|")
    return ""


def _file(path: str) -> str:
    text = (ROOT / path).read_text()
    fence = "`" * 5
    rest = f"\n\n{len(text):,} characters, of which these are the first {BEGINNING:,}." if len(text) > LONGEST else ""
    shown = text[:BEGINNING] if rest else text
    return f"{fence}{LANGUAGES.get(Path(path).suffix, 'text')}\n{shown.rstrip()}\n{fence}{rest}"
