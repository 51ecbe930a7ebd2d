"""TextureDissimilarity: closed forms, a plain twin, invariants, errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.signal import lfilter
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from unmask import ConditionalMDS
from unmask.dissimilarities import TextureDissimilarity

BURN_IN = 60


def autoregressive(rng, down, across, shape=(60, 60)):
    """Return a separable autoregressive field: correlation `down` with the pixel above, `across` with that before."""
    noise = rng.standard_normal([side + BURN_IN for side in shape])
    field = lfilter([1], [1, -across], lfilter([1], [1, -down], noise, axis=0), axis=1)
    return field[BURN_IN:, BURN_IN:]


def exact_divergence(one, two):
    """Return the dissimilarity of two such fields for the best linear models and normal residuals.

    The model of a field with correlations (a, b) is the filter (1 - a·up)(1 - b·left); the variance of what it leaves
    of a field with correlations (c, d) and variance 1 is (1 + a² - 2ac)(1 + b² - 2bd).
    """

    def variance(model, field):
        return np.prod([1 + a**2 - 2 * a * c for a, c in zip(model, field, strict=True)])

    ratios = np.array([variance(one, one) / variance(one, two), variance(two, two) / variance(two, one)])
    return np.mean((ratios + 1 / ratios - 2) / 4)


def plain_twin(images, window, seed, n_bins):
    """Return the dissimilarities as the docstring describes them, pixel by pixel and bin by bin."""
    models, halves = [], []
    for image in images:
        z = (image - image.mean()) / image.std()
        height, width = z.shape
        places = [(r, c) for r in range(window, height) for c in range(window, width - window)]
        drawn = np.random.default_rng(seed).permutation(len(places))
        rows, values = [], []
        for r, c in (places[k] for k in drawn):
            above = [z[i, j] for i in range(r - window, r) for j in range(c - window, c + window + 1)]
            rows.append(above + [z[r, j] for j in range(c - window, c)])
            values.append(z[r, c])
        half = len(rows) // 2
        models.append(DecisionTreeRegressor(min_samples_leaf=10, random_state=seed).fit(rows[:half], values[:half]))
        halves.append((rows[half:], values[half:]))

    def shares(residuals, edges):
        counts = np.full(len(edges) + 1, 0.5)
        for r in residuals:
            counts[sum(r > edge for edge in edges)] += 1
        return counts / counts.sum()

    D = np.zeros((len(images), len(images)))
    for i, model in enumerate(models):
        residuals = [values - model.predict(rows) for rows, values in halves]
        for j in range(len(images)):
            edges = np.quantile(np.r_[residuals[i], residuals[j]], [k / n_bins for k in range(1, n_bins)])
            p, q = shares(residuals[i], edges), shares(residuals[j], edges)
            mean = (stats.entropy(p, q) + stats.entropy(q, p)) / 2
            D[i, j] += mean / 2
            D[j, i] += mean / 2
    return D


@pytest.fixture
def textures(rng):
    """Return two textures, three images of each."""
    return np.array([autoregressive(rng, *c) for c in [(0.8, 0.2)] * 3 + [(0.2, 0.8)] * 3])


@pytest.mark.parametrize(("window", "n_bins"), [(1, 7), (2, 20)])
def test_agrees_with_a_plain_twin(rng, window, n_bins):
    images = [autoregressive(rng, 0.3 * k, 0.5, shape=(18 + k, 20)) for k in range(3)]
    texture = TextureDissimilarity(window, n_bins=n_bins, random_state=3).fit(images)
    expected = plain_twin(images, window, texture.models_[0].random_state, n_bins)
    np.testing.assert_allclose(texture.dissimilarities_, expected, rtol=1e-12, atol=1e-14)
    root = TextureDissimilarity(window, n_bins=n_bins, root=True, random_state=3).fit(images)
    np.testing.assert_allclose(root.dissimilarities_**2, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("pair", [((0.8, 0.2), (0.5, 0.4)), ((0.7, 0.7), (0.3, 0.6))])
def test_linear_models_of_normal_textures_give_the_closed_form(rng, pair):
    found = []
    for _ in range(12):
        images = [autoregressive(rng, *field, shape=(120, 120)) for field in pair]
        texture = TextureDissimilarity(1, model=LinearRegression(), density="normal", max_pixels=20_000, random_state=0)
        found.append(texture.fit_transform(images)[0, 1])
    # The mean of independent repetitions is within 4 of its standard errors of the truth 99.8 times in 100 (11 degrees
    # of freedom), and these errors are small: below a tenth of the truth.
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    exact = exact_divergence(*pair)
    assert error < 0.1 * exact
    assert abs(np.mean(found) - exact) < 4 * error


def test_histograms_come_near_normal_residuals_from_below(rng):
    images = [autoregressive(rng, *field, shape=(300, 300)) for field in [(0.8, 0.2), (0.5, 0.4)]]
    options = {"model": LinearRegression(), "max_pixels": 90_000, "n_bins": 40, "random_state": 0}
    binned, normal = (
        TextureDissimilarity(1, density=density, **options).fit_transform(images)[0, 1]
        for density in ("histogram", "normal")
    )
    # The same residuals: putting them into bins loses some of the divergence, at 40 bins less than a sixth of it.
    assert 5 / 6 < binned / normal < 1


def test_the_same_texture_is_near_wherever_its_pixels_are(rng, textures):
    D = TextureDissimilarity(random_state=0).fit_transform(textures)
    same = np.kron(np.eye(2, dtype=bool), np.ones((3, 3), dtype=bool))
    assert D[same].max() < D[~same].min() / 3
    shifted = np.roll(textures, (25, 31), axis=(1, 2))
    there = TextureDissimilarity(random_state=0).fit(textures).transform(shifted)
    assert np.diagonal(there).max() < D[~same].min() / 3


@pytest.mark.parametrize("model", [None, LinearRegression(), RandomForestRegressor(5, max_depth=4)])
def test_symmetric_zero_on_the_diagonal_and_the_same_again(textures, model):
    texture = TextureDissimilarity(1, model=model, random_state=0, max_pixels=600, n_jobs=1)
    D = texture.fit_transform(textures)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diagonal(D), 0.0)
    assert D[~np.eye(6, dtype=bool)].min() > 0
    np.testing.assert_array_equal(texture.transform(textures), D)
    np.testing.assert_array_equal(texture.transform(textures[[4, 1]]), D[[4, 1]])
    again = TextureDissimilarity(1, model=model, random_state=0, max_pixels=600, n_jobs=2)
    np.testing.assert_array_equal(again.fit_transform(textures), D)
    order = [5, 2, 0, 3, 1, 4]
    np.testing.assert_array_equal(again.fit_transform(textures[order]), D[np.ix_(order, order)])


def test_random_states_inside_a_pipeline_are_set_and_given_ones_kept(textures):
    model = make_pipeline(StandardScaler(), RandomForestRegressor(3, max_depth=3))
    texture = TextureDissimilarity(1, model=model, random_state=0).fit(textures[:2])
    assert len({m[-1].random_state for m in texture.models_}) == 1
    assert texture.models_[0][-1].random_state is not None
    assert model[-1].random_state is None
    texture.set_params(model=RandomForestRegressor(3, random_state=7)).fit(textures[:2])
    assert {m.random_state for m in texture.models_} == {7}


def test_brightness_and_contrast_count_only_if_not_standardised(textures):
    # Powers of two, and means that are whole numbers, so that standardising undoes the change to the last digit.
    images = np.round(textures * 8)
    for pixels in images.reshape(len(images), -1):
        pixels[: int(pixels.sum() % pixels.size)] -= 1
    other = images * np.array([1, 2, 1, 1, 4, 1])[:, None, None] + 128
    plain = TextureDissimilarity(random_state=0)
    np.testing.assert_array_equal(plain.fit_transform(other), plain.fit_transform(images))
    counted = TextureDissimilarity(standardize=False, random_state=0)
    assert counted.fit_transform(other)[0, 1] > 10 * counted.fit_transform(images)[0, 1]


class Recorder(LinearRegression):
    """A regression that keeps the pixels it was fitted to and asked about."""

    def fit(self, X, y):
        self.rows_, self.values_, self.asked_ = X, y, []
        return super().fit(X, y)

    def predict(self, X):
        self.asked_.append(X)
        return super().predict(X)


def test_pixels_are_counted_once_and_no_more_than_asked_for(rng):
    image = np.arange(30.0 * 20).reshape(30, 20)
    options = {"model": Recorder(), "standardize": False, "random_state": 0, "n_jobs": 1}
    learned = TextureDissimilarity(2, **options).fit([image, image]).models_[0]
    assert learned.rows_.shape[1] == 12
    # In raster order every neighbour has a smaller number than the pixel.
    assert np.all(learned.rows_ < learned.values_[:, None])
    # The pixel to the left tells which pixel it is: no pixel trains the model and tests it.
    used = np.concatenate([learned.rows_[:, -1], learned.asked_[0][:, -1]])
    assert len(used) == len(set(used)) == 28 * 16
    assert abs(len(learned.rows_) - len(learned.asked_[0])) <= 1
    learned = TextureDissimilarity(2, max_pixels=101, **options).fit([image, image]).models_[0]
    assert (len(learned.rows_), len(learned.asked_[0])) == (50, 51)


def test_sizes_may_differ_and_labels_travel(rng):
    images = pd.Series(
        {"a": autoregressive(rng, 0.8, 0.1), "b": autoregressive(rng, 0.8, 0.1, (40, 70)), "c": np.eye(9) * 255}
    )
    texture = TextureDissimilarity(1, random_state=0).set_output(transform="pandas")
    D = texture.fit_transform(images)
    assert list(D.index) == list(D.columns) == ["a", "b", "c"]
    new = texture.transform(images.iloc[[2]])
    assert list(new.index) == ["c"]
    assert list(new.columns) == ["a", "b", "c"]
    assert list(TextureDissimilarity(1).fit(list(images)).get_feature_names_out()) == ["0", "1", "2"]


def test_a_pipeline_makes_a_map(textures):
    stages = make_pipeline(
        TextureDissimilarity(1, root=True, random_state=0), ConditionalMDS(1, metric="precomputed", random_state=0)
    )
    U = stages.fit_transform(textures)[:, 0]
    assert np.ptp(U[:3]) + np.ptp(U[3:]) < abs(U[:3].mean() - U[3:].mean())


def test_integers_are_read_and_nothing_is_changed(rng):
    images = rng.integers(0, 256, (3, 20, 20)).astype(np.uint8)
    before = images.copy()
    D = TextureDissimilarity(1, random_state=0).fit_transform(images)
    np.testing.assert_array_equal(images, before)
    np.testing.assert_array_equal(D, TextureDissimilarity(1, random_state=0).fit_transform(images.astype(float)))


def test_an_image_that_is_predicted_without_error(rng):
    board = np.indices((20, 20)).sum(axis=0) % 2
    images = [board, rng.standard_normal((20, 20))]
    texture = TextureDissimilarity(1, random_state=0).fit(images)
    assert np.isfinite(texture.dissimilarities_).all()
    np.testing.assert_allclose(texture.residual_deviations_[0], 0, atol=1e-12)
    with pytest.raises(ValueError, match="use density='histogram'"):
        TextureDissimilarity(1, standardize=False, density="normal").fit(images)
