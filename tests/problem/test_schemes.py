"""Schemes of weights: one object each, read by everything that takes weights=."""

import pytest

from tests.helpers import noisy_distances
from unmask import ConditionalMDS
from unmask.problem import SCHEMES


def test_an_unknown_scheme_is_refused_with_the_names_that_there_are(rng):
    with pytest.raises(ValueError, match=r"weights='elastic'.*None, 'sammon', 'curvilinear'"):
        ConditionalMDS(metric="precomputed", weights="elastic").fit(noisy_distances(rng, 30))


def test_every_scheme_says_what_it_does():
    assert all(scheme.summary and scheme.name == name for name, scheme in SCHEMES.items())
