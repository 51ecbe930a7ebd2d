"""Permutation tests: exact under the null, decisive on kinship."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import kstest

from unmask import ConditionalIsomap, ConditionalMDS, Cyclic, Spline, UnfinishedWarning
from unmask.inspection import dimension_test, permutation_test
from unmask.solvers import Objective


def mds(p=2, **options):
    return ConditionalMDS(p, metric="precomputed", **{"n_init": 2, "random_state": 0, "tol": 1e-6, **options})


def test_gender_and_degree_matter_to_kinship(kinship):
    table = permutation_test(mds(), kinship.dissimilarities, kinship.known[["gender", "degree"]], n_permutations=19)
    assert list(table.index) == ["gender", "degree"]
    assert (table["p_value"] == 0.05).all()
    assert (table["permuted"] > table["stress"]).all()


def test_p_value_counts_the_permutations_that_do_as_well(kinship):
    """The same permutations by hand, from the same starts."""
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    orders = np.random.RandomState(5)
    permuted_known = [known.iloc[orders.permutation(14)].set_axis(known.index) for _ in range(9)]
    fitted, first = (mds().fit(D, known=v) for v in (known, permuted_known[0]))
    starts = [{"n_init": 2}, *({"init": (fit.embedding_, fit.coef_), "n_init": 1} for fit in (fitted, first))]
    permuted = [min(mds(**start).fit(D, known=v).stress_ for start in starts) for v in permuted_known[1:]]
    observed, permuted = fitted.stress_, [first.stress_, *permuted]
    table = permutation_test(mds(), D, known, n_permutations=9, random_state=5)
    assert table.loc["gender", "stress"] == observed
    np.testing.assert_allclose(table.loc["gender", "permuted"], np.mean(permuted), rtol=1e-12)
    assert table.loc["gender", "p_value"] == (1 + np.sum(np.array(permuted) <= observed)) / 10


class SameOrder(np.random.RandomState):
    """Permutations that change nothing."""

    def permutation(self, n):
        return np.arange(n)


def features_of_every_type(n=20):
    """Return correlated known features of every type, some cells missing, how to declare them, and dissimilarities."""
    rng = np.random.default_rng(4)
    size = rng.normal(size=n)
    close = [size + rng.normal(size=n) for _ in range(5)]
    known = pd.DataFrame(
        {
            "size": size,
            "kind": np.array(list("abc"))[np.digitize(close[0], [-0.7, 0.7])],
            "grade": np.digitize(close[1], [-1.0, 0.0, 1.0]),
            "hour": 12 + 3 * close[2],
            "age": close[3],
            "weight": close[4],
        }
    )
    known.loc[[3, 8], "weight"] = np.nan
    known.loc[5, "kind"] = None
    types = {"grade": "ordinal", "hour": Cyclic(24), "age": Spline(3)}
    return known, types, squareform(pdist(np.column_stack([size, rng.normal(size=(n, 2))])))


@pytest.mark.parametrize(("coef", "adjust"), [("diagonal", False), ("full", "auto")])
def test_refits_have_the_structure_of_the_fit_whatever_the_features_are(coef, adjust):
    known, types, D = features_of_every_type()
    model = mds(1, n_init=1, coef=coef, known_types=types, adjust=adjust, tol=1e-5)
    table = permutation_test(model, D, known, n_permutations=1, random_state=SameOrder())
    assert list(table.index) == list(known.columns)
    np.testing.assert_allclose(table["permuted"], table.iloc[:, 0], rtol=0.1, atol=0.01)
    permuted = permutation_test(model, D, known, n_permutations=1)
    assert permuted["p_value"].isin([0.5, 1.0]).all()


def test_missing_cells_are_refused_where_every_refit_must_be_adjusted():
    known, _, D = features_of_every_type()
    size = known["size"].mask(known.index == 7)
    with pytest.raises(ValueError, match="adjust=True with missing cells of 'size'"):
        permutation_test(mds(2, n_init=1, adjust=True), D, size, n_permutations=1)


@pytest.mark.parametrize("adjust", [False, True, "auto"])
def test_a_feature_that_the_others_explain_cannot_be_told_from_its_permutations(rng, adjust):
    """Its rows, permuted, would say something else; it has no residuals."""
    a, b = rng.standard_normal((2, 20))
    d = pdist(np.column_stack([rng.standard_normal((20, 2)), 2 * a, 2 * b]))
    D = squareform(d * np.abs(1 + 0.1 * rng.standard_normal(len(d))))
    known = pd.DataFrame({"a": a, "b": b, "sum": a + b})
    table = permutation_test(mds(coef="diagonal", adjust=adjust), D, known, n_permutations=4)
    np.testing.assert_allclose(table["permuted"], table.iloc[:, 0], rtol=0.01, atol=0.01)
    assert (table["p_value"] == 1.0).all()


def weak_effect(seed, n=12):
    """Return dissimilarities and two known features: one that matters little or much, and one that does not."""
    rng = np.random.default_rng(seed)
    U, v, w = rng.standard_normal((n, 2)), rng.standard_normal(n), rng.standard_normal(n)
    D = squareform(pdist(np.column_stack([U, v * rng.uniform(0, 0.8)])))
    e = np.triu(0.2 * rng.standard_normal((n, n)), 1)
    return D * np.abs(1 + e + e.T), np.column_stack([v, w])


def p_values_of_long_searches(D, known, n_permutations, n_init, seed):
    """Return what the test would give if every refit had as many starts as the fit."""

    def stress(table):
        return ConditionalMDS(2, metric="precomputed", n_init=n_init, random_state=0).fit(D, known=table).stress_

    observed, orders, counts = stress(known), np.random.RandomState(seed), np.ones(known.shape[1])
    for _ in range(n_permutations):
        for column in range(known.shape[1]):
            permuted, others = (
                known.copy(),
                np.delete(known, column, axis=1) - np.delete(known, column, axis=1).mean(axis=0),
            )
            residuals = known[:, column] - others @ np.linalg.lstsq(others, known[:, column], rcond=None)[0]
            permuted[:, column] += residuals[orders.permutation(len(known))] - residuals
            # Where neither order has any effect, the stresses are the same up to where the searches stop.
            counts[column] += stress(permuted) <= observed * (1 + 1e-6)
    return counts / (1 + n_permutations)


@pytest.mark.slow
def test_few_starts_from_the_fitted_map_give_the_p_values_of_long_searches():
    differences, errors = [], []
    for seed in range(20):
        D, known = weak_effect(seed)
        mds = ConditionalMDS(2, metric="precomputed", n_init=30, random_state=0)
        short = permutation_test(mds, D, known, n_permutations=99, random_state=seed)["p_value"].to_numpy()
        long = p_values_of_long_searches(D, known, 99, 30, seed)
        differences.extend(short - long)
        errors.extend(np.sqrt(np.maximum(long * (1 - long), 0.01) / 99))
    assert np.all(np.abs(differences) <= errors)
    assert abs(np.mean(differences)) <= 0.2 * np.mean(errors)  # nor all in one direction


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_p_values_are_those_of_long_searches_where_refits_far_off_are_not_searched_for_further(seed):
    D, known = weak_effect(seed, 40)
    model = ConditionalMDS(2, metric="precomputed", n_init=12, random_state=0)
    table = permutation_test(model, D, known, n_permutations=9, random_state=seed)
    np.testing.assert_allclose(table["p_value"], p_values_of_long_searches(D, known, 9, 12, seed), atol=1e-12)


def test_ctrl_c_keeps_the_permutations_so_far(kinship):
    def interrupt(done, total):
        heard.append((done, total))
        if done == 7:
            raise KeyboardInterrupt

    heard = []
    D, known = kinship.dissimilarities, kinship.known[["gender", "degree"]]
    with pytest.warns(UnfinishedWarning, match="interrupted after 7 of 38 permutations"):
        table = permutation_test(mds(1), D, known, n_permutations=19, progress=interrupt)
    assert heard == [(done, 38) for done in range(1, 8)]
    assert table["permutations"].tolist() == [4, 3]
    assert table["p_value"].tolist() == [1 / 5, 1 / 4]


def test_ctrl_c_before_every_feature_was_permuted_leaves_nothing(kinship):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        permutation_test(mds(1), kinship.dissimilarities, kinship.known, n_permutations=2, progress=interrupt)


def test_ctrl_c_within_a_refit_ends_the_test(kinship, monkeypatch):
    """A fit of its own would keep its map and go on."""
    passes = []

    def interrupted(self, theta):
        passes.append(theta)
        if len(passes) == 2000:
            raise KeyboardInterrupt
        return evaluate(self, theta)

    evaluate = Objective.__call__
    monkeypatch.setattr(Objective, "__call__", interrupted)
    with pytest.warns(UnfinishedWarning):
        table = permutation_test(mds(1), kinship.dissimilarities, kinship.known[["gender"]], n_permutations=999)
    assert 0 < table["permutations"].item() < 200


@pytest.mark.parametrize("seed", range(2))
def test_orders_that_only_rename_levels_count_as_well_as_the_data(seed):
    """Of the 90 orders of three levels of two objects each, 6 at a time say the same: 15 stresses, found one by one."""
    rng = np.random.default_rng(seed)
    known = pd.DataFrame({"kind": list("aabbcc")})
    D = squareform(rng.uniform(1, 2, 15))
    if seed:  # the more the kinds matter, the rarer is a stress as low
        D = D + seed * (known["kind"].to_numpy()[:, None] != known["kind"].to_numpy())
    model = mds(1, n_init=6, tol=1e-9)
    orders = np.random.RandomState(7)
    kinds = [known["kind"].to_numpy()[orders.permutation(6)] for _ in range(40)]

    def who_with_whom(cells):
        return tuple(np.unique(cells, return_index=True)[1][np.searchsorted(np.unique(cells), cells)])

    found = {who_with_whom(cells): model.fit(D, known=cells).stress_ for cells in kinds}
    own = model.fit(D, known=known).stress_
    found[who_with_whom(known["kind"].to_numpy())] = own
    expected = (1 + sum(found[who_with_whom(cells)] <= own for cells in kinds)) / 41
    table = permutation_test(model, D, known, n_permutations=40, random_state=7)
    assert expected >= 2 / 41  # some of the orders do rename levels only
    assert table.loc["kind", "p_value"] == expected


def null_p_value(seed, n_permutations):
    """Return the p-value of a feature that has nothing to do with the dissimilarities, beside one that has."""
    rng = np.random.default_rng(seed)
    n = 14
    U, v, noise = rng.standard_normal((n, 1)), rng.standard_normal(n), rng.standard_normal(n)
    D = squareform(pdist(np.column_stack([U, v])))
    e = np.triu(0.1 * rng.standard_normal((n, n)), 1)
    known = np.column_stack([v, noise])
    table = permutation_test(mds(1), D * np.abs(1 + e + e.T), known, n_permutations=n_permutations, random_state=seed)
    return table["p_value"].to_numpy()


def spread_within_steps(p_values, n_permutations):
    """Return p-values spread evenly within the steps of their discrete distribution."""
    rng = np.random.default_rng(0)
    return p_values - rng.uniform(0, 1 / (n_permutations + 1), len(p_values))


@pytest.mark.slow
def test_p_values_are_uniform_under_the_null():
    found = np.array([null_p_value(seed, 19) for seed in range(40)])
    assert kstest(spread_within_steps(found[:, 1], 19), "uniform").pvalue > 0.01
    assert np.median(found[:, 0]) == 0.05  # and the one that matters is found


@pytest.mark.slow
def test_p_values_are_uniform_under_the_null_over_200_sets():
    found = np.array([null_p_value(seed, 39) for seed in range(1000, 1200)])
    assert kstest(spread_within_steps(found[:, 1], 39), "uniform").pvalue > 0.01


def test_known_features_in_every_form(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    numbers = known["gender"].to_numpy()
    nominal = known.replace({1: "man", 2: "woman"}).astype(object).astype(str)
    forms = [known, known.to_numpy(), numbers, known["gender"], pl.DataFrame({"gender": numbers}), nominal]
    expected, *tables = (permutation_test(mds(1), D, form, n_permutations=3).to_numpy() for form in forms)
    np.testing.assert_allclose(tables, [expected] * 5, rtol=1e-5)


def test_a_further_dimension_is_needed_or_not(rng):
    D = squareform(pdist(rng.standard_normal((20, 2))))
    e = np.triu(0.05 * rng.standard_normal(D.shape), 1)
    D = pd.DataFrame(D * (1 + e + e.T))
    needed = dimension_test(mds(1), D, n_permutations=19)
    enough = dimension_test(mds(2), D, n_permutations=19)
    assert needed["p_value"] == 0.05
    assert enough["p_value"] > 0.1
    assert needed["stress_next"] == pytest.approx(enough["stress"], rel=1e-2)


def test_with_nothing_known_a_first_dimension_is_tested(rng):
    D = squareform(pdist(rng.standard_normal((15, 1))))
    needed = dimension_test(mds(0), D, n_permutations=19)
    assert needed["p_value"] == 0.05
    assert needed["stress"] == 1
    D = squareform(rng.permutation(squareform(D)))
    assert dimension_test(mds(0), D, n_permutations=19)["p_value"] > 0.05


@pytest.mark.slow
def test_in_noise_no_dimension_is_found(rng):
    """Two features that say nothing are given. At a level of 5%, two of three sets have a probability below 0.01."""
    found = []
    for _ in range(3):
        D, known = squareform(np.abs(rng.standard_normal(91))), rng.standard_normal((14, 2))
        found.append(dimension_test(mds(0), D, known, n_permutations=19)["p_value"])
    assert np.sum(np.array(found) <= 0.05) < 2


def null_dimension(seed):
    rng = np.random.default_rng(seed)
    D = squareform(pdist(rng.standard_normal((14, 1))))
    e = np.triu(0.1 * rng.standard_normal(D.shape), 1)
    return dimension_test(mds(1), D * np.abs(1 + e + e.T), n_permutations=19, random_state=seed)["p_value"]


@pytest.mark.slow
def test_a_further_dimension_is_not_found_more_often_than_it_should_be():
    assert np.mean([null_dimension(seed) <= 0.05 for seed in range(200)]) <= 0.1


def test_isomap_is_tested_by_its_own_stress(kinship):
    isomap = ConditionalIsomap(1, n_neighbors=6, metric="precomputed", n_init=2, random_state=0)
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    table = permutation_test(isomap, D, known, n_permutations=2)
    assert table.loc["gender", "stress"] == isomap.fit(D, known=known).stress_


def test_of_an_adjusted_map_what_acts_along_it_matters():
    """Its stress does not depend on the order of such a feature; its importance does."""
    rng = np.random.default_rng(23)
    v, noise = rng.normal(size=(2, 30))
    D = squareform(pdist(rng.normal(size=(30, 2)) + 2 * v[:, None] * [1.0, 0.0]))
    known = pd.DataFrame({"v": v, "noise": noise})
    model = mds(2, n_init=2, adjust=True)
    table = permutation_test(model, D, known, n_permutations=19)
    assert table.loc["v", "p_value"] == 0.05
    assert table.loc["v", "importance"] > 3 * table.loc["v", "permuted"]
    assert table.loc["noise", "p_value"] > 0.05


@pytest.mark.slow
def test_p_values_of_an_adjusted_map_have_their_level():
    """Of features that have nothing to do with the map, one in five has p <= .2."""
    p_values = []
    for seed in range(30):
        rng = np.random.default_rng(2400 + seed)
        D = squareform(pdist(rng.normal(size=(14, 2))))
        known = rng.normal(size=(14, 2))
        model = mds(1, n_init=1, adjust=True)
        p_values += list(permutation_test(model, D, known, n_permutations=9)["p_value"])
    share = np.mean(np.array(p_values) <= 0.2)
    assert 0.09 < share < 0.31  # two standard errors of a binomial share of 60


@pytest.mark.slow
@pytest.mark.parametrize("adjust", [True, "auto"])
def test_level_where_known_features_correlate(adjust):
    """A feature that does nothing, correlated at .8 with one that acts, is found in about 5% of sets.

    More than 11 of 60 sets have a probability of 1e-4 at that level. Permuted rows would find it in 28% to 40%.
    """
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(2800 + seed)
        v = rng.normal(size=16)
        w = 0.8 * v + 0.6 * rng.normal(size=16)
        d = pdist(rng.normal(size=(16, 2)) + np.outer(v, [1.0, 0.0]))
        D = squareform(d * np.abs(1 + 0.2 * rng.normal(size=len(d))))
        table = permutation_test(mds(n_init=1, adjust=adjust), D, np.column_stack([v, w]), n_permutations=19)
        found += table["p_value"].iloc[1] <= 0.05
    assert found <= 11
