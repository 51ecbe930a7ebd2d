"""A study: the loop of fitting, looking, naming what was recognised, and fitting again given that."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checking import quote, require_integer, require_number
from ..dissimilarities import make_transformer
from ..progress import Callback
from ._actions import Action, Adoption, Forgetting, Step
from ._fitting import ESTIMATORS, check_params, fit_step
from ._material import Material, read_material
from ._pages import history_table, html_of, text_of
from ._proposals import Context, checked_values, make_proposal
from ._script import script_of
from ._suggest import suggest
from ._values import plain

if TYPE_CHECKING:
    import pandas as pd


class Discovery:
    """A study of one set of objects: fit a map, name what it shows, and fit again given that.

    Every fit adds a step; every feature that is recognised is adopted, under a name and with a reason, and is known to
    the steps that follow. Nothing of the earlier steps changes. The study can be saved as one folder or zip file that
    people can read, and comes to the same numbers again.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_objects, n_objects), or (n_objects, n_features)
        In any form that :class:`unmask.ConditionalMDS` takes; NaN where missing. With a `metric`, features.
    known : array-like of shape (n_objects, n_known), optional
        What is known from the start, one row per object; aligned by label.
    table : array-like of shape (n_objects, n_columns), optional
        External columns: not known to the fits, but compared with the maps by :meth:`suggest`, and to be adopted.
    known_types : dict, optional
        Types of the columns of `known`, as in :class:`unmask.ConditionalMDS`.
    weights : array-like of shape (n_objects, n_objects), optional
        Weights of the pairs, for all steps. A weighting scheme is a parameter of a fit.
    metric : str, callable or transformer, default="precomputed"
        How dissimilarities are computed from features, once and for all steps; as in :class:`unmask.ConditionalMDS`.
    metric_params : dict, optional
        Further arguments of a metric that is a name or a function.
    symmetrize : {None, "mean"}, default=None
        ``"mean"`` averages the two dissimilarities of each pair; otherwise asymmetry beyond rounding is an error.
    title : str, default=""
        What the study is called.

    Attributes
    ----------
    actions : tuple of Step, Adoption and Forgetting
        What was done, in order.
    steps : tuple of Step
        The fits among them.
    step : Step
        The last fit.
    embedding : DataFrame
        Its map.
    known : DataFrame
        What is known now: from the start, adopted, and not put aside.
    known_types : dict
        The types that were declared for it.
    features : DataFrame
        Everything that was ever known, also what was put aside.
    dissimilarities, table : DataFrame
        The tables of the study; copies.
    weights : DataFrame or None
        The weights; a copy.
    material : Material
        What the study began with: `dissimilarities`, `known`, `table`, `weights` and `known_types`, not copied.
    history : DataFrame
        The steps, one a row.

    Notes
    -----
    A fit takes what the estimator takes. The study holds its own copy of the dissimilarities, each step a map. Of many
    objects, whose table of dissimilarities would be larger than 256 MB (2 GB where the metric is not compiled), it
    keeps the features and the name of the metric instead, and writes these when it is saved; a table of that size in
    an ``.npy`` or ``.zarr`` file stays there. ``material.among(positions)`` has the dissimilarities among some objects.
    :meth:`suggest` costs about `n_references` short fits of at most 300 objects, and `n_permutations` regressions
    of each column.

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
        symmetrize: str | None = None,
        title: str = "",
    ) -> None:
        self.title = str(title)
        transformer = make_transformer(metric, metric_params)
        self._material = read_material(dissimilarities, known, table, weights, known_types, symmetrize, transformer)
        self._actions: tuple[Action, ...] = ()

    @classmethod
    def _of(cls, material: Material, actions: tuple[Action, ...], title: str) -> Discovery:
        """Return a study of material that has been checked."""
        study = cls.__new__(cls)
        study.title, study._material, study._actions = title, material, actions
        return study

    # ---- what there is

    @property
    def material(self) -> Material:
        """What the study began with, not copied: its tables must not be changed."""
        return self._material

    @property
    def dissimilarities(self) -> pd.DataFrame:
        """The dissimilarities, as a square table; a copy."""
        return self._material.dissimilarities.copy()

    @property
    def table(self) -> pd.DataFrame:
        """The external table; a copy."""
        return self._material.table.copy()

    @property
    def weights(self) -> pd.DataFrame | None:
        """The weights of the pairs, if there are any; a copy."""
        return None if self._material.weights is None else self._material.weights.copy()

    @property
    def actions(self) -> tuple[Action, ...]:
        """What was done, in order."""
        return self._actions

    @property
    def steps(self) -> tuple[Step, ...]:
        """The fits, in order."""
        return tuple(action for action in self._actions if isinstance(action, Step))

    @property
    def step(self) -> Step:
        """The last fit."""
        if not self.steps:
            raise ValueError("nothing has been fitted in this study; call fit first.")
        return self.steps[-1]

    @property
    def embedding(self) -> pd.DataFrame:
        """The last map; a copy."""
        return self.step.embedding.copy()

    @property
    def known(self) -> pd.DataFrame:
        """What is known now, one row per object; a copy."""
        aside = {action.name for action in self._actions if isinstance(action, Forgetting)}
        features = self.features
        return features[[name for name in features.columns if name not in aside]]

    @property
    def features(self) -> pd.DataFrame:
        """Every feature that was ever known: from the start or adopted, also those put aside; a copy."""
        import pandas as pd

        columns = dict(self._material.known.items())
        columns |= {action.name: action.values for action in self._actions if isinstance(action, Adoption)}
        return pd.DataFrame(columns, index=self._material.objects, copy=True)

    @property
    def known_types(self) -> dict[str, Any]:
        """The declared types of what is known now."""
        adopted = {action.name: action.kind for action in self._actions if isinstance(action, Adoption)}
        known = self.known.columns
        types = (self._material.known_types | adopted).items()
        return {name: kind for name, kind in types if name in known and kind is not None}

    @property
    def history(self) -> pd.DataFrame:
        """The steps, one a row.

        Columns: ``known`` (features given), ``n_components``, ``estimator``, ``adjusted``, ``stress``, ``leak``, an
        ``importance_…`` for each feature (standardized), ``converged``, ``finished``, ``warnings`` (their number),
        ``seconds``, ``adopted`` (what was recognised on this map; with a minus what was put aside), ``why``. A row 0
        says what was adopted before the first fit, if anything was.
        """
        return history_table(self._actions)

    # ---- the loop

    def fit(
        self,
        n_components: int = 2,
        *,
        estimator: str = "mds",
        adjust: Any = "auto",
        callback: Callback | None = None,
        resume_from: Any = None,
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
            Whether the map is shown adjusted for what is known, so that nothing of it is left: ``"auto"`` adjusts if
            the map would repeat it, beyond chance. The step keeps what was decided.
        callback : callable, optional
            Hears how far the fit is, as an :class:`unmask.Progress`, after every iteration; returns True to end it
            with the best map so far. It is not part of the study.
        resume_from : str, path or dict, optional
            A checkpoint of the same fit (see :class:`unmask.Checkpoint`), to go on from there.
        **params
            Parameters of the estimator that can be written down: numbers, text, lists and dictionaries of these, and
            types of features. ``random_state`` is 0 unless another integer is given, so that the study can be
            repeated.

        Returns
        -------
        Step

        Notes
        -----
        Ctrl-C ends the search, and the best map so far becomes the step, with ``finished=False`` and an
        `UnfinishedMapWarning`; a second Ctrl-C ends the fit at once, and the study stays as it was.
        """
        given = check_params(estimator, n_components, {**params, "adjust": adjust})
        number = len(self.steps) + 1
        step = fit_step(self._material, self.known, self.known_types, estimator, given, number, callback, resume_from)
        self._actions += (step,)
        return step

    def adopt(
        self,
        name: str,
        values: Any = None,
        *,
        along: Any = None,
        from_axis: int | None = None,
        column: Any = None,
        groups: Any = None,
        kind: Any = None,
        why: str = "",
    ) -> Adoption:
        """Name what was recognised, and make it known to the steps that follow.

        Exactly one of `values`, `along`, `from_axis`, `column` and `groups` says what it is.

        Parameters
        ----------
        name : str
            What to call it; no other known feature may have the name.
        values : Series, dict from label to value, or sequence of length n_objects, optional
            The values themselves; a Series is aligned by label. None or NaN is missing.
        along : tuple (start, end), "circle" or "arc", optional
            A direction of the last map, from one place to another, each the label of an object or a point (a
            sequence of coordinates): objects get their coordinate along it, which is 0 at the start. Or the circle
            fitted to the first two axes: objects get their angle around it, in degrees.
        from_axis : int, optional
            An axis of the last map, counted from 0.
        column : str, optional
            A column of the external table.
        groups : dict from name to labels, or int, optional
            Groups of objects; an object that is in none of them is in the group "other". Or a number of groups, as
            Ward's method finds them on the last map; of more than 10,000 objects among so many, picked at random, and
            each of the others is in the group of the nearest of these.
        kind : str or feature type, optional
            The type of the feature, as in ``known_types`` of :class:`unmask.ConditionalMDS`. By default groups are
            nominal, angles around a circle cyclic, and anything else goes by its values.
        why : str, default=""
            The reason, for the history.

        Returns
        -------
        Adoption
        """
        self._require_new_name(name)
        last = self.steps[-1] if self.steps else None
        ways = {"values": values, "along": along, "from_axis": from_axis, "column": column, "groups": groups}
        way, proposal = make_proposal(Context(self._material, last), ways)
        declared = proposal.kind if kind is None else plain(kind, "kind", "use a type of a feature.")
        feature = checked_values(proposal, name, declared, self._material.objects)
        number = last.number if last is not None else None
        adoption = Adoption(name, feature, declared, {way: proposal.saved}, str(why), number)
        self._actions += (adoption,)
        return adoption

    def _require_new_name(self, name: Any) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"name={name!r} must be text; say what was recognised.")
        taken = {*self._material.known.columns, *(a.name for a in self._actions if isinstance(a, Adoption))}
        if name in taken:
            raise ValueError(
                f"name={name!r} is taken by a feature of this study; choose another name, or undo() its adoption first."
            )

    def forget(self, name: str, *, why: str = "") -> Forgetting:
        """Put a known feature aside: the steps that follow are not given it.

        Parameters
        ----------
        name : str
            The feature.
        why : str, default=""
            The reason, for the history.

        Returns
        -------
        Forgetting
        """
        known = self.known.columns
        if name not in known:
            raise ValueError(f"name={name!r} is not known now; known are {quote(known) or 'no features'}.")
        record = Forgetting(name, str(why))
        self._actions += (record,)
        return record

    def undo(self) -> str:
        """Take the last action back, and say which it was."""
        if not self._actions:
            raise ValueError("there is nothing to undo; the study has just begun.")
        *kept, last = self._actions
        self._actions = tuple(kept)
        return f"undone: {last.text}"

    def branch(self, name: str | None = None) -> Discovery:
        """Return a study that begins as this one is now, and has everything to itself.

        Parameters
        ----------
        name : str, optional
            Title of the new study; by default that of this one and "(branch)".

        Returns
        -------
        Discovery
        """
        title = f"{self.title} (branch)".strip() if name is None else str(name)
        return Discovery._of(*deepcopy((self._material, self._actions)), title)

    # ---- fitting a step again

    def known_of(self, step: Step) -> pd.DataFrame | None:
        """Return the known features that a step was given; None if there were none."""
        return self.features[list(step.known)] if step.known else None

    def estimator_of(self, step: Step) -> Any:
        """Return the estimator of a step with the parameters it had, not fitted.

        Fit it to ``material.data.fitted`` (the dissimilarities, or features of many objects), with
        ``known=study.known_of(step)`` and the weights of the study, for what a step does not keep, such as placing new
        objects on its map.
        """
        params = {**step.params, "known_types": dict(step.known_types) or None}
        return ESTIMATORS[step.estimator].public(**self._material.data.params, **params)

    # ---- looking

    def suggest(
        self, n: int = 10, *, n_permutations: int = 999, n_references: int = 199, random_state: int = 0
    ) -> pd.DataFrame:
        """Rank what the last map could show: external columns, groups of objects, and an order along a circle or arc.

        Parameters
        ----------
        n : int, default=10
            Most rows to return.
        n_permutations : int, default=999
            Orders of the objects in which the columns of the table are compared with the map.
        n_references : int, default=199
            Maps without groups, or without an order, of each kind that the map is compared with.
        random_state : int, default=0
            Seed.

        Returns
        -------
        DataFrame
            The surest first: ``kind`` (``"column"``, ``"groups"`` or ``"order"``), ``what``, ``strength`` (of columns
            the multiple correlation, or eta for categories; of groups the mean silhouette; of an order the share of
            the map it accounts for), ``p_value``, ``adopt`` (the call that adopts it), ``note`` (why a column could
            not be tested, or by how many of very many objects), and the direction of a column (``cos_…``, one for each
            axis).

        Notes
        -----
        All p-values are corrected: of 20 maps that show nothing, one has a p-value below 0.05 anywhere in its table.
        Objects on top of each other that differ in what is known count as one witness. Groups and orders must stand
        out from evenly filled shapes and from maps of the same dissimilarities in random order; they are not looked
        for where there are fewer than 8 places, and among 300 of them, picked at random, where there are more. Columns
        are compared by at most 5,000 objects.
        """
        require_integer("n", n, 1)
        require_integer("n_permutations", n_permutations, 1)
        require_integer("n_references", n_references, 1)
        require_integer("random_state", random_state, 0)
        step = self.step
        if step.n_components == 0:
            raise ValueError("the last map has no dimensions and shows nothing; fit one that has.")
        return suggest(self._material, self.known, step, n_permutations, n_references, random_state).head(n)

    def plot(self, *, steps: tuple[int, int] | None = None, color: Any = None, ax: Any = None) -> Any:
        """Draw the last two maps side by side, or the only one.

        Parameters
        ----------
        steps : tuple of two int, optional
            Numbers of the two steps to draw; by default the last two.
        color : Series, array-like or str, optional
            What to colour by, as in :func:`unmask.plotting.plot_map`; text names a known feature or a column of the
            table.
        ax : Axes or two Axes, optional
            Where to draw, as in :func:`unmask.plotting.plot_pair`; by default two Axes of a new figure, or one.

        Returns
        -------
        Axes, or an array of two
        """
        from ._pages import draw

        return draw(self._chosen(steps), self._color(color), ax)

    def _chosen(self, steps: tuple[int, int] | None) -> tuple[Step, ...]:
        last = self.step.number
        if steps is None:
            return self.steps[-2:]
        if len(steps) != 2 or not all(isinstance(s, int | np.integer) and 1 <= s <= last for s in steps):
            raise ValueError(f"steps={steps!r} must be two numbers of steps, from 1 to {last}.")
        return tuple(self.steps[number - 1] for number in steps)

    def _color(self, color: Any) -> Any:
        if not isinstance(color, str):
            return color
        for table in (self.known, self._material.table):
            if color in table.columns:
                return table[color]
        raise ValueError(
            f"color={color!r} is neither a known feature nor a column of the table; name one, or pass values."
        )

    # ---- repeating

    def replay(self, *, tol: float = 1e-8) -> pd.DataFrame:
        """Do everything again, from the dissimilarities on, and compare.

        Parameters
        ----------
        tol : float, default=1e-8
            Maps are the same if no coordinate differs by more than this share of the largest, and the stress by no
            more than this.

        Returns
        -------
        DataFrame indexed by step
            ``stress``, ``replayed`` (the stress found now), ``difference`` (largest of a coordinate, as a share of the
            largest coordinate), ``same``, ``note``. An interrupted step is now fitted to its end, and is not the same.
        """
        from ._replay import replay

        return replay(self._material, self._actions, require_number("tol", tol, 0.0))

    def to_script(self, path: str | PathLike[str] = "study") -> str:
        """Return plain Python code that makes the maps of this study from its saved tables.

        Parameters
        ----------
        path : str or path, default="study"
            Where the study is saved, as the script is to find it.

        Returns
        -------
        str
            It leaves the maps in ``maps``, a dictionary from the number of the step.
        """
        return script_of(self._material, self._actions, self.title, str(path))

    def save(self, path: str | PathLike[str], *, format: str = "csv") -> Path:  # noqa: A002
        """Write the study as one folder, or as one file if the path ends in ``.zip``.

        Parameters
        ----------
        path : str or path
            Where to. A study that is there is replaced, when all of the new one has been written; anything else that
            is there is left alone, with an error.
        format : {"csv", "parquet"}, default="csv"
            How to write the tables; ``study.json``, which says what they are, is the same.

        Returns
        -------
        Path
        """
        from ._save import save

        return save(self._material, self._actions, self.title, Path(path), format)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Discovery:
        """Read a study that was saved.

        Parameters
        ----------
        path : str or path
            A folder or a zip file that :meth:`save` wrote.

        Returns
        -------
        Discovery

        Raises
        ------
        FileProblem
            If something is missing or not as it was written, in one sentence.
        """
        from ._load import load

        return cls._of(*load(Path(path)))

    def __repr__(self) -> str:
        return text_of(self._material, self._actions, self.title, list(self.known.columns))

    def _repr_html_(self) -> str:
        return html_of(self._material, self._actions, self.title, list(self.known.columns))
