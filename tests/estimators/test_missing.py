"""Missing cells of what is known, and missing dissimilarities: both are estimated with the map."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist

from tests import recordings
from tests.helpers import noisy_distances, with_missing
from unmask import ConditionalMDS, Cyclic, MapWarning, MissingDissimilarityWarning, Numeric
from unmask.datasets import make_car_brands

N = 24
FIFTEEN, TABLES = "kinship_15", ("dissimilarities", "scales")


def fit(D, known=None, pair_weights=None, **options):
    options = {"metric": "precomputed", "random_state": 0, "n_init": 5} | options
    return ConditionalMDS(**options).fit(D, known=known, weights=pair_weights)


def plain_stress(D, *coordinates):
    d, delta = pdist(np.column_stack(coordinates)), D[np.triu_indices(len(D), 1)]
    return np.nansum((delta - d) ** 2) / np.nansum(delta**2)


@pytest.fixture(scope="module")
def D():
    return noisy_distances(np.random.default_rng(1), N, 4)


# ---- missing cells of known features


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")  # the features are random
@pytest.mark.parametrize("solver", ["lbfgs", "smacof"])
@pytest.mark.parametrize("coef", ["full", "diagonal"])
def test_the_stress_is_that_of_the_imputed_table_and_the_value_the_best(D, coef, solver):
    """By the formula in plain NumPy, with the imputed values put in."""
    known = pd.DataFrame(np.random.default_rng(2).uniform(size=(N, 2)) * [1, 10] + [0, 50], columns=["x", "y"])
    known.loc[[3, 8], "x"] = np.nan
    known.loc[5, "y"] = np.nan
    mds = fit(D, known, coef=coef, solver=solver, n_init=1, tol=1e-11, max_iter=20_000)
    assert list(zip(mds.known_imputed_["object"], mds.known_imputed_["feature"], strict=True)) == [
        (3, "x"),
        (8, "x"),
        (5, "y"),
    ]
    assert mds.known_imputed_["certainty"].isna().all()
    filled, B = known.copy(), mds.coef_.to_numpy()
    for row in mds.known_imputed_.itertuples():
        filled.loc[row.object, row.feature] = row.value

    def stress(table):
        return plain_stress(D, mds.embedding_, table.to_numpy() @ B)

    assert stress(filled) == pytest.approx(mds.stress_, rel=1e-9)
    assert mds.stress_path_[-1] == pytest.approx(mds.stress_, rel=1e-9)
    assert np.all(np.diff(mds.stress_path_) <= 0)
    for row in mds.known_imputed_.itertuples():
        slopes = []
        for step in (1e-4, -1e-4):
            tried = filled.copy()
            tried.loc[row.object, row.feature] += step * known[row.feature].std()
            slopes.append((stress(tried) - mds.stress_) / 1e-4)
        assert np.abs(slopes).max() < 1e-4  # stationary: neither way is a descent


def exact(seed=0, n=40):
    """Return features of every type that can be estimated, and exact distances made of them and of one unknown."""
    rng = np.random.default_rng(seed)
    site, grade = rng.permutation(n) % 3, rng.permutation(n) % 4
    known = pd.DataFrame(
        {
            "x": rng.standard_normal(n),
            "site": np.array(list("abc"))[site],
            "grade": pd.Categorical(np.array(list("pqrs"))[grade], ordered=True),
            "hour": rng.uniform(0, 24, n),
        },
        index=[f"o{i}" for i in range(n)],
    )
    angle = known["hour"] * np.pi / 12
    Z = np.column_stack(
        [
            rng.standard_normal(n),
            1.5 * known["x"],
            np.array([[0, 0], [2, 0], [0.5, 1.5]])[site],
            np.array([0, 1, 1.5, 4])[grade],
            2 * np.cos(angle),
            2 * np.sin(angle),
        ]
    )
    return known, pd.DataFrame(cdist(Z, Z), known.index, known.index)


@pytest.mark.parametrize("feature", ["x", "site", "grade", "hour"])
def test_missing_cells_are_recovered_from_exact_distances(feature):
    known, D = exact()
    holes = known.copy()
    holes.loc[["o3", "o17", "o30"], feature] = np.nan
    mds = fit(D, holes, n_components=1, known_types={"hour": Cyclic(24)}, max_iter=5000, tol=1e-12)
    assert mds.stress_ < 1e-5
    imputed = mds.known_imputed_.set_index("object")
    assert list(imputed.index) == ["o3", "o17", "o30"]
    assert set(imputed["feature"]) == {feature}
    assert mds.known_summary_.loc[feature, "missing"] == 3
    for label, row in imputed.iterrows():
        truth = known.loc[label, feature]
        if feature in ("site", "grade"):
            assert row["value"] == truth
        else:
            assert row["value"] == pytest.approx(truth, abs=0.05)
        if feature == "x":
            assert np.isnan(row["certainty"])
            assert row["lower"] < row["value"] < row["upper"] < row["lower"] + 0.1
        else:
            assert row["certainty"] == pytest.approx(1, abs=0.05)
            assert np.isnan([row["lower"], row["upper"]]).all()
        assert row["remark"] == ""


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")  # the map can make up for the cell
def test_the_known_cells_of_the_row_are_used():
    """An object of unknown x is still placed by its y: without it the map would have to show it."""
    rng = np.random.default_rng(3)
    V, U = rng.standard_normal((30, 2)), rng.standard_normal((30, 1))
    Z = np.column_stack([U, V * [1.0, 3.0]])
    holes = V.copy()
    holes[4, 0] = np.nan
    mds = fit(cdist(Z, Z), holes, n_components=1, n_init=10)
    assert mds.stress_ < 1e-6
    wrong = holes.copy()
    wrong[4, 1] += 1.0
    assert fit(cdist(Z, Z), wrong, n_components=1, n_init=10).stress_ > 1e-4


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "cyclic"])
def test_the_stress_is_that_of_the_mixture_where_no_level_fits_alone(D, kind):
    rng = np.random.default_rng(4)
    column = {
        "nominal": np.array(list("abc"))[rng.permutation(N) % 3],
        "ordinal": pd.Categorical(np.array(list("abc"))[rng.permutation(N) % 3], ordered=True),
        "cyclic": rng.uniform(0, 24, N),
    }[kind]
    known = pd.DataFrame({"x": column})
    known.loc[[2, 7], "x"] = np.nan
    mds = fit(D, known, known_types={"x": Cyclic(24)} if kind == "cyclic" else None)
    d, delta = mds.predict_dissimilarities().to_numpy(), np.triu(D, 1)
    assert np.sum((np.triu(d, 1) - delta) ** 2) / np.sum(delta**2) == pytest.approx(mds.stress_, rel=1e-9)
    assert mds.known_imputed_["certainty"].between(0, 1).all()
    assert np.all(np.diff(mds.stress_path_) <= 0)
    if kind != "cyclic":
        assert set(mds.known_imputed_["value"]) <= set("abc")


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")  # the features are random
def test_missing_and_mismeasured_cells_of_one_feature(D):
    known = pd.DataFrame({"x": np.random.default_rng(5).uniform(size=N), "y": np.random.default_rng(6).uniform(size=N)})
    known.loc[4, "x"] = np.nan
    mds = fit(D, known, known_types={"x": Numeric(error=0.1)})
    assert mds.known_imputed_.loc[0, "value"] == pytest.approx(mds.known_corrected_.loc[4, "x"], rel=1e-12)
    filled = known.assign(x=mds.known_corrected_["x"]).to_numpy()
    assert plain_stress(D, mds.embedding_, filled @ mds.coef_.to_numpy()) == pytest.approx(mds.stress_, rel=1e-9)
    assert np.all(mds.known_corrected_["x"].drop(4) != known["x"].drop(4))


def kinship_with_siblings(kinship):
    """Return the kinship terms with a "Sibling" half-way between sister and brother, whose gender is not known."""
    D = kinship.dissimilarities.astype(float)
    D.loc["Sibling"] = D["Sibling"] = (D.loc["Sister"] + D.loc["Brother"]) / 2
    D.loc["Sibling", "Sibling"] = 0.0
    known = kinship.known[["gender", "degree"]].astype(float)
    known.loc["Sibling"] = [np.nan, known.loc["Sister", "degree"]]
    return D, known, 0.05


def kinship_with_cousins():
    """Return the fifteen terms of the published table, of which one has no gender, where it is at hand."""
    D, scales = (pd.read_csv(recordings.FOLDER / f"{FIFTEEN}_{name}.csv", index_col=0) for name in TABLES)
    return D, scales.rename(columns=str.lower)[["gender", "degree"]], 0.25


@pytest.mark.parametrize(
    "term",
    ["Sibling", pytest.param("Cousin", marks=recordings.needs(*(f"{FIFTEEN}_{name}.csv" for name in TABLES)))],
)
def test_a_term_without_a_gender_is_mapped(kinship, term):
    D, numbers, off = kinship_with_siblings(kinship) if term == "Sibling" else kinship_with_cousins()
    known = numbers.assign(gender=numbers["gender"].map({1: "male", 2: "female"}))
    assert known["gender"].isna().sum() == 1
    mds = fit(D, known, n_init=20)
    assert list(mds.known_imputed_["object"]) == [term]
    assert list(mds.known_imputed_["feature"]) == ["gender"]
    assert mds.known_imputed_.loc[0, "value"] in ("male", "female")
    assert mds.known_summary_["missing"].to_dict() == {"gender": 1, "degree": 0}
    # Of no gender, the term is between the two, so that it fits better than with either.
    for gender in ("male", "female"):
        filled = known.fillna({"gender": gender})
        assert fit(D, filled, n_init=20).stress_ > mds.stress_
    assert mds.known_imputed_.loc[0, "certainty"] < 0.5 + off
    # As a number, it is estimated too.
    assert fit(D, numbers, n_init=20).known_imputed_.loc[0, "value"] == pytest.approx(1.5, abs=off)


# ---- missing dissimilarities


def missing_pairs(seed, q, n_init=5):
    """Return the correlation of predicted with true dissimilarities of the 40 % of the pairs left out."""
    cars = make_car_brands(60, random_state=seed)
    D = with_missing(np.random.default_rng(seed), cars.dissimilarities.to_numpy(), 0.4)
    mds = fit(D, cars.known.iloc[:, :q].to_numpy(), n_components=7 - q, n_init=n_init)
    left_out = np.isnan(D) & np.triu(np.ones_like(D, dtype=bool), 1)
    predicted = mds.predict_dissimilarities().to_numpy()
    return np.corrcoef(predicted[left_out], cars.noiseless.to_numpy()[left_out])[0, 1]


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
def test_missing_dissimilarities_are_predicted():
    assert min(missing_pairs(seed, 5) for seed in range(10)) >= 0.85


def test_predictions_are_the_fitted_distances(D):
    known = np.random.default_rng(7).uniform(size=(N, 2))
    labels = [f"o{i}" for i in range(N)]
    mds = fit(pd.DataFrame(D, labels, labels), known)
    predicted = mds.predict_dissimilarities()
    Z = np.column_stack([mds.embedding_, known @ mds.coef_.to_numpy()])
    np.testing.assert_allclose(predicted, cdist(Z, Z), rtol=0, atol=1e-9)
    assert list(predicted.index) == labels == list(predicted.columns)
    np.testing.assert_array_equal(np.diag(predicted), 0)


def test_objects_that_hang_on_few_pairs_are_named(D):
    labels = [f"o{i}" for i in range(N)]
    table = pd.DataFrame(D, labels, labels)
    table.loc["o7", "o3":] = table.loc["o3":, "o7"] = np.nan
    with (
        pytest.warns(MissingDissimilarityWarning),
        pytest.warns(MapWarning, match=r"no more than there are dimensions \(3\): object 'o7' \(3\)\. Do not"),
    ):
        fit(table, np.arange(N), n_init=1)


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
@pytest.mark.parametrize("form", ["array", "sparse"])
def test_zero_weights_leave_few_pairs_too(D, form):
    import scipy.sparse as sp

    W = np.ones((N, N))
    W[2:9, :] = W[:, 2:9] = 0
    W[:2, :] = W[:, :2] = 1
    with pytest.warns(MapWarning, match=r"object 2 \(2\), object 3 \(2\).*object 6 \(2\) and 2 more"):
        fit(D, None, W if form == "array" else sp.csr_array(W), n_init=1)
