"""The workbench in a notebook: the same page, its messages carried by the notebook."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import anywidget

from ..discovery import Discovery
from ._messages import join, split
from ._session import Session

_STATIC = files(__package__) / "static"


class Workbench(anywidget.AnyWidget):
    """A study to look at and go on with, in Jupyter and marimo.

    Nothing of the study is kept in the notebook: it lives in the kernel, where ``study`` is at any time what the page
    shows.

    Parameters
    ----------
    study : Discovery
        The study.
    """

    _esm = (_STATIC / "widget.js").read_text(encoding="utf-8")
    _css = (_STATIC / "app.css").read_text(encoding="utf-8")

    def __init__(self, study: Discovery) -> None:
        super().__init__()
        self._session = Session(study, by_http=False)
        self._session.listen(self._tell)
        self.on_msg(self._hear)

    @property
    def study(self) -> Discovery:
        """The study as it is now."""
        return self._session.study

    def close(self) -> None:
        """End the worker, and take the page away."""
        self._session.close()
        super().close()

    def _hear(self, _: Any, content: Any, buffers: list[Any]) -> None:
        answer = self._session.handle(join(content, [bytes(buffer) for buffer in buffers]))
        asked = {"from": content["from"]} if "from" in content else {}
        self._tell({**answer, **asked})  # all views hear it, and the one that asked takes it

    def _tell(self, message: dict[str, Any]) -> None:
        self.send(*split(message))
