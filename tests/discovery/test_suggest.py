"""Suggestions: what is there is found, what is not is not, and the numbers are those of other libraries."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import least_squares
from scipy.spatial.distance import pdist, squareform
from scipy.stats import permutation_test, wilcoxon
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import silhouette_score

import unmask.discovery._suggest as suggesting
from tests.helpers import noisy_distances
from unmask import ConditionalMDS
from unmask.discovery import Discovery, Stopped
from unmask.discovery._circle import fit_circle
from unmask.discovery._clusters import best_grouping, group_numbers, silhouette
from unmask.discovery._columns import compare_columns
from unmask.discovery._places import find_places, mean_places, permutations_of
from unmask.discovery._references import even_box, even_disc, even_ring, scattered_groups
from unmask.inspection import name_axes
from unmask.problem.chance import rao_p_value

FAST = {"n_init": 4}


def distances(X):
    return squareform(pdist(X))


def noise_study(seed, n=25):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 6)))
    table["group"] = rng.choice(list("abc"), n)
    table["truth"] = rng.uniform(size=n) < 0.5
    table.loc[:2, 1] = np.nan
    return Discovery(squareform(rng.uniform(0.5, 1, n * (n - 1) // 2)), table=table)


# ---- kinship


def test_kinship_shows_gender_and_degree_and_then_degree_and_generation(kinship):
    study = Discovery(kinship.dissimilarities, table=kinship.known)
    study.fit(2)
    first = study.suggest().set_index("what")
    assert first.index[:2].tolist() == ["gender", "degree"]
    assert (first["p_value"][:2] < 0.01).all()
    assert (first.loc[["generation", "generation_difference"], "p_value"] > 0.5).all()
    study.adopt("gender", column="gender")
    study.fit(2)
    second = study.suggest().set_index("what")
    assert "gender" not in second.index
    assert (second.loc[["degree", "generation_difference"], "p_value"] < 0.05).all()
    assert second.loc["generation", "p_value"] > 0.5


def test_strength_and_direction_are_those_of_name_axes(kinship):
    table = kinship.known.copy()
    table["sign"] = np.sign(table["generation"]).map({-1: "elder", 0: "same", 1: "younger"})
    study = Discovery(kinship.dissimilarities, table=table)
    for p in (1, 2):
        study.fit(p, **FAST)
        found = study.suggest(n_references=1)
        found = found[found["kind"] == "column"].set_index("what")
        named = name_axes(study.embedding, table).groupby(level="feature").last()
        np.testing.assert_allclose(found["strength"], named["correlation"].abs()[found.index], rtol=1e-12)
        # Along the direction a number grows.
        axes = [f"cos_axis{c + 1}" for c in range(p)]
        for what in ("gender", "degree"):
            along = study.embedding.to_numpy() @ found.loc[what, axes].to_numpy(dtype=float)
            assert np.corrcoef(along, table[what])[0, 1] == pytest.approx(found.loc[what, "strength"], abs=1e-9)


def test_every_suggestion_can_be_adopted_as_it_says(kinship):
    study = Discovery(kinship.dissimilarities, table=kinship.known)
    study.fit(2, **FAST)
    found = study.suggest(n_references=9)
    for call, arguments in zip(found["adopt"], found["arguments"], strict=True):
        by_code = eval(f"study.branch().{call}")
        adopted = study.adopt(**arguments)
        assert (by_code.name, by_code.source) == (adopted.name, adopted.source)
        pd.testing.assert_series_equal(by_code.values, adopted.values)
    assert len(study.known.columns) == 6
    assert len(study.suggest(2, n_references=9)) == 2


def test_suggest_tells_how_far_it_is_and_can_be_stopped(kinship):
    study = Discovery(kinship.dissimilarities, table=kinship.known)
    study.fit(2, **FAST)
    heard = []

    def listen(progress):
        heard.append(progress)

    found = study.suggest(n_references=9, callback=listen)
    pd.testing.assert_frame_equal(found, study.suggest(n_references=9))
    parts = [progress for progress in heard if progress.stage == "suggest"]
    assert [progress.iteration for progress in parts] == list(range(len(parts)))
    assert {progress.max_iter for progress in parts} == {4 + 6 * 9}
    assert any(progress.stage == "search" for progress in heard)  # the maps of noise
    for stage, iteration in (("suggest", 2), ("suggest", 6), ("search", 1)):
        with pytest.raises(Stopped):
            study.suggest(n_references=9, callback=lambda p, at=(stage, iteration): (p.stage, p.iteration) == at)


# ---- no false alarms


def test_noise_suggests_nothing():
    """Of eight maps of noise, as many as chance allows have anything below 0.05."""
    found = []
    for seed in range(8):
        study = noise_study(seed)
        study.fit(2, **FAST)
        found.append(study.suggest(20, n_permutations=199, n_references=99)["p_value"].min())
    assert np.sum(np.array(found) <= 0.05) <= 1  # with a chance of 1 in 20 each, more than one have one of 1 in 17


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["noise", "normal", "square", "disc", "five dimensions", "line"])
def test_the_rate_of_false_alarms_is_what_it_should_be(shape):
    """Among 60 maps with nothing on them, about one in twenty has a p-value below 0.05."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        angle, radius = rng.uniform(0, 2 * np.pi, 30), np.sqrt(rng.uniform(size=30))
        D = {
            "noise": lambda rng=rng: squareform(rng.uniform(0.5, 1, 435)),
            "normal": lambda rng=rng: distances(rng.normal(size=(30, 2))),
            "square": lambda rng=rng: distances(rng.uniform(size=(30, 2))),
            "disc": lambda a=angle, r=radius: distances(np.column_stack([r * np.cos(a), r * np.sin(a)])),
            "five dimensions": lambda rng=rng: noisy_distances(rng, 30, 5),
            "line": lambda rng=rng: distances(rng.normal(size=(30, 2)) * [4, 0.3]),
        }[shape]()
        study = Discovery(D, table=rng.normal(size=(30, 5)))
        study.fit(2, **FAST)
        alarms += bool((study.suggest(20, n_permutations=199)["p_value"] <= 0.05).any())
    assert alarms <= 8  # 8 or fewer of 60 have a probability of 0.99 if each has one of 0.05


def test_columns_are_corrected_for_their_number(rng):
    """A column that would be found alone is not found among forty others."""
    U = pd.DataFrame(rng.normal(size=(40, 2)))
    table = pd.DataFrame(rng.normal(size=(40, 40)))
    table["x"] = U[0] * 0.42 + rng.normal(size=40)
    orders = permutations_of(np.arange(40), 999, rng)
    (alone,) = compare_columns(U, table[["x"]], orders)
    among = {found.name: found.p_value for found in compare_columns(U, table, orders)}
    assert alone.p_value < 0.02
    assert among["x"] > 0.2


def test_the_p_value_of_one_column_is_that_of_a_permutation_test(rng):
    U, x = rng.normal(size=(30, 1)), rng.normal(size=30)
    x += 0.35 * U[:, 0]
    theirs = permutation_test(
        (x,),
        lambda y: np.abs(np.corrcoef(U[:, 0], y)[0, 1]),
        permutation_type="pairings",
        n_resamples=4999,
        alternative="greater",
        rng=0,
    ).pvalue
    orders = permutations_of(np.arange(30), 4999, rng)
    (mine,) = compare_columns(pd.DataFrame(U), pd.DataFrame({"x": x}), orders)
    assert 0.005 < theirs < 0.3
    assert mine.p_value == pytest.approx(theirs, abs=0.02)


def test_p_values_of_lambda_are_those_of_name_axes(rng):
    U = pd.DataFrame(rng.normal(size=(40, 3)))
    groups = pd.Series(rng.choice(list("abcd"), 40), name="g")
    row = name_axes(U, groups.to_frame(), correction=None).iloc[-1]
    X = U.to_numpy() - U.to_numpy().mean(axis=0)
    within = X - pd.DataFrame(X).groupby(groups).transform("mean").to_numpy()
    wilks = np.linalg.det(within.T @ within) / np.linalg.det(X.T @ X)
    np.testing.assert_allclose(rao_p_value(np.log([wilks]), 40, 3, 3), [row["p_value"]], rtol=1e-9)


def test_columns_that_cannot_be_tested_say_why(rng):
    table = {"name": [f"n{i}" for i in range(20)], "same": np.ones(20), "endless": [np.inf, *range(19)], "x": range(20)}
    study = Discovery(distances(rng.normal(size=(20, 2))), table=table)
    study.fit(2, **FAST)
    found = study.suggest(n_references=9).set_index("what")
    assert found.loc["name", "note"].startswith(
        "not tested: external: column 'name' has 20 values and takes 19 columns"
    )
    assert found.loc["same", "note"] == "not tested: all objects are the same"
    assert "infinite" in found.loc["endless", "note"]
    assert found.loc[["name", "same", "endless"], "p_value"].isna().all()
    assert (found.loc[["name", "same", "endless"], "adopt"] == "").all()
    assert found.loc["x", "note"] == ""
    assert np.isfinite(found.loc["x", "p_value"])
    study = Discovery(study.dissimilarities, table={"name": table["name"]})
    study.fit(2, **FAST)
    assert study.suggest(n_references=9)["what"].tolist()[-1] == "name"


# ---- places


def test_objects_on_top_of_each_other_that_differ_in_what_is_known_are_one_place():
    U = np.array([[0.0, 0.0], [10.0, 0.0], [0.01, 0.0], [0.0, 10.0], [10.0, 0.01], [10.0, 0.02]])
    gender = pd.DataFrame({"gender": list("mmffff"), "age": np.arange(6.0)})
    places = find_places(U, gender)
    assert places.tolist() == [0, 1, 0, 2, 1, 3]  # the last two are the same in gender
    np.testing.assert_allclose(
        mean_places(U, places), [[0.005, 0], [10, 0.005], [0, 10], [10, 0.02]], rtol=0, atol=1e-12
    )
    assert find_places(U, gender[["age"]]).tolist() == list(range(6))  # no two were made to differ in age alone
    assert find_places(U, gender[[]]).tolist() == list(range(6))


def test_objects_of_one_place_stay_together(rng):
    places = np.array([0, 1, 0, 2, 1, 3, 4])
    orders = permutations_of(places, 500, rng)
    assert (np.sort(orders, axis=1) == np.arange(7)).all()
    assert (places[orders][:, 0] == places[orders][:, 2]).all()
    assert (places[orders][:, 1] == places[orders][:, 4]).all()
    assert set(places[orders][:, 0]) == {0, 1}  # with another of two objects
    assert set(places[orders][:, 3]) == {2, 3, 4}


def test_pairs_are_no_two_witnesses(rng):
    """Columns that pairs on top of each other share are found no more often than they should be."""
    p_values = []
    for _ in range(150):
        U = pd.DataFrame(np.repeat(rng.normal(size=(10, 2)), 2, axis=0))
        table = pd.DataFrame({"x": np.repeat(rng.normal(size=10), 2)})
        places = find_places(U.to_numpy(), pd.DataFrame({"gender": [1, 2] * 10}))
        orders = permutations_of(places, 99, rng)
        (found,) = compare_columns(U, table, orders)
        p_values.append(found.p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.1
    assert wilcoxon(np.array(p_values) - 0.5).pvalue > 0.01  # even between 0 and 1


# ---- groups and orders


@pytest.mark.parametrize("spread", [1e-9, 0.01, 0.5])
def test_the_tightest_groups_are_found(rng, spread):
    truth = rng.permutation(np.repeat([0, 1, 2], [9, 10, 11]))
    X = np.array([[0, 0], [6, 0], [0, 6]])[truth] + spread * rng.normal(size=(30, 2))
    study = Discovery(distances(X), table={"species": np.array(["a", "b", "c"])[truth]})
    study.fit(2, **FAST)
    found = study.suggest(n_references=99).set_index("kind")
    assert (found.loc[["column", "groups"], "p_value"] <= 0.05).all()
    assert found.loc["groups", "what"] == "3 groups"


def test_groups_are_those_of_scikit_learn(rng):
    U = rng.normal(size=(40, 2)) + 6 * rng.integers(0, 2, (40, 2))
    theirs = AgglomerativeClustering(4).fit_predict(U)
    mine = group_numbers(U, 4)
    assert len(set(zip(mine, theirs, strict=True))) == 4
    assert mine[0] == 0
    assert silhouette(distances(U), mine) == pytest.approx(silhouette_score(U, theirs), abs=1e-12)


def test_small_groups_do_not_count():
    U = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [100.0]])
    groups = np.array([1, 1, 1, 2, 2, 2, 3])
    assert silhouette(distances(U), groups) == pytest.approx(6 / 7 * silhouette_score(U[:6], groups[:6]), abs=1e-12)
    assert silhouette(distances(U), np.array([1, 1, 1, 1, 1, 1, 2])) == 0.0


def test_groups_are_found_and_can_be_adopted(rng):
    truth = np.repeat([0, 1, 2], 12)
    X = np.array([[0, 0], [6, 0], [0, 6]])[truth] + rng.normal(size=(36, 2))
    study = Discovery(distances(X))
    study.fit(2, **FAST)
    found = study.suggest(n_references=99)
    assert found.loc[0, ["kind", "what"]].tolist() == ["groups", "3 groups"]
    assert found.loc[0, "p_value"] <= 0.05
    assert found.loc[1, "p_value"] > 0.05  # three groups are on a circle, as any three are
    eval(f"study.{found.loc[0, 'adopt']}")
    assert pd.crosstab(study.known["groups"].to_numpy(), truth).to_numpy().max(axis=0).sum() == 36
    best = best_grouping(study.embedding.to_numpy())
    assert (best.n_groups, best.silhouette) == (3, pytest.approx(found.loc[0, "strength"], abs=1e-6))


@pytest.mark.parametrize(("span", "what"), [(360, "order around a circle"), (200, "order along an arc")])
def test_orders_are_found_and_can_be_adopted(rng, span, what):
    angle = np.linspace(0, span, 30, endpoint=False)
    X = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))]) + 0.03 * rng.normal(size=(30, 2))
    study = Discovery(distances(X))
    study.fit(2, **FAST)
    found = study.suggest(n_references=99)
    assert found.loc[0, ["kind", "what"]].tolist() == ["order", what]
    assert found.loc[0, "p_value"] <= 0.05
    assert found.loc[1, "p_value"] > 0.05  # neighbours on a ring are no groups
    eval(f"study.{found.loc[0, 'adopt']}")
    order = np.argsort(study.known["order"].to_numpy())
    steps = np.abs(np.diff(order))
    assert (np.minimum(steps, 30 - steps) if span == 360 else steps).max() <= 2  # neighbours may have changed places


def test_the_circle_is_nearly_the_one_of_least_squares(rng):
    angle = rng.uniform(0, 2 * np.pi, 50)
    U = np.array([3.0, -2.0]) + 5 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.normal(size=(50, 2))
    mine = fit_circle(U)
    theirs = least_squares(lambda x: np.hypot(*(U - x[:2]).T) - x[2], [0, 0, 1]).x
    np.testing.assert_allclose([*mine.centre, mine.radius], theirs, rtol=0, atol=0.02)
    assert mine.share > 0.99
    assert mine.is_closed


def test_what_is_hardly_bent_is_no_circle(rng):
    x = np.linspace(-1, 1, 30)
    bent = fit_circle(np.column_stack([x, 0.05 * x**2]))
    assert bent.span < 90
    assert bent.strength == 0.0


@pytest.mark.parametrize("reference", [even_box, even_disc, even_ring, scattered_groups])
def test_references_are_as_large_as_the_map(rng, reference):
    U = rng.normal(size=(400, 2)) * [3, 1]
    other = next(reference(U, rng))
    assert other.shape == U.shape
    ratio = other.std(axis=0).mean() / U.std(axis=0).mean()
    assert 0.5 < ratio < 2.5


def test_on_a_line_there_is_no_ring(rng):
    U = rng.normal(size=(30, 1))
    assert next(even_ring(U, rng)).shape == (30, 1)


def test_few_places_and_lines_have_no_structure_to_look_for(kinship, rng):
    study = Discovery(distances(rng.normal(size=(7, 2))))
    study.fit(2, **FAST)
    assert study.suggest().empty
    study = Discovery(distances(rng.normal(size=(20, 2))))
    study.fit(1, **FAST)
    assert study.suggest(n_references=9)["kind"].tolist() == ["groups"]


@pytest.mark.parametrize("estimator", ["mds", "isomap", "classical"])
def test_large_maps_are_sampled(rng, estimator):
    study = Discovery(distances(rng.normal(size=(320, 2)) + 9 * rng.integers(0, 2, (320, 1))))
    options = {"mds": {"n_init": 1}, "isomap": {"n_init": 1, "n_neighbors": 170}, "classical": {}}
    study.fit(2, estimator=estimator, **options[estimator])
    found = study.suggest(n_references=19, random_state=1).set_index("kind")
    assert found.loc["groups", "what"] == "2 groups"


def test_suggestions_can_be_repeated(kinship):
    study = Discovery(kinship.dissimilarities, table=kinship.known)
    study.fit(2, **FAST)
    first, again = (study.suggest(n_references=9, n_permutations=99) for _ in range(2))
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    known = ConditionalMDS(metric="precomputed", random_state=0, **FAST).fit(kinship.dissimilarities)
    np.testing.assert_array_equal(study.embedding, known.embedding_)  # and leave the map alone


@pytest.mark.parametrize("argument", ["n", "n_permutations", "n_references"])
def test_suggest_refuses_what_is_no_number(study_of_three, argument):
    with pytest.raises(ValueError, match=f"{argument}=0 must be an integer of at least 1"):
        study_of_three.suggest(**{argument: 0})


@pytest.fixture
def study_of_three(kinship):
    study = Discovery(kinship.dissimilarities, known=kinship.known[["gender"]])
    study.fit(0, **FAST)
    return study


def test_a_map_without_dimensions_suggests_nothing(study_of_three):
    with pytest.raises(ValueError, match="the last map has no dimensions and shows nothing"):
        study_of_three.suggest()


def test_p_values_count_the_families_of_questions(kinship, monkeypatch):
    """Columns and structures are two families: what one alone would call 0.03 is 0.06 where both are asked."""
    finding = {"kind": "column", "what": "x", "strength": 1.0, "arguments": {}, "direction": np.zeros(2)}
    study = Discovery(kinship.dissimilarities, table=kinship.known)
    study.fit(2, n_init=1)

    def answers(columns, structures):
        for name, p_values in (("_columns", columns), ("_structures", structures)):
            found = [suggesting.Suggestion(**finding, p_value=p) for p in p_values]
            monkeypatch.setattr(suggesting, name, lambda *_, found=found: found)
        return sorted(study.suggest()["p_value"].round(12), key=lambda p: (np.isnan(p), p))

    assert answers([0.03, 0.5], [0.2]) == [0.06, 0.4, 1.0]
    assert answers([0.03, 0.5], []) == [0.03, 0.5]
    assert answers([], [0.2]) == [0.2]
    # A family of which nothing could be tested asks no question.
    found = answers([np.nan], [0.2])
    assert found[0] == 0.2
    assert np.isnan(found[1])
