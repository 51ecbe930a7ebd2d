"""Configuration of the documentation; it builds without a network."""

import os
from pathlib import Path

from unmask import __version__

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
html_static_path = ["_static"]
html_css_files = ["gallery.css"]

# Pages of the gallery that need data which are not part of the project: the page, and the environment variable that
# names the folder with the data, absolute or seen from the project's own.
OUTSIDE = {"plot_2_faces": "UNMASK_FACES"}


def _pages_without_data() -> list[str]:
    """Return the pages that cannot be built here; folders are made absolute, as pages run in one of their own."""
    missing = []
    for page, variable in OUTSIDE.items():
        folder = Path(__file__).parents[1] / os.environ.get(variable, "")
        if os.environ.get(variable) and folder.is_dir():
            os.environ[variable] = str(folder.resolve())
        else:
            missing.append(page)
    return missing


left_out = _pages_without_data()
exclude_patterns += [f"papers/{page}.*" for page in left_out]  # built earlier, where the data were
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/papers", "../examples/discovery", "../examples/limits"],
    "gallery_dirs": ["papers", "discoveries", "limits"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": "|".join([r"__init__\.py", *left_out]),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
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
