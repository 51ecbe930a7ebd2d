"""Leak beside what chance makes: tests have their level, see what is there, and do not depend on units."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.datasets import load_iris

from unmask import ConditionalMDS, Cyclic, Ordinal, Spline
from unmask.problem import check_known
from unmask.problem import leak as leak_module
from unmask.problem.chance import wilks_p_value
from unmask.problem.leak import (
    leak_in_words,
    leak_p_value,
    leak_reference,
    leaking_directions,
    linear_leak,
    nearest,
    neighbour_leak,
    traits_of,
)
from unmask.problem.linalg import canonical_correlations, orthonormal_basis


def random_correlations(rng, number, n, p, q):
    """Canonical correlations of random tables, from the definition."""
    bases = [np.linalg.qr(X - X.mean(axis=1, keepdims=True))[0] for X in rng.standard_normal((2, number, n, max(p, q)))]
    one, other = bases[0][:, :, :p], bases[1][:, :, :q]
    return np.linalg.svd(one.transpose(0, 2, 1) @ other, compute_uv=False)


def within_error(level, number, expected=0.05):
    return abs(level - expected) < 4 * np.sqrt(expected * (1 - expected) / number)


def residual(U, V):
    V = np.column_stack([np.ones(len(V)), V])
    return U - V @ np.linalg.lstsq(V, U, rcond=None)[0]


# ---- along the map


@pytest.mark.parametrize(
    ("n", "p", "q"), [(14, 2, 1), (14, 2, 2), (12, 2, 8), (30, 1, 4), (30, 3, 10), (60, 5, 9), (150, 2, 1), (150, 2, 2)]
)
def test_level_on_random_maps(rng, n, p, q):
    drawn = random_correlations(rng, 2000, n, p, q)
    leaks = drawn.mean(axis=1)
    p_values = np.array([leak_p_value(leak, n, p, q) for leak in leaks])
    assert within_error(np.mean(p_values <= 0.05), 2000)
    assert within_error(np.mean(p_values < 0.5), 2000, 0.5)
    # One statistic: reference, p-value and directions say the same of every map.
    np.testing.assert_array_equal(leaks > leak_reference(n, p, q), p_values <= 0.05)
    np.testing.assert_array_equal([leaking_directions(r, n, p, q) > 0 for r in drawn], p_values <= 0.05)


def test_references_of_one_correlation():
    assert leak_reference(14, 2, 1) == pytest.approx(0.65, abs=0.005)
    assert leak_reference(150, 2, 1) == pytest.approx(0.20, abs=0.005)
    for n, p, q in [(14, 2, 1), (14, 1, 2), (40, 5, 1)]:  # where Wilks's test of the correlation is exact
        assert wilks_p_value([leak_reference(n, p, q)], n, p, q) == pytest.approx(0.05, rel=1e-9)
        assert leak_p_value(0.4, n, p, q) == pytest.approx(wilks_p_value([0.4], n, p, q), rel=1e-9)


def test_p_value_of_one_feature_is_that_of_its_regression_on_the_map(rng):
    U, v = rng.standard_normal((20, 3)), rng.standard_normal((20, 1))
    explained = 1 - np.sum(residual(v, U) ** 2) / np.sum((v - v.mean()) ** 2)
    expected = scipy.stats.f.sf(explained / 3 / ((1 - explained) / 16), 3, 16)
    found = linear_leak(U, v)
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert found.leak == pytest.approx(np.sqrt(explained), rel=1e-9)


def test_directions_that_leak_are_counted(rng):
    counts = np.zeros(3)
    for _ in range(500):
        V, noise = rng.standard_normal((60, 2)), rng.standard_normal((60, 3))
        U = noise + np.column_stack([2 * V[:, 0], np.zeros((60, 2))])
        counts[linear_leak(U, V).directions] += 1
    assert counts[0] == 0  # power: the effect is twice the noise
    assert within_error(counts[2] / 500, 500)  # and the second direction is there by chance alone


def test_words_show_which_of_leak_and_reference_is_larger():
    assert leak_in_words(0.39, 0.52) == "0.39, no more than chance: 19 of 20 random maps stay below 0.52"
    assert leak_in_words(0.60, 0.52) == "0.60, more than chance: 19 of 20 random maps stay below 0.52"
    assert leak_in_words(0.5213, 0.5209) == "0.5213, more than chance: 19 of 20 random maps stay below 0.5209"
    assert leak_in_words(0.39, float("nan")) == "0.39"


def test_edges():
    assert leak_p_value(0.0, 10, 0, 2) == leak_p_value(0.0, 10, 2, 0) == 1.0
    assert leak_reference(10, 0, 2) == leak_reference(10, 2, 0) == 0.0
    assert leak_p_value(1.0, 4, 2, 2) == 1.0  # correlations of 1 whatever the data
    assert leak_reference(4, 2, 2) == 1.0
    assert leak_reference(5, 2, 2) < 1.0
    assert leaking_directions([1.0, 0.01], 30, 2, 2) == 1
    nothing = linear_leak(np.ones((5, 2)), np.arange(5.0)[:, None])
    assert (nothing.leak, nothing.reference, nothing.p_value, nothing.directions) == (0.0, 0.0, 1.0, 0)


def test_ranks_count_and_not_columns(rng):
    U, v = rng.standard_normal((20, 2)), rng.standard_normal((20, 1))
    plain, copied = linear_leak(U, v), linear_leak(np.column_stack([U, U @ [1.0, 2.0]]), np.column_stack([v, 3 - v]))
    assert copied.p_value == pytest.approx(plain.p_value, rel=1e-9)
    assert copied.reference == plain.reference == leak_reference(20, 2, 1)


# ---- among neighbours


@pytest.fixture(scope="module")
def iris():
    flowers = load_iris()
    species = pd.Series(flowers.target_names[flowers.target], name="species")
    X = (flowers.data - flowers.data.mean(axis=0)) / flowers.data.std(axis=0)
    return ConditionalMDS(2, n_init=2, random_state=0).fit(X, known=species)


def known_of(table, **types):
    return check_known(table, len(table), None, "auto", types=types or None)


def test_neighbours_tell_the_species_of_iris(iris):
    found = neighbour_leak(iris.embedding_, iris._map.known, np.random.default_rng(0))["species"]
    assert 0.78 < found.score < 0.85
    assert found.baseline == pytest.approx(1 / 3, abs=0.03)
    assert found.above_chance
    assert found.p_value == 0.01
    V = iris._map.known.values
    adjusted = residual(iris.embedding_, V)
    less = neighbour_leak(adjusted, iris._map.known, np.random.default_rng(0), adjusted_for=V)["species"]
    assert less.score < 0.5
    assert less.baseline < found.baseline  # residuals repel


def test_score_is_scikit_learns_without_ties(rng):
    from sklearn.model_selection import LeaveOneOut, cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    U = rng.standard_normal((50, 2))
    y = np.where(U[:, 0] + 0.5 * rng.standard_normal(50) > 0, "b", "a")
    x = U[:, 1] + rng.standard_normal(50)
    known = known_of(pd.DataFrame({"level": y, "number": x}))
    found = neighbour_leak(U, known, rng, n_neighbors=5)
    guessed = cross_val_predict(KNeighborsClassifier(5), U, y, cv=LeaveOneOut())
    predicted = cross_val_predict(KNeighborsRegressor(5), U, x, cv=LeaveOneOut())
    assert found["level"].score == pytest.approx(np.mean(guessed == y), rel=1e-12)
    assert found["number"].score == pytest.approx(np.corrcoef(predicted, x)[0, 1], rel=1e-9)


def test_tied_votes_are_shared_out():
    # Of two neighbours on a line: 0 and 3 see one of each level, or two of one.
    known = known_of(pd.DataFrame({"level": ["a", "a", "b", "b"]}))
    U = np.array([[0.0], [1.0], [2.1], [3.2]])
    found = neighbour_leak(U, known, np.random.default_rng(0), n_neighbors=2, n_permutations=19)
    assert found["level"].score == pytest.approx((0.5 + 0.5 + 0.5 + 0.5) / 4)


def test_what_no_line_shows_neighbours_tell(rng):
    angle, v = rng.uniform(0, 2 * np.pi, 200), rng.uniform(1, 3, 200)
    U = v[:, None] * np.column_stack(
        [np.cos(angle), np.sin(angle)]
    )  # rings: the feature is the distance from the centre
    known = known_of(pd.DataFrame({"v": v}))
    U = residual(U, known.values)
    assert canonical_correlations(U, known.values).max() < 1e-10
    for adjusted_for in (None, known.values):
        found = neighbour_leak(U, known, rng, adjusted_for=adjusted_for)["v"]
        assert found.score > 0.8
        assert found.above_chance


def test_units_offsets_and_rotation_change_nothing(rng):
    U = rng.standard_normal((40, 2))
    table = pd.DataFrame({"number": U[:, 0] + rng.standard_normal(40), "level": list("ab" * 20)})
    turned = 1e3 * U @ np.array([[0.6, 0.8], [-0.8, 0.6]]) + 5
    other = pd.DataFrame({"number": 1e6 - 50 * table["number"], "level": table["level"].map({"a": "z", "b": "y"})})
    one, two = (neighbour_leak(u, known_of(t), np.random.default_rng(3)) for u, t in ((U, table), (turned, other)))
    for name in ("number", "level"):
        assert one[name] == pytest.approx(two[name], rel=1e-9)


def test_every_type_of_feature_is_told(rng):
    U = rng.uniform(-1, 1, (120, 2))
    hour = (np.arctan2(U[:, 1], U[:, 0]) / np.pi * 12) % 24
    table = pd.DataFrame(
        {
            "hour": hour,
            "grade": np.digitize(U[:, 0], [-0.4, 0.3]) + 1,
            "curve": U[:, 1],
            "noise": rng.standard_normal(120),
        }
    )
    known = known_of(table, hour=Cyclic(24), grade=Ordinal(), curve=Spline(4))
    found = neighbour_leak(U, known, rng)
    assert list(found) == ["hour", "grade", "curve", "noise"]
    assert [found[name].above_chance for name in found] == [True, True, True, False]
    assert min(found[name].corrected for name in ("hour", "grade", "curve")) > 0.7


def test_levels_of_an_ordinal_feature_keep_their_order():
    known = known_of(pd.DataFrame({"size": ["m", "s", "l", "s", "l", "m"]}), size=Ordinal(["s", "m", "l"]))
    assert traits_of(known)[0].levels.tolist() == [1, 0, 2, 0, 2, 1]


def test_missing_cells_are_neither_asked_nor_answer(rng):
    U = rng.standard_normal((40, 2))
    table = pd.DataFrame({"x": U[:, 0], "y": U[:, 1] + rng.standard_normal(40), "z": rng.standard_normal(40)})
    gaps = table.copy()
    gaps.loc[[3, 17], "x"] = np.nan
    found = neighbour_leak(U, known_of(gaps), rng, n_neighbors=3)
    kept = np.setdiff1d(np.arange(40), [3, 17])
    alone = neighbour_leak(U[kept], known_of(table.iloc[kept]), rng, n_neighbors=3)
    whole = neighbour_leak(U, known_of(table), rng, n_neighbors=3)
    assert list(found) == ["x", "y", "z"]
    assert found["x"].score == pytest.approx(alone["x"].score, rel=1e-9)
    assert found["y"].score == pytest.approx(whole["y"].score, rel=1e-9)


def test_order_of_the_rows_says_nothing_where_objects_coincide():
    """All in one place, sorted by level: a search that prefers its own end of the table would tell all levels."""
    known = known_of(pd.DataFrame({"level": np.repeat(["a", "b", "c"], 20)}))
    found = [neighbour_leak(np.zeros((60, 2)), known, np.random.default_rng(s))["level"] for s in range(40)]
    assert np.mean([f.score for f in found]) == pytest.approx(np.mean([f.baseline for f in found]), abs=0.05)
    assert np.mean([f.above_chance for f in found]) < 0.2
    empty = neighbour_leak(np.empty((60, 0)), known, np.random.default_rng(0))["level"]
    assert empty == neighbour_leak(np.zeros((60, 2)), known, np.random.default_rng(0))["level"]


def test_nearest_leaves_out_who_asks(rng):
    U = np.repeat(rng.standard_normal((3, 2)), 8, axis=0)
    found = nearest(U, 3)
    assert not (found == np.arange(24)[:, None]).any()
    assert (found // 8 == np.arange(24)[:, None] // 8).all()
    assert nearest(U[:3], 5).shape == (3, 2)


def test_levels_in_tight_clusters_are_not_told_by_chance(rng):
    """Regressing two mixed levels out of permuted maps would tear them apart in every cluster."""
    level = np.tile(["a", "b"], 60)
    known = known_of(pd.DataFrame({"level": level}))
    U = residual(np.repeat(10 * np.eye(3)[:, :2], 40, axis=0) + 0.1 * rng.standard_normal((120, 2)), known.values)
    mixed = neighbour_leak(U, known, np.random.default_rng(0), adjusted_for=known.values)["level"]
    assert mixed.baseline < 0.55
    assert mixed.reference < 0.7
    apart = residual(U + 0.5 * np.where(level == "a", 1, -1)[:, None] * np.sign(U - U.mean(axis=0)), known.values)
    told = neighbour_leak(apart, known, np.random.default_rng(0), adjusted_for=known.values)["level"]
    assert told.above_chance
    assert told.score > 0.9


def test_stopping_early_finds_the_same(rng):
    v = rng.uniform(1, 3, 40)
    ring = v[:, None] * rng.standard_normal((40, 2))
    for table in ({"v": v}, {"noise": rng.standard_normal(40)}, {"v": v, "noise": rng.standard_normal(40)}):
        known = known_of(pd.DataFrame(table))
        U = residual(ring, known.values)
        for adjusted_for in (None, known.values):
            every, early = (
                neighbour_leak(U, known, np.random.default_rng(0), adjusted_for=adjusted_for, stop_early=stop)
                for stop in (False, True)
            )
            told = [name for name, leak in every.items() if leak.above_chance]
            assert early == (every if told else {})


def test_many_objects_are_sampled(rng, monkeypatch):
    monkeypatch.setattr(leak_module, "LEAK_SAMPLE", 50)
    U = rng.standard_normal((400, 2))
    known = known_of(pd.DataFrame({"x": U[:, 0], "noise": rng.standard_normal(400)}))
    asked = []
    monkeypatch.setattr(leak_module, "nearest", lambda U, k: asked.append(len(U)) or nearest(U, k))
    found = neighbour_leak(U, known, np.random.default_rng(1), adjusted_for=known.values[:, 1:])
    assert set(asked) == {50}
    assert found["x"].above_chance
    assert found == neighbour_leak(U, known, np.random.default_rng(1), adjusted_for=known.values[:, 1:])


def test_what_is_told_by_too_few_or_without_a_column_of_its_own(rng):
    table = pd.DataFrame({"genus": list("xxyyzz") * 3, "species": list("abcdef") * 3})
    with pytest.warns(match="carry no information of their own"):
        known = known_of(table)
    assert list(neighbour_leak(rng.standard_normal((18, 2)), known, rng)) == ["species"]
    few = neighbour_leak(rng.standard_normal((2, 1)), known_of(pd.DataFrame({"x": [1.0, 2.0]})), rng)
    assert np.isnan(few["x"].score)
    assert not few["x"].above_chance
    assert neighbour_leak(rng.standard_normal((5, 1)), check_known(None, 5, None, "auto"), rng) == {}


@pytest.mark.slow
@pytest.mark.parametrize("adjusted", [False, True])
def test_neighbours_raise_false_alarms_in_one_of_twenty_random_maps(adjusted):
    """Pure noise, adjusted or not: beyond the reference in at most 5% of cases, for levels as for numbers."""
    rng, number = np.random.default_rng(5), 400
    table = pd.DataFrame({"species": np.repeat(["a", "b", "c"], 15), "size": rng.standard_normal(45)})
    known = known_of(table)
    V = known.values if adjusted else None
    alarms, scores, baselines = [], [], []
    for _ in range(number):
        U = rng.standard_normal((45, 2))
        found = neighbour_leak(
            residual(U, known.values) if adjusted else U, known, rng, adjusted_for=V, n_permutations=39
        )
        alarms.append([found[name].above_chance for name in ("species", "size")])
        scores.append([found[name].score for name in ("species", "size")])
        baselines.append([found[name].baseline for name in ("species", "size")])
    levels = np.mean(alarms, axis=0)
    assert within_error(levels[1], number)
    assert levels[0] < 0.05 + 4 * np.sqrt(0.05 * 0.95 / number)  # ties of a share make it a little lower
    assert levels[0] > 0.01
    bias, error = np.mean(scores, axis=0) - np.mean(baselines, axis=0), np.std(scores, axis=0) / np.sqrt(number)
    assert (bias < 4 * error).all()
    assert adjusted or (bias > -4 * error).all()  # permuted maps are nearly uncorrelated, which errs on the safe side
    if adjusted:  # where the plain chance level would be wrong by more than that
        assert np.mean(baselines, axis=0)[0] < 1 / 3 - 4 * error[0]


def test_an_axis_of_rounding_repeats_nothing(rng):
    V = rng.standard_normal((8, 2)) * [1.0, 1e-12]  # known columns have units of their own
    V -= V.mean(axis=0)
    U = rng.standard_normal(8)
    Q = orthonormal_basis(V)
    U = (U - U.mean()) - Q @ (Q.T @ (U - U.mean()))
    assert linear_leak(np.column_stack([U, 1e-18 * V[:, 0]]), V).leak < 1e-12
    assert linear_leak(np.column_stack([U, 1e-3 * V[:, 0]]), V).leak == pytest.approx(0.5, abs=1e-9)
    # The second known column counts, however small its unit is, and a small map beside nothing is a map.
    assert linear_leak(1e-15 * V[:, 1:], V).leak == pytest.approx(1.0)
    assert linear_leak(1e-15 * V[:, 1:], V, beside=1.0).leak == 0.0
    assert linear_leak(np.zeros((8, 2)), V).leak == linear_leak(U[:, None], V[:, :0]).leak == 0.0
