"""The posterior of a fitted map: what it reports, how it is asked for, and what it refuses."""

import re
import sys
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from unmask import ConditionalIsomap, ConditionalMDS, Numeric, UnfinishedWarning
from unmask.estimators import _posterior
from unmask.inspection import average_canonical_correlation

# So few draws as a test can afford are too few to be relied on, which is said.
pytestmark = pytest.mark.filterwarnings("ignore:the posterior:sklearn.exceptions.ConvergenceWarning")
N, FEW = 12, {"n_draws": 50, "chains": 2}


def make_data(seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    names = [f"o{i}" for i in range(N)]
    known = pd.DataFrame({"size": 3 * rng.standard_normal(N), "kind": np.resize(["a", "b"], N)}, index=names)
    unknown = rng.standard_normal((N, 2))
    d = pdist(np.column_stack([unknown, 0.4 * known["size"], 1.5 * (known["kind"] == "a")]))
    D = squareform(np.abs(d * (1 + noise * rng.standard_normal(len(d)))))
    return pd.DataFrame(D, names, names), known, unknown


def fitted(D, known=None, **options):
    defaults = {"metric": "precomputed", "n_init": 4, "random_state": 0, "n_jobs": 1}
    return ConditionalMDS(**(defaults | options)).fit(D, known=known)


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Tune chains no longer than so few objects need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_posterior, "TUNING", 100)
        yield


@pytest.fixture(scope="module")
def case(quick):
    D, known, _ = make_data()
    D.loc["o0", "o1"] = D.loc["o1", "o0"] = np.nan
    known.loc["o2", "size"], known.loc["o3", "kind"] = np.nan, None
    with pytest.warns(match="missing"):
        mds = fitted(D, known, known_types={"size": Numeric(error=0.3)})
    return D, known, mds, mds.posterior(**FEW)


def test_map_and_coefficients_are_labelled_and_have_intervals(case):
    _, known, mds, posterior = case
    assert posterior.embedding_.shape == (N, 2)
    assert list(posterior.objects.index) == list(known.index) == list(posterior.object_names_)
    assert posterior.covariances.shape == (N, 2, 2)
    assert (posterior.objects["major"] >= posterior.objects["minor"]).all()
    assert list(posterior.importance_.index) == ["size", "kind"]
    inside = posterior.importance_.eval("low < standardized < high")
    assert inside.all()
    assert (mds.importance_["standardized"] / posterior.importance_["standardized"]).between(0.7, 1.4).all()
    intervals = posterior.coef_intervals_
    assert intervals.loc[("size", "size"), "estimate"] == posterior.coef_.loc["size", "size"]
    assert intervals.loc[("size", "size"), "low"] < 0.4 < intervals.loc[("size", "size"), "high"]
    assert (posterior.noise_["low"] < posterior.noise_["high"]).all()


def test_missing_cells_and_measured_ones_have_a_posterior(case):
    *_, posterior = case
    imputed = posterior.known_imputed_.set_index("feature")
    truth = make_data()[1]
    assert imputed.loc["size", "object"] == "o2"
    assert imputed.loc["size", "lower"] < truth.loc["o2", "size"] < imputed.loc["size", "upper"]
    assert imputed.loc["kind", "value"] == truth.loc["o3", "kind"]
    assert 0.5 < imputed.loc["kind", "certainty"] <= 1
    corrected = posterior.known_corrected_
    assert len(corrected) == N - 1
    assert (corrected["lower"] < corrected["value"]).all()
    measured = truth["size"].drop("o2").to_numpy()
    assert np.abs(corrected["value"] - measured).max() < 1.0


def test_dissimilarities_are_predicted_observed_or_missing(case):
    D, *_, posterior = case
    table = posterior.predict_dissimilarities()
    assert len(table) == N * (N - 1) // 2
    assert np.isnan(table.loc[("o0", "o1"), "observed"])
    assert table.loc[("o4", "o7"), "observed"] == pytest.approx(D.loc["o4", "o7"])
    truth = make_data()[0]
    assert table.loc[("o0", "o1"), "low"] < truth.loc["o0", "o1"] < table.loc[("o0", "o1"), "high"]
    assert table.dropna().eval("low < observed < high").mean() > 0.85
    some = posterior.predict_dissimilarities(["o7", "o4"], level=0.5)
    assert list(some.index) == [("o7", "o4")]
    assert some["observed"].item() == table.loc[("o4", "o7"), "observed"]
    assert (some["high"] - some["low"]).item() < (table["high"] - table["low"])[("o4", "o7")]
    assert posterior.predict_dissimilarities([]).empty


def test_pairs_of_new_objects_are_predicted():
    D, known, _ = make_data()
    old = known.index[:-1]
    mds = fitted(D.loc[old, old], known.loc[old])
    posterior = mds.posterior(**FEW)
    new, about = D.loc[["o11"], old].copy(), known.loc[["o11"]]
    truth = new.iloc[0].to_numpy().copy()
    new.iloc[0, ::3] = np.nan
    table = posterior.predict_new(new, about)
    assert list(table.index[:2]) == [("o11", "o0"), ("o11", "o1")]
    np.testing.assert_allclose(table["observed"].to_numpy()[1::3], truth[1::3])
    assert np.isnan(table["observed"].iloc[0])
    inside = (table["low"] < truth) & (truth < table["high"])
    assert inside.mean() > 0.7
    # Without any dissimilarity there is the prior, and what is known.
    nothing = posterior.predict_new(new * np.nan, about)
    assert ((nothing["high"] - nothing["low"]) > (table["high"] - table["low"])).all()
    some = posterior.predict_new(new, about, level=0.5)
    assert ((some["high"] - some["low"]) < (table["high"] - table["low"])).all()


def test_summary_says_in_words_what_the_noise_is_like(case):
    *_, posterior = case
    text = str(posterior.summary())
    assert text.startswith("posterior of ConditionalMDS: a map of 12 objects in 2 dimensions, given size, kind")
    assert "a dissimilarity of average size is off by" in text
    assert "R-hat" in text
    assert repr(posterior) == text
    assert "the noise grows" in text


@pytest.mark.parametrize(
    ("gamma", "meaning"),
    [
        (-0.5, "is smaller at larger"),
        (0.0, "the same at every"),
        (0.5, "less than in proportion"),
        (0.93, "grows in proportion"),
    ],
)
def test_the_growth_of_the_noise_is_named(case, gamma, meaning):
    *_, posterior = case
    draws = posterior.draws
    chains = replace(draws.chains, x=np.array(draws.chains.x))
    chains.x[..., -1] += (gamma - draws.gamma.mean()) / 0.5
    assert meaning in str(replace(posterior, draws=replace(draws, chains=chains)))


def test_arviz_gets_the_draws_with_their_names(case):
    *_, posterior = case
    data = posterior.to_arviz().posterior
    assert dict(data["embedding"].sizes) == {"chain": 2, "draw": 50, "object": N, "axis": 2}
    assert list(data["importance"].coords["feature"].to_numpy()) == ["size", "kind"]
    assert float(data["s"].mean()) == pytest.approx(posterior.noise_.loc["s", "mean"])


def test_ellipses_are_drawn_around_the_points_of_the_map(case):
    from matplotlib.collections import EllipseCollection
    from matplotlib.figure import Figure

    from unmask.plotting import plot_importance, plot_map

    *_, mds, posterior = case
    ax = plot_map(posterior, ellipses=posterior, ax=Figure().add_subplot())
    (ellipses,) = (one for one in ax.collections if isinstance(one, EllipseCollection))
    np.testing.assert_allclose(ellipses.get_offsets(), posterior.embedding_)
    with pytest.raises(ValueError, match="ellipses belong to another map"):
        plot_map(mds, ellipses=posterior, ax=Figure().add_subplot())
    assert plot_importance(posterior, ax=Figure().add_subplot()).get_lines() is not None


def test_same_seed_same_draws_whatever_the_number_of_cores():
    D, _, _ = make_data()
    mds = fitted(D)
    one, other = mds.posterior(**FEW), mds.set_params(n_jobs=2).posterior(**FEW)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    assert not np.array_equal(one.embedding_, mds.posterior(**FEW, random_state=1).embedding_)


def test_every_draw_is_adjusted():
    """So that nothing linear of what is known is left on the map."""
    D, known, _ = make_data()
    posterior = fitted(D, known, adjust=True).posterior(**FEW)
    known_numbers = np.column_stack([known["size"], known["kind"] == "a"])
    assert average_canonical_correlation(posterior.embedding_, known_numbers) < 1e-6


def test_isomap_and_interval_level_have_a_posterior():
    D, _, _ = make_data()
    isomap = ConditionalIsomap(n_neighbors=4, metric="precomputed", n_init=2, random_state=0, n_jobs=1).fit(D)
    table = isomap.posterior(**FEW).predict_dissimilarities()
    paths = isomap.geodesic_.dissimilarities_
    assert table["observed"].iloc[0] == pytest.approx(np.asarray(paths)[0, 1])
    # A constant that was added to all dissimilarities is found by the interval level, and taken off again; what is
    # predicted has it, as what was given does.
    shifted = D + 5.0 * (1.0 - np.eye(N))
    posterior = fitted(shifted, level="interval").posterior(**FEW)
    assert posterior.line.constant == pytest.approx(5.0, abs=0.7)
    assert "of what it has beyond" in str(posterior)
    table = posterior.predict_dissimilarities()
    np.testing.assert_allclose(table["observed"], shifted.to_numpy()[np.triu_indices(N, 1)])
    assert table.eval("low < observed < high").mean() > 0.85
    assert table.eval("low < distance < high").all()
    new = posterior.predict_new(shifted.iloc[:1])
    np.testing.assert_allclose(new["observed"], shifted.iloc[0])
    assert new.iloc[1:].eval("low < observed < high").mean() > 0.7


def test_a_judgement_is_predicted_as_precisely_as_it_was_weighted():
    D, _, _ = make_data()
    W = np.ones((N, N))
    W[:6, :6] = 100.0
    W[0, 1] = W[1, 0] = 0.0
    posterior = ConditionalMDS(metric="precomputed", random_state=0, n_init=1).fit(D, weights=W).posterior(50, 1)
    s, gamma = posterior.noise_["mean"]
    table = posterior.predict_dissimilarities()
    precision = squareform(W, checks=False) / squareform(W, checks=False)[1:].mean()
    precision[0] = 1.0  # without weight, it says nothing
    sd = s * (table["distance"] / posterior.unit) ** gamma / np.sqrt(precision) * posterior.unit
    width = (table["high"] - table["low"]) / (2 * norm.ppf(0.975))
    assert np.corrcoef(np.log(width), np.log(sd))[0, 1] > 0.8
    assert (width / sd)[precision > 1].median() < 2


def test_coefficients_alone_have_a_posterior():
    D, known, _ = make_data()
    posterior = fitted(D, known[["size"]], n_components=0).posterior(**FEW)
    assert posterior.embedding_.shape == (N, 0)
    assert posterior.importance_.loc["size", "low"] > 0
    assert "radius" not in str(posterior)


ERRORS = {  # the argument that is named, its value, and the call
    "level='ordinal'": lambda mds, _: fitted(make_data()[0], level="ordinal").posterior(),
    "level='spline'": lambda mds, _: fitted(make_data()[0], level="spline").posterior(),
    "weights='sammon'": lambda mds, _: fitted(make_data()[0], weights="sammon").posterior(),
    "orthogonal=True": lambda mds, _: fitted(make_data()[0], make_data()[1][["size"]], orthogonal=True).posterior(),
    "n_draws=5": lambda mds, _: mds.posterior(n_draws=5),
    "chains=0": lambda mds, _: mds.posterior(chains=0),
    "level=1.0": lambda mds, _: mds.posterior(level=1.0),
    "level=2": lambda _, posterior: posterior.predict_dissimilarities(level=2),
    "objects names 'x'": lambda _, posterior: posterior.predict_dissimilarities(["x"]),
    "objects names 'o4' more": lambda _, posterior: posterior.predict_dissimilarities(["o4", "o7", "o4"]),
    "objects='o4'": lambda _, posterior: posterior.predict_dissimilarities("o4"),
    "objects=3": lambda _, posterior: posterior.predict_dissimilarities(3),
    r"objects=\{'o4'\}": lambda _, posterior: posterior.predict_dissimilarities({"o4"}),
    r"objects=\[\['o4'": lambda _, posterior: posterior.predict_dissimilarities([["o4", "o7"]]),
}


@pytest.mark.parametrize("named", ERRORS)
def test_the_argument_is_named(case, named):
    with pytest.raises(ValueError, match=named):
        ERRORS[named](*case[2:])


def test_parameters_that_are_set_after_the_fit_are_those_of_the_next():
    D, known, _ = make_data()
    mds = fitted(D, known[["size"]])
    given = mds.posterior(10, 1)
    again = fitted(D, known[["size"]]).set_params(level="interval", orthogonal=True, weights="sammon").posterior(10, 1)
    assert again.line == given.line
    np.testing.assert_array_equal(again.embedding_, given.embedding_)
    with pytest.raises(ValueError, match="level='ordinal' has no posterior"):
        fitted(D, level="ordinal").set_params(level="ratio").posterior(10, 1)


def test_too_many_objects_are_refused(monkeypatch):
    D, _, _ = make_data()
    monkeypatch.setattr(_posterior, "MOST_DRAWN", 11)
    with pytest.raises(ValueError, match=r"there are 12 objects.*pass a sample of them"):
        fitted(D).posterior()


def test_few_draws_are_warned_of():
    with pytest.warns(ConvergenceWarning, match=r"worth only \d+ independent ones.*n_draws=20"):
        fitted(make_data()[0]).posterior(n_draws=10, chains=1)


@pytest.mark.parametrize(("number", "many"), [(1, False), (2, True)])
def test_divergences_are_warned_of_where_they_are_more_than_one_in_a_hundred(case, number, many):
    *_, posterior = case
    assert len(posterior.draws) == 100
    chains = replace(posterior.draws.chains, diverging=np.arange(100).reshape(2, 50) < number)
    diverged = replace(posterior, draws=replace(posterior.draws, chains=chains))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        diverged.warn()
    assert sum("2 of 100 draws diverged" in str(one.message) for one in caught) == many
    assert ("2 of 100 draws diverged" in str(diverged)) == many


def test_without_nutpie_it_says_what_to_install(monkeypatch):
    mds = fitted(make_data()[0])
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(ImportError, match=r"pip install 'unmask\[posterior\]'"):
        mds.posterior()


def test_callback_hears_of_the_chains_and_stops_them():
    mds, heard = fitted(make_data()[0]), []
    mds.posterior(n_draws=400, chains=1, callback=heard.append)
    assert {progress.stage for progress in heard} == {"posterior"}
    assert all(a.iteration < b.iteration <= 500 for a, b in pairwise(heard))
    with pytest.raises(ValueError, match="stopped before its chains had drawn enough"):
        mds.posterior(callback=lambda progress: True)
    with pytest.warns(UnfinishedWarning, match=r"stopped after \d+ of 20000 draws"):
        found = mds.posterior(n_draws=20_000, chains=1, callback=lambda progress: progress.iteration > 200)
    assert 10 <= found.n_draws_ < 20_000


@pytest.mark.parametrize(  # 1e170, 1e-170, 1e298, 1e-298
    ("level", "power"), [("ratio", 565), ("interval", -565), ("interval", 990), ("ratio", -990)]
)
def test_the_size_of_the_dissimilarities_changes_the_units_only(level, power):
    """Draws of the same posterior: where the last bit of a product differs, they are others, as near as draws are."""
    D, known, _ = make_data()
    unit = 2.0**power
    one, other = (fitted(D * size, known, level=level).posterior(**FEW, random_state=0) for size in (1.0, unit))

    def assert_near(found, expected):
        found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))  # a nominal feature has no raw importance
        off = np.nan_to_num(found) - np.nan_to_num(expected)
        assert np.linalg.norm(off) < 0.5 * np.linalg.norm(np.nan_to_num(expected))

    for name in ("embedding_", "coef_", "objects", "coef_intervals_", "importance_"):
        assert_near(getattr(other, name) / unit, getattr(one, name))
    assert_near(other.noise_, one.noise_)
    assert_near(other.predict_dissimilarities() / unit, one.predict_dissimilarities())
    new = D.iloc[:1] + 0.01
    assert_near(other.predict_new(new * unit, known.iloc[:1]) / unit, one.predict_new(new, known.iloc[:1]))
    assert re.search(r"an object is typically [1-9]\d?% of the map's radius off its point", str(other.summary()))
    assert other.covariances.shape == one.covariances.shape
