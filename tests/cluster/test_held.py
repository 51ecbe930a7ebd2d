"""Blocks on one worker: their passes add up to those over the array."""

import numpy as np
import pytest

from tests.helpers import noisy_distances, with_missing
from unmask.cluster import _held
from unmask.cluster._share import Share, blocks_of, deal, stretch_ends
from unmask.kernels import ArraySource, Pairs, Sums, Survey, Weighting, Workers, fused, join_surveys

N, SIDE = 1100, 320
RULES = {
    "equal": (Weighting.UNIT, 0.5, 0.0, 1.0),
    "missing": (Weighting.MASKED, 0.5, 0.0, 1.0),
    "sammon": (Weighting.SAMMON, 0.5, 0.01, 0.1),
}


@pytest.fixture(params=RULES)
def case(request):
    """Return the pairs of an array, and the same dealt to three workers."""
    rng = np.random.default_rng(3)
    D = noisy_distances(rng, N)
    if request.param != "equal":
        D = with_missing(rng, D, 0.2)
    weighting, scale, floor, factor = RULES[request.param]
    pairs = Pairs(ArraySource(D), scale, weighting, floor=floor, factor=factor)
    return pairs, shares_of(D)


def shares_of(D):
    shares = [Share(len(D), SIDE, tuple(own)) for own in deal(blocks_of(len(D), SIDE), [1, 1, 1])]

    def part(block):
        rows, columns = (slice(*stretch_ends(len(D), SIDE, at)) for at in block)
        return np.ascontiguousarray(D[rows, columns])

    return [(share, [part(block) for block in share.blocks]) for share in shares]


def added(name, pairs, held, table, *arguments, workers=2):
    """Return the sums over three workers, as the client makes them."""
    total, each = 0.0, None
    for share, arrays in held:
        value, own = _held.run_pass(Workers(workers), name, share, arrays, pairs.rule, table, arguments)
        each = np.zeros((N, own.shape[1])) if each is None else each
        total, each[share.objects()] = total + value, each[share.objects()] + own
    return total, each


def close(mine, other):
    np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12 * max(np.abs(other).max(), 1e-300))


def test_passes_are_those_over_the_array(case, rng):
    pairs, held = case
    workers = Workers(1)
    for k in (2, 7):
        Z = rng.standard_normal((N, k))
        value, G = added("stress", pairs, held, Z)
        stress, expected = fused.stress_pass(pairs, Z, workers)
        close(value, stress)
        close(G, expected)
        x = rng.standard_normal(N)
        found = added("last", pairs, held, np.column_stack([Z, x]))[1]
        for mine, other in zip(found.T, fused.last_pass(pairs, Z, x, workers), strict=True):
            close(mine, other)


def test_products_are_those_of_the_array(case, rng):
    pairs, held = case
    X, fill, workers = rng.standard_normal((N, 3)), rng.standard_normal((N, 2)), Workers(1)
    found = added("weight-product", pairs, held, np.column_stack([np.ones(N), X]))[1]
    degrees, HX = fused.laplacian_pass(pairs, X, workers)
    close(found[:, 0], degrees)
    close(found[:, :1] * X - found[:, 1:], HX)
    mine = added("squared-product", pairs, held, np.column_stack([X, fill]), 3, 0.3)[1]
    close(mine, fused.squared_product(pairs, X, fill, 0.3, workers))


def test_entries_are_cut_out_on_either_side_of_the_diagonal(case, rng):
    pairs, held = case
    rows, columns = rng.permutation(N)[:50], rng.permutation(N)[:60]
    out = np.full((50, 60), -1.0)
    for share, arrays in held:
        for piece in _held.cut(None, share, arrays, rows, columns):
            out[np.ix_(piece.rows, piece.columns)] = piece.values
    np.testing.assert_array_equal(out, pairs.source.array[np.ix_(rows, columns)])


@pytest.mark.parametrize(
    ("entry", "value"),
    [((3, 1000), np.inf), ((1000, 3), -2.0), ((5, 5), 3.0), ((3, 1000), np.nan), ((700, 690), 9.0), (None, 0.0)],
)
def test_a_look_finds_what_is_wrong(entry, value):
    D = noisy_distances(np.random.default_rng(3), N)
    if entry is not None:
        D[entry] = value
    looks = []
    for block in blocks_of(N, SIDE):
        ends = [stretch_ends(N, SIDE, at) for at in block]
        rows, columns = (slice(*stretch) for stretch in ends)
        looks.append(_held.look_at_block(D[rows, columns].copy(), D[columns, rows].copy(), *ends))
    survey = join_surveys([look.survey for look in looks])
    expected = ArraySource(D).survey(Workers(1))
    assert survey[:-1] == expected[:-1]
    np.testing.assert_allclose(survey.sums, expected.sums, rtol=1e-12)
    badness, pair = max(look.worst for look in looks)
    assert bool(badness) == (entry is not None)
    if entry is not None:
        assert pair == tuple(sorted(entry))


def test_a_block_is_kept_from_the_beginning_of_a_large_page(rng):
    given = rng.standard_normal((70, 50)).T
    kept = _held.load_block(given, (0, 50), (0, 70), np.dtype(np.float32))
    np.testing.assert_array_equal(kept, given.astype(np.float32))
    assert kept.flags.c_contiguous
    assert kept.ctypes.data % _held.LARGE_PAGE == 0


def test_several_surveys_are_one():
    one = Survey(1, 0, 2, -1.0, 3.0, 0.5, Sums(4.0, 6.0, 0.5))
    other = Survey(4, 1, 0, 0.0, 5.0, 0.0, Sums(5.0, 9.0, 0.1))
    assert join_surveys([one, other]) == Survey(5, 1, 2, -1.0, 5.0, 0.5, Sums(9.0, 15.0, 0.1))
