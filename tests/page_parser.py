"""Pages read strictly: every element is closed where HTML asks for it, in order; text, ids and links are collected."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "hr"}


@dataclass
class Node:
    """An element: its name, attributes, and what is in it."""

    name: str
    attributes: dict[str, str | None]
    children: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    def all(self, name: str, kind: str | None = None) -> list[Node]:
        """Elements of that name in it, those of a class."""
        found = []
        for c in self.children:
            if isinstance(c, Node):
                if c.name == name and (kind is None or kind in (c.attributes.get("class") or "").split()):
                    found.append(c)
                found += c.all(name, kind)
        return found


class Page(HTMLParser):
    """A page; AssertionError where an element is closed that is not open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Node("", {})
        self._open = [self.root]
        self.feed(text)
        self.close()
        assert self._open == [self.root], f"not closed: {self._open[-1].name}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        made = Node(tag, dict(attrs))
        self._open[-1].children.append(made)
        if tag not in VOID:
            self._open.append(made)

    def handle_endtag(self, tag: str) -> None:
        """It ends: the innermost one that is open."""
        assert self._open[-1].name == tag, f"</{tag}> within <{self._open[-1].name}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        """Text."""
        self._open[-1].children.append(data)

    @property
    def every(self) -> list[Node]:
        """All elements."""
        found, stack = [], [self.root]
        while stack:
            node = stack.pop()
            kids = [c for c in node.children if isinstance(c, Node)]
            found += kids
            stack += kids
        return found

    @property
    def ids(self) -> Counter[str]:
        """How often each id is there."""
        return Counter(i for n in self.every if (i := n.attributes.get("id")))

    def at(self, name: str) -> Node:
        """The element of that id."""
        return next(n for n in self.every if n.attributes.get("id") == name)
