"""Cutting and dealing: every pair once, even work, few objects each; and as few moves as possible."""

import numpy as np
import pytest

from unmask.cluster._share import Share, blocks_of, deal, rebalance, side_of_blocks, stretch_ends
from unmask.kernels import TILE

CASES = [(320, 320), (1100, 320), (10_000, 640), (10_000, 1280)]


@pytest.mark.parametrize(("n", "side"), CASES)
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_pair_of_stretches_is_dealt_once(n, side, workers):
    seen = []
    for own in deal(blocks_of(n, side), [1] * workers):
        if own:
            share = Share(n, side, tuple(own))
            first = share.objects()[::side] // side  # the stretch of the whole table that each own one is
            seen += [(first[a], first[b]) for a, b in share.own_blocks]
            assert share.objects().max() < n
    count = -(-n // side)
    assert sorted(seen) == [(a, b) for a in range(count) for b in range(a, count)]


def work_of(homes):
    """Return what each worker has to do; a block on the diagonal is half the work."""
    return [
        sum(0.5 if a == b else 1.0 for (a, b), where in homes.items() if where == home)
        for home in sorted({*homes.values()})
    ]


@pytest.mark.parametrize("workers", [2, 10, 100])
def test_work_is_even_and_near(workers):
    n = 320 * 64
    shares = [Share(n, 320, tuple(own)) for own in deal(blocks_of(n, 320), [1] * workers)]
    work = np.array([sum(0.5 if a == b else 1.0 for a, b in share.blocks) for share in shares])
    assert work.max() <= work.mean() + 1.0
    # A square of this area has sides of n / sqrt(2 W); rows and columns are two of them, and few are as bad as twice.
    touched = np.mean([len(share.stretches) for share in shares]) / 64
    assert touched <= 1.6 * 2 / np.sqrt(2 * workers)


def test_a_worker_with_more_threads_has_more_blocks():
    small, large = deal(blocks_of(10_000, 320), [1, 3])
    assert len(large) == pytest.approx(3 * len(small), rel=0.05)


def test_blocks_follow_the_memory_of_the_workers():
    roomy = side_of_blocks(100_000, 4, 2, 64e9)
    assert roomy == side_of_blocks(100_000, 4, 2, np.inf)
    tight = side_of_blocks(100_000, 4, 2, 1e9)
    assert tight < roomy
    assert 4 * tight**2 <= 1e9 / 16
    assert tight % TILE == roomy % TILE == 0
    assert side_of_blocks(200, 8, 2, 1e9) == TILE  # one block holds all


def test_only_blocks_of_lost_workers_move():
    blocks = blocks_of(10_000, 640)
    groups = deal(blocks, [1] * 4)
    homes = {block: f"w{at}" for at, own in enumerate(groups) for block in own}
    new = rebalance(blocks, homes, {"w0": 1, "w1": 1, "w3": 1})
    assert all(new[block] == home for block, home in homes.items() if home != "w2")
    assert np.ptp(work_of(new)) <= 1.0


def test_a_worker_that_comes_gets_its_share():
    blocks = blocks_of(10_000, 640)
    homes = dict.fromkeys(blocks, "old")
    new = rebalance(blocks, homes, {"old": 1, "new": 1})
    assert np.ptp(work_of(new)) <= 1.0
    assert set(new) == set(blocks)


def test_the_last_stretch_is_short():
    assert stretch_ends(1100, 320, 3) == (960, 1100)
