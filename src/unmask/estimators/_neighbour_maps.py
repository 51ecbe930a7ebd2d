"""t-SNE and UMAP given known features: a balanced graph of neighbours, and a descent along it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import Array, IntArray
from ..checking import (
    LeakWarning,
    MapWarning,
    UnfinishedWarning,
    check_dissimilarities,
    labels_of,
    new_dissimilarities,
    new_rows,
    quote,
    refuse_target,
    require_choice,
    require_features,
    require_flag,
    require_integer,
    require_jobs,
    require_number,
    require_objects,
    warn_of_square_features,
    warn_user,
    with_labels,
)
from ..dissimilarities import compare, make_transformer, set_input_tags
from ..graphs import (
    MatchedResiduals,
    Nearest,
    Search,
    SearchEdges,
    SearchRows,
    SearchTable,
    balanced_neighbours,
    match_residuals,
)
from ..kernels import OneBlasThread, Workers, resolve_threads
from ..neighbours import TSNE, UMAP, Embedding, Model, affinities, descend, directed_affinities
from ..problem import KnownFeatures, check_known
from ..problem.leak import NeighbourLeak, leak_in_words, linear_leak, neighbour_leak
from ..progress import Callback, Progress, ProgressBar, Watch, watching
from ._adjustment import neighbours_in_words
from ._base import MapEstimator
from ._fit import forget
from ._reading import read_tables
from ._strata import nearest_stratum, strata_of
from ._summary import ASKED, FOUND, GOOD, NEXT, Row, Summary, title_of
from ._tables import summary_table

if TYPE_CHECKING:
    import pandas as pd

# Metrics that compare rows without a table of all pairs, and the metric by which neighbours are searched.
BY_ROWS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "sqeuclidean": "euclidean",
    "cosine": "euclidean",
    "cityblock": "cityblock",
    "manhattan": "cityblock",
    "l1": "cityblock",
}
MOST_IN_TABLE = 20_000  # objects compared by other metrics: the table takes 3 GB
SPARSE_COLUMNS = 100  # to which sparse features are reduced
NOTHING_LEFT = 1e-6  # share of the variance that is left by the known features
TOLD = 0.1  # of the way from chance to always right, from which neighbours are warned of
PLACING = 50  # iterations for new objects
SAME = 1e-3  # share of the distance to the other neighbours at which a new object is the fitted one
STRONGEST = 5  # neighbours between which a new object begins
SHAKEN = 1e-3  # equal objects begin a little apart


@dataclass(frozen=True)
class Rows:
    """Features as they are compared: reduced, normalised, and without what the known features explain."""

    metric: str
    normalised: bool
    reduction: Any  # a fitted TruncatedSVD for sparse features
    residuals: MatchedResiduals | None = None
    Z: Array | None = None  # of the fitted objects

    def plain(self, X: Any) -> Array:
        """Return the features as numbers, with the known features still in them."""
        X = normalize(X) if self.normalised else X
        X = X if self.reduction is None else self.reduction.transform(X)
        return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)

    def search(self, X: Any = None, V: Array | None = None, threads: int = 1) -> Search:
        """Return a search for the neighbours of the fitted objects, or of new ones."""
        assert self.Z is not None
        new = None if X is None else self.plain(X)
        if new is not None and self.residuals is not None and V is not None:
            new = self.residuals.residuals(new, V)
        return SearchRows(self.Z, self.metric, new, threads=threads)


class Objects(NamedTuple):
    """What a fit has read: objects, how they are compared, and their known features."""

    n: int
    labels: pd.Index | None
    known: KnownFeatures
    search: Search
    rows: Rows | None = None
    transformer: Any = None  # compares objects by another metric


@dataclass(frozen=True, eq=False)
class FittedNeighbours:
    """A fitted map of neighbours, and what new objects are placed by."""

    labels: pd.Index | None
    known: KnownFeatures
    strata: IntArray
    centres: Array  # mean known features of each stratum
    model: Model
    embedding: Embedding
    rows: Rows | None
    transformer: Any
    seed: int


@dataclass(eq=False, repr=False, kw_only=True)
class NeighbourMap(MapEstimator):
    """Base of the maps of neighbours."""

    __metadata_request__fit = {"known": True, "callback": True}
    __metadata_request__transform = {"known": True}
    _SPREAD = 1.0  # standard deviation of the places at the start

    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    known_types: dict[Any, Any] | None = None
    align: bool = False
    init: Any = "auto"
    max_iter: int = 500
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_input_tags(tags, self._make_transformer, takes_missing=False)
        if self._compares_rows() or self._is_precomputed():
            tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _make_transformer(self) -> Any:
        return make_transformer(self.metric, self.metric_params, n_jobs=self.n_jobs)

    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _compares_rows(self) -> bool:
        return isinstance(self.metric, str) and self.metric in BY_ROWS and not self.metric_params

    def _model(self) -> Model:
        """Return the checked parameters of the model."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, known: Any = None, callback: Callback | None = None) -> Self:
        """Find neighbours that are alike apart from the known features, and draw them near each other.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features), or (n_objects, n_objects)
            Features; or dissimilarities (``metric="precomputed"``), of which a sparse matrix holds those of neighbours.
            None may be missing.
        y : None
            Not used; anything but a one-dimensional target, which is ignored with a warning, is refused.
        known : array-like of shape (n_objects, n_known), or list of str, optional
            Known features, one row per object; names of columns of a DataFrame `X`, which then leave it.
        callback : callable or list of callables, optional
            Called with an :class:`unmask.Progress` when the ``"graph"`` is begun and after every iteration on the
            ``"neighbours"``; returning True stops the fit.

        Returns
        -------
        self : object
        """
        import pandas as pd

        forget(self)
        refuse_target(y)
        model = self._checked()
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        bars = [ProgressBar()] if self.verbose else []
        with watching(callback, *bars) as watch:
            with OneBlasThread(), Workers(resolve_threads(self.n_jobs)) as workers:
                watch.begin("graph")
                objects = self._read(X, known, seed, workers)
                strata, centres = strata_of(objects.known, seed)
                objects = self._without_known(objects, strata, seed, workers.threads)
                found = balanced_neighbours(objects.search, strata, model.n_neighbors, None)
                graph = affinities(found, model, model.n_neighbors, strata, mutual=not self.align)
                start = self._start(objects, graph, seed)
                watch.begin("neighbours", 1)
                drawn = descend(
                    graph,
                    start,
                    model,
                    max_iter=int(self.max_iter),
                    seed=seed,
                    workers=workers,
                    report=self._reporter(watch),
                )
                watch.end(self._progress(drawn.n_iter, drawn.U), not drawn.stopped)
            self._map = FittedNeighbours(
                objects.labels, objects.known, strata, centres, model, drawn, objects.rows, objects.transformer, seed
            )
            self.embedding_ = drawn.U.astype(np.float64)
            self.graph_, self.n_iter_ = graph, drawn.n_iter
            self.stop_reason_ = "it was interrupted" if drawn.stopped else "all iterations were made"
            self.known_summary_ = summary_table(objects.known)
            self.known_redundant_ = pd.Series(objects.known.redundant, name="reason", dtype=object)
            self._measure_leaks(seed)
        if drawn.stopped:
            warn_user(
                f"the fit was interrupted after {drawn.n_iter} of {self.max_iter} iterations; its map is as far as it "
                "came.",
                UnfinishedWarning,
            )
        return self

    def transform(self, X: Any, *, known: Any = None) -> Array:
        """Place new objects among their neighbours of the same stratum; the map does not change.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features), or (n_new, n_objects)
            Features of new objects, or their dissimilarities to the fitted ones (``metric="precomputed"``).
        known : array-like of shape (n_new, n_known), optional
            Known features of the new objects; needed when the map was fitted with known features.

        Returns
        -------
        ndarray of shape (n_new, 2)
            A fitted object returns to its place.
        """
        check_is_fitted(self)
        fitted = self._map
        X, known = read_tables(self, X, known)
        labels = labels_of(X)
        with OneBlasThread(), Workers(resolve_threads(self.n_jobs)) as workers:
            search, V = self._search_new(X, known, labels, workers.threads)
            strata = nearest_stratum(V, fitted.centres)
            found = list(_in_own_stratum(search, fitted.strata, strata, fitted.model.n_neighbors))
            graph = directed_affinities(
                found, fitted.model, fitted.model.n_neighbors, (search.n_rows, len(fitted.strata))
            )
            total = np.asarray(graph.sum(axis=1)).ravel()
            if (total == 0).any():
                raise ValueError(
                    f"new object {int(np.argmax(total == 0))} has no neighbour among the fitted objects that are like "
                    "it in the known features; leave it out."
                )
            graph = sp.csr_array(sp.diags_array(1.0 / total) @ graph)
            places, returned = np.zeros((search.n_rows, 2)), np.zeros(search.n_rows, dtype=bool)
            for near in found:
                places[near.rows] = self.embedding_[near.neighbours[:, :STRONGEST]].mean(axis=1)
                farthest = np.where(np.isfinite(near.lengths), near.lengths, 0.0).max(axis=1)
                returned[near.rows] = near.lengths[:, 0] <= SAME * farthest
            moved = descend(
                graph,
                places,
                fitted.model,
                max_iter=PLACING,
                seed=fitted.seed,
                workers=workers,
                fixed=fitted.embedding,
            )
            placed = moved.U.astype(np.float64)
            for near in found:
                same = returned[near.rows]
                placed[near.rows[same]] = self.embedding_[near.neighbours[same, 0]]
        labelled: Array = with_labels(self, placed, labels)
        return labelled

    def summary(self) -> Summary:
        """Return what was asked, what was found, and what to do next.

        Returns
        -------
        Summary
            ``print`` it, or let a notebook show it; ``rows`` has its lines.
        """
        check_is_fitted(self)
        kinds, known = self.known_summary_["type"], self._map.known
        levels = int(self._map.strata.max()) + 1
        rows = [
            Row(ASKED, "estimator", type(self).__name__),
            Row(ASKED, "objects", str(len(self.embedding_))),
            Row(ASKED, "known", "; ".join(f"{name} ({kind})" for name, kind in kinds.items()) or "nothing"),
            Row(
                ASKED,
                "align",
                "every object has neighbours in each level" if self.align else "levels where they overlap",
            ),
            Row(FOUND, "iterations", f"{self.n_iter_}: {self.stop_reason_}"),
        ]
        if levels > 1:
            rows.append(Row(FOUND, "neighbours", f"{self._share_across():.0%} of the weight joins {levels} strata"))
        if known.features:
            rows.append(Row(GOOD, "leak", leak_in_words(self.leak_, self.leak_reference_)))
        leaks = {str(name): NeighbourLeak(*row) for name, row in self.knn_leak_.iterrows()}
        rows += [Row(GOOD, "neighbours", neighbours_in_words(name, kinds[name], one)) for name, one in leaks.items()]
        told = [name for name, one in leaks.items() if _is_told(one)]
        step = "Look at the map (plot), name what you recognise, add it to known, and fit again."
        if told:
            step = f"Look at the map coloured by {quote(told)}, which neighbours on it tell; {self._remedy()}."
        return Summary(title_of(self), (*rows, Row(NEXT, "", step)))

    # ---- the steps of a fit

    def _checked(self) -> Model:
        """Return the model; raise if a parameter is wrong."""
        require_flag("align", self.align)
        require_integer("max_iter", self.max_iter, 1)
        require_jobs(self.n_jobs)
        require_integer("verbose", self.verbose, 0)
        if isinstance(self.init, str):
            require_choice("init", self.init, ("auto",))
        return self._model()

    def _read(self, X: Any, known: Any, seed: int, workers: Workers) -> Objects:
        """Return checked objects; features still contain what the known features explain."""
        transformer, name = self._make_transformer(), type(self).__name__
        X, known = read_tables(self, X, known)
        rows: Rows | None = None
        if self._compares_rows():
            require_features(X)
            warn_of_square_features(X)
            labels = labels_of(X)
            X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=3)
            rows = _rows_of(X, self.metric, seed)
            n, search = X.shape[0], rows.search(threads=workers.threads)
            transformer = None
        elif transformer is None and sp.issparse(X):
            labels, n = None, X.shape[0]
            search = SearchEdges(_checked_graph(X))
            self.n_features_in_ = n
        else:
            labels, D = None, X
            if transformer is not None:
                n = X.shape[0] if len(getattr(X, "shape", ())) == 2 else len(X)
                require_objects(n)
                if n > MOST_IN_TABLE:
                    raise ValueError(
                        f"X holds {n:,} objects, and with metric={self.metric!r} all pairs are compared, of at most "
                        f"{MOST_IN_TABLE:,}; use metric='euclidean', 'cosine' or 'cityblock', or pass a sparse matrix "
                        "of neighbours with metric='precomputed'."
                    )
                D, labels = compare(transformer, X, self)
            checked = check_dissimilarities(D, workers=workers, complete_for=name)
            if transformer is None:
                checked.note_objects(self)
                labels = checked.labels
            n, search = checked.n, SearchTable(checked.array_for(name))
        coded = check_known(known, n, labels, "grouped", types=self.known_types)
        _require_complete(coded, name)
        wanted = self._model().n_neighbors
        if n - 1 < wanted:
            warn_user(
                f"there are {n} objects, fewer than the {wanted} neighbours that each should have; all others are its "
                "neighbours.",
                MapWarning,
            )
        return Objects(n, labels, coded, search, rows, transformer)

    def _without_known(self, objects: Objects, strata: IntArray, seed: int, threads: int) -> Objects:
        """Return the objects with residuals in place of their features."""
        rows, V = objects.rows, objects.known.values
        if rows is None or rows.Z is None or not V.shape[1]:
            return objects
        with warnings.catch_warnings():  # k-means of equal objects
            warnings.simplefilter("ignore", ConvergenceWarning)
            matched = match_residuals(rows.Z, V, strata, seed)
        Z = matched.residuals(rows.Z, V)
        if Z.var(axis=0).sum() < NOTHING_LEFT * rows.Z.var(axis=0).sum():
            warn_user("the known features explain all features of X: the map shows noise.", MapWarning)
        rows = replace(rows, residuals=matched, Z=Z)
        return objects._replace(rows=rows, search=rows.search(threads=threads))

    def _start(self, objects: Objects, graph: sp.csr_array, seed: int) -> Array:
        """Return the places at which the descent begins."""
        if not isinstance(self.init, str):
            U = np.asarray(self.init, dtype=np.float64)
            if U.shape != (objects.n, 2) or not np.isfinite(U).all():
                raise ValueError(
                    f"init has shape {U.shape}; it must be {(objects.n, 2)}, of finite numbers, or 'auto'."
                )
            return U
        U = np.random.default_rng(seed).standard_normal((objects.n, 2))
        if objects.rows is not None and objects.rows.Z is not None:
            centred = objects.rows.Z - objects.rows.Z.mean(axis=0)
            axes, lengths, _ = randomized_svd(centred, min(2, centred.shape[1]), random_state=seed)
            axes = axes * lengths
        else:  # axes of the graph after the first, which is the same for all objects
            root = sp.diags_array(1.0 / np.sqrt(np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1e-12)))
            axes = randomized_svd(sp.csr_array(root @ graph @ root), 3, n_iter=20, random_state=seed)[0][:, 1:]
        widest = float(axes.std(axis=0).max())
        if not widest > 0.0:
            return U * self._SPREAD
        U *= SHAKEN
        U[:, : axes.shape[1]] += axes / widest
        return U * self._SPREAD

    def _progress(self, done: int, places: Array) -> Progress:
        here = places.astype(np.float64)
        return Progress("neighbours", done, start=1, n_starts=1, max_iter=int(self.max_iter), _draw=here.copy)

    def _reporter(self, watch: Watch) -> Any:
        return lambda done, places: watch.is_due() and watch.update(self._progress(done, places))

    def _search_new(self, X: Any, known: Any, labels: Any, threads: int) -> tuple[Search, Array]:
        """Return a search for the neighbours of new objects, and their coded known features."""
        fitted, name = self._map, type(self).__name__
        if fitted.rows is not None:
            X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
            V = fitted.known.of_new(known, X.shape[0], labels)
            return fitted.rows.search(X, V, threads), V
        if fitted.transformer is not None:
            D: Array = np.asarray(fitted.transformer.transform(X))
        elif sp.issparse(X):
            graph = _checked_graph(X, self.n_features_in_)
            return SearchEdges(graph), fitted.known.of_new(known, X.shape[0], labels)
        else:
            n = self.n_features_in_
            D = new_dissimilarities(new_rows(X, fitted.labels, n), fitted.labels, n, name, _check_new)
        return SearchTable(D), fitted.known.of_new(known, len(D), labels)

    def _measure_leaks(self, seed: int) -> None:
        """Assign the leaks, and warn of features that neighbours tell."""
        import pandas as pd

        known = self._map.known
        leak = linear_leak(self.embedding_, known.values)
        self.leak_, self.leak_reference_ = leak.leak, leak.reference
        leaks = neighbour_leak(self.embedding_, known, np.random.default_rng(seed)) if known.n_kept else {}
        table = pd.DataFrame.from_dict(leaks, orient="index", columns=list(NeighbourLeak._fields), dtype=float)
        self.knn_leak_ = table.rename_axis(index="feature")
        kinds = {feature.name: feature.coding.kind for feature in known.features}
        told = [neighbours_in_words(name, kinds[name], one) for name, one in leaks.items() if _is_told(one)]
        if told:
            warn_user(f"neighbours on the map {'; '.join(told)}. {self._remedy().capitalize()}.", LeakWarning)

    def _remedy(self) -> str:
        usual = "if groups of objects go with a feature, every map that shows the groups also tells the feature"
        return usual if self.align else f"{usual}; if not, use align=True or more neighbours"

    def _share_across(self) -> float:
        edges, strata = self.graph_.tocoo(), self._map.strata
        across = strata[edges.row] != strata[edges.col]
        return float(edges.data[across].sum(dtype=np.float64) / max(edges.data.sum(dtype=np.float64), 1e-300))


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalTSNE(NeighbourMap):
    """t-SNE given known features: near each other is what is alike apart from them.

    Every object has neighbours in every level of the known features. For features, what the known features explain is
    taken off first, as learned from objects of different levels that are each other's nearest. Without known features
    this is t-SNE with a sampled repulsion. Time grows with the number of objects; the map has two dimensions.

    Parameters
    ----------
    perplexity : float, default=30
        About how many near neighbours an object has.
    early_exaggeration : float, default=12
        What the attraction of neighbours is multiplied by in the first quarter of the iterations.
    metric : str, callable or transformer, default="euclidean"
        How objects are compared. ``"euclidean"``, ``"cosine"`` and ``"cityblock"`` take any number of objects, and what
        the known features explain is taken off the features. Other metrics, as :class:`ConditionalMDS` takes them,
        compare all pairs of at most 20,000 objects. ``"precomputed"``: X holds dissimilarities.
    metric_params : dict, optional
        Further arguments of the metric.
    known_types : dict, optional
        Types of known features, as in :class:`ConditionalMDS`.
    align : bool, default=False
        False joins objects of different levels only if each is a neighbour of the other, so that levels lie over each
        other where they have the same objects. True joins every object to neighbours in each level.
    init : {"auto"} or array-like of shape (n_objects, 2), default="auto"
        Where the descent begins; by default at principal axes.
    max_iter : int, default=500
        Iterations.
    n_jobs : int, optional
        Threads; None and -1 mean every core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the descent.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_objects, 2)
        The map.
    graph_ : sparse array of shape (n_objects, n_objects)
        How much objects are drawn to each other; rows add up to 1 on average.
    leak_, leak_reference_ : float
        How far the axes of the map repeat the known features, and what chance makes of as many objects.
    knn_leak_ : DataFrame
        How well neighbours on the map tell each known feature, beside chance; above 5,000 objects of a sample.
    known_summary_ : DataFrame
        What each known feature was taken for.
    known_redundant_ : Series
        Known columns that were left out, and why.
    n_iter_ : int
        Iterations.
    stop_reason_ : str
        Why the descent ended.
    object_names_ : ndarray of shape (n_objects,)
        Labels of the objects; their numbers if they had none.

    References
    ----------
    L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine Learning Research 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask import ConditionalTSNE
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 60)
    >>> X = rng.normal(size=(120, 3)) + 8 * (group == "b")[:, None]
    >>> tsne = ConditionalTSNE(perplexity=8, random_state=0).fit(X, known=group)
    >>> bool(tsne.leak_ < 0.5)  # the map does not repeat the groups
    True
    """

    _SPREAD = 1e-2

    perplexity: float = 30.0
    early_exaggeration: float = 12.0

    def _model(self) -> TSNE:
        require_number("perplexity", self.perplexity, 1.0)
        require_number("early_exaggeration", self.early_exaggeration, 1.0)
        return TSNE(float(self.perplexity), float(self.early_exaggeration))


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalUMAP(NeighbourMap):
    """UMAP given known features: near each other is what is alike apart from them.

    As :class:`ConditionalTSNE`, with the graph and the forces of UMAP, and in less time. Without known features this is
    UMAP with a descent that gives the same map for any number of threads.

    Parameters
    ----------
    n_neighbors : int, default=15
        Neighbours of an object, in all levels of the known features together.
    min_dist : float, default=0.1
        Distance on the map up to which neighbours are as near as can be.
    spread : float, default=1.0
        Distance on the map over which they become strangers; larger than `min_dist`.
    metric, metric_params, known_types, align, init, n_jobs, random_state, verbose
        As in :class:`ConditionalTSNE`.
    max_iter : int, default=300
        Iterations.

    Attributes
    ----------
    embedding_, graph_, leak_, leak_reference_, knn_leak_, known_summary_, known_redundant_, n_iter_, stop_reason_, \
object_names_
        As in :class:`ConditionalTSNE`.

    References
    ----------
    L. McInnes, J. Healy and J. Melville, "UMAP: uniform manifold approximation and projection for dimension reduction",
    arXiv 1802.03426, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from unmask import ConditionalUMAP
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 60)
    >>> X = rng.normal(size=(120, 3)) + 8 * (group == "b")[:, None]
    >>> umap = ConditionalUMAP(random_state=0).fit(X, known=group)
    >>> bool(umap.leak_ < 0.5)  # the map does not repeat the groups
    True
    """

    _SPREAD = 3.0

    n_neighbors: int = 15
    min_dist: float = 0.1
    spread: float = 1.0
    max_iter: int = 300

    def _model(self) -> UMAP:
        neighbours = require_integer("n_neighbors", self.n_neighbors, 2)
        require_number("min_dist", self.min_dist, 0.0)
        require_number("spread", self.spread, 0.0)
        if not self.min_dist < self.spread:
            raise ValueError(f"min_dist={self.min_dist} must be less than spread={self.spread}.")
        return UMAP(neighbours, float(self.min_dist), float(self.spread))


def _rows_of(X: Any, metric: str, seed: int) -> Rows:
    """Return features as they are compared; a sparse table is reduced to at most 100 columns."""
    rows = Rows(BY_ROWS[metric], metric == "cosine", None)
    if sp.issparse(X) and X.shape[1] > SPARSE_COLUMNS:
        whole = normalize(X) if rows.normalised else X
        rows = replace(rows, reduction=TruncatedSVD(min(SPARSE_COLUMNS, X.shape[0] - 1), random_state=seed).fit(whole))
    return replace(rows, Z=rows.plain(X))


def _checked_graph(X: Any, columns: int | None = None) -> sp.csr_array:
    """Return a sparse matrix of dissimilarities, square unless the number of its columns is given."""
    graph = sp.csr_array(X)
    require_objects(graph.shape[0] if columns is None else columns)
    if graph.shape[1] != (graph.shape[0] if columns is None else columns):
        raise ValueError(f"X has shape {graph.shape}, and each object needs a column: {columns or graph.shape[0]}.")
    _check_new(graph.data)
    return graph


def _check_new(values: Array) -> None:
    if not np.all((values >= 0) & np.isfinite(values)):
        raise ValueError("Negative values in data, or NaN or infinite ones: dissimilarities must be finite and >= 0.")


def _in_own_stratum(search: Search, strata: IntArray, new: IntArray, k: int) -> Iterator[Nearest]:
    """Yield the nearest fitted objects of new ones among those that are like them in the known features."""
    for stratum in np.unique(new):
        rows, among = np.flatnonzero(new == stratum), np.flatnonzero(strata == stratum)
        lengths, neighbours = search.nearest(rows, among, min(k, len(among)))
        order = np.argsort(lengths, axis=1, kind="stable")
        nearest = np.take_along_axis(neighbours, order, axis=1)
        yield Nearest(rows, nearest, np.take_along_axis(lengths, order, axis=1), int(stratum), 1.0)


def _is_told(leak: NeighbourLeak) -> bool:
    return leak.above_chance and leak.corrected > TOLD


def _require_complete(known: KnownFeatures, name: str) -> None:
    known.require_no_error(name)
    for feature in known.features:
        if len(feature.missing):
            raise ValueError(
                f"known has {len(feature.missing)} missing cells in column {feature.name!r}, and {name} needs all; "
                "fill them, or use ConditionalMDS, which estimates them."
            )
