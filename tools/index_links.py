"""Fail if the installed package's text for the package index links to something that is only in the repository."""

import re
from importlib.metadata import metadata

text = metadata("unmask").get_payload()
links = re.findall(r"\]\(([^)]+)\)", text)
relative = [link for link in links if not link.startswith(("https://", "#"))]
if relative or not links:
    raise SystemExit(f"links of the package index that lead nowhere: {relative or 'there are none at all'}")
