"""Fitting many times: starts that were found before, and no more of them than are needed."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalMDS, UnfinishedWarning
from unmask.inspection import _fits, bootstrap, choose_n_components, dimension_test, jackknife, permutation_test
from unmask.inspection._fits import agreed, all_seen, make_setup, warm_start
from unmask.progress import Listener
from unmask.solvers import Objective


@pytest.fixture
def setup(rng):
    D = squareform(pdist(rng.standard_normal((20, 3))))
    known = pd.DataFrame({"v": rng.standard_normal(20)}, index=[f"o{i}" for i in range(20)])
    labelled = pd.DataFrame(D, index=known.index, columns=known.index)
    model = ConditionalMDS(1, metric="precomputed", n_init=9, random_state=0)
    return make_setup("scree", model, labelled, known.iloc[::-1])


@pytest.mark.parametrize(("minima", "needed"), [(1, 8), (2, 17), (3, 30)])
def test_starts_are_enough_once_no_further_minimum_is_expected(minima, needed):
    """By hand: w (n - 1) / (n - w - 2) < w + 1/2 means n > (2 w + 1) (w + 2) - 2 w = 2 w^2 + 3 w + 2."""
    assert needed == 2 * minima**2 + 3 * minima + 3
    stresses = 0.1 + 0.01 * (np.arange(40) % minima)
    assert not all_seen(stresses[: needed - 1])
    assert all_seen(stresses[:needed])
    assert all_seen(stresses[:8] * (1 + 1e-8 * np.arange(8))) == (minima == 1)  # where they stop is not a minimum


def test_starts_agree_up_to_where_they_stop():
    assert agreed(np.array([0.1, 0.1 + 1e-8]))
    assert not agreed(np.array([0.1, 0.1 + 1e-6]))
    assert agreed(np.array([0.1, 0.1 + 1e-6]), 1e-3)


def test_starts_are_followed_until_they_are_enough(setup):
    """Two at first, then as many again: the given map and the closed form come first."""
    fitted = setup.fit()
    assert len(fitted.starts_) == 9
    given = [warm_start(fitted)] * 2
    for enough, kinds in (
        (lambda found: True, ["given", "closed-form"]),
        (lambda found: len(found) > 2, ["given", "closed-form", "given", "random"]),
        (lambda found: False, ["given", "closed-form", "given", *["random"] * 8]),
    ):
        again = setup.fit(starts=given, enough=enough)
        assert again.starts_["kind"].tolist() == kinds
        assert again.stress_ <= fitted.stress_ + 1e-9


def test_only_a_number_of_starts_that_is_left_to_the_estimator_is_cut(setup):
    assert len(setup.search().starts_) == 9
    assert setup.search().stress_ == setup.fit().stress_
    setup.estimator.set_params(n_init="auto", n_components=3)
    assert len(setup.fit().starts_) > 100
    assert setup.search().stress_ == pytest.approx(setup.fit().stress_, abs=1e-8)
    assert len(setup.search().starts_) < 100


def test_the_known_features_are_in_the_order_of_the_objects(setup):
    labelled = pd.DataFrame(setup.D, index=setup.labels, columns=setup.labels)
    known = setup.known.set_axis(setup.labels).iloc[::-1]
    assert setup.estimator.fit(labelled, known=known).stress_ == setup.fit().stress_


def noisy_plane(n=40):
    rng = np.random.default_rng(3)
    places = rng.standard_normal((n, 3))
    noise = np.triu(0.2 * rng.standard_normal((n, n)), 1)
    return squareform(pdist(places)) * np.abs(1 + noise + noise.T), places[:, :1]


SERIES = {
    "permutation_test": lambda mds, D, known: permutation_test(mds, D, known, n_permutations=5),
    "dimension_test": lambda mds, D, known: dimension_test(mds, D, known, n_permutations=4).to_frame(),
    "choose_n_components": lambda mds, D, known: choose_n_components(
        mds, D, known, max_components=1, n_splits=2, n_permutations=19
    ),
    "bootstrap": lambda mds, D, known: bootstrap(mds, D, known, n_resamples=5).objects,
    "jackknife": lambda mds, D, known: jackknife(mds, D[:12, :12], known[:12]).objects,
}


@pytest.mark.parametrize("name", SERIES)
def test_refits_run_side_by_side_and_tell_the_same(monkeypatch, name):
    monkeypatch.setattr(_fits, "PARALLEL_FROM", 10)
    threads, evaluate = set(), Objective.__call__
    before, several = threading.enumerate(), threading.Event()  # threads of an interrupted test may still be at work

    def watched(self, theta):
        if threading.current_thread() not in before:
            threads.add(threading.get_ident())
            if len(threads) > 1:
                several.set()
            several.wait(60)  # for a second thread, which a busy machine may start when the first has done everything
        return evaluate(self, theta)

    monkeypatch.setattr(Objective, "__call__", watched)
    filters, tables = list(warnings.filters), []
    for n_jobs in (1, 3):
        mds = ConditionalMDS(1, metric="precomputed", n_init=2, tol=1e-6, random_state=0, n_jobs=n_jobs)
        tables.append(SERIES[name](mds, *noisy_plane()))
        assert (len(threads) > 1) == (n_jobs > 1)
        assert (len(threads) > 0) == (n_jobs > 1)
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert warnings.filters == filters


def test_ctrl_c_ends_refits_that_run_side_by_side(monkeypatch):
    monkeypatch.setattr(_fits, "PARALLEL_FROM", 10)

    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    mds = ConditionalMDS(1, metric="precomputed", n_init=2, tol=1e-6, random_state=0, n_jobs=2)
    with pytest.warns(UnfinishedWarning, match="after 3 of 20 permutations"):
        table = permutation_test(mds, *noisy_plane(), n_permutations=20, progress=interrupt)
    assert table["permutations"].tolist() == [3]


def test_a_long_series_shows_a_bar_by_itself(monkeypatch):
    """Without ``progress``. After the first fit, the bar shows how many refits are done and nothing of each."""
    shown = []

    class Bar(Listener):
        silent = outermost = True

        def update(self, progress):
            shown.append((progress.stage, progress.iteration, progress.max_iter))

    monkeypatch.setattr("unmask.progress._bar.late_bars", lambda: [Bar()])
    mds = ConditionalMDS(1, metric="precomputed", n_init=1, random_state=0)
    D, known = noisy_plane(14)
    permutation_test(mds, D, known, n_permutations=3)
    jackknife(mds, D, known)
    expected = [("permutation_test", done, 3) for done in (1, 2, 3)]
    assert [one for one in shown if one[0] != "search"] == expected + [("jackknife", at, 14) for at in range(14)]
    assert shown[shown.index(expected[0]) :][:3] == expected
    assert shown[-14:] == [("jackknife", at, 14) for at in range(14)]
    shown.clear()
    permutation_test(mds, D, known, n_permutations=1, progress=lambda *_: None)
    assert "permutation_test" not in [stage for stage, *_ in shown]
