"""Maps adjusted for what is known: nothing of it is left on them, at no cost of fit."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import SplineTransformer

from unmask import (
    AdjustmentWarning,
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    GeneralMDS,
    LeakWarning,
    Numeric,
    Spline,
)
from unmask.datasets import load_kinship
from unmask.estimators import refit
from unmask.inspection import partial_dbrda
from unmask.problem.linalg import canonical_correlations


def effect_along(rng, n=60, effect=1.5, noise=0.05):
    """Return dissimilarities of two unknown features, with a known one that acts along the first of them."""
    truth = rng.normal(size=(n, 2)) * [1.0, 0.7]
    v = rng.normal(size=(n, 1))
    d = pdist(truth + effect * v * [1.0, 0.0])
    return squareform(np.abs(d * (1 + noise * rng.normal(size=d.size)))), truth, v


def residual(table, V):
    table, V = table - table.mean(axis=0), V - V.mean(axis=0)
    return table - V @ np.linalg.lstsq(V, table, rcond=None)[0]


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    species = pd.DataFrame({"species": data.target_names[data.target]}, index=data.data.index)
    return data.data, species


def make_mds(p=2, **options):
    return ConditionalMDS(p, **({"metric": "precomputed", "n_init": 4, "random_state": 0} | options))


ESTIMATORS = [
    make_mds(),
    make_mds(weights="sammon"),
    make_mds(level="interval"),
    ConditionalIsomap(2, n_neighbors=12, metric="precomputed", n_init=4, random_state=0),
    ConditionalClassicalMDS(2, metric="precomputed"),
    GeneralMDS(2, metric="precomputed", loss="huber", n_init=2, random_state=0),
    GeneralMDS(2, metric="precomputed", distance="cityblock", n_init=2, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_fit_is_that_of_the_free_map_and_nothing_linear_is_left(estimator):
    D, _, v = effect_along(np.random.default_rng(11))
    free = estimator.set_params(adjust=False).fit(D, known=v)
    distances, map_, leak = free.predict_dissimilarities(), free.embedding_, free.leak_
    stress = free.stress_ if hasattr(free, "stress_") else free.cost_
    adjusted = refit(estimator.set_params(adjust=True), D, n_free=2, known=v)
    assert leak > 0.5
    assert adjusted.leak_ < 1e-12
    assert adjusted.free_leak_ == leak
    np.testing.assert_allclose(adjusted.predict_dissimilarities(), distances, rtol=1e-12, atol=1e-12)
    assert (adjusted.stress_ if hasattr(adjusted, "stress_") else adjusted.cost_) == pytest.approx(stress, rel=1e-12)
    np.testing.assert_array_equal(adjusted.free_embedding_, map_)
    # The map is the residual of the regression, up to a turn.
    expected = residual(map_, v)
    np.testing.assert_allclose(
        adjusted.embedding_ @ adjusted.embedding_.T, expected @ expected.T, atol=1e-9 * np.abs(expected).max() ** 2
    )


def test_what_is_unknown_is_recovered_where_the_published_map_repeats_what_is_known():
    recovered = []
    for seed in range(3):
        D, truth, v = effect_along(np.random.default_rng(100 + seed))
        target = residual(truth, v)
        maps = [make_mds(adjust=adjust).fit(D, known=v).embedding_ for adjust in (False, True)]
        recovered.append([canonical_correlations(U, target).mean() for U in maps])
    published, adjusted = np.array(recovered).T
    assert (published < 0.9).all()
    assert (adjusted > 0.98).all()


def test_with_one_dimension_shown_a_free_one_is_added_so_that_the_right_axis_is_left():
    # The known feature acts along the weaker of two axes, strongly: a free map of one dimension shows that one.
    rng = np.random.default_rng(3)
    truth, v = rng.normal(size=(60, 2)) * [1.0, 0.5], rng.normal(size=(60, 1))
    D = squareform(pdist(truth + 3.0 * v * [0.0, 1.0]))
    strong = residual(truth, v)[:, :1]
    few = refit(make_mds(1, adjust=True), D, n_free=1, known=v)
    enough = make_mds(1, adjust=True).fit(D, known=v)
    assert abs(np.corrcoef(few.embedding_[:, 0], strong[:, 0])[0, 1]) < 0.7
    assert enough.n_free_ == 2
    assert enough.embedding_.shape == (60, 1)
    assert enough.free_embedding_.shape == (60, 2)
    assert abs(np.corrcoef(enough.embedding_[:, 0], strong[:, 0])[0, 1]) > 0.99


def test_iris_given_species(iris):
    X, species = iris
    within = X - X.groupby(species["species"]).transform("mean")
    axes = np.linalg.svd(within, full_matrices=False)
    structure = axes.U[:, :2] * axes.S[:2]
    with pytest.warns(LeakWarning, match="adjust=True"):
        published = ConditionalMDS(n_init=2, random_state=0).fit(X, known=species)
    adjusted = ConditionalMDS(n_init=2, random_state=0, adjust=True).fit(X, known=species)
    assert published.leak_ > 3 * published.leak_reference_
    assert canonical_correlations(adjusted.embedding_, structure).mean() > 0.95
    assert canonical_correlations(published.embedding_, structure).mean() < 0.8
    told = published.knn_leak_["score"].item(), adjusted.knn_leak_["score"].item()
    assert told[0] > 0.75
    assert told[1] < 0.55


def test_automatic_adjusts_what_leaks_and_says_so_and_leaves_the_rest(iris):
    X, species = iris
    with pytest.warns(AdjustmentWarning, match="shown adjusted"):
        leaking = ConditionalMDS(n_init=1, random_state=0, adjust="auto").fit(X, known=species)
    assert leaking.adjusted_
    kin = load_kinship()
    clean = make_mds(adjust="auto").fit(kin.dissimilarities, known=kin.known[["gender"]])
    assert not clean.adjusted_
    published = make_mds().fit(kin.dissimilarities, known=kin.known[["gender"]])
    np.testing.assert_array_equal(clean.embedding_, published.embedding_)
    # ... and the adjusted map can be looked at all the same; where nothing leaks it is nearly the same map.
    assert canonical_correlations(published.adjusted_embedding_, published.embedding_).min() > 0.999
    nothing = make_mds(adjust="auto").fit(kin.dissimilarities)
    assert not nothing.adjusted_
    assert nothing.leak_reference_ == 0.0


def test_the_map_does_not_depend_on_units_offsets_or_coding():
    D, _, v = effect_along(np.random.default_rng(5), n=40)
    group = np.where(v[:, 0] > 0.3, "b", "a")
    given = pd.DataFrame({"v": v[:, 0], "group": group})
    other = pd.DataFrame({"v": 1e6 - 1000 * v[:, 0], "group": np.where(group == "a", 7.0, -2.0)})
    options = {"coef": "full", "tol": 1e-15, "adjust": True}
    first = refit(make_mds(**options), D, n_free=2, known=given)
    second = refit(make_mds(**options), D, n_free=2, known=other)
    np.testing.assert_allclose(second.embedding_, first.embedding_, atol=1e-4)
    np.testing.assert_allclose(
        second.importance_["standardized"].to_numpy(), first.importance_["standardized"].to_numpy(), rtol=1e-4
    )


def test_the_map_is_that_of_partial_redundancy_analysis_of_the_fitted_distances():
    D, _, v = effect_along(np.random.default_rng(6), n=30)
    mds = refit(make_mds(adjust=True), D, n_free=3, known=v)
    rest = partial_dbrda(mds.predict_dissimilarities(), v, n_components=2)
    np.testing.assert_allclose(mds.embedding_, rest.embedding, atol=1e-8 * np.abs(D).max())


def test_importance_is_the_total_along_the_map_and_across_it():
    rng = np.random.default_rng(8)
    truth, v = rng.normal(size=(80, 2)), rng.normal(size=(80, 1))
    v = (v - v.mean()) / v.std(ddof=1)
    D = squareform(pdist(np.column_stack([truth[:, :1] + v, truth[:, 1:], v])))  # 1 along and 1 across: 1.41 in all
    mds = make_mds(adjust=True, tol=1e-12).fit(D, known=v)
    assert mds.importance_["standardized"].item() == pytest.approx(np.sqrt(2), rel=0.02)
    total = np.hypot(np.linalg.norm(mds.shared_coef_.to_numpy()), mds.coef_.to_numpy().item())
    assert mds.importance_["raw"].item() == pytest.approx(total, rel=0.02)  # but for axes that are not shown
    assert not make_mds().fit(D, known=v).shared_coef_.to_numpy().any()


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("estimator", [ConditionalMDS, ConditionalClassicalMDS])
def test_fitted_objects_return_to_their_points(estimator, p):
    D, _, v = effect_along(np.random.default_rng(9), n=40, noise=0.0)
    mds = estimator(p, metric="precomputed", adjust=True).fit(D, known=v)
    np.testing.assert_allclose(mds.transform(D[:7], known=v[:7]), mds.embedding_[:7], atol=1e-6)


def test_a_new_object_is_placed_without_what_is_known_about_it():
    D, truth, v = effect_along(np.random.default_rng(10), n=50, noise=0.0)
    old, new = np.arange(45), np.arange(45, 50)
    mds = make_mds(adjust=True).fit(D[np.ix_(old, old)], known=v[old])
    together = np.vstack([mds.embedding_, mds.transform(D[np.ix_(new, old)], known=v[new])])
    # By the regression among the old objects.
    slope = np.linalg.lstsq(v[old] - v[old].mean(axis=0), truth[old] - truth[old].mean(axis=0), rcond=None)[0]
    expected = truth - truth[old].mean(axis=0) - (v - v[old].mean(axis=0)) @ slope
    np.testing.assert_allclose(pdist(together), pdist(expected), atol=2e-3)


def test_a_spline_is_regressed_on_its_basis():
    rng = np.random.default_rng(12)
    truth, x = rng.normal(size=(80, 2)), rng.uniform(-1.5, 1.5, size=(80, 1))
    D = squareform(pdist(truth + np.column_stack([2 * x**2, np.zeros(80)])))
    mds = make_mds(known_types={"x": Spline(4)}, adjust=True).fit(D, known=pd.DataFrame({"x": x[:, 0]}))
    basis = SplineTransformer(3, degree=3, include_bias=False).fit_transform(x)
    assert canonical_correlations(mds.embedding_, basis).max() < 1e-10
    assert canonical_correlations(mds.embedding_, residual(truth, basis)).min() > 0.999


# ---- what is said


def test_levels_of_few_objects_and_few_objects_are_said():
    D, _, _ = effect_along(np.random.default_rng(14), n=30)
    batch = np.repeat(["a", "b", "c"], [15, 14, 1])
    with pytest.warns(AdjustmentWarning, match=r"'c \(known0\)'.*centre"):
        mds = make_mds(adjust=True).fit(D, known=batch)
    np.testing.assert_allclose(mds.embedding_[-1], 0, atol=1e-9)
    kin = load_kinship()
    with pytest.warns(AdjustmentWarning, match="2 columns of known features with 14 objects: about 15%"):
        make_mds(adjust=True).fit(kin.dissimilarities, known=kin.known[["gender", "degree"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjust": "yes"}, r"adjust='yes' is not one of False, True, 'auto'"),
        ({"adjust": None}, r"adjust=None is not one of"),
        ({"adjust": True, "orthogonal": True}, "set orthogonal=False"),
    ],
)
def test_what_contradicts_itself_is_refused(options, message):
    D, _, v = effect_along(np.random.default_rng(15), n=40)
    with pytest.raises(ValueError, match=message):
        make_mds(**options).fit(D, known=v)


def test_the_free_map_cannot_have_more_dimensions_than_the_objects_leave():
    D, _, v = effect_along(np.random.default_rng(15), n=40)
    with pytest.raises(ValueError, match=r"50 dimensions before it is adjusted, .* at most 38"):
        refit(make_mds(adjust=True), D, n_free=50, known=v)


def test_the_other_map_needs_a_fit():
    with pytest.raises(NotFittedError):
        _ = ConditionalMDS().adjusted_embedding_


def test_nothing_known_has_the_dimensions_that_are_asked_for():
    D, _, _ = effect_along(np.random.default_rng(17), n=20)
    mds = refit(make_mds(adjust=True), D, n_free=4)
    assert mds.embedding_.shape == (20, 2)
    assert not mds.adjusted_


# ---- missing cells of what is known


def with_gaps(noise=0.05, seed=18):
    """Return dissimilarities, known features of which one cell is missing, and the value of that cell.

    The feature acts along the map only: across it, it has no coefficient by which to estimate anything.
    """
    D, _, v = effect_along(np.random.default_rng(seed), n=50, effect=3.0, noise=noise)
    known = pd.DataFrame({"v": 100 + 10 * v[:, 0]})
    true = known.loc[7, "v"]
    known.loc[7, "v"] = np.nan
    return D, known, true


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
def test_a_missing_number_is_taken_from_the_map_where_that_is_surer():
    D, known, true = with_gaps()
    mds = make_mds(adjust=True).fit(D, known=known)
    cell = mds.known_imputed_.iloc[0]
    assert cell["lower"] < true < cell["upper"]
    # The map tells the feature but for what else is on it: a third of its spread.
    assert cell["upper"] - cell["lower"] < 2.2 * known["v"].std()
    assert abs(cell["value"] - true) < known["v"].std()
    assert mds.leak_ < 1e-12  # with the value as estimated
    assert cell["remark"] == ""


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
def test_a_bounded_number_stays_within_its_bounds():
    D, known, _ = with_gaps()
    types = {"v": Numeric(lower=float(known["v"].min()), upper=float(known["v"].min()) + 1e4)}
    mds = make_mds(adjust=True, known_types=types).fit(D, known=known)
    assert mds.known_imputed_["value"].item() >= known["v"].min()


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
def test_a_number_that_nothing_determines_is_refused():
    rng = np.random.default_rng(19)
    D = squareform(pdist(rng.normal(size=(40, 2))))
    known = pd.DataFrame({"noise": rng.normal(size=40)})
    known.loc[3, "noise"] = np.nan
    with pytest.raises(ValueError, match=r"determine them: 'noise of 3'\. Fill them.*adjust=False"):
        make_mds(adjust=True).fit(D, known=known)
    assert not make_mds(adjust="auto").fit(D, known=known).adjusted_


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
@pytest.mark.parametrize("options", [{}, {"level": "interval"}])
def test_a_number_that_the_dissimilarities_determine_is_kept(options):
    rng = np.random.default_rng(20)
    U, v = rng.normal(size=(40, 2)), rng.normal(size=40)
    D = squareform(pdist(np.column_stack([U, 2 * v])))
    known, middle = pd.DataFrame({"v": v}), int(np.argsort(v)[15])
    known.loc[middle, "v"] = np.nan
    mds = refit(make_mds(adjust=True, **options), D, n_free=2, known=known)
    assert mds.known_imputed_["value"].item() == pytest.approx(v[middle], abs=0.05)


def test_a_missing_level_is_refused_and_auto_says_why_it_did_not_adjust():
    """What acts along the map tells nothing of a level by its coefficient, and a wrong one would be taken off."""
    rng = np.random.default_rng(21)
    names = [f"flower {i}" for i in range(45)]
    level = pd.Series(np.repeat(["a", "b", "c"], 15), index=names, dtype=object, name="kind")
    X = rng.normal(size=(45, 2)) + np.repeat([0.0, 2.0, 4.0], 15)[:, None] * [1.0, 0.0]
    D = pd.DataFrame(squareform(pdist(X)), index=names, columns=names)
    level.iloc[20] = None
    with pytest.raises(ValueError, match="'kind of flower 20'"):
        make_mds(adjust=True).fit(D, known=level)
    with pytest.warns(LeakWarning, match="It is not adjusted, since .*'kind of flower 20'.*; or use fewer"):
        assert not make_mds(adjust="auto").fit(D, known=level).adjusted_


def test_places_of_levels_count_what_acts_along_the_map():
    rng = np.random.default_rng(22)
    X = rng.normal(size=(60, 2)) * 0.5 + np.repeat([0.0, 2.0, 4.0], 20)[:, None] * [1.0, 0.0]
    mds = make_mds(adjust=True).fit(squareform(pdist(X)), known=np.repeat(["a", "b", "c"], 20))
    places = mds.level_positions_.loc["known0"].fillna(0.0).to_numpy()
    means = np.array([X[part].mean(axis=0) for part in (slice(0, 20), slice(20, 40), slice(40, 60))])
    np.testing.assert_allclose(pdist(places), pdist(means), rtol=0.02)


def test_without_dimensions_there_are_no_neighbours_to_ask():
    D, _, v = effect_along(np.random.default_rng(24), n=20)
    mds = make_mds(0, adjust=True).fit(D, known=v)
    assert mds.knn_leak_.empty
    assert not mds.adjusted_


def test_the_share_that_the_axes_shown_hold():
    D, _, v = effect_along(np.random.default_rng(25))
    mds = make_mds(1, adjust=True).fit(D, known=v)
    both = refit(make_mds(2, adjust=True), D, n_free=mds.n_free_, known=v)
    squares = (both.embedding_**2).sum(axis=0)
    assert mds.n_free_ == 2
    assert mds.shown_share_ == pytest.approx(squares[0] / squares.sum(), rel=1e-9)
    assert make_mds().fit(D, known=v).shown_share_ == 1.0


@pytest.mark.parametrize(
    "estimator", [make_mds(1, adjust=True), ConditionalClassicalMDS(1, metric="precomputed", adjust=True)]
)
def test_the_stress_of_what_is_drawn_stands_beside_that_of_the_free_fit(estimator):
    D, _, v = effect_along(np.random.default_rng(25))
    mds = estimator.fit(D, known=v)
    assert (mds.n_free_, mds.embedding_.shape[1]) == (2, 1)
    # Distances of what is drawn and of all that is known, along the map and at right angles to it.
    predicted = mds.free_embedding_ - residual(mds.free_embedding_, v)
    left = residual(mds.free_embedding_, v)
    axis = np.linalg.svd(left, full_matrices=False)[2][:1]
    Z = np.column_stack([predicted + left @ axis.T @ axis, v * mds.coef_.to_numpy().item()])
    d = squareform(D)
    assert mds.shown_stress_ == pytest.approx(np.sum((d - pdist(Z)) ** 2) / np.sum(d**2), rel=1e-6)
    assert mds.shown_stress_ > mds.stress_
    summary = str(mds.summary())
    assert f"{mds.stress_:.3g} of the free fit with 2 dimensions, " in summary
    assert f"stress of the 1 drawn, with what the known features predict: {mds.shown_stress_:.3g}" in summary
    as_shown = refit(make_mds(1, adjust=True), D, n_free=1, known=v)
    assert as_shown.shown_stress_ == pytest.approx(make_mds(1).fit(D, known=v).stress_, rel=1e-9)


def test_single_precision_dissimilarities_are_placed():
    D, _, v = effect_along(np.random.default_rng(26), n=30)
    mds = make_mds(adjust=True).fit(D.astype(np.float32), known=v)
    placed = mds.transform(D[:3].astype(np.float32), known=v[:3])
    assert placed.dtype == np.float32
    np.testing.assert_allclose(placed, mds.embedding_[:3], atol=1e-5)
