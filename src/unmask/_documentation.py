"""Where the documentation of a class is, for scikit-learn's picture of an estimator in a notebook."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata


@cache
def documentation_address() -> str:
    """Return where the documentation is published, as the installed package says; empty where it does not say."""
    try:
        entries: list[str] = metadata("unmask").get_all("Project-URL", [])
    except PackageNotFoundError:  # run from a folder that was never installed
        return ""
    return next((entry.split(", ", 1)[1] for entry in entries if entry.startswith("Documentation, ")), "")


class DocumentedMixin:
    """Gives an estimator the link to its page of the reference; goes before ``BaseEstimator``."""

    _doc_link_module = "unmask"

    @property
    def _doc_link_template(self) -> str:
        address = documentation_address()
        return address and f"{address}api/generated/{{name}}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Name the class as the reference does: with its room, except for the estimators."""
        room = type(self).__module__.split("._")[0].removesuffix(".estimators")
        return {"name": f"{room}.{type(self).__name__}"}
