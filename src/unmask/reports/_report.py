"""One page that tells what a study asked and found, and holds everything it needs itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..checking import require_flag, require_integer
from ..discovery import Discovery
from ..io import atomic_path
from ..plotting import hash_source, map_asset
from ..progress import Callback, series
from ._asked import asked, before_and_after, step_by_step
from ._cautions import cautions, cautions_section, in_short
from ._findings import dimensions, importances, quality, sureness
from ._html import Html, clip, count, element, items, join
from ._record import history, script, versions
from ._repeats import repeats_section
from ._rivals import RIVALS, rivals
from ._section import Section
from ._style import STYLE
from ._subject import ReportOptions, Subject

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

    Parameters
    ----------
    study : Discovery
        A study with at least one fit.
    path : str or path
        The file to write, which usually ends in ``.html``. It is written whole or not at all.
    title, scree, bootstrap, compare, seed, max_objects, saved_as, interactive, callback
        As in :func:`render_report`.

    Returns
    -------
    Path
        The file.

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
    page = render_report(
        study,
        title=title,
        scree=scree,
        bootstrap=bootstrap,
        compare=compare,
        seed=seed,
        max_objects=max_objects,
        saved_as=saved_as,
        interactive=interactive,
        callback=callback,
    )
    with atomic_path(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return Path(path)


def render_report(
    study: Discovery,
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
) -> str:
    """Return a study as one page of HTML that needs no other file, no network and, unless asked for, no script.

    Parameters
    ----------
    study : Discovery
        A study with at least one fit.
    title : str, optional
        Heading of the page; by default the title of the study.
    scree : bool, default=True
        Whether to fit further numbers of dimensions, some 13 fits.
    bootstrap : int, default=50
        Number of resamples for intervals and ellipses, each a short fit; 0 for none.
    compare : bool or sequence of str, default=True
        Whether to compare with other methods, or which of those that :func:`unmask.inspection.compare` knows. A method
        that lacks its package is named with the reason.
    seed : int, default=0
        Seed of the bootstrap, of other methods, and of samples of many objects.
    max_objects : int, default=500
        Parts that need many further fits are made of at most so many objects, parts that need one of at most ten times
        as many; the page says what was left out.
    saved_as : str or path, default="study"
        Where the study is saved, as the script in the page is to find it.
    interactive : bool, default=False
        Whether maps can be explored, as by :func:`unmask.plotting.explore`: hover, zoom, pan, search. The page then
        holds one script, the only one that it allows, and every map's places and labels, some 20 bytes an object;
        where scripts do not run, the still pictures remain.
    callback : callable, optional
        Hears how far the page is, as an :class:`unmask.Progress`, before each part is made and at the end: ``stage`` is
        "report: " and the name of the part, ``iteration`` how many are done, ``max_iter`` how many there are; and of
        every iteration of further fits. If it returns True, :class:`unmask.discovery.Stopped` is raised, and nothing
        is written.

    Returns
    -------
    str
        The page. Nothing in it was made by the clock: the same study makes the same page.

    Raises
    ------
    ValueError
        If there is nothing to report, or a parameter is not what it must be.
    """
    options = _options(scree, bootstrap, compare, seed, max_objects, saved_as, interactive)
    subject = Subject(_checked(study), options)
    heading = clip(title if title is not None else study.title) or "A study of dissimilarities"
    builders = _builders(subject.options)
    made = []
    with series(callback) as tell:
        for at, (what, build) in enumerate(builders.items()):
            tell(f"report: {what}", at, len(builders))
            made.append(build(subject))
        tell("report: done", len(builders), len(builders))
    listed = cautions(subject)
    # What was found, and what to be careful about, can be said only when all else is there; cautions follow findings.
    ahead = list(builders).index("history")
    made[ahead:ahead] = [cautions_section(listed)]
    return _page(heading, subject, [in_short(subject, len(listed)), *made])


def _builders(options: ReportOptions) -> dict[str, Callable[[Subject], Section]]:
    """Return the functions that make the sections, in order, with the names under which progress is reported."""
    wanted: dict[str, tuple[bool, Callable[[Subject], Section]]] = {
        "what was asked": (True, asked),
        "before and after": (True, before_and_after),
        "maps": (True, step_by_step),
        "what is repeated": (True, repeats_section),
        "scree": (options.scree, dimensions),
        "importances": (True, importances),
        "quality of the fit": (True, quality),
        "confidence ellipses": (options.resamples > 0, sureness),
        "other methods": (bool(options.rivals), rivals),
        "history": (True, history),
        "versions": (True, versions),
        "script": (True, script),
    }
    return {what: build for what, (asked_for, build) in wanted.items() if asked_for}


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


# ---- the page


def _page(heading: str, subject: Subject, sections: list[Section]) -> str:
    script, style, policy = "", STYLE, POLICY
    if subject.options.interactive:
        script, style = map_asset("explore.js"), STYLE + map_asset("explore.css")
        policy = f"{POLICY}; script-src {hash_source(script)}"  # this one, and no other
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("link", rel="icon", href="data:,"),
        element("title", heading),
        element("style", Html(style)),
    )
    links = items((element("a", s.title, href=f"#{s.identity}") for s in sections), "ol")
    contents = element("nav", element("h2", "Contents", id="contents"), links, aria_labelledby="contents")
    main = element("main", *(s.html for s in sections), id="content")
    columns = element("div", contents, main, class_="columns")
    skip = element("a", "Skip to the report", href="#content", class_="skip")
    footer = element("footer", "Made with unmask. This page holds everything it shows; it loads and sends nothing.")
    shown = element("div", _header(heading, subject), columns, footer, class_="page")
    body = element("body", skip, shown, element("script", Html(script)) if script else "")
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _header(heading: str, subject: Subject) -> Html:
    done = [count(subject.n, "object"), count(len(subject.study.steps), "map")]
    if subject.adoptions:
        done.append(f"{count(len(subject.adoptions), 'feature')} recognised")
    kind = element("p", "Report of a study", class_="kind")
    title = element("h1", element("bdi", heading))
    return element("header", kind, title, element("p", join(done, ", "), class_="lead"))
