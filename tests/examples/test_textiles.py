"""The tables of the fabrics: what is found of two contractions given fabric and turn, and what chance alone gives."""

import numpy as np
import pytest

from tests.examples.pages import define
from unmask import ConditionalMDS
from unmask.dissimilarities import TextureDissimilarity
from unmask.inspection import average_canonical_correlation

SETS = 3


def scores(D, features):
    """Return the ACC of four dimensions with all features, of two and the known ones, and of the two with the rest."""
    hidden, known = features.iloc[:, :2], features.iloc[:, 2:]
    four = ConditionalMDS(4, metric="precomputed", n_init=4, random_state=0).fit_transform(D)
    two = ConditionalMDS(2, metric="precomputed", n_init=4, random_state=0).fit_transform(D, known=known)
    given = average_canonical_correlation(np.column_stack([two, known]), features)
    return average_canonical_correlation(four, features), given, average_canonical_correlation(two, hidden)


@pytest.fixture(scope="module")
def page():
    pytest.importorskip("skimage")
    return define("papers/plot_3_textiles.py")


@pytest.fixture(scope="module")
def fabrics(page):
    return [page["draw_fabrics"](seed) for seed in range(SETS)]


def test_neighbouring_pixels_of_a_fabric_are_as_alike_as_the_widths_of_its_threads_say(page, monkeypatch):
    """A field smoothed by a bell of width w has correlation exp(-1 / 4 w^2) between neighbours."""
    monkeypatch.setitem(page, "SIZE", 256)
    images, features = page["draw_fabrics"].__wrapped__(0)
    first = np.array([2.0, 2.2])
    assert len(features[["rotation", "fabric"]].drop_duplicates()) == 4
    assert features.iloc[:, :2].stack().between(0, 0.5).all()
    for image, (*less, turned, second) in zip(images, features.to_numpy(), strict=True):
        widths = first * [1.1, 0.9] if second else first
        widths = (widths[::-1] if turned else widths) * (1 - np.array(less))
        across = np.corrcoef(image[:, 1:].ravel(), image[:, :-1].ravel())[0, 1]
        down = np.corrcoef(image[1:].ravel(), image[:-1].ravel())[0, 1]
        np.testing.assert_allclose([across, down], np.exp(-1 / (4 * widths**2)), rtol=0, atol=0.01)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unmask.LeakWarning")
def test_divergences_of_textures_show_the_contractions_as_in_table_3(fabrics):
    texture = TextureDissimilarity(window=2, random_state=0)
    plain, given, alone = np.mean(
        [scores(texture.fit_transform(images), features) for images, features in fabrics], axis=0
    )
    assert plain == pytest.approx(0.60, abs=0.07)  # published: 0.66
    assert given == pytest.approx(0.96, abs=0.04)  # 0.99
    assert alone > 0.8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unmask.LeakWarning")
def test_distances_of_pixels_show_no_more_than_chance_as_in_table_3(fabrics):
    found = []
    for images, features in fabrics:
        pixels = images.reshape(len(images), -1)
        found.append(scores(np.linalg.norm(pixels[:, None] - pixels[None], axis=2), features))
    plain, given, alone = np.mean(found, axis=0)
    assert plain == pytest.approx(0.26, abs=0.07)  # 0.24
    assert given == pytest.approx(0.62, abs=0.05)  # 0.61
    assert alone < 0.35
