"""Cautions: in plain words, only where there is something to be careful about."""

import re

import numpy as np
import pandas as pd
import pytest

from unmask.discovery import Discovery
from unmask.reports import render_report

from .markup import rows, section
from .studies import QUICK, distances, small_study


def test_cautions_are_in_plain_words(no_pictures):
    study = small_study(8, known=pd.DataFrame({"x": np.arange(8.0), "copy": 2 * np.arange(8.0)}))
    with pytest.warns(UserWarning, match="carry no information"):
        study.fit(2, n_init=1)
    with pytest.warns(UserWarning, match="carry no information"), pytest.warns(UserWarning, match="before the stress"):
        study.fit(2, n_init=1, max_iter=1)
    study.adopt("later", from_axis=0, why="seen")
    page = render_report(study, **QUICK)
    said = section(page, "cautions").text
    assert "Few objects. Of 8 objects almost any pattern can be chance." in said
    assert "Maps 1, 2. Known features were left out, or could not be estimated well" in said
    assert "Map 2. The search stopped before it had settled" in said
    assert "Not fitted yet. Adopted after the last map, which was not given: later" in said
    number_of = int(re.search(r"There are (\d+) things", section(page, "short").text)[1])
    assert number_of == len(section(page, "cautions").all("li"))
    assert "not settled" in section(page, "steps").text


def test_an_interrupted_map_is_marked(no_pictures):
    study = small_study()
    with pytest.warns(UserWarning, match="interrupted"):
        study.fit(2, n_init=1, callback=lambda *_: True)
    page = render_report(study, **QUICK)
    assert "The fit was interrupted, and its map is what it had by then" in section(page, "cautions").text
    assert "interrupted" in section(page, "steps").text
    assert "interrupted" in rows(section(page, "history"))[0][1]


def test_fewer_dimensions_than_the_elbow_are_cautioned_against(no_pictures):
    angle = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    study = Discovery(np.hypot(*(np.subtract.outer(x, x) for x in (np.cos(angle), np.sin(angle)))))
    study.fit(1, n_init=1)
    page = render_report(study, bootstrap=0, compare=False)
    assert "bends most at 2 dimensions; the last map has 1" in section(page, "scree").text
    assert "More dimensions. The stress bends at 2 and the last map has 1" in section(page, "cautions").text


def test_importance_that_may_be_nothing_is_cautioned_against(no_pictures):
    rng = np.random.default_rng(3)
    _, D = distances(12, 2)
    study = Discovery(D, known=pd.DataFrame({"noise": rng.normal(size=12)}))
    study.fit(2, n_init=1)
    page = render_report(study, scree=False, bootstrap=20, compare=False)
    (shown,) = rows(section(page, "importance"))
    low = float(shown[1][2].split(" to ")[0])
    assert ("Perhaps nothing" in section(page, "cautions").text) == (low <= 0)
    assert low <= 0


def test_nothing_to_warn_of(study, no_pictures):
    assert "Nothing was found to warn of." in section(render_report(study, **QUICK), "cautions").text


def test_a_part_that_lacks_its_package_is_no_caution(study, no_pictures, monkeypatch):
    def missing(*_, **__):
        raise ImportError("this needs the package 'x'")

    monkeypatch.setattr("unmask.discovery._reading.compare", missing)
    page = render_report(study, **QUICK | {"compare": ["mds"]})
    assert "This part is not there: this needs the package 'x'." in section(page, "rivals").text
    assert "package" not in section(page, "cautions").text
