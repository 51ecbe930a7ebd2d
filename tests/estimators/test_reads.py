"""How often one fit reads each dissimilarity, beside its iterations."""

import numpy as np
import pytest

from tests.helpers import noisy_distances
from unmask import ConditionalMDS
from unmask.kernels import Source

N = 700  # several tiles, the last of them not full
# What does not grow with the number of pairs, at this N: the diagonal, and some pairs that the report keeps.
FIXED = 0.67


class Counted(Source):
    """A table that counts how many of its entries were read."""

    symmetric = True  # one half tells the other

    def __init__(self, D):
        self.D, self.n, self.dtype, self.entries = D, len(D), D.dtype, 0

    def tile(self, rows, columns):
        part = self.D[rows, columns]
        self.entries += part.size
        return part.copy()

    def rows(self, which):
        return self.tile(which, slice(None))

    @property
    def readings(self):
        """Readings of all pairs, each once: of tiles on the diagonal both halves are read."""
        return self.entries / (N * (N + 320) / 2)


def beside_the_iterations(weights, rng):
    source = Counted(noisy_distances(rng, N))
    start = rng.standard_normal((N, 2)), None
    mds = ConditionalMDS(2, metric="precomputed", weights=weights, init=start, tol=1.0)
    mds.fit(source)
    return source.readings - mds.starts_["passes"].sum()


@pytest.mark.parametrize("weights", [None, "sammon"])
def test_one_look_before_the_iterations_and_one_after(rng, weights):
    # A survey that adds up the pairs, and a pass for the objects' shares and fingerprints. Of Sammon's weights the sums
    # of whole rows are read too, which is both halves.
    whole_rows = 0 if weights is None else 2 * N / (N + 320)
    assert beside_the_iterations(weights, rng) == pytest.approx(2 + FIXED + whole_rows, abs=0.2)


def test_fingerprints_are_the_same_whether_read_with_the_last_pass_or_alone(rng):
    D, start = noisy_distances(rng, 150), (rng.standard_normal((150, 2)), None)
    mds = ConditionalMDS(2, metric="precomputed", init=start)
    alone = mds.fit(D, weights=np.ones((150, 150)))._map.placer.fingerprints
    np.testing.assert_allclose(mds.fit(D)._map.placer.fingerprints, alone, rtol=1e-11)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("weights", [None, "sammon"])
def test_total_from_the_survey_is_that_of_the_pairs(rng, weights, scale):
    D = noisy_distances(rng, 150) * scale
    i, j = np.triu_indices(150, 1)
    w = np.ones(len(i)) if weights is None else 1 / D[i, j]
    U = rng.standard_normal((150, 2)) * scale
    mds = ConditionalMDS(2, metric="precomputed", weights=weights, init=(U, None), tol=1.0)
    mds.fit(D)
    d, delta = np.linalg.norm(mds.embedding_[i] - mds.embedding_[j], axis=1) / scale, D[i, j] / scale
    w = w * (1.0 if weights is None else scale)
    assert mds.stress_ == pytest.approx(np.sum(w * (delta - d) ** 2) / np.sum(w * delta**2), rel=1e-10)
