"""ConditionalTSNE: exact t-SNE with nothing known, and no room for what is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.special import kl_div
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.manifold._t_sne import _joint_probabilities, _kl_divergence
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unmask import ConditionalTSNE, Cyclic, GeneralMDS, Neighbours, Nominal
from unmask.checking import check_dissimilarities
from unmask.estimators._conditional_tsne import collapse_at
from unmask.kernels import Workers, general
from unmask.problem import KnownSpace, make_cost


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, pd.Series(y, name="digit").astype("category").to_frame()


@pytest.fixture
def X(rng):
    return rng.standard_normal((40, 5)) * [3, 2, 1, 1, 1]


def student_shares(Z):
    kernel = 1 / (1 + pdist(Z, "sqeuclidean"))
    return kernel / kernel.sum()


def mixing(embedding, labels, k):
    """Return the mean entropy of the labels of each object's k nearest neighbours, as a share of the largest."""
    near = NearestNeighbors(n_neighbors=k).fit(embedding).kneighbors(return_distance=False)
    shares = np.stack([(labels[near] == level).mean(axis=1) for level in np.unique(labels)])
    return -np.sum(shares * np.log(np.where(shares > 0, shares, 1.0)), axis=0).mean() / np.log(len(shares))


# ---- with nothing known


def test_divergence_worked_by_hand_with_the_probabilities_of_scikit_learn(X):
    tsne = ConditionalTSNE(perplexity=8, random_state=0).fit(X)
    ours = Neighbours(8.0)(squareform(pdist(X)), Workers(1))[np.triu_indices(40, 1)]
    assert tsne.kl_divergence_ == pytest.approx(kl_div(ours, student_shares(tsne.embedding_)).sum(), rel=1e-10)
    # Theirs are in single precision, each shared by (i, j) and (j, i).
    theirs = 2 * _joint_probabilities(squareform(pdist(X, "sqeuclidean")).astype(np.float32), 8.0, 0)
    assert tsne.kl_divergence_ == pytest.approx(kl_div(theirs, student_shares(tsne.embedding_)).sum(), rel=1e-3)
    assert tsne.cost_ == tsne.kl_divergence_


def test_gradient_is_that_of_scikit_learn(X, rng):
    D, Z = squareform(pdist(X)), rng.standard_normal((40, 2))
    checked = check_dissimilarities(D, workers=Workers(1))
    cost = make_cost(checked, None, Neighbours(8.0), "student", "kullback-leibler", Workers(1))
    value, G = general.cost_pass(cost, Z, Workers(1))
    half = squareform(cost.targets) / 2
    expected, gradient = _kl_divergence(Z.ravel(), half, 1, 40, 2)
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(2 * G.ravel(), gradient, rtol=0, atol=1e-12)


def test_divergence_is_not_above_that_of_scikit_learn(digits):
    X = digits[0][:200]
    theirs = TSNE(method="exact", random_state=0).fit(X).kl_divergence_
    assert ConditionalTSNE(random_state=0).fit(X).kl_divergence_ <= theirs


def test_it_is_one_of_the_general_costs(X):
    tsne = ConditionalTSNE(perplexity=8, tol=1e-10, random_state=0).fit(X)
    functions = {"target": Neighbours(8.0), "distance": "student", "loss": "kullback-leibler"}
    mds = GeneralMDS(**functions, init=(tsne.embedding_, None), tol=1e-10, random_state=0).fit(X)
    assert mds.cost_ == pytest.approx(tsne.kl_divergence_, rel=1e-6)
    np.testing.assert_allclose(mds.embedding_, tsne.embedding_, rtol=0, atol=1e-2 * np.ptp(tsne.embedding_))


# ---- given what is known


def test_given_the_digit_neighbours_mix_the_digits(digits):
    X, digit = digits[0][:800], digits[1][:800]
    labels = digit["digit"].to_numpy()
    plain, given = (ConditionalTSNE(random_state=0).fit(X, known=known) for known in (None, digit))
    assert mixing(plain.embedding_, labels, 50) < 0.15
    assert mixing(given.embedding_, labels, 50) >= 0.80
    assert given.leak_ < 1e-6
    assert given.importance_.loc["digit", "standardized"] > 0


def test_where_nothing_keeps_the_map_from_it_it_repeats_the_digits(digits):
    """Room on the map costs t-SNE nothing, so it is told to keep apart from what is known by default."""
    X, digit = digits[0][:400], digits[1][:400]
    given, free = (ConditionalTSNE(orthogonal=flag, random_state=0).fit(X, known=digit) for flag in (True, False))
    assert given.leak_ < 1e-6
    assert free.leak_ > 0.8
    assert mixing(free.embedding_, digit["digit"].to_numpy(), 30) < 0.15
    assert free.kl_divergence_ < given.kl_divergence_


@pytest.mark.slow
def test_given_the_digit_neighbours_mix_all_the_digits(digits):
    X, digit = digits
    labels = digit["digit"].to_numpy()
    given = ConditionalTSNE(random_state=0).fit(X, known=digit)
    assert mixing(given.embedding_, labels, 50) >= 0.80
    # Even places that have nothing to do with the digits do not reach 1 with so few neighbours.
    chance = mixing(np.random.default_rng(0).standard_normal((len(X), 2)), labels, 30)
    assert 0.75 <= mixing(given.embedding_, labels, 30) < chance < 0.95


@pytest.mark.parametrize("coef", ["diagonal", "grouped"])
def test_similarities_are_taken_in_map_and_known_features_together(rng, coef):
    group = pd.DataFrame({"group": np.array(list("abc"))[np.arange(45) % 3]})
    dummies = pd.get_dummies(group["group"]).to_numpy(dtype=float)
    X = np.column_stack([6 * dummies, rng.standard_normal((45, 2))])
    tsne = ConditionalTSNE(perplexity=8, coef=coef, random_state=0).fit(X, known=group)
    places = tsne.level_positions_.loc["group"].loc[list("abc")].dropna(axis=1).to_numpy(dtype=float)
    targets = Neighbours(8.0)(squareform(pdist(X)), Workers(1))[np.triu_indices(45, 1)]
    Z = np.column_stack([tsne.embedding_, dummies @ places])
    assert tsne.kl_divergence_ == pytest.approx(kl_div(targets, student_shares(Z)).sum(), rel=1e-8)
    if coef == "diagonal":
        np.testing.assert_allclose(pdist(places), pdist(places)[0], rtol=1e-9, atol=0)


def test_every_type_of_known_feature_acts(rng):
    n = 60
    hour, code = rng.uniform(0, 24, n), rng.integers(1, 4, n)
    X = np.column_stack(
        [4 * np.cos(hour / 12 * np.pi), 4 * np.sin(hour / 12 * np.pi), 4 * code, rng.normal(size=(n, 2))]
    )
    known = pd.DataFrame({"hour": hour, "code": code.astype(float)})
    known.loc[5, "code"] = np.nan
    tsne = ConditionalTSNE(perplexity=10, known_types={"hour": Cyclic(24), "code": Nominal()}, random_state=0)
    tsne.fit(X, known=known)
    assert (tsne.importance_["standardized"] > 0.1).all()
    (imputed,) = tsne.known_imputed_.itertuples()
    assert (imputed.object, imputed.feature, imputed.value) == (5, "code", code[5])


# ---- exaggeration


def test_exaggeration_is_below_what_makes_maps_collapse(X):
    targets = Neighbours(8.0)(squareform(pdist(X)), Workers(1))
    basis = np.linalg.qr(X[:, :2] - X[:, :2].mean(axis=0))[0]
    for space in (None, KnownSpace(basis)):
        held = np.column_stack([np.ones(40), basis]) if space else np.ones((40, 1))
        free = np.linalg.svd(held)[0][:, held.shape[1] :]  # all directions that an axis may have
        laplacian = np.diag(targets.sum(axis=0)) - targets
        values = np.linalg.eigvalsh(free.T @ laplacian @ free)
        for p in (1, 2):
            assert collapse_at(targets, space, p) == pytest.approx(2 / (39 * values[p - 1]), rel=1e-9)
    tsne = ConditionalTSNE(perplexity=8, random_state=0).fit(X)
    assert tsne.early_exaggeration_ == pytest.approx(collapse_at(targets, None, 2) / 2, rel=1e-9)
    collapse = collapse_at(targets, None, 2)
    with pytest.raises(ValueError, match=r"early_exaggeration=.* would draw all objects into one place, as does every"):
        ConditionalTSNE(perplexity=8, early_exaggeration=1.01 * collapse).fit(X)
    asked = ConditionalTSNE(perplexity=8, early_exaggeration=0.9 * collapse, random_state=0).fit(X)
    assert asked.early_exaggeration_ == 0.9 * collapse


def test_what_makes_maps_collapse_is_found_by_iteration_for_many_objects(rng, monkeypatch):
    targets = Neighbours(8.0)(squareform(pdist(rng.standard_normal((120, 3)))), Workers(1))
    exact = collapse_at(targets, None, 2)
    monkeypatch.setattr("unmask.estimators._conditional_tsne.DENSE_BELOW", 100)
    found = collapse_at(targets, None, 2)
    assert found != exact
    assert found == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("options", [{"early_iter": 0}, {"early_exaggeration": 1.0}, {"early_exaggeration": 1}])
def test_the_first_stage_can_be_left_out(X, options):
    tsne = ConditionalTSNE(perplexity=8, random_state=0, **options).fit(X)
    assert tsne.early_exaggeration_ == 1.0
    # The start is small, so that all shares are nearly the same.
    targets = Neighbours(8.0)(squareform(pdist(X)), Workers(1))[np.triu_indices(40, 1)]
    assert tsne.cost_path_[0] == pytest.approx(kl_div(targets, 1 / 780).sum(), rel=0.05)


# ---- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"perplexity": 39.0},
            r"perplexity=39.0 asks for more neighbours than n_samples=40 objects have; use less than 39",
        ),
        ({"perplexity": 0.5}, r"perplexity=0.5 must be a number of at least 1"),
        ({"early_exaggeration": 0.5}, r"early_exaggeration=0.5 must be a number of at least 1"),
        ({"early_exaggeration": "much"}, r"early_exaggeration='much' is not one of 'auto'"),
        ({"early_iter": -1}, r"early_iter=-1 must be"),
    ],
)
def test_parameters_that_make_no_sense(X, options, message):
    with pytest.raises(ValueError, match=message):
        ConditionalTSNE(**{"perplexity": 8} | options).fit(X)


def test_too_many_objects(X, monkeypatch):
    monkeypatch.setattr("unmask.estimators._conditional_tsne.MOST_OBJECTS", 30)
    with pytest.raises(
        ValueError, match=r"X holds 40 objects and ConditionalTSNE computes every pair .* at most 30; map"
    ):
        ConditionalTSNE(perplexity=8).fit(X)


def test_every_pair_is_needed(X):
    D = squareform(pdist(X))
    D[0, 1] = D[1, 0] = np.nan
    tsne = ConditionalTSNE(perplexity=8, metric="precomputed")
    with pytest.raises(ValueError, match=r"2 cells of dissimilarities are missing .* and t-SNE needs all of them"):
        tsne.fit(D)
    assert not hasattr(tsne, "embedding_")
    tags = tsne.__sklearn_tags__().input_tags
    assert tags.pairwise
    assert not tags.allow_nan
    assert not tags.sparse


# ---- what the estimator reports


def test_report(X):
    index = pd.Index([f"object {i}" for i in range(40)])
    frame = pd.DataFrame(X, index=index, columns=list("abcde"))
    tsne = ConditionalTSNE(perplexity=8, random_state=0).set_output(transform="pandas")
    embedding = tsne.fit_transform(frame, known=frame[["a"]].iloc[::-1])
    assert list(embedding.index) == list(tsne.cost_per_point_.index) == list(index)
    assert list(embedding.columns) == ["conditionaltsne0", "conditionaltsne1"]
    assert tsne.cost_per_point_.sum() == pytest.approx(tsne.cost_, rel=1e-12)
    assert np.all(np.diff(tsne.cost_path_) <= 0)
    assert tsne.cost_path_[-1] == pytest.approx(tsne.cost_, rel=1e-9)
    assert list(tsne.starts_["kind"]) == ["closed-form"]
    np.testing.assert_allclose(embedding.T @ (X[:, :1] - X[:, :1].mean()), 0.0, rtol=0, atol=1e-9)
    again = ConditionalTSNE(perplexity=8, random_state=0).fit(X[::-1], known=X[::-1, :1])
    assert again.kl_divergence_ == pytest.approx(tsne.kl_divergence_, rel=0.05)


def test_precomputed_dissimilarities_and_single_precision(X):
    from_features = ConditionalTSNE(perplexity=8, random_state=0).fit_transform(X)
    precomputed = ConditionalTSNE(perplexity=8, metric="precomputed", random_state=0)
    D = squareform(pdist(X))
    np.testing.assert_allclose(precomputed.fit_transform(D), from_features, rtol=0, atol=1e-3)
    single = precomputed.fit_transform(D.astype(np.float32))
    assert single.dtype == np.float32
    assert precomputed.kl_divergence_ > 0


def test_a_start_that_is_given_keeps_its_size(X):
    found = ConditionalTSNE(perplexity=8, random_state=0).fit(X, known=X[:, :1])
    start = (found.embedding_, found.coef_)
    again = ConditionalTSNE(perplexity=8, early_iter=0, init=start).fit(X, known=X[:, :1])
    assert again.cost_path_[0] == pytest.approx(found.kl_divergence_, rel=1e-6)
    assert again.kl_divergence_ <= found.kl_divergence_ * (1 + 1e-9)


def test_more_starts_are_not_worse(X):
    one = ConditionalTSNE(perplexity=8, random_state=0).fit(X)
    many = ConditionalTSNE(perplexity=8, n_init=3, random_state=0).fit(X)
    assert len(many.starts_) == 3
    assert many.kl_divergence_ <= one.kl_divergence_
    alone = ConditionalTSNE(perplexity=8, init="random", random_state=1).fit(X)
    assert list(alone.starts_["kind"]) == ["random"]


def test_coefficients_alone(X):
    tsne = ConditionalTSNE(0, perplexity=8, random_state=0).fit(X, known=X[:, :2])
    targets = Neighbours(8.0)(squareform(pdist(X)), Workers(1))[np.triu_indices(40, 1)]
    fitted = student_shares(X[:, :2] @ tsne.coef_.to_numpy())
    assert tsne.kl_divergence_ == pytest.approx(kl_div(targets, fitted).sum(), rel=1e-9)
    assert tsne.early_exaggeration_ == 1.0


def test_objects_that_are_all_equally_far_apart():
    tsne = ConditionalTSNE(perplexity=3, metric="precomputed", random_state=0).fit(1.0 - np.eye(10))
    assert np.isfinite(tsne.embedding_).all()
    assert tsne.kl_divergence_ < 0.5


def test_only_known_features_are_routed(X):
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), ConditionalTSNE(perplexity=8, random_state=0))
        routed = pipe.fit_transform(X, known=X[:, :1])
        with pytest.raises(TypeError, match="weights"):
            pipe.fit_transform(X, known=X[:, :1], weights=np.ones((40, 40)))
    direct = ConditionalTSNE(perplexity=8, random_state=0).fit(StandardScaler().fit_transform(X), known=X[:, :1])
    np.testing.assert_array_equal(routed, direct.embedding_)
