"""HTML and SVG as trees: what is nested is closed, and all text is escaped, by the standard library's writer."""

from __future__ import annotations

from typing import TypeAlias
from xml.etree.ElementTree import Element, tostring

from egglift.ir.plain_numbers import plain

#: what an element holds: text, elements, or nothing
Child: TypeAlias = "Element | str | None"
#: what an attribute is; True: it has no value, False or None: it is not there
Attribute: TypeAlias = "str | float | bool | None"


def tag(element: str, /, *children: Child, **attributes: Attribute) -> Element:
    """`tag("p", "a < b", class_="note")`: `<p class="note">a &lt; b</p>`; an underscore in a name is a hyphen."""
    made = Element(element)
    for key, value in attributes.items():
        if value is not None and value is not False:
            made.set(_attribute(key), "" if value is True else value if isinstance(value, str) else _number(value))
    for child in children:
        _append(made, child)
    return made


def _append(parent: Element, child: Child) -> None:
    if isinstance(child, Element):
        parent.append(child)
    elif child:
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + child
        else:
            parent.text = (parent.text or "") + child


#: of SVG, whose attributes are not all in small letters
_MIXED = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}


def _attribute(name: str) -> str:
    return _MIXED.get(name, name.strip("_").replace("_", "-"))


def _number(x: float) -> str:
    return plain(round(x, 2), 7)


def html(element: Element) -> str:
    """The element as HTML; the text of `style` and `script` stands in it as it is."""
    return tostring(element, encoding="unicode", method="html")
