"""What a fitted estimator says and shows of itself."""

import base64
import pickle
import re
import struct

import numpy as np
import pandas as pd
import pytest
import sklearn
from matplotlib.figure import Figure
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    GeneralMDS,
)
from unmask.estimators import refit
from unmask.estimators._fitted_map import SAMPLE, sample_of
from unmask.estimators._random_fits import random_fits
from unmask.estimators._summary import CAUTIONS, FOUND, GOOD, NEXT
from unmask.kernels import ArraySource

ALL = {
    "mds": ConditionalMDS(metric="precomputed", n_init=8, random_state=0),
    "isomap": ConditionalIsomap(metric="precomputed", n_init=4, random_state=0),
    "classical": ConditionalClassicalMDS(metric="precomputed"),
    "general": GeneralMDS(metric="precomputed", n_init=2, random_state=0),
}
every = pytest.mark.parametrize("name", ALL)


@pytest.fixture(scope="module")
def fitted(kinship):
    return {name: clone(mds).fit(kinship.dissimilarities, known=kinship.known[["gender"]]) for name, mds in ALL.items()}


@pytest.fixture(scope="module")
def mds(fitted):
    return fitted["mds"]


def texts(summary, part, name=None):
    return [row.text for row in summary.rows if row.part == part and name in (None, row.name)]


def number_in(text):
    return float(re.match(r"-?[\d.e+-]+", text)[0].rstrip("."))


# ---- the summary


@every
def test_a_summary_says_what_was_asked_found_and_what_to_do_next(fitted, name):
    estimator = fitted[name]
    summary = estimator.summary()
    assert summary.title == f"{type(estimator).__name__}: a map of 14 objects in 2 dimensions, given gender"
    assert str(summary).startswith(summary.title + "\nasked\n  estimator    " + type(estimator).__name__)
    assert texts(summary, "asked", "known") == ["gender (numeric, inferred)"]
    quantity = "stress" if hasattr(estimator, "stress_") else "cost"
    (line,) = texts(summary, GOOD, quantity)
    assert number_in(line) == pytest.approx(getattr(estimator, f"{quantity}_"), rel=5e-3)
    (leak,) = texts(summary, GOOD, "leak")
    verdict = "no more than chance: 19 of 20 random maps stay below"
    assert leak == f"{estimator.leak_:.2f}, {verdict} {estimator.leak_reference_:.2f}"
    (near,) = texts(summary, GOOD, "neighbours")
    assert f"tell gender: {estimator.knn_leak_.loc['gender', 'score']:.2f} correlation" in near
    assert len(texts(summary, NEXT)) == 1


@every
def test_text_and_page_say_the_same(fitted, name):
    summary = fitted[name].summary()
    page = summary._repr_html_()
    for row in summary.rows:
        assert row.text in str(summary)
        assert row.text.replace("'", "&#x27;") in page


def test_the_number_of_starts_that_found_the_minimum(mds):
    ends = mds.starts_["stress"]
    (line,) = texts(mds.summary(), GOOD, "starts")
    assert line.startswith(f"{len(ends)}, of which {np.sum(ends <= ends.min() * 1.001)} found the lowest minimum")


def test_importance_stands_beside_the_size_of_the_map(mds):
    summary = mds.summary()
    (importance,), (size,) = texts(summary, FOUND, "importance"), texts(summary, FOUND, "map")
    assert importance.startswith(f"gender {mds.importance_.loc['gender', 'standardized']:.3g}")
    assert number_in(size) == pytest.approx(np.sqrt(np.trace(np.cov(mds.embedding_.T))), rel=5e-3)


def test_labels_cannot_become_markup_nor_steer_a_terminal(kinship):
    known = kinship.known[["gender"]].set_axis(["<script>\x1b[31m\nx"], axis=1)
    summary = ConditionalClassicalMDS(metric="precomputed").fit(kinship.dissimilarities, known=known).summary()
    assert "<script>" in str(summary)
    assert "\x1b" not in str(summary)
    assert "<script>" not in summary._repr_html_()
    assert "&lt;script&gt;" in summary._repr_html_()


def test_nothing_known_and_no_map(kinship):
    plain = ConditionalClassicalMDS(metric="precomputed").fit(kinship.dissimilarities).summary()
    assert texts(plain, "asked", "known") == ["nothing"]
    assert not texts(plain, GOOD, "leak")
    assert plain.title.endswith("given nothing")
    none = ConditionalMDS(0, metric="precomputed", n_init=1)
    none.fit(kinship.dissimilarities, known=kinship.known[["gender"]])
    assert "without a map" in none.summary().title
    assert "n_components=2" in texts(none.summary(), NEXT)[0]
    assert "<img" not in none._repr_html_()
    with pytest.raises(ValueError, match="no map to draw"):
        none.plot()


@every
def test_what_is_not_fitted_has_no_summary_and_no_picture(name):
    with pytest.raises(NotFittedError):
        clone(ALL[name]).summary()
    with pytest.raises(NotFittedError):
        clone(ALL[name]).plot()


# ---- warnings and the next step


def along_the_map(rng, n=60):
    """Return points whose known group acts along the axis in which they differ most, and the group."""
    group = np.repeat([0.0, 1.0, 2.0], n // 3)
    return np.column_stack([3 * group + rng.normal(size=n), rng.normal(size=n)]), group[:, None]


def test_a_leak_is_a_warning_and_the_next_step(rng):
    X, group = along_the_map(rng)
    leaking = ConditionalMDS(n_init=4, random_state=0).fit(X, known=group).summary()
    assert any("repeats what is known" in text for text in texts(leaking, CAUTIONS))
    assert "adjust=True" in texts(leaking, NEXT)[0]
    adjusted = ConditionalMDS(adjust=True, n_init=4, random_state=0).fit(X, known=group).summary()
    assert texts(adjusted, GOOD, "leak")[0].startswith("0.00 by construction")
    assert not any("repeats what is known" in text for text in texts(adjusted, CAUTIONS))
    assert "adjust=True" not in texts(adjusted, NEXT)[0]


def test_a_leak_that_is_not_linear_is_named(rng):
    # Two rings, one in the other: no direction tells them apart, neighbours do.
    angle = rng.uniform(0, 2 * np.pi, 120)
    ring = np.repeat([0, 1], 60)
    X = (1 + 3 * ring)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    known = pd.DataFrame({"ring": ring.astype(float)})
    summary = ConditionalClassicalMDS().fit(X, known=known).summary()
    assert "neighbours on the map tell ring" in texts(summary, CAUTIONS)
    assert "declare it Spline()" in texts(summary, NEXT)[0]
    levels = ConditionalClassicalMDS().fit(X, known=known["ring"].map({0: "in", 1: "out"}).to_frame()).summary()
    assert "differ in more than their places" in texts(levels, NEXT)[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_unfinished_fit_is_the_first_thing_to_mend(kinship):
    summary = ConditionalMDS(metric="precomputed", n_init=2, max_iter=2).fit(kinship.dissimilarities).summary()
    assert any("before it settled" in text for text in texts(summary, CAUTIONS))
    assert texts(summary, NEXT) == ["Fit again with more iterations than max_iter=2."]


@pytest.mark.filterwarnings("ignore::unmask.AdjustmentWarning", "ignore::unmask.KnownFeatureWarning")
def test_what_was_left_out_estimated_or_taken_off_by_chance_is_said(kinship):
    known = kinship.known[["gender"]].assign(twice=2 * kinship.known["gender"], name=list("aabbccddeeffgg"))
    known.loc["Son", "gender"] = np.nan
    summary = ConditionalMDS(1, metric="precomputed", n_init=2, adjust=True).fit(kinship.dissimilarities, known=known)
    said = " / ".join(texts(summary.summary(), CAUTIONS))
    assert "missing known cells were estimated" in said
    assert "taken off by chance alone" in said
    assert "no more than 2 objects" in said


def test_random_data_are_not_read(rng):
    D = squareform(rng.gamma(4.0, size=190))
    mds = ConditionalMDS(metric="precomputed", n_init=8, random_state=0).fit(D)
    summary = mds.summary()
    assert re.search("(no|hardly) better than chance", texts(summary, GOOD, "stress")[0])
    assert mds.stress_ > 0.9 * random_fits(mds).median
    assert not texts(summary, NEXT)[0].startswith("Look at the map")


# ---- the stress of random data


def shuffled_by_hand(D, known, p, n_shuffles, **params):
    """Return the median stress of fully searched maps of shuffled dissimilarities."""
    rng, found = np.random.default_rng(7), []
    for _ in range(n_shuffles):
        shuffled = squareform(rng.permutation(squareform(D)))
        found.append(
            ConditionalMDS(p, metric="precomputed", random_state=1, **params).fit(shuffled, known=known).stress_
        )
    return np.median(found)


def test_the_random_stress_is_that_of_many_full_searches(kinship, mds):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    by_hand = shuffled_by_hand(D, kinship.known[["gender"]].to_numpy(), 2, 25, n_init=16)
    assert random_fits(mds).median == pytest.approx(by_hand, rel=0.12)


def test_known_features_and_dimensions_lower_the_random_stress(rng):
    D = squareform(rng.gamma(4.0, size=190))
    V = rng.normal(size=(20, 3))
    median = {
        (p, q): random_fits(
            ConditionalMDS(p, metric="precomputed", n_init=1).fit(D, known=V[:, :q] if q else None)
        ).median
        for p, q in [(1, 0), (2, 0), (2, 3)]
    }
    assert median[1, 0] > 1.5 * median[2, 0] > 1.5 * median[2, 3]


def test_of_many_objects_a_hundred_give_less_than_all_would(rng):
    n = 3 * SAMPLE
    D = squareform(rng.gamma(4.0, size=n * (n - 1) // 2))
    V = rng.normal(size=(n, 1))
    mds = ConditionalMDS(metric="precomputed", n_init=1, max_iter=300, tol=1e-6, random_state=0).fit(D, known=V)
    chance = random_fits(mds)
    assert chance.n_objects == SAMPLE
    assert chance.median < mds.stress_ < 1.3 * chance.median  # the data themselves are random
    assert "of the objects, and more between all" in str(mds.summary())


def test_the_adjusted_map_is_compared_in_the_dimensions_that_were_fitted(rng):
    X, group = along_the_map(rng, 30)
    X = np.column_stack([X, rng.normal(size=(30, 2))])
    free = ConditionalMDS(3, n_init=2, random_state=0).fit(X, known=group)
    adjusted = refit(ConditionalMDS(2, adjust=True, n_init=2, random_state=0), X, n_free=3, known=group)
    assert adjusted.n_free_ == 3
    np.testing.assert_allclose(random_fits(adjusted).values, random_fits(free).values)


def test_a_sample_holds_every_pair_of_few_objects_and_as_many_of_more(rng):
    D = squareform(rng.uniform(size=45))
    np.testing.assert_array_equal(np.sort(sample_of(ArraySource(D))), np.sort(squareform(D)))
    large = squareform(np.arange(1.0, 1 + 300 * 299 // 2))
    sample = sample_of(ArraySource(large))
    assert len(sample) == SAMPLE * (SAMPLE - 1) // 2
    assert (sample > 0).all()  # no object with itself
    assert sample.mean() == pytest.approx(large[np.triu_indices(300, 1)].mean(), rel=0.05)


@pytest.mark.parametrize("level", ["interval", "ordinal", "spline"])
def test_levels_are_compared_with_random_data_of_the_same_level(kinship, level):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    mds = ConditionalMDS(metric="precomputed", level=level, n_init=2, random_state=0).fit(D)
    assert random_fits(mds).median == pytest.approx(shuffled_by_hand(D, None, 2, 9, level=level, n_init=4), rel=0.12)


def test_nominal_features_with_rare_levels_among_many_objects(rng):
    n = 150
    known = pd.DataFrame({"kind": ["rare"] + ["common", "other"] * 74 + ["common"], "size": rng.normal(size=n)})
    mds = ConditionalMDS(n_init=1, random_state=0).fit(rng.normal(size=(n, 4)), known=known)
    assert len(random_fits(mds).values) == 9


@pytest.mark.filterwarnings("ignore::unmask.MissingDissimilarityWarning")
def test_where_random_data_are_not_comparable_it_says_why(kinship, rng):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    few, many = D.copy(), D.copy()
    for table, number in ((few, 4), (many, 20)):
        table[0, 1] = table[1, 0] = np.nan
        pairs = np.column_stack(np.triu_indices(14, 1))[rng.choice(91, number, replace=False)]
        table[pairs[:, 0], pairs[:, 1]] = table[pairs[:, 1], pairs[:, 0]] = np.nan
    make = clone(ALL["mds"])
    assert len(random_fits(make.fit(few)).values) == 9
    assert random_fits(make.fit(many)).why_none == "many pairs have no dissimilarity"
    assert "because many pairs have no dissimilarity" in str(make.summary())
    assert "weights of their own" in random_fits(make.fit(D, weights=np.full((14, 14), 2.0))).why_none
    assert len(random_fits(make.fit(D)).values) == 9  # a new fit without weights
    general = GeneralMDS(n_init=1, max_iter=20, tol=1.0).fit(rng.normal(size=(SAMPLE + 1, 3)))
    assert "a cost grows" in random_fits(general).why_none


def test_asking_changes_nothing(fitted):
    estimator = fitted["mds"]
    before = {name: value.copy() if hasattr(value, "copy") else value for name, value in vars(estimator).items()}
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again = str(estimator.summary()), str(estimator.summary())
    assert first == again
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert set(vars(estimator)) == set(before)
    np.testing.assert_array_equal(estimator.embedding_, before["embedding_"])


# ---- pictures


@every
def test_plot_draws_the_map_on_the_axes_that_are_given(fitted, name, kinship):
    ax = Figure().add_subplot()
    gender = kinship.known["gender"].map({1: "male", 2: "female"})
    assert fitted[name].plot(color=gender, ax=ax) is ax
    drawn = np.concatenate([points.get_offsets() for points in ax.collections])
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(fitted[name].embedding_[:, 0]), rtol=1e-6)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"male", "female"}
    assert any("Brother" in text.get_text() for text in ax.texts)


def test_plot_takes_labels_and_shapes(mds, kinship):
    ax = mds.plot(
        labels=[f"term {i}" for i in range(14)], shape=kinship.known["gender"].astype(str), ax=Figure().add_subplot()
    )
    assert any("term" in text.get_text() for text in ax.texts)
    assert len(ax.get_legend().get_texts()) == 2


def test_rows_that_pandas_counted_are_not_labelled(rng):
    X = pd.DataFrame(rng.normal(size=(20, 3)))
    assert not ConditionalClassicalMDS().fit(X).plot(ax=Figure().add_subplot()).texts
    named = ConditionalClassicalMDS().fit(X.set_axis(list("abcdefghijklmnopqrst")))
    assert named.plot(ax=Figure().add_subplot()).texts
    assert ConditionalClassicalMDS().fit(X).plot(labels=range(20), ax=Figure().add_subplot()).texts


def picture_in(page):
    (data,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    return base64.b64decode(data)


@every
def test_a_fitted_estimator_shows_its_map_and_numbers(fitted, name):
    page = fitted[name]._repr_html_()
    assert picture_in(page).startswith(b"\x89PNG")
    assert "a map of 14 objects in 2 dimensions, given gender" in page
    assert "leak" in page
    link = fitted[name]._get_doc_link()
    assert "http" not in page.replace(f'<a href="{link}"', "")  # nothing is fetched
    bundle = fitted[name]._repr_mimebundle_()
    assert picture_in(bundle["text/html"]).startswith(b"\x89PNG")
    assert bundle["text/plain"] == repr(fitted[name])


@every
def test_an_unfitted_estimator_keeps_the_box_of_scikit_learn(name):
    estimator = clone(ALL[name])
    for page in (estimator._repr_html_(), estimator._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in page
        assert "<img" not in page


def test_displays_as_text_stay_text(mds):
    with sklearn.config_context(display="text"):
        assert not hasattr(mds, "_repr_html_")
        assert set(mds._repr_mimebundle_()) == {"text/plain"}


def test_the_picture_of_a_thousand_stays_small(rng):
    X = rng.normal(size=(1000, 3)).astype(np.float32)
    large = ConditionalClassicalMDS().fit(pd.DataFrame(X, index=[f"object {i}" for i in range(1000)]))
    picture = picture_in(large._repr_html_())
    width, height = struct.unpack(">II", picture[16:24])
    assert max(width, height) < 500
    assert len(picture) < 200_000


def test_a_pickled_estimator_says_the_same(mds):
    again = pickle.loads(pickle.dumps(mds))
    assert str(again.summary()) == str(mds.summary())
    assert again._repr_html_() == mds._repr_html_()
    assert not hasattr(clone(mds), "_sample")


def test_a_name_is_no_column(mds):
    with pytest.raises(
        ValueError, match=r"color='gender' is a name, and a map keeps no columns; pass table\['gender'\]"
    ):
        mds.plot(color="gender")
