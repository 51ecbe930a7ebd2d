"""Pages with maps that move: their script and style, which `make web` makes, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib import resources

NO_SCRIPT = "This map is drawn by a script of this page, which the browser was told not to run."


@cache
def map_asset(name: str) -> str:
    """Return the script (explore.js) or the style (explore.css) of a map."""
    return (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")


def hash_source(text: str) -> str:
    """Return how a policy names a script or a style: by its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def map_holder(data: str, still: str = "", *, whole: bool = False) -> str:
    """Return the element that a map stands in, with its data and what is seen where no script runs."""
    inside = f'<script type="application/json">{data}</script>'
    if whole:
        return f'<main class="unmask-map" data-whole>{inside}<noscript><p>{NO_SCRIPT}</p></noscript></main>'
    return f'<div class="unmask-map">{inside}{still}</div>'


def make_page(body: str, title: str) -> str:
    """Return a page that runs the script of the maps in it, loads nothing and sends nothing."""
    script, style = map_asset("explore.js"), map_asset("explore.css")
    policy = (
        f"default-src 'none'; script-src {hash_source(script)}; style-src {hash_source(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{quoted(title)}</title><style>{style}</style></head>"
        f"<body>{body}<script>{script}</script></body></html>\n"
    )


def quoted(text: str) -> str:
    """Return text as it may stand anywhere in a page; half characters become question marks."""
    return escape(text.encode("utf-8", "replace").decode("utf-8"))


def in_frame(page: str, title: str, height: int) -> str:
    """Return a page within another one, where neither can touch the other."""
    # Between single quotes, of which a script and JSON have fewer than of double ones.
    inside = page.replace("&", "&amp;").replace("'", "&#x27;")
    look = f'title="{quoted(title)}" width="100%" height="{height}" style="border:0"'
    return f"<iframe sandbox=\"allow-scripts\" {look} srcdoc='{inside}'></iframe>"
