"""Configuration of the documentation; it builds without a network."""

from unmask import __version__

project = "unmask"
author = "The unmask developers"
copyright = "2026, The unmask developers"  # noqa: A001 - Sphinx's name
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameter tables say it in words
numpydoc_show_class_members = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

highlight_language = "none"  # formulas in docstrings are not Python
html_theme = "furo"
html_title = f"unmask {version}"
html_copy_source = False
html_show_sourcelink = False
