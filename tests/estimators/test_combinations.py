"""Every combination of options works or is refused with a sentence that says what to change."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tests.helpers import noisy_distances, symmetric_weights
from unmask import ConditionalMDS, Cyclic, Numeric, Spline

N = 16
COEFS = ["full", "diagonal", "grouped"]  # "auto" is one of them
WEIGHTS = [None, "sammon", "curvilinear", "array", "sparse"]
LEVELS = ["ratio", "interval", "ordinal", "spline"]
KNOWN = {
    "nothing": [],
    "numeric": ["x", "y"],
    "nominal": ["site"],
    "ordinal": ["grade"],
    "cyclic": ["hour"],
    "spline": ["dose"],
    "all": ["x", "site", "grade", "hour", "dose"],
}
MISSING = ["nothing", "dissimilarities", "cells", "both"]
TYPES = {"hour": Cyclic(24), "dose": Spline(3)}

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore::unmask.MapWarning",
    "ignore::unmask.KnownFeatureWarning",  # the features have nothing to do with the dissimilarities
    "ignore::unmask.MissingDissimilarityWarning",
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    D = noisy_distances(rng, N, 4)
    holes = D.copy()
    for i, j in [(0, 1), (3, 9), (5, 12), (14, 2)]:
        holes[i, j] = holes[j, i] = np.nan
    known = pd.DataFrame(
        {
            "x": rng.uniform(size=N),
            "y": rng.uniform(size=N),
            "site": np.array(list("abc"))[rng.permutation(N) % 3],
            "grade": pd.Categorical(np.array(list("pqr"))[rng.permutation(N) % 3], ordered=True),
            "hour": rng.uniform(0, 24, N),
            "dose": rng.uniform(size=N),
        }
    )
    gaps = known.copy()
    for row, column in enumerate(known):
        gaps.loc[[row, row + 7], column] = np.nan
    return {"D": D, "holes": holes, "known": known, "gaps": gaps, "W": symmetric_weights(rng, N)}


def run(data, coef, weights, level, kind, missing, **options):
    D = data["holes" if missing in ("dissimilarities", "both") else "D"]
    table = data["gaps" if missing in ("cells", "both") else "known"]
    columns = KNOWN[kind]
    arrays = {"array": data["W"], "sparse": sp.csr_array(data["W"])}
    options = {
        "metric": "precomputed",
        "coef": coef,
        "weights": None if weights in arrays else weights,
        "level": level,
        "known_types": {name: TYPES[name] for name in columns if name in TYPES},
        "n_init": 1,
        "max_iter": 8,
        "random_state": 0,
        "n_jobs": 1,
    } | options
    return ConditionalMDS(**options).fit(D, known=table[columns] if columns else None, weights=arrays.get(weights))


def refusal(weights, level, kind, missing):
    """Return what the sentence must say where options contradict each other; None where they do not."""
    if level != "ratio" and weights in ("sammon", "curvilinear"):
        return f"weights={weights!r} with level={level!r}.*use weights=None"
    if kind in ("spline", "all") and missing in ("cells", "both"):
        return "missing cells in column 'dose', which is declared a spline.*Fill it, or declare another type"
    if level != "ratio" and weights == "sparse":
        return rf"level={level!r} with sparse weights.*pass weights.toarray\(\), or level='ratio'"
    return None


def assert_sound(mds, what):
    path = mds.stress_path_
    assert np.all(np.diff(path) <= 0), what
    assert path[-1] < path[0] or len(path) == 1 or mds.converged_, what
    assert 0 <= mds.stress_ <= 1, what
    for table in (mds.embedding_, mds.coef_, mds.importance_["standardized"], mds.predict_dissimilarities()):
        assert np.isfinite(np.asarray(table)).all(), what
    values = [value for value in mds.known_imputed_["value"] if not isinstance(value, str)]
    assert np.isfinite(values).all(), what


def check(data, combination, **options):
    _, weights, level, kind, missing = combination
    message = refusal(weights, level, kind, missing)
    if message is not None:
        with pytest.raises(ValueError, match=message):
            run(data, *combination, **options)
        return None
    mds = run(data, *combination, **options)
    assert_sound(mds, (combination, options))
    expected = len(KNOWN[kind]) * 2 if missing in ("cells", "both") else 0
    assert len(mds.known_imputed_) == expected, combination
    return mds


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", KNOWN)
def test_every_combination_works_or_is_refused(data, kind, level, weights):
    nothing = kind == "nothing"  # neither coefficients nor cells
    for coef, missing in itertools.product(COEFS[:1] if nothing else COEFS, MISSING[:2] if nothing else MISSING):
        check(data, (coef, weights, level, kind, missing))


SOME = [
    (coef, weights, level, kind, missing)
    for coef, (weights, level), kind, missing in itertools.product(
        ["auto", "diagonal"],
        [(None, "ratio"), ("curvilinear", "ratio"), ("array", "ordinal")],
        ["numeric", "nominal", "ordinal", "cyclic"],
        ["nothing", "both"],
    )
]


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "smacof"},
        {"orthogonal": True},
        {"solver": "smacof", "orthogonal": True},
        {"init": "random"},
        {"n_components": 1},
    ],
    ids=str,
)
def test_other_options_go_with_every_kind_of_problem(data, options):
    for combination in SOME:
        if options.get("orthogonal") and combination[-1] != "nothing":
            with pytest.raises(ValueError, match=r"orthogonal=True with values of .* that are estimated"):
                check(data, combination, **options)
            continue
        mds = check(data, combination, **options)
        if options.get("orthogonal"):
            assert mds.leak_ < 1e-8, combination


@pytest.mark.parametrize("kind", ["numeric", "all"])
@pytest.mark.parametrize("weights", [None, "sammon", "curvilinear", "array", "sparse"])
def test_errors_of_measurement_go_with_every_weighting(data, kind, weights):
    missing = ["nothing"] if kind == "all" else MISSING
    types = {name: TYPES[name] for name in KNOWN[kind] if name in TYPES} | {"x": Numeric(error=0.1)}
    for coef, gaps in itertools.product(COEFS, missing):
        mds = run(data, coef, weights, "ratio", kind, gaps, known_types=types)
        assert_sound(mds, (coef, weights, kind, gaps))
        assert list(mds.known_corrected_.columns) == ["x"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", [kind for kind in KNOWN if kind != "nothing"])
def test_coefficients_alone_go_with_every_level_and_type(data, kind, level):
    for coef, missing in itertools.product(COEFS, ["nothing", "both"]):
        mds = check(data, (coef, None, level, kind, missing), n_components=0)
        if mds is not None:
            assert mds.embedding_.shape == (N, 0)
