"""Configuration of the documentation; it builds without a network."""

import os
from pathlib import Path

from unmask import __version__
from unmask._documentation import documentation_address

project = "unmask"
author = "The unmask developers"
copyright = "2026, The unmask developers"  # noqa: A001 - Sphinx's name
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
]
# What is of other packages becomes a link to their pages. That fetches their lists of names, so it has to be asked for.
if os.environ.get("UNMASK_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    numpydoc_xref_param_type = True
    numpydoc_xref_ignore = "all"  # but for these
    numpydoc_xref_aliases = {
        "AnnData": "anndata.AnnData",
        "Axes": "matplotlib.axes.Axes",
        "DataFrame": "pandas.DataFrame",
        "Series": "pandas.Series",
        "ndarray": "numpy.ndarray",
        # numpydoc's own are labels of pages, of which a missing one is a warning.
        "array-like": "numpy.typing.ArrayLike",
        "array_like": "numpy.typing.ArrayLike",
        "bool": "bool",
        "boolean": "bool",
        "generator": "collections.abc.Generator",
        "iterable": "collections.abc.Iterable",
        "scalar": "numpy.generic",
        "sequence": "collections.abc.Sequence",
    }
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "anndata": ("https://anndata.readthedocs.io/en/stable", None),
    "matplotlib": ("https://matplotlib.org/stable", None),
    "networkx": ("https://networkx.org/documentation/stable", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameter tables say it in words
numpydoc_show_class_members = False
myst_enable_extensions = ["colon_fence", "deflist", "tasklist"]
myst_heading_anchors = 3

highlight_language = "none"  # formulas in docstrings are not Python
html_theme = "furo"
html_title = f"unmask {version.partition('+')[0]}"
html_baseurl = documentation_address()
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["gallery.css"]

# Pages of the gallery that need data which are not part of the project: the page, and the environment variable that
# names the folder with the data, absolute or seen from the project's own.
OUTSIDE = {"plot_2_faces": "UNMASK_FACES"}
# Another such variable: its page is built in any case, and longer where there are data.
LONGER = "UNMASK_MOTION"


def _pages_without_data() -> list[str]:
    """Return the pages that cannot be built here."""
    return [page for page, variable in OUTSIDE.items() if not _has_data(variable)]


def _has_data(variable: str) -> bool:
    """Say whether a variable names a folder; make it absolute, as pages run in one of their own, or unset it."""
    folder = Path(__file__).parents[1] / os.environ.get(variable, "")
    found = bool(os.environ.pop(variable, "")) and folder.is_dir()
    if found:
        os.environ[variable] = str(folder.resolve())
    return found


_has_data(LONGER)
left_out = _pages_without_data()
exclude_patterns += [f"papers/{page}.*" for page in left_out]  # built earlier, where the data were
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/papers", "../examples/discovery", "../examples/limits"],
    "gallery_dirs": ["papers", "discoveries", "limits"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": "|".join([r"__init__\.py", *left_out]),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "parallel": True,  # as many pages at a time as sphinx -j says
    "capture_repr": ("_repr_html_",),  # tables; what a drawing function returns is not worth printing
    "image_srcset": ["2x"],
    "matplotlib_animations": False,
    "download_all_examples": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # a page that fetches scripts from elsewhere
}
