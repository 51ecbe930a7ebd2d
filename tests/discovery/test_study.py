"""Discovery: taking back, history, pictures."""

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from unmask.discovery import Discovery

from .studies import FAST

# ---- taking back, history


def test_undo_takes_back_one_action_and_says_which(fitted, kinship):
    fitted.adopt("gender", column="gender")
    fitted.fit(2, **FAST)
    fitted.forget("gender")
    assert fitted.undo() == "undone: putting aside of 'gender'"
    assert fitted.undo() == "undone: fit 2 in 2 dimensions, given gender"
    assert fitted.undo() == "undone: adoption of 'gender' (column 'gender' of the table)"
    fitted.adopt("gender", kinship.known["gender"], kind="nominal")
    assert fitted.undo() == "undone: adoption of 'gender' (given values)"
    for way, said in (
        ({"groups": 3}, "3 groups on map 1"),
        ({"groups": {"a": ["Aunt"]}}, "given groups"),
        ({"from_axis": 0}, "axis 1 of map 1"),
        ({"along": ("Aunt", "Son")}, 'along "Aunt" to "Son" on map 1'),
        ({"along": "circle"}, "along the circle on map 1"),
    ):
        fitted.adopt("x", **way)
        assert fitted.undo() == f"undone: adoption of 'x' ({said})"
    assert fitted.undo() == "undone: fit 1 in 2 dimensions, nothing known"
    with pytest.raises(ValueError, match="there is nothing to undo"):
        fitted.undo()


def test_history_says_what_was_given_found_and_adopted(study, kinship):
    study.adopt("gender", column="gender", why="everybody knows")
    study.fit(2, **FAST)
    study.adopt("degree", column="degree", why="left to right")
    study.adopt("third", kinship.known["generation"])
    study.fit(1, **FAST)
    history = study.history
    assert history.index.tolist() == [0, 1, 2]
    assert history["adopted"].tolist() == ["gender", "degree, third", ""]
    assert history["why"].tolist() == ["everybody knows", "left to right", ""]
    assert history["known"].tolist() == ["", "gender", "gender, degree, third"]
    assert history["n_components"].tolist()[1:] == [2, 1]
    assert history["stress"].tolist()[1:] == [step.stress for step in study.steps]
    assert history["leak"].tolist()[1:] == [step.leak for step in study.steps]
    assert history["importance_degree"].isna().tolist() == [True, True, False]
    assert history.loc[2, "importance_gender"] == study.step.importance.loc["gender", "standardized"]


def test_an_empty_study_has_an_empty_history(study):
    assert study.history.shape[0] == 0
    with pytest.raises(ValueError, match="nothing has been fitted in this study"):
        _ = study.embedding


def test_text_and_page_tell_the_study_and_escape_labels(fitted):
    fitted.adopt("<script>alert(1)</script>", column="gender", why="a & b")
    fitted.forget("<script>alert(1)</script>")
    text = repr(fitted)
    assert text.startswith("Discovery 'kinship': 14 objects, a table of 4 columns; known now: nothing")
    assert "step 1: mds, 2 dimensions, nothing known: stress 0.0712759 (0 dimensions: 1)\n" in text
    page = fitted._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
    assert repr(Discovery(1 - np.eye(3))) == "Discovery: 3 objects; known now: nothing"
    assert "<table" not in Discovery(1 - np.eye(3))._repr_html_()


# ---- pictures


def test_pictures_show_the_last_two_maps(fitted, kinship):
    figure = Figure()
    assert fitted.plot(ax=figure.add_subplot()).get_title(loc="left") == "nothing known"
    fitted.adopt("gender", column="gender")
    fitted.fit(2, **FAST)
    fitted.adopt("degree", column="degree")
    fitted.fit(2, **FAST)
    axes = fitted.plot(color="generation")
    assert [ax.get_title(loc="left") for ax in axes] == ["given gender", "given gender, degree"]
    axes = fitted.plot(steps=(1, 3), color=kinship.known["gender"])
    assert [ax.get_title(loc="left") for ax in axes] == ["nothing known", "given gender, degree"]
    pyplot.close("all")
    with pytest.raises(ValueError, match=r"steps=\(0, 3\) must be two numbers of steps, from 1 to 3"):
        fitted.plot(steps=(0, 3))
    with pytest.raises(ValueError, match="color='age' is neither a known feature nor a column"):
        fitted.plot(color="age")
