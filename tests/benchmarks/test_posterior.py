"""The comparison behind docs/posterior.md works, and the page shows the numbers that were found."""

import json

import numpy as np
import pytest
from benchmarks.adjusted.page import renew
from benchmarks.measure import ROOT
from scipy.spatial.distance import pdist, squareform

from benchmarks import posterior


def test_page_shows_the_numbers_that_were_found():
    found = json.loads(posterior.RESULTS.read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "posterior.md").read_text(encoding="utf-8")
    assert renew(text, posterior.tables(found), "make posterior") == text
    shown = [(row["kind"], row["objects"], row["sets"]) for row in found["simulated"]]
    assert shown == [(kind.name, kind.n, kind.sets) for kind in posterior.KINDS]


def test_sets_are_as_their_kind_says(rng):
    for kind in posterior.KINDS:
        D, known, unknown = posterior.make_set(kind, rng)
        assert D.shape == (kind.n, kind.n)
        assert (known.shape[1], unknown.shape[1]) == (kind.known, 7 - kind.known)
        if kind.noise == "ranks":
            assert set(np.unique(squareform(D))) == set(range(1, 10))
    correlated = posterior.Kind("", 0, correlation=0.6, n=2000)
    _, known, unknown = posterior.make_set(correlated, rng)
    assert np.corrcoef(known[:, 0], unknown[:, 0])[0, 1] == pytest.approx(0.6, abs=0.05)


@pytest.mark.parametrize(("noise", "power"), [("multiplicative", 1.0), ("additive", 0.0)])
def test_noise_grows_as_its_kind_says(monkeypatch, rng, noise, power):
    monkeypatch.setattr(posterior, "KNOWN_NOISE", 0.0)
    D, known, unknown = posterior.make_set(posterior.Kind("", 0, noise=noise, n=150), rng)
    d = pdist(np.column_stack([known, unknown]) * posterior.COUNTS / posterior.COUNTS.sum())
    off = np.log(np.abs(squareform(D) - d) + 1e-12)
    assert np.polyfit(np.log(d), off, 1)[0] == pytest.approx(power, abs=0.1)


def test_one_set_is_compared(monkeypatch):
    monkeypatch.setattr(posterior, "DRAWS", 20)
    monkeypatch.setattr(posterior, "CHAINS", 1)
    both = posterior.compare(posterior.Kind("", 0, n=12), 0)
    assert all(0 < found <= 1 for found in both)
