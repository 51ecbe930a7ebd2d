"""A study: the loop of fitting, looking, naming what was recognised, and fitting again given that."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Self, cast
from uuid import uuid4

import numpy as np
import pandas as pd

from ..checking import quote, require_integer, require_number
from ..dissimilarities import make_transformer
from ..progress import Callback, series
from ._contrast import contrast, sides
from ._files import Origin
from ._fitting import ESTIMATORS, check_params, fit_step, without_checkpoint
from ._material import Material, read_material
from ._pages import history_table, html_of, text_of
from ._proposals import Preview, checked_values, corrected, preview, propose
from ._reading import Reading
from ._records import Action, Adoption, Amendment, Done, Features, Forgetting, Step, known_after
from ._script import script_of
from ._suggest import suggest
from ._values import plain, require_text


class Discovery:
    """A study of one set of objects: fit a map, name what it shows, and fit again given that.

    Every fit adds a step. A feature that was recognised on a map is adopted under a name, with a reason, and is known
    to the steps that follow; earlier steps never change. A study can be saved as one readable folder or zip file, and
    repeated from there with the same numbers.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects), or (n_objects, n_features)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing. With a `metric`, features.
    known : array-like of shape (n_objects, n_known), optional
        Features that are known from the start, one row per object; aligned by label.
    table : array-like of shape (n_objects, n_columns), optional
        External columns: not known to the fits, but compared with the maps by :meth:`suggest`, and to be adopted.
    known_types : dict, optional
        Types of the columns of `known`, as in :class:`unmask.ConditionalMDS`.
    weights : array-like of shape (n_objects, n_objects), optional
        Weights of the pairs, for all steps. A weighting scheme is a parameter of a fit.
    metric : str, callable or transformer, default="precomputed"
        How dissimilarities are computed from features, as in :class:`unmask.ConditionalMDS`.
    metric_params : dict, optional
        Further arguments of a metric that is a name or a function.
    pictures : dict from label to bytes or path, optional
        Pictures of the objects (PNG, JPEG, GIF or WebP), which are saved with the study.
    title : str, default=""
        Name of the study.

    Attributes
    ----------
    material : Material
        The tables the study began with, not copied: do not change them.
    tree : tuple of Step, Adoption, Amendment and Forgetting
        All actions, those that were undone too, each with its `id` and `parent`.
    here : int
        The id of the last action, which the next will follow; 0 at the beginning.
    uuid : str
        Identity of the study; the same after saving and loading.
    revisions : tuple of str
        One entry for each save that led to this study.
    origin : Origin or None
        The files the study was made from, if :func:`study_from_files` made it.

    Notes
    -----
    Instead of a table of dissimilarities above 256 MB (2 GB where the metric is not compiled) the study keeps the
    features and the name of the metric; an ``.npy`` or ``.zarr`` file of that size stays where it is.
    ``material.among(positions)`` returns the dissimilarities among some objects.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> from unmask.discovery import Discovery
    >>> kin = load_kinship()
    >>> study = Discovery(kin.dissimilarities, table=kin.known, title="kinship")
    >>> _ = study.fit(2, n_init=4)
    >>> _ = study.adopt("gender", column="gender", why="men above, women below")
    >>> _ = study.fit(2, n_init=4)
    >>> [step.title for step in study.steps], study.history["adopted"].tolist()
    (['nothing known', 'given gender'], ['gender', ''])
    """

    def __init__(
        self,
        dissimilarities: Any,
        known: Any = None,
        table: Any = None,
        *,
        known_types: Mapping[Any, Any] | None = None,
        weights: Any = None,
        metric: Any = "precomputed",
        metric_params: dict[str, Any] | None = None,
        pictures: Mapping[Any, Any] | None = None,
        title: str = "",
    ) -> None:
        given = dissimilarities, known, table, weights, known_types, pictures
        self._begin(read_material(*given, make_transformer(metric, metric_params)), str(title))

    def _begin(self, material: Material, title: str) -> Self:
        self.material, self.title = material, title
        self.tree: tuple[Action, ...] = ()
        self.here = 0
        self._seen: dict[int, int] = {}  # the action that was last seen after each action
        self.uuid = uuid4().hex
        self.revisions: tuple[str, ...] = ()
        self.origin: Origin | None = None
        return self

    @classmethod
    def _of(cls, material: Material, title: str) -> Self:
        """Return a study of material that has been checked."""
        return cls.__new__(cls)._begin(material, title)

    # ---- tables and history

    @property
    def title(self) -> str:
        """Name of the study."""
        return self._title

    @title.setter
    def title(self, title: str) -> None:
        self._title = require_text(title, "title")

    @property
    def dissimilarities(self) -> pd.DataFrame:
        """The dissimilarities, as a square table; a copy."""
        return self.material.dissimilarities.copy()

    @property
    def table(self) -> pd.DataFrame:
        """The external table; a copy."""
        return self.material.table.copy()

    @property
    def revision(self) -> int:
        """How often the study was saved."""
        return len(self.revisions)

    @property
    def embedding(self) -> pd.DataFrame:
        """The last map; a copy."""
        return self.step.embedding.copy()

    @property
    def history(self) -> pd.DataFrame:
        """The steps, one a row.

        ``adopted`` and ``why`` are what was adopted on the map of the step (with a minus: put aside) and the reason.
        ``leak_reference`` is the leak below which 19 of 20 random maps stay, ``importance_…`` the standardized
        importance of a feature. Row 0 has what was adopted before the first fit.
        """
        return history_table(self.actions)

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions that led to here, in order."""
        return self._path_to(self.here)

    def _path_to(self, end: int) -> tuple[Action, ...]:
        path: list[Action] = []
        while end:
            path.append(self.tree[end - 1])  # the id of an action is its place, from 1
            end = path[-1].parent
        return tuple(reversed(path))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The fits among the actions, in order."""
        return tuple(action for action in self.actions if isinstance(action, Step))

    @property
    def step(self) -> Step:
        """The last fit."""
        if not self.steps:
            raise ValueError("nothing has been fitted in this study; call fit first.")
        return self.steps[-1]

    @property
    def known(self) -> pd.DataFrame:
        """The features that are known now, one row per object; a copy."""
        return self._table(known_after(self.material, self.actions)[0])

    @property
    def known_types(self) -> dict[str, Any]:
        """The declared types of the features that are known now."""
        return _types(known_after(self.material, self.actions)[0])

    @property
    def features(self) -> pd.DataFrame:
        """Every feature that was ever known on the way to here, the last of each name; a copy."""
        return self._table(known_after(self.material, self.actions)[1])

    @property
    def feature_types(self) -> dict[str, Any]:
        """The declared types of :attr:`features`."""
        return _types(known_after(self.material, self.actions)[1])

    def known_of(self, step: Step) -> pd.DataFrame | None:
        """Return the known features that a step was given; None if there were none."""
        known, _ = known_after(self.material, self._path_to(step.parent))
        return self._table(known) if step.known else None

    def _table(self, features: Features) -> pd.DataFrame:
        columns = {name: column for name, (column, _) in features.items()}
        return pd.DataFrame(columns, index=self.material.objects, copy=True)

    # ---- the loop

    def fit(
        self,
        n_components: int = 2,
        *,
        estimator: str = "mds",
        adjust: Any = "auto",
        callback: Callback | None = None,
        **params: Any,
    ) -> Step:
        """Fit a map given what is known now, and add it as a step.

        Parameters
        ----------
        n_components : int, default=2
            Dimensions of the map.
        estimator : {"mds", "isomap", "classical"}, default="mds"
            :class:`unmask.ConditionalMDS`, :class:`unmask.ConditionalIsomap` or
            :class:`unmask.ConditionalClassicalMDS`.
        adjust : {"auto", True, False}, default="auto"
            Whether the map is shown without what the known features predict. ``"auto"`` does so if the map would repeat
            them beyond chance; the step keeps the decision.
        callback : callable, optional
            Receives an :class:`unmask.Progress` after every iteration; it returns True to end the fit with the best map
            so far.
        **params
            Parameters of the estimator: numbers, text, lists and dictionaries of these, and types of features.
            ``random_state`` is 0 by default, so that the study can be repeated. ``init`` may be the file of an
            :class:`unmask.Checkpoint`, to continue that fit.

        Notes
        -----
        Ctrl-C ends the search, and the best map so far becomes the step, with ``finished=False``. A second Ctrl-C ends
        the fit at once, and the study stays as it was.
        """
        params, checkpoint = without_checkpoint(params)
        given = check_params(estimator, n_components, {**params, "adjust": adjust})
        return self._fit(estimator, given, callback, checkpoint)

    def _fit(
        self,
        estimator: str,
        params: dict[str, Any],
        callback: Callback | None,
        checkpoint: Any = None,
        n_free: int | None = None,
    ) -> Step:
        """Add a step; `n_free` repeats the decision of an earlier fit."""
        given = self.material, self.known, self.known_types, estimator, params, len(self.steps) + 1
        return self._add(fit_step(*given, callback, checkpoint, n_free))

    def _add(self, action: Done) -> Done:
        """Add an action after the last one, and go there."""
        added = self._append(action, self.here)
        self._go(added.id)
        return added

    def _append(self, action: Done, parent: int) -> Done:
        added = cast("Done", action.model_copy(update={"id": len(self.tree) + 1, "parent": parent}))
        self.tree = (*self.tree, added)
        return added

    def _go(self, end: int) -> None:
        self.here = end
        self._seen |= {action.parent: action.id for action in self.actions}

    def adopt(
        self,
        name: str,
        values: Any = None,
        *,
        along: Any = None,
        from_axis: int | None = None,
        column: Any = None,
        groups: Any = None,
        axes: tuple[int, int] | None = None,
        kind: Any = None,
        why: str = "",
    ) -> Adoption:
        """Name a feature that was recognised, and make it known to the steps that follow.

        Give exactly one of `values`, `along`, `from_axis`, `column` and `groups`.

        Parameters
        ----------
        name : str
            A name that no other known feature has.
        values : Series, dict from label to value, or sequence of length n_objects, optional
            The values themselves; a Series is aligned by label. None or NaN is missing.
        along : tuple (start, end), sequence of places, "circle" or "arc", optional
            A line on the last map from one place to another, each the label of an object or a point (coordinates):
            the values are coordinates along it, 0 at the start. Three places or more are the corners of a curve: the
            values are lengths along it. ``"circle"`` and ``"arc"`` are fitted to the first two axes: the values are
            angles in degrees.
        from_axis : int, optional
            An axis of the last map, counted from 0.
        column : str, optional
            A column of the external table.
        groups : dict from name to labels, or int, optional
            Groups of objects, those in none being "other"; or the number of groups that Ward's method is to find on
            the last map (above 10,000 objects in a random sample, which the others join by the nearest).
        axes : tuple of two int, optional
            The two axes in which `along` was drawn, counted from 0.
        kind : str or feature type, optional
            Type of the feature, as in ``known_types`` of :class:`unmask.ConditionalMDS`. By default groups are nominal,
            angles around a circle cyclic, and others go by their values.
        why : str, default=""
            The reason, for the history.
        """
        self._require_new_name(name)
        ways = {"values": values, "along": along, "from_axis": from_axis, "column": column, "groups": groups}
        feature, declared, source = self._proposed(name, {**ways, "axes": axes}, kind)
        number, why = self.steps[-1].number if self.steps else None, require_text(str(why), "why")
        return self._add(Adoption(name=name, values=feature, kind=declared, source=source, why=why, step=number))

    def preview(
        self,
        values: Any = None,
        *,
        along: Any = None,
        from_axis: int | None = None,
        column: Any = None,
        groups: Any = None,
        axes: tuple[int, int] | None = None,
        kind: Any = None,
    ) -> Preview:
        """Return the feature that :meth:`adopt` would adopt; nothing changes.

        Parameters
        ----------
        values, along, from_axis, column, groups, axes, kind
            As in :meth:`adopt`.
        """
        ways = {"values": values, "along": along, "from_axis": from_axis, "column": column, "groups": groups}
        feature, declared, _ = self._proposed("preview", {**ways, "axes": axes}, kind)
        return preview(feature, declared, self.known, self.known_types)

    def _proposed(self, name: str, ways: Mapping[str, Any], kind: Any) -> tuple[pd.Series[Any], Any, dict[str, Any]]:
        """Return the values of a feature, its declared type and its source."""
        values, declared, source = propose(self.material, self.steps[-1] if self.steps else None, ways)
        declared = declared if kind is None else plain(kind, "kind", "use a type of a feature.")
        return checked_values(values, name, declared, self.material.objects), declared, source

    def _require_new_name(self, name: Any, what: str = "name") -> None:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"{what}={name!r} must be text; name what was recognised.")
        require_text(name, what)
        if name in self.known.columns:
            raise ValueError(
                f"{what}={name!r} is taken by a feature that is known; choose another name, or forget({name!r}) first."
            )

    def forget(self, name: str, *, why: str = "") -> Forgetting:
        """Put a known feature aside: later steps are not given it.

        Parameters
        ----------
        name : str
            The feature.
        why : str, default=""
            The reason, for the history.
        """
        self._require_known(name)
        return self._add(Forgetting(name=name, why=require_text(str(why), "why")))

    def amend(
        self, name: str, *, values: Any = None, kind: Any = None, rename: str | None = None, why: str = ""
    ) -> Amendment:
        """Correct a known feature for later steps; earlier ones keep what they were given.

        Parameters
        ----------
        name : str
            The feature.
        values : dict from label to value, Series, or sequence of length n_objects, optional
            New values. A dictionary or a Series may name some of the objects; the others keep theirs.
        kind : str or feature type, optional
            New type.
        rename : str, optional
            New name, which no other known feature has.
        why : str, default=""
            The reason, for the history.
        """
        self._require_known(name)
        if values is None and kind is None and rename is None:
            raise ValueError(f"amend({name!r}) changes nothing; give values, kind or rename.")
        if rename is not None:
            self._require_new_name(rename, "rename")
        declared = self.known_types.get(name) if kind is None else plain(kind, "kind", "use a type of a feature.")
        column, cells = corrected(self.known[name], values)
        feature = checked_values(column, rename or name, declared, self.material.objects)
        why = require_text(str(why), "why")
        return self._add(Amendment(name=name, values=feature, cells=cells, kind=declared, rename=rename, why=why))

    def _require_known(self, name: Any) -> None:
        known = self.known.columns
        if name not in known:
            raise ValueError(f"name={name!r} is not known now; known are {quote(known) or 'no features'}.")

    def without(self, id: int, *, callback: Callback | None = None) -> str:  # noqa: A002
        """Repeat the study without one action, on a new branch.

        Later fits keep their parameters, and features that were read off a map are read off the new one. Without an
        adoption, the corrections of its feature are left out too.

        Parameters
        ----------
        id : int
            An action on the way to here.
        callback : callable, optional
            As in :meth:`fit`, for all fits; one that it stops is kept as it is then.

        Returns
        -------
        str
            The actions that were left out.

        Raises
        ------
        ValueError
            If the action is not on the way to here, or what followed cannot be done without it; the study stays as it
            was.
        """
        dropped = next((action for action in self.actions if action.id == self._checked_id(id)), None)
        if dropped is None:
            ids = ", ".join(str(action.id) for action in self.actions)
            raise ValueError(f"id={id} is not on the way to here ({ids or 'nothing was done'}); go there first.")
        again = self.branch()
        again.go(dropped.parent)
        left_out = [dropped]
        lost = dropped.name if isinstance(dropped, Adoption) else None
        for action in self.actions[self.actions.index(dropped) + 1 :]:
            if lost is not None and isinstance(action, Amendment | Forgetting) and action.name == lost:
                left_out.append(action)
                lost = action.called if isinstance(action, Amendment) else None
            else:
                again._repeat(action, callback)
        self.tree, self.here, self._seen = again.tree, again.here, again._seen
        return f"left out: {'; '.join(action.text for action in left_out)}"

    def _repeat(self, action: Action, callback: Callback | None = None) -> None:
        """Do an action of another study."""
        if isinstance(action, Step):
            params = check_params(action.estimator, action.n_components, action.params)
            self._fit(action.estimator, params, callback, n_free=action.n_free)
        elif isinstance(action, Adoption):
            source = {"values": action.values} if "given" in action.source.values() else action.source
            self.adopt(action.name, kind=action.kind, why=action.why, **source)
        elif isinstance(action, Amendment):
            cells = {label: action.values[label] for label in action.cells} or None
            self.amend(action.name, values=cells, kind=action.kind, rename=action.rename, why=action.why)
        else:
            self.forget(action.name, why=action.why)

    # ---- moving about the tree

    def go(self, id: int) -> str:  # noqa: A002
        """Go to an action of the tree, and return a sentence about it; nothing is lost.

        Parameters
        ----------
        id : int
            Its id, as in :attr:`tree`; 0 is the beginning.
        """
        self._go(self._checked_id(id))
        return f"now after: {self.actions[-1].text}" if self.here else "now at the beginning"

    def _checked_id(self, given: Any) -> int:
        found = require_integer("id", given, 0)
        if found > len(self.tree):
            raise ValueError(f"id={found} is not an action of this study, which has {len(self.tree)}.")
        return found

    def undo(self) -> str:
        """Take the last action back, and return a sentence about it; :meth:`redo` does it again."""
        if not self.here:
            raise ValueError("there is nothing to undo; this is the beginning of the study.")
        last = self.actions[-1]
        self._go(last.parent)
        return f"undone: {last.text}"

    @property
    def ahead(self) -> Action | None:
        """The action that :meth:`redo` would do again, of several the one seen last; None if there is none."""
        following = [action.id for action in self.tree if action.parent == self.here]
        return self.tree[self._seen.get(self.here, following[-1]) - 1] if following else None

    def redo(self) -> str:
        """Do the action again that was taken back, and return a sentence about it."""
        if self.ahead is None:
            raise ValueError("there is nothing to redo; this is the last action on this branch.")
        self._go(self.ahead.id)
        return f"redone: {self.actions[-1].text}"

    def branch(self, name: str | None = None) -> Self:
        """Return another study that begins as this one is now; they share everything done so far.

        Parameters
        ----------
        name : str, optional
            Title of the new study; by default that of this one and "(branch)".
        """
        branch = self._of(self.material, f"{self.title} (branch)".strip() if name is None else str(name))
        branch.tree, branch.here, branch._seen = self.tree, self.here, dict(self._seen)
        branch.uuid, branch.revisions, branch.origin = self.uuid, self.revisions, self.origin
        return branch

    def take_over(self, branch: Self, since: int) -> int:
        """Add the actions of a branch to the tree, without going there.

        Parameters
        ----------
        branch : Discovery
            A branch of this study, perhaps returned by another process.
        since : int
            Number of actions in the tree when the branch was made.

        Returns
        -------
        int
            The id that the last action of the branch has here.
        """
        moved = len(self.tree) - since

        def here(id: int) -> int:  # noqa: A002
            return id + moved if id > since else id

        for action in branch.tree[since:]:
            self._append(action, here(action.parent))
        return here(branch.here)

    # ---- fitting a step again

    def estimator_of(self, step: Step) -> Any:
        """Return the estimator of a step with its parameters, not fitted.

        Fit it to ``material.data.fitted``, with ``known=study.known_of(step)`` and the weights of the study, for what a
        step does not keep, such as placing new objects.
        """
        params = {**step.params, "known_types": dict(step.known_types) or None}
        return ESTIMATORS[step.estimator](**self.material.data.params, **params)

    # ---- looking at maps

    def reading(self, step: Step | int | None = None) -> Reading:
        """Return the diagnostics of a fit: scree, Shepard diagram, bootstrap, other methods, leaks.

        Parameters
        ----------
        step : Step or int, optional
            Any fit of the :attr:`tree`, or the number of one on the way to here; by default the last.
        """
        return Reading(self, self._chosen_step(step))

    def _chosen_step(self, step: Any) -> Step:
        if step is None:
            return self.step
        if isinstance(step, Step) and any(step is action for action in self.tree):
            return step
        if isinstance(step, int | np.integer) and not isinstance(step, bool) and 1 <= step <= len(self.steps):
            return self.steps[int(step) - 1]
        last = len(self.steps)
        raise ValueError(f"step={step!r} must be a fit of this study, or the number of one, from 1 to {last}.")

    def suggest(
        self,
        n: int = 10,
        *,
        n_permutations: int = 999,
        n_references: int = 199,
        random_state: int = 0,
        callback: Callback | None = None,
    ) -> pd.DataFrame:
        """Rank explanations of the last map: external columns, groups of objects, an order along a circle or arc.

        Parameters
        ----------
        n : int, default=10
            Largest number of rows.
        n_permutations : int, default=999
            Random orders of the objects in which the columns of the table are compared with the map.
        n_references : int, default=199
            Maps without groups, or without an order, of each kind that the map is compared with.
        random_state : int, default=0
            Seed.
        callback : callable, optional
            Receives an :class:`unmask.Progress` (``stage`` is "suggest", or that of a fit); if it returns True,
            :class:`unmask.discovery.Stopped` is raised.

        Returns
        -------
        DataFrame
            The surest first: ``kind`` ("column", "groups" or "order"), ``what``, ``strength`` (multiple correlation or
            eta of a column, mean silhouette of groups, share of the map that an order accounts for), ``p_value``,
            ``adopt`` and ``arguments`` (the call that adopts it, as code and as a dictionary), ``note``, and the
            direction of a column (``cos_…`` for each axis).

        Notes
        -----
        The p-values are corrected for all questions: of 20 maps that show nothing, one has a p-value below 0.05 in its
        table. Objects on top of each other that differ in known features count once. Groups and orders must stand out
        from evenly filled shapes and from maps of the same dissimilarities in random order; they need 8 places and are
        sought among at most 300. Columns are compared by at most 5,000 objects.
        """
        require_integer("n", n, 1)
        require_integer("n_permutations", n_permutations, 1)
        require_integer("n_references", n_references, 1)
        require_integer("random_state", random_state, 0)
        step = self.step
        if step.n_components == 0:
            raise ValueError("the last map has no dimensions and shows nothing; fit one that has.")
        with series(callback) as tell:
            asked = (n_permutations, n_references, random_state)
            return suggest(self.material, self.known, step, *asked, tell).head(n)

    def contrast(self, group: Any, other: Any = None) -> pd.DataFrame:
        """Rank all columns by how a group of objects differs in them from others.

        Parameters
        ----------
        group : sequence
            Labels of the objects.
        other : sequence, optional
            Labels of the objects to compare them with; by default all others.

        Returns
        -------
        DataFrame
            One row for each known feature and column of the table, the surest first: ``column``, ``where`` ("known" or
            "table"), ``type``, ``strength`` (correlation with being in the group, from 0 to 1), ``p_value``, ``group``
            and ``other`` (medians, or counts of the level that differs most), ``arguments``
            (``study.adopt(**arguments)`` adopts a column of the table), and ``note`` (why a column was not tested).

        Notes
        -----
        Numbers and ordered levels are compared by ranks (Wilcoxon, Kruskal and Wallis), other levels by counts
        (Pearson's χ²), angles by uniform scores (Mardia, Watson and Wheeler); for few objects exactly, or by 9999
        random groups. The p-values are corrected for the number of columns (Holm), and hold for a group that was not
        chosen by looking at the map.
        """
        inside, outside = sides(self.material.objects, group, other)
        return contrast(self.known, self.known_types, self.material.table, inside, outside)

    def plot(self, *, steps: tuple[int, int] | None = None, color: Any = None, ax: Any = None) -> Any:
        """Draw the last two maps side by side, or the only one.

        Parameters
        ----------
        steps : tuple of two int, optional
            Numbers of the two steps to draw; by default the last two.
        color : Series, array-like or str, optional
            What to colour by, as in :func:`unmask.plotting.plot_map`; or the name of a known feature or column.
        ax : Axes or two Axes, optional
            Where to draw; by default on a new figure.
        """
        from ..plotting import plot_map, plot_pair

        last, color = self.step.number, self._color(color)
        if steps is not None and (len(steps) != 2 or not all(isinstance(s, int) and 1 <= s <= last for s in steps)):
            raise ValueError(f"steps={steps!r} must be two numbers of steps, from 1 to {last}.")
        chosen = self.steps[-2:] if steps is None else [self.steps[number - 1] for number in steps]
        if len(chosen) == 1:
            return plot_map(chosen[0].embedding, color=color, title=chosen[0].title, ax=ax)
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(1, 2, figsize=(11, 5.5), layout="constrained")
        maps, titles = [step.embedding for step in chosen], (chosen[0].title, chosen[1].title)
        return plot_pair(*maps, color=color, ax=ax, titles=titles, scale=False)

    def _color(self, color: Any) -> Any:
        if not isinstance(color, str):
            return color
        for table in (self.known, self.material.table):
            if color in table.columns:
                return table[color]
        raise ValueError(
            f"color={color!r} is neither a known feature nor a column of the table; name one, or pass values."
        )

    def explore(self) -> Any:
        """Show the workbench in Jupyter or marimo, where this study goes on by mouse or keyboard.

        From a terminal, ``unmask explore`` opens the same page in the browser. Needs the extra ``app``.

        Returns
        -------
        Workbench
            A widget, which a notebook shows; its ``close()`` ends the process that fits the maps.
        """
        try:
            from ..app import Workbench
        except ImportError as missing:
            raise ImportError(f"explore() needs {missing.name}; install it with: pip install 'unmask[app]'.") from None
        return Workbench(self)

    # ---- repeating

    def replay(self, *, tol: float = 1e-8) -> pd.DataFrame:
        """Repeat every action from the dissimilarities on, and compare the maps.

        Parameters
        ----------
        tol : float, default=1e-8
            Largest difference of maps that count as the same, as a share of the largest coordinate and in the stress.

        Returns
        -------
        DataFrame indexed by step
            ``stress``, ``replayed`` (the stress found now), ``difference`` (largest of a coordinate, as a share of the
            largest coordinate), ``same``, ``note``. An interrupted step is now fitted to its end, and is not the same.
        """
        require_number("tol", tol, 0.0)
        again, rows = self._of(self.material, self.title), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the steps have theirs
            for action in self.actions:
                again._repeat(action)
                if isinstance(action, Step):
                    old, new = action.embedding.to_numpy(), again.step.embedding.to_numpy()
                    size = float(np.abs(old).max(initial=0.0)) or 1.0
                    difference = float(np.abs(old - new).max(initial=0.0)) / size
                    same = max(difference, abs(action.stress - again.step.stress)) <= tol and action.finished
                    note = "" if action.finished else "was interrupted"
                    rows.append((action.number, action.stress, again.step.stress, difference, same, note))
        columns = ["step", "stress", "replayed", "difference", "same", "note"]
        return pd.DataFrame(rows, columns=columns).set_index("step")

    def to_script(self, path: str | PathLike[str] = "study") -> str:
        """Return Python code that makes the maps of this study again from its saved tables.

        Parameters
        ----------
        path : str or path, default="study"
            Where the script finds the saved study.

        Returns
        -------
        str
            The code; it leaves the maps in ``maps``, a dictionary from the number of the step.
        """
        return script_of(self, str(path))

    def save(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write the study as a folder, or as one file if the path ends in ``.zip``.

        Parameters
        ----------
        path : str or path
            Where to. A study that is there is replaced once all of the new one is written; other files are left alone,
            with an error.
        force : bool, default=False
            Save into a folder that holds other files, which stay as they are.

        Raises
        ------
        FileProblem
            If the study cannot be written there, or the version there was saved after this one was loaded.

        Notes
        -----
        Files of a folder are added, never changed. A reader at the same time, or after a save that was killed, sees the
        old study or the new one.
        """
        from ._folder import save

        save(self, Path(path), force=force)
        return Path(path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, name: str | None = None, elsewhere: bool = True) -> Discovery:
        """Read a study that was saved.

        Parameters
        ----------
        path : str or path
            A folder or a zip file that :meth:`save` wrote.
        name : str, optional
            Its name in messages; by default the path.
        elsewhere : bool, default=True
            Whether the study may refer to a large table of dissimilarities in a file elsewhere. False refuses that, for
            a study that comes from somebody else.

        Raises
        ------
        FileProblem
            If something is missing or was changed.
        """
        from ._folder import load

        document, material, actions = load(Path(path), name, elsewhere=elsewhere)
        study = cls._of(material, document.title)
        study.tree, study.uuid, study.revisions = actions, document.uuid, tuple(document.revisions)
        study.origin = document.origin
        study._go(document.here)
        return study

    def __repr__(self) -> str:
        return text_of(self.material, self.actions, self.title, list(self.known.columns))

    def _repr_html_(self) -> str:
        return html_of(self.material, self.actions, self.title, list(self.known.columns))


def _types(features: Features) -> dict[str, Any]:
    return {name: kind for name, (_, kind) in features.items() if kind is not None}
