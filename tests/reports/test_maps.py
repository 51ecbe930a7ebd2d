"""Colours of the maps: by levels, by numbers, or none."""

import numpy as np
import pandas as pd
import pytest

from unmask.reports import _maps, _subject

from .studies import QUICK, page_of, small_study


@pytest.mark.parametrize(
    ("values", "kind", "coloured"),
    [
        (np.arange(12.0) / 7, None, "scale"),
        ([1.0, 2.0, 3.0] * 4, None, "levels"),
        (np.arange(12), None, "scale"),
        (np.arange(12), "nominal", "plain"),
        (list("abcdefghijkl"), None, "plain"),
        ([True, False] * 6, None, "levels"),
        (["z" * 50 + c for c in "abcd"] * 3, None, "levels"),
        ([0.5, None, 1.5, 2.5] * 3, None, "scale"),
    ],
)
def test_how_a_feature_is_coloured(values, kind, coloured, monkeypatch):
    study = small_study()
    study.fit(2, n_init=1)
    study.adopt("feature", values, kind=kind)
    asked = _subject.Subject(study, None)
    paint = _maps.paint_of(asked, "feature")
    if coloured == "plain":
        assert paint.values is None
        assert paint.words == paint.caption == ""
    else:
        assert isinstance(paint.values.dtype, pd.CategoricalDtype) == (coloured == "levels")
        assert paint.words == " Coloured by feature."
    assert _maps.map_picture(asked, study.step.embedding, paint).startswith("data:image/svg+xml")
    monkeypatch.setattr(_maps, "draw", lambda *_: "data:image/svg+xml;base64,")  # the others take long
    assert "could not be made" not in page_of(study, **QUICK)


def test_levels_that_are_cut_stay_different():
    study = small_study()
    study.adopt("feature", ["z" * 50 + c for c in "abcd"] * 3)
    paint = _maps.paint_of(_subject.Subject(study, None), "feature")
    assert paint.values.nunique() == 4
