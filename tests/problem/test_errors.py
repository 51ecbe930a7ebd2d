"""What is refused in known features and costs, and the words that lead to the mistake."""

import math
import re

import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import pdist, squareform

from tests.helpers import symmetric_weights
from unmask import ConditionalMDS, Cyclic, Distance, Loss, Neighbours, Nominal, Numeric, Ordinal, Spline
from unmask.checking import check_dissimilarities
from unmask.kernels import Workers
from unmask.problem import check_known, make_cost, type_from_text

N = 12
RNG = np.random.default_rng(0)
D = squareform(pdist(RNG.standard_normal((N, 3))))
W = symmetric_weights(RNG, N)
DATES = pd.date_range("2020", periods=3)
NUMBERS = [1.0, 2.0, 3.0, 1.0, 2.0]
INTERPRETED = bool(numba.config.DISABLE_JIT)


def changed_pair(value):
    """Return dissimilarities of which one pair has another value."""
    changed = D.copy()
    changed[2, 5] = changed[5, 2] = value
    return changed


# ---- types of known features

DECLARED = [
    ("cyclic", NUMBERS, "Cyclic(period)"),
    ("log", NUMBERS, "Numeric(lower, upper, log, error)"),
    ("number", NUMBERS, "'numeric', 'nominal', 'ordinal'"),
    (Cyclic, NUMBERS, "Cyclic"),
    *((Cyclic(period), NUMBERS, "period") for period in (-1, 0, np.inf, True, "24")),
    *((Spline(df), NUMBERS, "df") for df in (0, 2.5, 3)),
    (Nominal([1, 2]), NUMBERS, "missing: '3.0'"),
    (Ordinal([1, 2]), NUMBERS, "missing: '3.0'"),
    (Ordinal([1, 2, 3, 1]), NUMBERS, "repeated"),
    ("ordinal", ["low", "high", "mid"], "Ordinal(['high', …])"),
    (Numeric(log=True), [1.0, 0.0, 3.0], "holds 0,"),
    (Numeric(lower=0), [1.0, -2.5, 3.0], "-2.5"),
    (Numeric(upper=2), NUMBERS, "holds 3,"),
    (Numeric(lower=2, upper=2), [2.0, 2.0], "upper"),
    (Numeric(upper=0, log=True), NUMBERS, "upper"),
    (Numeric(lower="low"), NUMBERS, "lower"),
    (Numeric(upper=np.nan), NUMBERS, "upper"),
    (Numeric(log="yes"), NUMBERS, "log"),
    *((Numeric(error=error), NUMBERS, "error") for error in (-1.0, "0.5", True, np.inf)),
    (Numeric(log=True, error=0.1), NUMBERS, "error"),
    *((kind, ["u", "v", "u", "w"], "text ('u')") for kind in ("numeric", Cyclic(5), Spline(2))),
    *((kind, [1.0, 2.0, np.inf, 4.0], "infinite") for kind in (None, "numeric", Cyclic(5), Spline(2))),
    (None, [None, None, None], "no value at all"),
    (Spline(2), [1.0, 2.0, np.nan, 3.0, 5.0], "missing cells"),
    (None, ["1", "2", "10"], "'1'", "reads as numbers"),
    (None, DATES, "dates or times"),
    (None, DATES.tz_localize("UTC"), "dates or times"),
    (None, pl.Series(DATES.to_numpy()), "dates or times"),
    (None, DATES.astype(object), "Timestamp"),
]


@pytest.mark.parametrize(("declared", "values", "words"), [(kind, values, words) for kind, values, *words in DECLARED])
def test_columns_that_do_not_fit_their_type(declared, values, words):
    frame = pl.DataFrame if isinstance(values, pl.Series) else pd.DataFrame
    types = None if declared is None else {"x": declared}
    with pytest.raises(ValueError, match=r"known.*'x'|'x'.*known") as error:
        check_known(frame({"x": values}), len(values), None, "auto", types=types)
    assert [word for word in words if word not in str(error.value)] == []


KNOWN = pd.DataFrame({"site": list("abcd") * 3, "x": np.arange(N)})
TABLES = [
    (KNOWN, {"types": {"weight": "nominal"}}, "known_types names 'weight'"),
    (KNOWN, {"types": ["nominal"]}, "known_types=", "dictionary"),
    (None, {"types": {"x": "cyclic:3"}}, "known_types names 'x'", "pass known"),
    (KNOWN, {"coef": [["x"]]}, "coef=[['x']]", "exactly once"),
    (KNOWN.set_axis(["x", "x"], axis=1), {}, "known", "duplicate", "'x'"),
    (KNOWN.iloc[:5].to_numpy(), {}, "known has 5 rows", "12 objects"),
    (np.ones((N, 1, 1)), {}, "known has 3 dimensions"),
]


@pytest.mark.parametrize(("table", "options", "words"), [(table, options, words) for table, options, *words in TABLES])
def test_tables_of_known_features_that_are_refused(table, options, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as error:
        check_known(table, N, None, **{"coef": "auto"} | options)
    assert [word for word in words if word not in str(error.value)] == []


@pytest.mark.parametrize("text", ["", "cyclic", "cyclic:day", "colour", "nominal:3", "numeric:3"])
def test_a_text_that_is_no_type_is_refused_with_all_that_are(text):
    with pytest.raises(ValueError, match=r"cyclic:24.* or spline:3"):
        type_from_text(text)


# ---- costs and weights


def identity(x, parameter):
    return x, 1.0


def exponential(x, parameter):
    return math.exp(x), math.exp(x)


def by_text(fitted, target, parameter):
    return float(str(fitted - target)) ** 2, 2 * float(format(fitted - target, ".17g"))


COSTS = [
    (D, {"target": "distance"}, "target", "'distance'", "'inner'"),
    (D, {"target": np.ones((3, 3))}, "target", "ndarray"),
    (D, {"target": lambda d: d[0]}, "target", "(12,)", "(12, 12)"),
    (D, {"target": lambda d: d + np.arange(12)}, "target", "symmetric"),
    (D, {"target": lambda d: np.where(d > 0, d, np.inf)}, "target", "finite"),
    (D, {"target": "neighbours"}, "perplexity=30.0", "n_samples=12"),
    (D, {"target": Neighbours(0.5)}, "perplexity=0.5"),
    *((changed_pair(np.nan), {"target": target}, "target", "1 are missing") for target in ("inner", Neighbours(3.0))),
    (D, {"distance": "l1"}, "distance='l1'", "unmask.Distance"),
    (D, {"loss": None}, "loss=None", "unmask.Loss"),
    (D, {"distance": Distance(identity, of="l1")}, "of='l1'", "'inner product'"),
    (D, {"loss": Loss(lambda f, t, p: ((f - t) ** 2, f - t))}, "loss", "fitted=0.3, target=1.0", "-0.7", "-1.4"),
    (D, {"distance": Distance(lambda x, p: (x**2, x))}, "distance", "x=0.3", "0.6"),
    # Right where inner products are positive only
    (D, {"distance": Distance(lambda x, p: (abs(x), 1.0), of="inner product")}, "distance", "x=-0.7", "-1"),
    (D, {"loss": Loss(lambda f, t, p: (f - t) ** 2)}, "loss", "(fitted, target, parameter)"),
    (D, {"loss": Loss(lambda f, t: (f, 1.0))}, "loss", "(value, derivative)"),
    (D, {"distance": Distance(None)}, "distance", "(x, parameter)"),
    (D, {"loss": "squared", "loss_parameter": 1.0}, "loss_parameter=1.0", "loss='squared'"),
    (D, {"distance_parameter": 1.0}, "distance_parameter=1.0", "distance='euclidean'"),
    (D, {"loss": "huber", "loss_parameter": 0.0}, "loss_parameter=0.0"),
    (D, {"loss": "huber", "loss_parameter": "x"}, "loss_parameter='x'"),
    (D, {"distance": "cityblock", "distance_parameter": -1.0}, "distance_parameter=-1.0"),
    (D, {"distance": Distance(identity, of="absolute differences")}, "distance", "parameter=0"),
    (changed_pair(0.0), {"loss": "logarithmic"}, "loss='logarithmic'", "object 2", "object 5"),
    (D, {"loss": "sammon", "target": lambda d: d - 9.0}, "loss='sammon'", "object 0"),
    (D, {"loss": "kullback-leibler", "target": lambda d: d - 9.0}, "loss='kullback-leibler'", "object 0"),
    (
        D,
        {"loss": "logarithmic", "distance": Distance(exponential, of="inner product")},
        "loss='logarithmic'",
        "object 0 and object 0",
    ),
    (D, {"distance": "student", "weights": W}, "distance='student'", "weights"),
    (changed_pair(np.nan), {"distance": "student"}, "distance='student'", "missing"),
    (D, {"distance": "inner", "loss": "logarithmic"}, "loss='logarithmic'", "'inner'"),
]


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
@pytest.mark.parametrize(("D", "options", "words"), [(there, options, words) for there, options, *words in COSTS])
def test_costs_that_make_no_sense(D, options, words):
    asked = {"target": "dissimilarity", "distance": "euclidean", "loss": "squared", "weights": None} | options
    with pytest.raises(ValueError, match=re.escape(words[0])) as error:
        make_cost(check_dissimilarities(D, workers=Workers(1)), workers=Workers(1), **asked)
    assert [word for word in words if word not in str(error.value)] == []


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_functions_that_cannot_be_compiled():
    checked = check_dissimilarities(D, workers=Workers(1))
    with pytest.raises(ValueError, match=r"loss: numba cannot compile the function"):
        make_cost(checked, None, "dissimilarity", "euclidean", Loss(by_text), Workers(1))


def test_an_unknown_scheme_is_refused_with_the_names_that_there_are():
    with pytest.raises(ValueError, match=r"weights='elastic'.*None, 'sammon', 'curvilinear'"):
        ConditionalMDS(metric="precomputed", weights="elastic").fit(D)
