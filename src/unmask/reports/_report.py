"""A study as one page that holds everything it needs itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..checking import require_flag, require_integer
from ..discovery import Discovery
from ..io import atomic_path
from ..plotting import hash_source, map_asset
from ..progress import Callback, series
from ._findings import findings, record, tiles
from ._fit import RIVALS, quality, rivals
from ._known import known_features
from ._page import Part, Section, render
from ._steps import before_and_after, step_by_step
from ._subject import ReportOptions, Subject
from ._text import clip, count

# Nothing is loaded, nothing runs, nothing is sent: the browser is told so too.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_report(
    study: Discovery,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    scree: bool = True,
    bootstrap: int = 50,
    compare: bool | Sequence[str] = True,
    seed: int = 0,
    max_objects: int = 500,
    saved_as: str | PathLike[str] = "study",
    interactive: bool = False,
    callback: Callback | None = None,
) -> Path:
    """Write a study as one page that opens in any browser, from disk and without a network.

    The same study makes the same page: nothing on it depends on the clock.

    Parameters
    ----------
    study : Discovery
        A study with at least one fit.
    path : str or path
        The file to write, which usually ends in ``.html``. It is written whole or not at all.
    title : str, optional
        Heading of the page; by default the title of the study.
    scree : bool, default=True
        Whether to fit further numbers of dimensions, some 13 fits.
    bootstrap : int, default=50
        Number of resamples for intervals and ellipses, each a short fit; 0 for none.
    compare : bool or sequence of str, default=True
        Whether to compare with other methods, or which of those that :func:`unmask.inspection.compare` knows.
    seed : int, default=0
        Seed of resamples, tests and other methods, and of samples of many objects.
    max_objects : int, default=500
        Parts that need many further fits are made of at most so many objects, parts that need one of at most ten times
        as many; the page says what was left out.
    saved_as : str or path, default="study"
        Where the study is saved, for the script on the page.
    interactive : bool, default=False
        Whether maps can be explored, as by :func:`unmask.plotting.explore`. The page then holds one script, the only
        one that it allows; where scripts do not run, the still pictures remain.
    callback : callable, optional
        Called with an :class:`unmask.Progress` before each part, at the end, and after every iteration of further
        fits. If it returns True, :class:`unmask.discovery.Stopped` is raised, and nothing is written.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If there is nothing to report, or a parameter is not what it must be.

    Examples
    --------
    >>> import tempfile
    >>> from unmask.datasets import load_kinship
    >>> from unmask.discovery import Discovery
    >>> from unmask.reports import write_report
    >>> kin = load_kinship()
    >>> study = Discovery(kin.dissimilarities, known=kin.known[["gender"]], title="Kinship")
    >>> _ = study.fit(2, n_init=4)
    >>> file = write_report(study, f"{tempfile.mkdtemp()}/kinship.html", scree=False, bootstrap=0, compare=False)
    >>> file.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    options = _options(scree, bootstrap, compare, seed, max_objects, saved_as, interactive)
    subject = Subject(_checked(study), options)
    page = _page(subject, clip(title if title is not None else study.title) or "A study of dissimilarities", callback)
    with atomic_path(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return Path(path)


def _page(subject: Subject, heading: str, callback: Callback | None) -> str:
    """Return the page. The findings come first and are made last, of all other sections."""
    sections: dict[str, tuple[str, Callable[[Subject], Sequence[Part]]]] = {
        "pair": ("Before and after", before_and_after),
        "steps": ("Step by step", step_by_step),
        "known": ("The known features", known_features),
        "fit": ("How good the last map is", quality),
        "rivals": ("Would a simpler method have done?", rivals),
        "record": ("To repeat it", record),
        "findings": ("Findings", findings),
    }
    if not subject.options.rivals:
        del sections["rivals"]
    made = []
    with series(callback) as tell:
        for at, (identity, (title, build)) in enumerate(sections.items()):
            tell(f"report: {title}", at, len(sections))
            made.append(Section(identity, title, subject.attempt(partial(build, subject))))
        tell("report: done", len(sections), len(sections))
    script, style, policy = "", "", POLICY
    if subject.options.interactive:
        script, style = map_asset("explore.js"), map_asset("explore.css")
        policy = f"{POLICY}; script-src {hash_source(script)}"  # this one, and no other
    steps, adopted = len(subject.study.steps), len(subject.adoptions)
    recognised = f", {count(adopted, 'feature')} recognised" if adopted else ""
    return render(
        heading=heading,
        lead=f"{count(subject.n, 'object')}, {count(steps, 'map')}{recognised}",
        tiles=tiles(subject),
        sections=[made[-1], *made[:-1]],
        policy=policy,
        script=script,
        style=style,
        version=version("unmask"),
    )


# ---- checking


def _checked(study: Any) -> Discovery:
    if not isinstance(study, Discovery):
        raise ValueError(f"study is of type {type(study).__name__}; pass a Discovery, such as Discovery.load(path).")
    if not study.steps:
        raise ValueError("study has no fit to report; call its fit first.")
    return study


def _options(
    scree: Any,
    bootstrap: Any,
    compare: Any,
    seed: Any,
    max_objects: Any,
    saved_as: Any,
    interactive: Any,
) -> ReportOptions:
    resamples = require_integer("bootstrap", bootstrap, 0)
    if resamples == 1:
        raise ValueError("bootstrap=1 says nothing about spread; use at least 2 resamples, or 0 for none.")
    if isinstance(compare, bool):
        methods: tuple[str, ...] = tuple(RIVALS) if compare else ()
    elif isinstance(compare, str) or not all(isinstance(name, str) for name in compare):
        raise ValueError(f"compare={compare!r} must be True, False or a list of names of methods.")
    else:
        methods = tuple(compare)
    return ReportOptions(
        scree=require_flag("scree", scree),
        resamples=resamples,
        rivals=methods,
        seed=require_integer("seed", seed, 0),
        max_objects=require_integer("max_objects", max_objects, 0),
        saved_as=fspath(saved_as),
        interactive=require_flag("interactive", interactive),
    )
