"""Which level, which estimator: the same held-out pairs for all, in the unit of the dissimilarities."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression

from unmask import ConditionalClassicalMDS, ConditionalIsomap, ConditionalMDS
from unmask.estimators._random_fits import _twin
from unmask.inspection import _estimators, choose_estimator
from unmask.inspection._fits import make_setup

pytestmark = pytest.mark.filterwarnings("ignore::unmask.LeakWarning")


QUICK = ["least squares", "ridge"]  # without draws of a posterior


def mds(**options):
    return ConditionalMDS(**{"metric": "precomputed", "n_init": 2, "random_state": 0, **options})


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(20, 4))
    noise = 0.25 * rng.standard_normal(190)
    return squareform(np.maximum(pdist(X) * (1 + noise), 0.0)), X[:, :2]


@pytest.fixture(scope="module")
def table(noisy):
    return choose_estimator(mds(), *noisy, levels=["interval", "ratio"], estimators=QUICK, n_splits=3)


def test_every_level_and_estimator_has_a_row_in_the_order_of_their_freedom(table):
    assert table.index.names == ["level", "estimator"]
    assert table.index.tolist() == [(a, b) for a in ("ratio", "interval") for b in ("least squares", "ridge")]
    assert list(table) == ["heldout", "heldout_se", "above", "above_se"]
    assert table["above"].min() == 0.0
    np.testing.assert_allclose(table["heldout"] - table["heldout"].min(), table["above"], atol=1e-12)


def test_noise_makes_a_ridge_predict_better(table):
    assert table.loc[("ratio", "ridge"), "heldout"] < table.loc[("ratio", "least squares"), "heldout"]
    assert table.attrs["chosen"] == ("ratio", "ridge")
    assert table.attrs["parameters"] == {"level": "ratio", "ridge": "heldout", "estimate": "least_squares"}
    said = table.attrs["recommendation"]
    assert said.startswith("Take ridge at the ratio level: held-out dissimilarities are predicted with an error of ")
    assert "less than with least squares at the ratio level" in said
    mds().set_params(**table.attrs["parameters"])


def test_the_error_is_that_of_an_independent_computation(noisy):
    """One fold by hand, with scikit-learn's isotonic regression."""
    D, V = noisy
    i, j = np.triu_indices(20, 1)
    out = np.arange(0, 190, 7)
    rest = D.copy()
    rest[i[out], j[out]] = rest[j[out], i[out]] = np.nan
    with pytest.warns(UserWarning, match="pairs have no dissimilarity"):
        d = mds().fit(rest, known=V).predict_dissimilarities().to_numpy()[i, j]
    kept = np.setdiff1d(np.arange(190), out)
    twin = IsotonicRegression(out_of_bounds="clip").fit(d[kept], D[i, j][kept])
    expected = np.mean((twin.predict(d[out]) - D[i, j][out]) ** 2) / np.mean(D[i, j][out] ** 2)
    assert _estimators._error(d, D[i, j], np.ones(190), out) == pytest.approx(expected, rel=1e-9)
    # Neither the scale of the distances nor any increasing function of them changes it, between the fitted ones.
    stretched = _estimators._error(7 * d, D[i, j], np.ones(190), out)
    assert stretched == pytest.approx(expected, rel=1e-9)


def test_units_do_not_matter(noisy, table):
    D, V = noisy
    other = choose_estimator(mds(), 50 * D, V, levels=["ratio"], estimators=QUICK, n_splits=3)
    np.testing.assert_allclose(other["heldout"], table.loc[["ratio"], "heldout"], rtol=1e-4)


def test_exact_dissimilarities_need_nothing_but_least_squares():
    X = np.random.default_rng(0).normal(size=(16, 3))
    found = choose_estimator(mds(), squareform(pdist(X)), X[:, :1], levels=["ratio"], estimators=QUICK, n_splits=2)
    assert found.attrs["chosen"] == ("ratio", "least squares")
    assert found.attrs["recommendation"].endswith("nothing else predicts them better by more than a standard error.")


def test_weights_and_missing_pairs_are_kept_out(noisy):
    D, V = noisy
    W = np.ones_like(D)
    W[0, 1] = W[1, 0] = 0.0
    spoilt = D.copy()
    spoilt[0, 1] = spoilt[1, 0] = 100.0
    options = {"levels": ["ratio"], "estimators": ["least squares"], "n_splits": 2}
    one, other = (choose_estimator(mds(), table, V, weights=W, **options) for table in (D, spoilt))
    np.testing.assert_allclose(one["heldout"], other["heldout"], rtol=1e-9)


def test_a_strength_that_was_asked_for_is_compared(noisy, monkeypatch):
    given = []
    fit_from = _estimators.FitSetup.fit_from
    monkeypatch.setattr(
        _estimators.FitSetup, "fit_from", lambda *a, **k: (given.append(k.get("ridge")), fit_from(*a, **k))[1]
    )
    found = choose_estimator(mds(ridge=0.7), *noisy, levels=["ratio"], estimators="ridge", n_splits=2)
    assert given[-2:] == [0.7, 0.7]
    assert found.attrs["parameters"] == {"level": "ratio", "ridge": 0.7, "estimate": "least_squares"}


def test_a_further_way_is_one_object(noisy, monkeypatch):
    class Nothing(_estimators.Way):
        name = "nothing"  # all objects equally far apart
        levels = ("ratio",)

        def parameters(self, estimator):
            return {}

        def distances(self, setup, level, start, D):
            return np.ones_like(D)

    monkeypatch.setitem(_estimators.WAYS, "nothing", Nothing())
    found = choose_estimator(
        mds(), *noisy, levels=["ratio", "interval"], estimators=["nothing", "least squares"], n_splits=2
    )
    assert found.index.tolist() == [("ratio", "least squares"), ("ratio", "nothing"), ("interval", "least squares")]
    assert found["heldout"].idxmax() == ("ratio", "nothing")
    monkeypatch.setattr(Nothing, "why_not", lambda *_: "it is not installed")
    monkeypatch.setattr(_estimators, "DRAWN_UNASKED", 5)
    found = choose_estimator(mds(), *noisy, levels=["ratio"], n_splits=2)
    assert found.attrs["left_out"].keys() == {"posterior", "nothing"}
    assert "name it in estimators=" in found.attrs["left_out"]["posterior"]
    with pytest.raises(ValueError, match="estimators: nothing: it is not installed"):
        choose_estimator(mds(), *noisy, estimators=["nothing"])


@pytest.mark.parametrize("refused", [{"leak_penalty": 1.0}, {"orthogonal": True}, {"weights": "sammon"}])
def test_by_default_a_posterior_that_cannot_be_is_left_out(noisy, refused):
    found = choose_estimator(mds(**refused), *noisy, levels=["ratio"], n_splits=2)
    assert set(found.index.get_level_values("estimator")) == set(QUICK)
    assert f"{next(iter(refused))}=" in found.attrs["left_out"]["posterior"]


def test_refits_are_by_least_squares(noisy):
    """Tests, numbers of dimensions and the summary are about the stress, which draws do not minimise."""
    posterior = mds(estimate="posterior")
    setup = make_setup("a test", posterior, *noisy)
    assert setup.estimator.estimate == "least_squares"
    fitted = mds().fit(noisy[0], known=noisy[1])
    fitted.set_params(estimate="posterior")
    assert _twin(fitted).estimate == "least_squares"


def test_isomap_and_progress(noisy):
    heard = []
    isomap = ConditionalIsomap(metric="precomputed", n_neighbors=6, n_init=1, random_state=0)
    found = choose_estimator(
        isomap,
        *noisy,
        levels=["ratio"],
        estimators=QUICK,
        n_splits=2,
        progress=lambda done, total: heard.append((done, total)),
    )
    assert isinstance(found, pd.DataFrame)
    assert heard == [(done, 4) for done in range(5)]


def test_a_scheme_of_weights_leaves_the_ratio_level(noisy):
    found = choose_estimator(mds(weights="sammon"), *noisy, estimators=["least squares"], n_splits=2)
    assert found.index.tolist() == [("ratio", "least squares")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 1.5}, "share=1.5 must be above 0 and below 1"),
        ({"share": 0.99}, "share=0.99: without a share of 0.99 of the pairs the objects fall into groups; hold out"),
        ({"n_splits": 1}, "n_splits=1 must be an integer of at least 2"),
        ({"levels": ["nominal"]}, "levels='nominal' is not one of 'ratio', 'interval'"),
        ({"estimators": ["magic"]}, "estimators='magic' must name some of 'least squares', 'ridge', 'posterior'"),
    ],
)
def test_what_is_wrong_is_said(noisy, options, message):
    with pytest.raises(ValueError, match=message):
        choose_estimator(mds(), *noisy, **options)


def test_a_closed_form_has_no_levels(noisy):
    with pytest.raises(ValueError, match="type ConditionalClassicalMDS, which has no measurement levels"):
        choose_estimator(ConditionalClassicalMDS(metric="precomputed"), *noisy)


def test_the_posterior_says_its_distances(noisy, monkeypatch):
    """Its mean distances are predictions like any other; at the ordinal level there is none."""

    class Drawn:
        def __init__(self, mds):
            self.mds = mds

        def predict_dissimilarities(self):
            distances = self.mds.predict_dissimilarities().to_numpy()
            return pd.DataFrame({"distance": squareform(distances, checks=False)})

    monkeypatch.setattr(ConditionalMDS, "posterior", property(lambda fitted: partial(Drawn, fitted)), raising=False)
    monkeypatch.setattr(_estimators, "find_spec", lambda _: True)
    options = {"levels": ["ratio", "ordinal"], "estimators": ["least squares", "posterior"], "n_splits": 2}
    found = choose_estimator(mds(), *noisy, **options)
    assert found.index.tolist()[1:] == [("ratio", "posterior"), ("ordinal", "least squares")]
    assert found["heldout"].iloc[1] == pytest.approx(found["heldout"].iloc[0])
    assert _estimators.WAYS["posterior"].parameters(mds()) == {"ridge": 0.0, "estimate": "posterior"}
    monkeypatch.setattr(_estimators, "find_spec", lambda _: None)
    with pytest.raises(
        ImportError, match=r"posterior: it needs the package 'nutpie': pip install 'unmask\[posterior\]'"
    ):
        choose_estimator(mds(), *noisy, **options)
