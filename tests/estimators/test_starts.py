"""Starts: those asked for are made and reported, the best is kept, and a seed repeats them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from unmask.datasets import make_car_brands

from .fits import fit


def test_a_start_beyond_all_numbers_is_an_error(kinship):
    with pytest.raises(FloatingPointError, match=r"the stress at the start is (inf|nan)"):
        fit(kinship.dissimilarities, init=(np.arange(28.0).reshape(14, 2) * 1e200, None))


def test_every_start_is_reported_and_the_best_kept(by_gender):
    starts = by_gender.starts_
    assert len(starts) >= 100
    assert starts["kind"].iloc[0] == "closed-form"
    assert set(starts["kind"].iloc[1:]) == {"random"}
    assert starts["best"].sum() == 1
    assert starts.loc[starts["best"], "stress"].item() == starts["stress"].min()
    assert starts["stress"].max() > starts["stress"].min() + 1e-4  # local minima are many
    assert starts["stress"].iloc[0] > by_gender.stress_ + 1e-5  # and the closed form leads to another one


@pytest.mark.parametrize(
    ("init", "kinds"),
    [("closed-form", ["closed-form"]), ("random", ["random"] * 3), ("auto", ["closed-form", "random", "random"])],
)
def test_starts_asked_for_are_made(kinship, init, kinds):
    n_init = "auto" if init == "closed-form" else 3
    mds = fit(kinship.dissimilarities, kinship.known[["gender"]], init=init, n_init=n_init)
    assert list(mds.starts_["kind"]) == kinds


def test_the_same_seed_gives_the_same_map_and_another_other_starts(kinship):
    one, two, other = (fit(kinship.dissimilarities, init="random", n_init=2, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert not np.allclose(one.starts_["stress"], other.starts_["stress"], rtol=1e-12, atol=0)


def test_verbose_prints_starts_and_iterations(kinship, capsys):
    fit(kinship.dissimilarities, n_init=2, verbose=2)
    printed = capsys.readouterr().out
    assert "iteration 1, stress" in printed
    assert "closed-form" in printed
    fit(kinship.dissimilarities, n_init=2)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("weights", [None, "sammon", "sparse"])
def test_starts_followed_at_the_same_time_give_the_same_report(weights):
    cars = make_car_brands(220, random_state=0)
    W = sp.csr_matrix(np.ones((220, 220))) if weights == "sparse" else None
    options = {"n_components": 2, "n_init": 6, "weights": "sammon" if weights == "sammon" else None}
    one, two = (fit(cars.dissimilarities, cars.known.iloc[:, :3], W, n_jobs=jobs, **options) for jobs in (1, 2))
    pd.testing.assert_frame_equal(one.starts_, two.starts_)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
