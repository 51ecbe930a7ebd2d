"""The workbench in a notebook: the same page, its messages carried by the notebook."""

from __future__ import annotations

from importlib.resources import files
from numbers import Integral
from typing import Any

import anywidget

from ..discovery import ESTIMATORS, Discovery
from ._messages import encode
from ._session import Session

_STATIC = files(__package__) / "static"

# Sessions that are shown, and by how many widgets: all widgets of a study show one session.
_SHOWN: dict[Session, int] = {}


class Workbench(anywidget.AnyWidget):
    """A study to look at and go on with, in Jupyter and marimo.

    Nothing of the study is kept in the notebook: it lives in the kernel, where ``study`` is at any time what the page
    shows. Two of them of one study show the same.

    Parameters
    ----------
    study : Discovery
        The study.
    """

    _esm = (_STATIC / "widget.js").read_text(encoding="utf-8")
    _css = (_STATIC / "app.css").read_text(encoding="utf-8")

    def __init__(self, study: Discovery) -> None:
        super().__init__()
        self._session = _session_of(study)
        self._session.listen(self._tell)
        self._is_open = True
        self.on_msg(self._hear)

    @property
    def study(self) -> Discovery:
        """The study as it is now."""
        return self._session.study

    def close(self) -> None:
        """Take the page away, and end the worker unless another page shows the same study."""
        if self._is_open:
            self._is_open = False
            self._session.leave(self._tell)
            _let_go(self._session)
        super().close()

    def _hear(self, _: Any, content: Any, buffers: list[Any]) -> None:
        asked = {"from": content["from"]} if "from" in content else {}
        message = {**content, **({"data": bytes(buffers[0])} if buffers else {})}
        # All views hear the answer, and the one that asked takes it.
        self._session.receive(message, lambda answer: self._tell({**answer, **asked}))

    def _tell(self, message: dict[str, Any]) -> None:
        self.send({}, [encode(message)])


def _session_of(study: Discovery) -> Session:
    """Return the session in which a study is shown, a new one if there is none."""
    session = next((shown for shown in _SHOWN if shown.study is study), None) or Session(study, by_http=False)
    _SHOWN[session] = _SHOWN.get(session, 0) + 1
    return session


def _let_go(session: Session) -> None:
    _SHOWN[session] -= 1
    if not _SHOWN[session]:
        del _SHOWN[session]
        session.close()


def explore_fitted(estimator: Any, X: Any, known: Any, table: Any, weights: Any) -> Workbench:
    """Show a study of what an estimator was fitted to, whose first map the worker fits with the same parameters."""
    names = [name for name, public in ESTIMATORS.items() if type(estimator) is public]
    if not names:
        able = ", ".join(public.__name__ for public in ESTIMATORS.values())
        raise ValueError(f"explore() of {type(estimator).__name__}: a study has maps of {able}; fit one of these.")
    given = estimator.get_params(deep=False)
    about = {name: given.pop(name) for name in ("known_types", "metric", "metric_params")}
    given.pop("init", None)  # a start, or a file, of the fit that there is
    study = Discovery(X, known, table, weights=weights, title=type(estimator).__name__, **about)
    if "random_state" in given:  # a study comes to the same map again
        given["random_state"] = int(given["random_state"]) if isinstance(given["random_state"], Integral) else 0
    fit = {name: given.pop(name) for name in ("n_components", "adjust")}
    workbench = Workbench(study)
    asked = {"do": "fit", "revision": workbench._session.revision, "estimator": names[0], **fit, "params": given}
    answer = workbench._session.handle(asked)
    if not answer["ok"]:
        workbench.close()
        raise ValueError(answer["error"])
    return workbench
