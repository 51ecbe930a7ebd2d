"""Shepard's diagram: pairs, the line they should lie on, and what belongs to which pair."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist

from tests.helpers import noisy_distances, with_missing
from unmask import ConditionalIsomap, ConditionalMDS, MissingDissimilarityWarning
from unmask.plotting._shepard import plot_shepard


@pytest.fixture
def ax():
    return Figure(figsize=(5, 4)).add_subplot()


@pytest.fixture
def D(rng):
    return noisy_distances(rng, 12)


def make(**options):
    return ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0, **options)


def pairs(ax):
    (scatter,) = [one for one in ax.collections if isinstance(one, PathCollection)]
    return np.asarray(scatter.get_offsets())


def both(D, mds):
    upper = np.triu_indices(len(D), 1)
    return np.column_stack([np.asarray(D)[upper], mds.predict_dissimilarities().to_numpy()[upper]])


def test_pairs_are_drawn_once_with_the_line_of_no_error(D, ax):
    mds = make().fit(D)
    assert plot_shepard(mds, D, ax=ax, title="Shepard") is ax
    np.testing.assert_array_equal(pairs(ax), both(D, mds))
    line = ax.lines[0].get_xydata()
    np.testing.assert_array_equal(line[:, 0], line[:, 1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["no error"]
    assert ax.get_xlim()[0] == ax.get_ylim()[0] == 0


def test_the_stress_can_be_read_off(D, ax):
    mds = make().fit(D)
    plot_shepard(mds, D, ax=ax)
    delta, distance = pairs(ax).T
    assert np.sum((delta - distance) ** 2) / np.sum(delta**2) == pytest.approx(mds.stress_, rel=1e-9)


def test_labels_are_matched(D, ax):
    names = [f"o{i}" for i in range(12)]
    frame = pd.DataFrame(D, index=names, columns=names)
    mds = make().fit(frame)
    plot_shepard(mds, frame.iloc[::-1, ::-1], ax=ax)
    np.testing.assert_array_equal(pairs(ax), both(D, mds))


def test_disparities_are_a_rising_line(D, ax):
    mds = make(level="ordinal").fit(D)
    plot_shepard(mds, D, ax=ax)
    line = ax.lines[0].get_xydata()
    upper = np.triu_indices(12, 1)
    order = np.argsort(D[upper])
    np.testing.assert_array_equal(line[:, 0], D[upper][order])
    np.testing.assert_allclose(line[:, 1], mds.disparities_.to_numpy()[upper][order], rtol=1e-12, atol=0)
    assert (np.diff(line[:, 1]) >= -1e-12).all()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["disparities"]


def test_features_are_turned_into_dissimilarities_by_the_metric(rng, ax):
    X = pd.DataFrame(rng.normal(size=(10, 3)), index=list("abcdefghij"))
    mds = ConditionalMDS(2, metric="cityblock", n_init=1, random_state=0).fit(X)
    plot_shepard(mds, X.iloc[::-1], ax=ax)
    np.testing.assert_allclose(pairs(ax)[:, 0], pdist(X, "cityblock"), rtol=1e-12, atol=0)


def test_missing_pairs_are_left_out_without_a_second_warning(rng, D, ax):
    holes = with_missing(rng, D, 0.2)
    with pytest.warns(MissingDissimilarityWarning):
        mds = make().fit(holes)
    plot_shepard(mds, holes, ax=ax)
    assert len(pairs(ax)) == np.isfinite(holes[np.triu_indices(12, 1)]).sum() < 66


def test_isomap_keeps_its_paths(rng, ax):
    isomap = ConditionalIsomap(1, n_neighbors=6, random_state=0).fit(rng.normal(size=(20, 2)))
    plot_shepard(isomap, ax=ax)
    np.testing.assert_array_equal(pairs(ax)[:, 0], isomap.geodesic_.dissimilarities_[np.triu_indices(20, 1)])


def test_many_pairs_become_hexagons(rng, ax):
    X = rng.normal(size=(250, 3))
    mds = ConditionalMDS(2, n_init=1, random_state=0).fit(X)
    plot_shepard(mds, X, ax=ax)
    (hexagons,) = [one for one in ax.collections if type(one) is PolyCollection]
    assert len(pairs(ax)) == 250 * 249 // 2
    assert hexagons.get_array().sum() > 0.5 * len(pairs(ax))
    assert hexagons.colorbar.ax.get_ylabel() == "pairs in a hexagon"
    assert len(ax.lines[0].get_xdata()) <= 2000


def test_without_axes_a_figure_is_made(D):
    ax = plot_shepard(make().fit(D), D)
    assert ax.figure.number
    pyplot.close(ax.figure)


def test_bad_input_is_named(D, ax):
    mds = make().fit(D)
    with pytest.raises(ValueError, match="X is needed, because the estimator does not keep it"):
        plot_shepard(mds, ax=ax)
    with pytest.raises(ValueError, match="X has 11 objects but 12 were fitted"):
        plot_shepard(mds, D[:11, :11], ax=ax)
    for other in (ConditionalMDS(), D):
        with pytest.raises(ValueError, match=r"estimator is of type \w+ and is not fitted"):
            plot_shepard(other, D, ax=ax)


@pytest.mark.parametrize("first", [0, 100])
def test_whole_numbers_are_labels_too(kinship, rng, first):
    numbers = range(first, first + 14)
    D = kinship.dissimilarities.set_axis(numbers).set_axis(numbers, axis=1)
    fitted = ConditionalMDS(1, metric="precomputed", n_init=2, random_state=0).fit(D)
    order = rng.permutation(14)
    drawn = [
        np.asarray(plot_shepard(fitted, table, ax=Figure().add_subplot()).collections[0].get_offsets())
        for table in (D, D.iloc[order, order], D.to_numpy())
    ]
    np.testing.assert_allclose(drawn[1], drawn[0], rtol=1e-12)
    np.testing.assert_allclose(drawn[2], drawn[0], rtol=1e-12)
