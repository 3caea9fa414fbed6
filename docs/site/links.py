"""Links between files of the repository, as links between pages of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath, relpath

#: a block of code, which holds no links, or a link: what it shows, and where it leads
_LINK = re.compile(
    r"(?s:^(?P<fence>```+).*?^(?P=fence)[^\n]*$)|(?P<shown>!?\[[^\]]*\])\((?P<to>[^)\s#]+)(?P<at>#[^)\s]*)?\)", re.M
)
PICTURES = (".png", ".svg", ".jpg")
#: files of the repository that are pages of the site, though they are not in docs/
ELSEWHERE = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}


def links(text: str, path: str) -> Iterator[str]:
    """The files of the repository, by path, that the file at `path` links to; those of other sites are left out."""
    for found in _LINK.finditer(text):
        if found["to"] and "://" not in found["to"]:
            yield normpath(join(dirname(path), found["to"]))


def moved(text: str, path: str, place: str) -> str:
    """The text of the repository's file `path` as that of the site's page `place`: its links lead to pages."""

    def link(found: re.Match[str]) -> str:
        if not found["to"] or "://" in found["to"]:
            return found[0]
        to = page_of(normpath(join(dirname(path), found["to"])))
        return f"{found['shown']}({relpath(to, dirname(place) or '.')}{found['at'] or ''})"

    return _LINK.sub(link, text)


def page_of(path: str) -> str:
    """Where the site has the repository's file `path`."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    if is_page(path):
        return path.removeprefix("docs/")
    return f"source/{path}" if path.endswith(PICTURES) else f"source/{path}.md"


def is_page(path: str) -> bool:
    """Is a file of the repository a page that is written by hand, or a picture beside such?"""
    return path.startswith("docs/") and path.endswith((".md", *PICTURES))
