"""Reading a page as a browser does, without one."""

import base64
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"img", "link", "meta", "source"}


@dataclass
class Element:
    name: str
    attributes: dict
    children: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, name):
        found = [self] if self.name == name else []
        return found + [e for child in self.children if isinstance(child, Element) for e in child.all(name)]


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag, attrs):
        made = Element(tag, dict(attrs))
        self.open[-1].children.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_endtag(self, tag):
        assert self.open.pop().name == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(page):
    """Return the page as a tree; every element must be closed by its own tag."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    (root,) = reader.open
    return root


def everything(element):
    yield element
    for child in element.children:
        if isinstance(child, Element):
            yield from everything(child)


def section(page, identity):
    (found,) = [e for e in read(page).all("section") if e.attributes["id"] == identity]
    return found


def table(page, identity):
    """Return the rows of a table, each a list of texts; the first has the headings."""
    (found,) = [t for t in read(page).all("table") if t.all("caption")[0].attributes["id"] == f"{identity}-caption"]
    return [[cell.text for cell in row.children if isinstance(cell, Element)] for row in found.all("tr")]


def pictures(page):
    """Return the SVG of every picture, as text."""
    return [base64.b64decode(found).decode() for found in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)]
