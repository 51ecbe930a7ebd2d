"""Known features as they come: levels, circles, splines, measured with error, or of no relevance."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

from tests.helpers import noisy_distances, symmetric_weights
from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    Cyclic,
    Nominal,
    Numeric,
    Ordinal,
    RedundantKnownWarning,
    Spline,
)
from unmask.datasets import make_car_brands

N = 24
TIGHT = {"tol": 1e-15, "max_iter": 20_000}


def fit(D, known=None, pair_weights=None, **options):
    options = {"metric": "precomputed", "random_state": 0, "n_init": 3} | options
    return ConditionalMDS(**options).fit(D, known=known, weights=pair_weights)


def plain_stress(D, *coordinates):
    """Return the normalised stress of some columns of coordinates, by the formula."""
    d, delta = pdist(np.column_stack(coordinates)), D[np.triu_indices(len(D), 1)]
    return np.sum((delta - d) ** 2) / np.sum(delta**2)


@pytest.fixture(scope="module")
def D():
    return noisy_distances(np.random.default_rng(5), N, 4)


@pytest.fixture(scope="module")
def sites():
    return np.array(["north", "east", "south", "west"])[np.random.default_rng(6).permutation(N) % 4]


# ---- what was taken for what


@pytest.mark.filterwarnings("ignore::unmask.ImputedKnownWarning")
def test_the_summary_says_what_was_inferred_and_what_declared(D, sites):
    known = pd.DataFrame(
        {
            "site": sites,
            "zip": np.arange(N) % 5,
            "hour": np.linspace(0, 20, N),
            "dose": np.random.default_rng(0).uniform(size=N),
            "grade": pd.Categorical(np.array(["low", "mid", "high"])[np.arange(N) % 3], ["low", "mid", "high"], True),
            "age": np.random.default_rng(1).uniform(size=N),
        }
    )
    known.loc[3, "age"] = np.nan
    mds = fit(D, known, known_types={"zip": "nominal", "hour": Cyclic(24), "dose": Spline(4)}, n_init=1)
    summary = mds.known_summary_
    assert summary["type"].to_dict() == {
        "site": "nominal",
        "zip": "nominal",
        "hour": "cyclic",
        "dose": "spline",
        "grade": "ordinal",
        "age": "numeric",
    }
    assert list(summary["source"]) == ["inferred", "declared", "declared", "declared", "inferred", "inferred"]
    assert list(summary["columns"]) == [3, 4, 2, 4, 2, 1]
    assert list(summary["missing"]) == [0, 0, 0, 0, 0, 1]
    assert summary.loc["grade", "levels"] == "low, mid, high"
    assert summary.loc["age", "levels"] == ""


@pytest.mark.parametrize("form", ["polars", "objects", "booleans"])
def test_the_form_of_the_table_does_not_matter(D, form):
    truth = np.arange(N) % 3 == 0
    x = np.random.default_rng(2).uniform(size=N)
    frame = pd.DataFrame({"known0": np.where(truth, "b", "a"), "known1": x})
    table = {
        "polars": pl.DataFrame({"known0": np.where(truth, "b", "a"), "known1": x}),
        "objects": frame.to_numpy(dtype=object),
        "booleans": frame.assign(known0=truth),
    }[form]
    one, other = fit(D, frame), fit(D, table)
    assert other.known_summary_["type"].to_dict() == {"known0": "nominal", "known1": "numeric"}
    np.testing.assert_array_equal(one.embedding_, other.embedding_)


def test_grouped_coefficients_are_the_default_once_a_column_is_not_numeric(D, sites):
    rng = np.random.default_rng(3)
    numbers = pd.DataFrame({"x": rng.uniform(size=N), "y": rng.uniform(size=N)})
    mixed = numbers.assign(site=sites)
    for known, structure in ((numbers, "full"), (mixed, "grouped")):
        default, explicit = fit(D, known), fit(D, known, coef=structure)
        np.testing.assert_array_equal(default.coef_, explicit.coef_)
        np.testing.assert_array_equal(default.embedding_, explicit.embedding_)
    assert fit(D, numbers).coef_.loc["x", "y"] != 0
    assert fit(D, mixed).coef_.loc["x", "y"] == 0
    assert fit(D, mixed).coef_.loc["site[1]", "site[2]"] != 0
    assert np.all(fit(D, mixed).coef_.loc["x", ["site[1]", "site[2]", "site[3]"]] == 0)


# ---- nominal


def codings(sites):
    """Return three codings of four levels, as users have them."""
    levels = sorted(set(sites))
    dummy = np.column_stack([sites == level for level in levels[1:]]).astype(float)
    effect = dummy - (sites == levels[0])[:, None]
    contrasts = np.array([[-1, -1, -1], [1, -1, -1], [0, 2, -1], [0, 0, 3]])
    helmert = contrasts[[levels.index(site) for site in sites]].astype(float)
    return {"dummy": dummy, "effect": effect, "helmert": helmert}


CODINGS = ["dummy", "effect", "helmert"]


def two_codings(D, sites, coding, weights=None, **options):
    """Return the fit to a nominal column and that to a coding of it by hand."""
    x = np.random.default_rng(4).uniform(size=N)
    names = pd.MultiIndex.from_tuples([("site", str(c)) for c in range(3)] + [("x", "x")])
    by_hand = pd.DataFrame(np.column_stack([codings(sites)[coding], x]), columns=names)
    nominal = pd.DataFrame({"site": sites, "x": x})
    options = {"n_components": 1, "n_init": 2} | options
    return fit(D, nominal, weights, **options), fit(D, by_hand, weights, coef="grouped", **options)


def assert_same_map(one, other):
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-12)
    np.testing.assert_allclose(other.embedding_, one.embedding_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.predict_dissimilarities(), one.predict_dissimilarities(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("coding", CODINGS)
def test_the_map_does_not_depend_on_the_coding_of_levels(D, sites, coding):
    assert_same_map(*two_codings(D, sites, coding, solver="lbfgs", **TIGHT))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("coding", CODINGS)
def test_no_step_of_smacof_depends_on_the_coding_either(D, sites, coding, weighted):
    """Compared on the way: it stops where rounding hides a further fall of the stress, with the map off by 1e-8."""
    W = symmetric_weights(np.random.default_rng(5), N) if weighted else None
    assert_same_map(*two_codings(D, sites, coding, W, solver="smacof", tol=0.0, max_iter=20))


def test_levels_positions_are_where_the_levels_are_and_everything_adds_up(D, sites):
    x = np.random.default_rng(4).uniform(size=N)
    mds = fit(D, pd.DataFrame({"site": sites, "x": x}), n_components=1)
    assert mds.coef_.shape == (4, 4)  # three columns for four levels
    places = mds.level_positions_.loc["site"]
    own = places.loc[sites].to_numpy()
    b = mds.coef_.loc["x", "x"]
    assert plain_stress(D, mds.embedding_, own, b * x) == pytest.approx(mds.stress_, rel=1e-9)
    np.testing.assert_allclose(places.mean(), 0, atol=1e-9)


def test_nominal_levels_are_recovered_from_exact_distances():
    rng = np.random.default_rng(8)
    places = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    group, U = rng.permutation(40) % 4, rng.standard_normal((40, 2))
    Z = np.column_stack([U, places[group]])
    mds = fit(cdist(Z, Z), pd.Series(group.astype(str), name="g"), known_types={"g": "nominal"}, n_init=20)
    found = mds.level_positions_.loc["g"].to_numpy()
    np.testing.assert_allclose(pdist(np.nan_to_num(found)), pdist(places), rtol=0, atol=1e-3)
    assert mds.stress_ < 1e-8


def test_a_diagonal_b_keeps_levels_equally_far_from_each_other(D, sites):
    mds = fit(D, pd.Series(sites, name="site"), coef="diagonal")
    gaps = pdist(mds.level_positions_.loc["site"])
    assert gaps[0] > 0
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)
    assert len(set(np.round(np.diag(mds.coef_), 12))) == 1


def test_level_names_reach_the_reports(D):
    sex = pd.Series(np.where(np.arange(N) % 2, "m", "f"), name="sex")
    mds = fit(D, sex)
    assert list(mds.coef_.index) == ["sex[m]"]
    assert list(mds.level_positions_.index) == [("sex", "f"), ("sex", "m")]
    assert np.isnan(mds.importance_.loc["sex", "raw"])  # a level has no unit
    positions = mds.level_positions_["axis1"].to_numpy()
    assert mds.importance_.loc["sex", "standardized"] == pytest.approx(
        np.std(positions[np.arange(N) % 2], ddof=1), rel=1e-9
    )


def test_features_of_one_level_are_reported_as_constant(D):
    known = pd.DataFrame({"one": ["x"] * N, "y": np.arange(N)})
    with pytest.warns(RedundantKnownWarning, match="'one' is constant"):
        mds = fit(D, known)
    assert mds.known_redundant_.to_dict() == {"one": "constant"}
    assert mds.level_positions_.loc[("one", "x"), "axis1"] == 0
    assert mds.importance_.loc["one", "standardized"] == 0


# ---- ordinal

POSITIONS = np.array([0.0, 0.5, 0.5, 2.5, 3.0])


def ordered(seed=0, n=40):
    """Return a feature of ordered levels and the exact distances that their positions and an unknown plane make."""
    rng = np.random.default_rng(seed)
    level, U = rng.permutation(n) % 5, rng.standard_normal((n, 2))
    Z = np.column_stack([U, POSITIONS[level]])
    return pd.Series(pd.Categorical(np.array(list("abcde"))[level], ordered=True), name="grade"), cdist(Z, Z), U


@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
def test_positions_of_ordered_levels_are_recovered(solver):
    grade, D, _ = ordered()
    mds = fit(D, grade, solver=solver, n_init=10, max_iter=5000, tol=1e-12)
    found = mds.level_positions_.loc["grade", "axis1"].to_numpy()
    np.testing.assert_allclose(found - found[0], POSITIONS, rtol=0, atol=2e-3)
    assert mds.stress_ < 1e-6
    assert np.all(np.diff(mds.stress_path_) <= 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_positions_never_fall_and_both_solvers_agree(seed, weighted):
    """In an order that the distances contradict, levels share a place."""
    rng = np.random.default_rng(seed)
    grade, D, _ = ordered(seed)
    wrong = Ordinal(list("acbed"))
    D = D * (1 + 0.1 * squareform(rng.uniform(-1, 1, len(D) * (len(D) - 1) // 2)))
    W = symmetric_weights(rng, len(D)) if weighted else None
    found = []
    for solver in ("lbfgs", "smacof"):
        mds = fit(D, grade, W, known_types={"grade": wrong}, solver=solver, n_init=1, max_iter=20_000, tol=1e-13)
        places = mds.level_positions_.loc["grade", "axis1"]
        assert list(places.index) == list("acbed")
        assert np.all(np.diff(places) >= -1e-9)
        assert np.all(np.diff(mds.stress_path_) <= 0)
        found.append(mds)
    assert found[0].stress_ == pytest.approx(found[1].stress_, rel=1e-4)
    level = found[0].level_positions_.loc["grade", "axis1"]
    assert level["e"] == pytest.approx(level["d"], abs=1e-6)  # e belongs above d


def test_two_ordered_levels_are_the_same_as_two_unordered_ones(D):
    two = pd.Series(np.where(np.arange(N) % 3 == 0, "no", "yes"), name="x")
    one = fit(D, two, known_types={"x": Ordinal(["no", "yes"])}, **TIGHT)
    other = fit(D, two, **TIGHT)
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-11)
    gaps = [np.ptp(mds.level_positions_["axis1"]) for mds in (one, other)]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-4)


def test_a_fit_can_start_where_an_ordinal_fit_ended():
    """A step of nothing between two levels is no dead end."""
    grade, D, _ = ordered()
    first = fit(D, grade, known_types={"grade": Ordinal(list("acbed"))})
    assert (first.coef_.to_numpy() == 0).any(axis=None)
    again = fit(D, grade, known_types={"grade": Ordinal(list("acbed"))}, init=(first.embedding_, first.coef_), n_init=1)
    assert again.stress_ <= first.stress_ + 1e-9
    assert again.n_iter_ <= 10
    with pytest.raises(ValueError, match="row of zeros in B0"):
        fit(D, grade, init=(first.embedding_, 0 * first.coef_), n_init=1)


# ---- cyclic


def test_sine_and_cosine_share_a_coefficient_and_a_period_changes_nothing(D):
    hours = np.random.default_rng(9).uniform(0, 24, N)
    one = fit(D, pd.Series(hours, name="hour"), known_types={"hour": Cyclic(24)}, **TIGHT)
    assert list(one.coef_.index) == ["hour[cos]", "hour[sin]"]
    b = one.coef_.to_numpy()
    assert b[0, 0] == b[1, 1] > 0
    assert b[0, 1] == b[1, 0] == 0
    shifted = hours + 24 * np.random.default_rng(1).integers(-3, 4, N)
    other = fit(D, pd.Series(shifted, name="hour"), known_types={"hour": Cyclic(24)}, **TIGHT)
    np.testing.assert_allclose(other.embedding_, one.embedding_, rtol=0, atol=1e-6)
    assert other.stress_ == pytest.approx(one.stress_, abs=1e-11)
    # By hand: a circle of the fitted size.
    angle = hours * 2 * np.pi / 24
    circle = b[0, 0] * 24 / (2 * np.pi) * np.column_stack([np.cos(angle), np.sin(angle)])
    assert plain_stress(D, one.embedding_, circle) == pytest.approx(one.stress_, rel=1e-9)


def test_the_size_of_a_circle_is_recovered():
    rng = np.random.default_rng(10)
    hours, U = rng.uniform(0, 24, 40), rng.standard_normal((40, 1))
    angle = hours * 2 * np.pi / 24
    Z = np.column_stack([U, 1.5 * np.cos(angle), 1.5 * np.sin(angle)])
    mds = fit(cdist(Z, Z), hours, known_types={0: Cyclic(24)}, n_components=1)
    assert mds.coef_.iloc[0, 0] * 24 / (2 * np.pi) == pytest.approx(1.5, rel=1e-4)


# ---- splines


def test_a_spline_finds_an_effect_that_is_not_linear():
    rng = np.random.default_rng(11)
    dose, U = rng.uniform(0, 1, 60), rng.standard_normal((60, 1))
    effect = 3 * (dose - 0.5) ** 3 * 8
    D = cdist(np.column_stack([U, effect]), np.column_stack([U, effect]))
    known = pd.Series(dose, name="dose")
    linear = fit(D, known, n_components=1)
    curved = fit(D, known, n_components=1, known_types={"dose": Spline(4)}, n_init=10)
    assert curved.stress_ < 0.05 * linear.stress_
    assert list(curved.coef_.index) == [f"dose[s{c}]" for c in range(1, 5)]
    assert np.linalg.matrix_rank(curved.coef_, tol=1e-6) == 1  # one function


def test_a_spline_of_one_degree_of_freedom_is_linear(D):
    x = pd.Series(np.random.default_rng(12).uniform(size=N), name="x")
    one, other = fit(D, x, **TIGHT), fit(D, x, known_types={"x": Spline(1)}, **TIGHT)
    assert one.stress_ == pytest.approx(other.stress_, abs=1e-11)


# ---- new objects


@pytest.mark.parametrize("level", ["ratio", "interval", "ordinal", "spline"])
def test_fitted_objects_return_to_their_points_whatever_is_known_about_them(D, sites, level):
    rng = np.random.default_rng(13)
    known = pd.DataFrame(
        {
            "site": sites,
            "hour": rng.uniform(0, 24, N),
            "dose": rng.uniform(size=N),
            "grade": pd.Categorical(np.array(list("abc"))[rng.permutation(N) % 3], ordered=True),
            "x": rng.uniform(size=N),
        }
    )
    mds = fit(D, known, known_types={"hour": Cyclic(24), "dose": Spline(3)}, level=level, n_init=1)
    np.testing.assert_allclose(mds.transform(D, known=known), mds.embedding_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mds.transform(D[:2], known=known.iloc[:2, ::-1]), mds.embedding_[:2], atol=1e-12)


def test_new_objects_are_refused_without_a_place_for_them(D, sites):
    known = pd.DataFrame({"site": sites, "x": np.arange(N) + 0.5 * (np.arange(N) % 2)})
    mds = fit(D, known, n_init=1)
    cases = [
        ({"site": ["up"], "x": [1.0]}, "'up' in column 'site' did not occur in the fit; its levels are 'east'"),
        ({"site": [None], "x": [1.0]}, "no finite value in column 'site', row 0; .* fill the cell"),
        ({"site": ["north"], "x": [np.nan]}, "no finite value in column 'x', row 0"),
        ({"site": ["north"], "x": [np.inf]}, "infinite value in column 'x', row 0"),
        ({"site": ["north"], "x": ["1"]}, "column 'x' holds text"),
        ({"place": ["north"], "x": [1.0]}, r"known has columns \['place', 'x'\] but the map was fitted given"),
    ]
    for new, message in cases:
        with pytest.raises(ValueError, match=message):
            mds.transform(D[:1], known=pd.DataFrame(new))


# ---- errors of measurement


@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
def test_no_error_is_the_same_to_the_last_bit(D, solver):
    V = pd.DataFrame(np.random.default_rng(14).uniform(size=(N, 2)), columns=["speed", "size"])
    plain, zero = fit(D, V, solver=solver), fit(D, V, solver=solver, known_error={"speed": 0.0, "size": 0})
    np.testing.assert_array_equal(plain.embedding_, zero.embedding_)
    np.testing.assert_array_equal(plain.coef_, zero.coef_)
    assert plain.stress_ == zero.stress_
    assert zero.known_corrected_.shape == (N, 0)


@pytest.mark.parametrize("coef", ["full", "diagonal"])
@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
def test_values_move_within_their_error_at_the_price_of_a_residual(D, solver, coef):
    """At the solution, stress plus price is stationary in every moved value; both by the formula in plain NumPy."""
    V = pd.DataFrame(np.random.default_rng(15).uniform(size=(N, 2)) * [10, 1], columns=["speed", "size"])
    exact = fit(D, V, coef=coef, solver=solver, n_init=1, **TIGHT)
    moved = fit(D, V, coef=coef, solver=solver, n_init=1, known_error={"speed": 0.5}, tol=1e-13, max_iter=50_000)
    assert list(moved.known_corrected_.columns) == ["speed"]
    total = np.sum(D[np.triu_indices(N, 1)] ** 2)
    price = exact.stress_ * total / (N * (N - 1) / 2)

    def cost(speed):
        table = np.column_stack([speed, V["size"]])
        moves = np.sum(((speed - V["speed"]) / 0.5) ** 2)
        return plain_stress(D, moved.embedding_, table @ moved.coef_.to_numpy()) * total + price * moves

    speed = moved.known_corrected_["speed"].to_numpy()
    stress = plain_stress(D, moved.embedding_, np.column_stack([speed, V["size"]]) @ moved.coef_.to_numpy())
    assert stress == pytest.approx(moved.stress_, rel=1e-9)
    assert moved.stress_path_[-1] == pytest.approx(cost(speed) / total, rel=1e-5)
    assert np.all(np.diff(moved.stress_path_) <= 0)
    for i in range(N):
        for step in (0.02, -0.02):
            tried = speed.copy()
            tried[i] += step
            assert cost(tried) > cost(speed)
    assert moved.stress_ < exact.stress_
    assert 0.05 < np.sqrt(np.mean((speed - V["speed"]) ** 2)) / 0.5 < 1.5


def test_values_move_towards_the_truth_and_more_so_the_larger_their_error():
    gains = []
    for seed in range(5):
        cars = make_car_brands(30, noise=0.05, known_noise=0.0, random_state=seed)
        rng = np.random.default_rng(seed)
        observed = cars.known.iloc[:, :6].copy()
        observed["quality"] += rng.normal(scale=0.2, size=30)
        mds = fit(cars.dissimilarities, observed, n_components=1, known_error={"quality": 0.2}, n_init=1)
        truth = cars.known["quality"]
        gains.append(
            np.mean((mds.known_corrected_["quality"] - truth) ** 2) / np.mean((observed["quality"] - truth) ** 2)
        )
        smaller = fit(cars.dissimilarities, observed, n_components=1, known_error={"quality": 0.02}, n_init=1)
        moves = [np.std(m.known_corrected_["quality"] - observed["quality"]) for m in (smaller, mds)]
        assert moves[0] < moves[1]
    assert np.median(gains) < 0.7


# ---- features of no relevance


@pytest.mark.simulation
def test_irrelevant_features_do_no_harm():
    """Four relevant features among 5 to 90 irrelevant ones: 100 car brands, three unknown features, five seeds."""
    ratios, errors = [], []
    for number in (5, 20, 50, 90):
        for seed in range(5):
            cars, rng = make_car_brands(100, random_state=seed), np.random.default_rng(seed)
            noise = pd.DataFrame(rng.uniform(size=(100, number)), cars.known.index).add_prefix("noise")
            known = pd.concat([cars.known.iloc[:, :4], noise], axis=1)
            mds = fit(cars.dissimilarities, known, n_components=3, coef="diagonal")
            b = np.diag(mds.coef_)
            size = np.abs(b) * known.std().to_numpy()
            errors.append(np.mean((b[:4] - cars.coef.to_numpy()[:4]) ** 2))
            ratios.append(size[:4].mean() / size[4:].mean())
    by_number = np.reshape(ratios, (4, 5))
    assert max(errors) <= 1e-3
    assert by_number.min() >= 5
    assert np.all(np.diff(by_number.mean(axis=1)) > 0)


# ---- what is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"known_types": {"weight": "nominal"}}, "known_types names 'weight', which is not a known column"),
        ({"known_error": {"weight": 1.0}}, "known_error names 'weight', which is not a known column"),
        ({"known_types": ["nominal"]}, "known_types=.* must be a dictionary"),
        ({"known_error": 0.5}, r"known_error=0.5 must be a dictionary"),
        ({"known_error": {"x": -1.0}}, "'x' has error -1.0, which must be a number of at least 0"),
        ({"known_error": {"x": "0.5"}}, "'x' has error '0.5'"),
        ({"known_error": {"x": True}}, "'x' has error True"),
        ({"known_error": {"x": np.inf}}, "'x' has error inf"),
        ({"known_error": {"site": 0.5}}, "'site' is nominal; only the values of a numeric feature can move"),
        ({"known_error": {"x": 0.5}, "known_types": {"x": Cyclic(5)}}, "'x' is cyclic; only the values of a numeric"),
        ({"known_types": {"x": "cyclic"}}, r"declare it Cyclic\(period\)"),
        ({"known_types": {"site": Ordinal(["north", "south"])}}, "missing: 'east', 'west'"),
        ({"known_types": {"site": "ordinal"}}, "declared ordinal but holds text"),
        ({"coef": [["x"]]}, "must name every known column exactly once"),
    ],
)
def test_bad_declarations_are_refused(D, sites, options, message):
    known = pd.DataFrame({"site": sites, "x": np.arange(N)})
    with pytest.raises(ValueError, match=message):
        fit(D, known, **options)


@pytest.mark.parametrize("name", ["known_types", "known_error"])
def test_saying_something_about_features_that_are_not_there_is_refused(D, name):
    with pytest.raises(ValueError, match=f"{name} names 'x' but no known features were given"):
        fit(D, **{name: {"x": 1.0}})
    assert fit(D, **{name: {}}, n_init=1).coef_.shape == (0, 0)


@pytest.mark.parametrize(
    ("column", "declared", "message"),
    [
        (pd.Categorical(["a", "b", "c"] * 8, ordered=True), None, "'x' is ordinal, which the closed form cannot fit"),
        (np.arange(N), Cyclic(24), "'x' is cyclic, which the closed form cannot fit"),
        (np.arange(N), Spline(3), "'x' is spline, which the closed form cannot fit"),
        ([np.nan, *range(N - 1)], None, "1 missing cells in column 'x', which the closed form cannot estimate"),
    ],
)
def test_the_closed_form_refuses_what_it_cannot_estimate(D, column, declared, message):
    known = pd.DataFrame({"x": column})
    types = None if declared is None else {"x": declared}
    with pytest.raises(ValueError, match=message):
        ConditionalClassicalMDS(metric="precomputed", known_types=types).fit(D, known=known)


def test_the_closed_form_recovers_exact_levels(sites):
    rng = np.random.default_rng(16)
    places, U = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 2.0]]), rng.standard_normal((400, 1))
    group = rng.permutation(400) % 4
    Z = np.column_stack([U, places[group]])
    mds = ConditionalClassicalMDS(1, metric="precomputed", coef="grouped")
    mds.fit(cdist(Z, Z), known=pd.Series(group.astype(float), name="g").map({0: "a", 1: "b", 2: "c", 3: "d"}))
    np.testing.assert_allclose(pdist(mds.level_positions_.to_numpy()), pdist(places), rtol=0, atol=0.15)
    assert mds.known_summary_.loc["g", "type"] == "nominal"
    assert mds.known_imputed_.empty


def test_types_reach_the_isomap(sites):
    X = np.random.default_rng(17).uniform(size=(N, 3))
    isomap = ConditionalIsomap(2, n_neighbors=6, known_types={"h": Cyclic(24)}, n_init=1, random_state=0)
    isomap.fit(X, known=pd.DataFrame({"h": np.arange(N), "site": sites}))
    assert list(isomap.known_summary_["type"]) == ["cyclic", "nominal"]
    assert isomap.coef_.shape == (5, 5)


def test_declarations_can_be_compared_and_shown():
    assert Cyclic(24) == Cyclic(24)
    assert Nominal() != Nominal(("a", "b"))
    assert repr(Spline()) == "Spline(df=4)"
    assert Numeric() == Numeric()
