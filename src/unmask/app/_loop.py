"""Requests that fit maps and move about in the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..discovery import ESTIMATORS, Adoption, Step, parameters_of
from . import _work
from ._requests import Message, field, request

if TYPE_CHECKING:
    from ..discovery import Discovery
    from ._session import Session

# What a fit takes by name, and what it takes but not from a page.
NAMED = ("n_components", "estimator", "adjust")
NOT_OF_A_PAGE = ("callback", "init")  # init could name a file
# From so many objects on, people who look on do not wait for all pairs unless they ask for it: solver="auto".
MANY = 20_000


def _start(session: Session, kind: str, text: str, work: Any, *arguments: Any) -> Message:
    """Let the worker go on with a branch of the study, and take over what it did."""
    study = session.study
    since, here = len(study.tree), study.here

    def take(branch: Discovery) -> Message:
        action = study.take_over(branch, since)
        if study.here == here:  # otherwise people have gone elsewhere meanwhile, and stay there
            study.go(action)
        session.changed()
        return {"action": action}

    return session.start(kind, text, take, work, study.branch(study.title), *arguments)


def begin_fit(session: Session, **options: Any) -> Message:
    """Begin to fit a map; what is not said is as in the last step."""
    steps = session.study.steps
    if steps:
        chosen = options.setdefault("estimator", steps[-1].estimator)
        # Of another estimator's parameters those that this one has too; of a name that is none the fit says so.
        takes = {*parameters_of(chosen)} - {"adjust"} if chosen in ESTIMATORS else ()
        options = {**{name: value for name, value in steps[-1].params.items() if name in takes}, **options}
    elif len(session.study.material.data.objects) >= MANY and options.get("estimator", "mds") == "mds":
        options.setdefault("solver", "stochastic")
    return _start(session, "fit", "a map", _work.fit, options)


@request("fit", changes=True)
def fit(session: Session, message: Message) -> Message:
    """Fit a map given what is known now."""
    named = {name: message[name] for name in NAMED if message.get(name) is not None}
    if "estimator" in named:
        field(message, "estimator", str)
    params = {} if message.get("params") is None else field(message, "params", dict)
    for name in params:
        if name in (*NAMED, *NOT_OF_A_PAGE):
            way = "it is a field of its own" if name in NAMED else "the workbench decides it"
            raise ValueError(
                f"params of 'fit' has {name}={params[name]!r}, which is none of them: {way}; leave it out."
            )
    return begin_fit(session, **named, **params)


@request("without", changes=True)
def without(session: Session, message: Message) -> Message:
    """Do again what was done after an action, without it."""
    action, study = field(message, "action", int), session.study
    text = f"without {study.tree[action - 1].text}" if 0 < action <= len(study.tree) else "without"
    return _start(session, "without", text, _work.without, action)


@request("cancel")
def cancel(session: Session, message: Message) -> None:
    """End a job."""
    session.cancel(field(message, "job", int))


@request("restart")
def restart(session: Session, _: Message) -> None:
    """End the worker with what it does, and start another one."""
    session.jobs.restart()


@request("go", changes=True)
def go(session: Session, message: Message) -> Message:
    """Go to an action."""
    text = session.study.go(field(message, "to", int))
    session.changed()
    return {"text": text}


@request("undo", changes=True)
def undo(session: Session, _: Message) -> Message:
    """Take the last action back; with a map also the feature that it was fitted for, and with a feature its fit."""
    study = session.study
    session.cancel_fits()
    text = study.actions[-1].text if study.actions else ""
    fitted = study.actions and isinstance(study.actions[-1], Step)
    study.undo()
    if fitted and study.actions and isinstance(study.actions[-1], Adoption):
        study.undo()
    session.changed()
    return {"text": text}


@request("redo", changes=True)
def redo(session: Session, _: Message) -> Message:
    """Do again what was taken back."""
    study = session.study
    study.redo()
    if isinstance(study.actions[-1], Adoption) and isinstance(study.ahead, Step):
        study.redo()
    session.changed()
    return {"text": study.actions[-1].text}


@request("title", changes=True)
def title(session: Session, message: Message) -> None:
    """Call the study something else."""
    session.study.title = field(message, "title", str)
    session.changed()
