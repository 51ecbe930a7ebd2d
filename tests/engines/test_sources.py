"""Any source of dissimilarities: the same passes, graph and fit as of an array, or a sentence with the way out."""

import weakref
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from tests.helpers import noisy_distances, symmetric_weights, with_missing
from unmask import ConditionalMDS
from unmask.checking import Dissimilarities, check_dissimilarities
from unmask.engines import EdgeEngine, TableEngine, make_engine
from unmask.kernels import TILE, ArraySource, Source, Workers
from unmask.problem import Problem, build_pairs, check_known, make_cost, ranked
from unmask.solvers import RULES, make_objective, make_starts, minimise

N = 1100  # several chunks of tiles, the last of them not full


@dataclass
class Parts(Source):
    """A table that can only be read in parts; it keeps account of the largest."""

    hidden: np.ndarray
    largest_part: int = 0

    @property
    def n(self):
        return len(self.hidden)

    @property
    def dtype(self):
        return self.hidden.dtype

    def _part(self, values):
        self.largest_part = max(self.largest_part, values.size)
        return values.copy()

    def tile(self, rows, columns):
        return self._part(self.hidden[rows, columns])

    def rows(self, which):
        return self._part(self.hidden[which])


class Stored(Source):
    """Dissimilarities of a few pairs. Whoever reads a square table of it has misunderstood."""

    lists_pairs = True

    def __init__(self, D):
        self.n, self.dtype = len(D), D.dtype
        self._i, self._j = np.nonzero(np.triu(~np.isnan(D), 1))
        self._delta = D[self._i, self._j]

    def stored_pairs(self):
        return self._i, self._j, self._delta

    def tile(self, rows, columns):
        raise AssertionError("a square was made of a few pairs")

    rows = tile


def checked(source, D):
    """Return dissimilarities as the checks hand them on, from another source."""
    return Dissimilarities(source, None, int(np.isnan(np.triu(D, 1)).sum()), float(np.nanmax(D)))


def engine_of(source, D, scheme=None, weights=None, **options):
    workers = Workers(2)
    return make_engine(build_pairs(checked(source, D), scheme, weights, workers), workers, **options)


def close(mine, other, tolerance=1e-10):
    np.testing.assert_allclose(mine, other, rtol=0, atol=tolerance * max(np.abs(other).max(), 1e-300))


CASES = {"equal": {}, "missing": {}, "sammon": {"scheme": "sammon"}, "array": {"weights": True}}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    return noisy_distances(rng, N), symmetric_weights(rng, N)


@pytest.fixture(params=CASES)
def both(request, table):
    """Return the engines of the same pairs in parts and as an array."""
    D, W = table
    options = dict(CASES[request.param])
    if "weights" in options:
        options["weights"] = W
    if request.param == "missing":
        D = with_missing(np.random.default_rng(6), D, 0.2)
    return engine_of(Parts(D), D, **options), engine_of(ArraySource(D), D, **options)


def test_passes_are_those_over_the_array(both, rng):
    parts, whole = both
    assert isinstance(parts, TableEngine)
    assert parts.total == whole.total
    for k in (2, 7):
        Z = rng.standard_normal((N, k))
        Z[1] = Z[0]
        for mine, other in zip(parts.stress(Z), whole.stress(Z), strict=True):
            close(mine, other)
        close(parts.point_stress(Z), whole.point_stress(Z))


def test_the_graph_is_that_of_the_array(both, rng):
    mine, other = (engine.graph for engine in both)
    X, fill = rng.standard_normal((N, 2)), rng.standard_normal((N, 1))
    np.testing.assert_array_equal(mine.degrees, other.degrees)
    np.testing.assert_array_equal(mine.laplacian(X), other.laplacian(X))
    close(mine.squared_product(X, fill, 0.3), other.squared_product(X, fill, 0.3))
    for block, theirs in zip(mine.observed_pairs(), other.observed_pairs(), strict=True):
        np.testing.assert_array_equal(block, theirs)
    np.testing.assert_array_equal(mine.pair_counts(), other.pair_counts())
    np.testing.assert_array_equal(mine.components(), other.components())


def test_no_part_is_as_large_as_the_table(both, rng):
    parts, _ = both
    parts.stress(rng.standard_normal((N, 2)))
    parts.point_stress(rng.standard_normal((N, 2)))
    assert parts.graph.components().max() == 0
    assert 0 < parts.pairs.source.largest_part <= TILE * N


def test_single_precision_is_passed_over_in_single_precision(table, rng):
    D = np.maximum(table[0].astype(np.float32), table[0].T.astype(np.float32))
    parts, whole = engine_of(Parts(D), D), engine_of(ArraySource(D), D)
    Z = rng.standard_normal((N, 2))
    assert parts.stress(Z)[0] != parts.point_stress(Z).sum() / 2
    close(parts.stress(Z)[0], whole.stress(Z)[0], 1e-6)
    close(parts.stress(Z)[1], whole.stress(Z)[1], 1e-5)


def fitted(dissimilarities, known=None, scheme=None, max_iter=40):
    """Return the path of a fit by the parts that every fit is made of."""
    workers = Workers(1)
    coded = check_known(known, dissimilarities.n, None, "auto")
    problem = Problem(build_pairs(dissimilarities, scheme, None, workers), coded, 2)
    objective = make_objective(problem, make_engine(problem.pairs, workers))
    starts = make_starts(objective, coded, "auto", 2, np.random.default_rng(0))
    rule = RULES["lbfgs"](objective)
    return [minimise(objective, start.theta, rule(), tol=1e-9, max_iter=max_iter) for start in starts]


@pytest.mark.parametrize("scheme", [None, "sammon"])
def test_a_whole_fit_is_that_of_the_array(table, scheme):
    D, _ = table
    known = np.random.default_rng(7).standard_normal((N, 1))
    mine, other = (fitted(checked(source, D), known, scheme, 15) for source in (Parts(D), ArraySource(D)))
    for one, two in zip(mine, other, strict=True):
        np.testing.assert_allclose(one.path, two.path, rtol=1e-10)


@pytest.mark.parametrize("n", [40, 300])
def test_few_objects_are_read_once(rng, n):
    D = noisy_distances(rng, n)
    parts, whole = engine_of(Parts(D), D), engine_of(ArraySource(D), D)
    Z = rng.standard_normal((n, 2))
    for mine, other in zip(parts.stress(Z), whole.stress(Z), strict=True):
        np.testing.assert_array_equal(mine, other)
    parts.pairs.source.hidden = None
    np.testing.assert_array_equal(parts.stress(Z)[1], whole.stress(Z)[1])


@pytest.mark.parametrize("defect", [None, np.nan, np.inf, -1.0])
def test_the_survey_is_that_of_the_array(rng, defect):
    D = noisy_distances(rng, 600)
    if defect is not None:
        D[3, 590] = defect
    assert Parts(D).survey(Workers(2)) == ArraySource(D).survey(Workers(1))


class Watched(Parts):
    """A table that keeps account of how much of it is held at once."""

    def __init__(self, hidden):
        super().__init__(hidden)
        self.held = self.most = 0

    def _part(self, values):
        part = super()._part(values)
        self.held += part.size
        self.most = max(self.most, self.held)
        weakref.finalize(part, self._forget, part.size)
        return part

    def _forget(self, size):
        self.held -= size


@pytest.mark.parametrize("scheme", [None, "sammon"])
def test_checking_and_fitting_hold_a_few_parts_at_a_time(table, scheme):
    source = Watched(table[0])
    fitted(check_dissimilarities(source, workers=Workers(1)), scheme=scheme, max_iter=2)
    assert 0 < source.most <= 2 * 256 * N


# ---- arrays in files


@pytest.mark.parametrize("mapping", ["memmap", "load"])
def test_a_memory_map_is_not_copied(rng, tmp_path, mapping):
    D, Z = noisy_distances(rng, N), rng.standard_normal((N, 2))
    if mapping == "load":
        np.save(tmp_path / "D.npy", D)
        mapped = np.load(tmp_path / "D.npy", mmap_mode="r")
    else:
        D.tofile(tmp_path / "D")
        mapped = np.memmap(tmp_path / "D", dtype=np.float64, mode="r", shape=D.shape)
    workers = Workers(1)
    pairs = build_pairs(check_dissimilarities(mapped, workers=workers), None, None, workers)
    for part in (pairs.whole, pairs.part(slice(300, 700), slice(0, N))):
        assert np.shares_memory(part[0], mapped)
        assert type(part[0]) is np.ndarray
    stress, G = make_engine(pairs, workers).stress(Z)
    expected, expected_G = engine_of(ArraySource(D), D).stress(Z)
    assert stress == expected
    np.testing.assert_array_equal(G, expected_G)


# ---- few pairs


@pytest.fixture
def few(rng):
    return with_missing(rng, noisy_distances(rng, 60), 0.7)


@pytest.mark.parametrize("case", ["equal", "sammon", "array", "sparse"])
def test_few_pairs_are_a_list_and_make_no_square(few, rng, case):
    W = symmetric_weights(rng, len(few))
    W[rng.uniform(size=W.shape) < 0.1] = 0.0
    W = np.triu(W, 1) + np.triu(W, 1).T
    options = {"scheme": case if case == "sammon" else None, "weights": W if case in ("array", "sparse") else None}
    whole = engine_of(ArraySource(few), few, **options)
    if case == "sparse":
        options["weights"] = sp.csr_array(W)
    listed = engine_of(Stored(few), few, **options)
    assert isinstance(listed, EdgeEngine)
    Z = rng.standard_normal((len(few), 2))
    assert listed.stress(Z)[0] / listed.total == pytest.approx(whole.stress(Z)[0] / whole.total, rel=1e-12)
    close(listed.stress(Z)[1] / listed.total, whole.stress(Z)[1] / whole.total)
    close(listed.graph.degrees / listed.total, whole.graph.degrees / whole.total)


def test_sparse_weights_read_the_rows_they_need(table, rng):
    D, _ = table
    W = sp.random_array((N, N), density=0.002, rng=rng)
    W = sp.csr_array(W + W.T + sp.diags_array(np.ones(N - 1), offsets=1) + sp.diags_array(np.ones(N - 1), offsets=-1))
    mine, other = (engine_of(source, D, weights=W).edges for source in (Parts(D), ArraySource(D)))
    np.testing.assert_array_equal(mine.delta, other.delta)
    np.testing.assert_array_equal(mine.weight, other.weight)


# ---- what needs the whole table says so


@pytest.mark.parametrize(
    ("purpose", "instead"),
    [
        ("level='interval'", "use level='ratio'"),
        ("level='ordinal'", "use level='ratio'"),
        ("weights='curvilinear'", "use weights=None"),
        ("solver='smacof'", "use solver='lbfgs'"),
        ("a general cost", "use ConditionalMDS"),
    ],
)
def test_what_needs_the_whole_table_says_so_and_what_to_do(table, purpose, instead):
    D, workers = table[0], Workers(1)
    given = checked(Parts(D), D)
    attempts = {
        "level='interval'": lambda: make_engine(build_pairs(given, None, None, workers), workers, "interval"),
        "level='ordinal'": lambda: ranked(given),
        "weights='curvilinear'": lambda: ConditionalMDS(metric="precomputed", weights="curvilinear").fit(Parts(D)),
        "solver='smacof'": engine_of(Parts(D), D, "sammon").graph.solver,
        "a general cost": lambda: make_cost(given, None, "dissimilarities", "euclidean", "squared", workers),
    }
    with pytest.raises(ValueError, match=rf"{purpose}.* needs all 1100 x 1100 .* read in parts; .*or {instead}\."):
        attempts[purpose]()
