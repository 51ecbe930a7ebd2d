"""The dialogue."""

import json
import sys

import pandas as pd
import pytest

from unmask.cli._text_map import text_map
from unmask.discovery import Discovery

START = ("discover", "dissimilarities.csv", "--table", "known.csv", "--n-init", 2, "--references", 9)
BARE = ("discover", "dissimilarities.csv", "--table", "known.csv", "--n-init", 2, "--references", 0, "--quiet")


def told(shell, *lines, words=BARE, code=0):
    return shell(*words, answers="\n".join([*lines, ""]), code=code)


def test_a_suggestion_is_adopted_and_the_map_fitted_again(shell):
    done = told(shell, "1", "", "men and women", "history", "quit", words=(*START, "--out", "result"))
    out = done.stdout
    assert "Map 1, nothing known: stress 0.07" in out
    assert "What do you recognise? (a number, a command, or help) 1\n" in out
    assert "What is it called? [gender]" in out
    assert "Map 2, given gender: stress 0.026" in out
    assert "men and women" in out
    assert "Saved to result" in out
    study = Discovery.load("result/study")
    assert [type(action).__name__ for action in study.actions] == ["Step", "Adoption", "Step"]
    assert study.actions[1].why == "men and women"
    assert (shell.folder / "result" / "map.png").exists()


def test_estimated_cells_are_told(shell):
    known = pd.read_csv("known.csv", index_col=0)[["gender"]].map({1: "male", 2: "female"}.get)
    known.loc["Aunt", "gender"] = None
    known.to_csv("holes.csv")
    words = ("discover", "dissimilarities.csv", "--known", "holes.csv", "--n-init", 2, "--references", 0, "--quiet")
    assert "missing: gender of Aunt, estimated female (certainty " in told(shell, "quit", words=words).stdout


def test_ways_to_adopt(shell):
    lines = [
        *("column degree", "distance", ""),
        *("axis 1", "", ""),
        *("line Brother Grandfather", "generations", "up"),
        *("groups 2", "camps", ""),
        *("fit 3",),
        *("circle", "", ""),
        *("forget camps",),
        *("quit", "kept"),
    ]
    done = told(shell, *lines)
    assert "Saved to kept" in done.stdout
    study = Discovery.load("kept/study")
    assert list(study.known.columns) == ["distance", "axis 1", "generations", "order"]
    assert study.step.n_components == 3
    assert "Map 7, given distance, axis 1, generations, camps, order" in done.stdout


def test_a_second_save_keeps_nothing_of_the_first(shell):
    told(shell, "column gender", "", "", "save kept", "undo", "save", "map", "quit")
    assert not (shell.folder / "kept" / "coef.csv").exists()
    assert "coef.csv" not in json.loads((shell.folder / "kept" / "unmask.json").read_text(encoding="utf-8"))["files"]


def test_undo_goes_back_to_the_map_before(shell):
    done = told(shell, "column gender", "", "", "undo", "undo", "map", "suggest", "undo", "quit")
    assert "undone: fit 2 in 2 dimensions, given gender" in done.stdout
    assert "undone: adoption of 'gender' (column 'gender' of the table)" in done.stdout
    assert done.stdout.count("Map 1, nothing known") == 2
    assert done.stdout.count("There is no map; fit makes one.") == 2
    assert "there is nothing to undo" in done.stdout


def test_a_map_that_was_looked_at_is_not_looked_at_again(shell, monkeypatch):
    suggest, calls = Discovery.suggest, []

    def counted(self, *arguments, **options):
        calls.append(options)
        return suggest(self, *arguments, **options)

    monkeypatch.setattr(Discovery, "suggest", counted)
    told(shell, "suggest", "column gender", "", "", "undo", "suggest", words=START)
    assert len(calls) == 2


def test_nonsense_is_answered_in_a_sentence(shell):
    lines = [
        "",
        "what?",
        "7",
        "axis x",
        "axis 9",
        "",
        "",
        "line Aunt Nobody",
        "groups",
        "column no",
        "",
        "",
        "'",
        "save",
    ]
    done = told(shell, *lines)
    for answer in (
        "'what?' is no command; help lists them.",
        "7: there are 0 suggestions",
        "NUMBER 'x' must be a whole number of at least 1.",
        "from_axis=8 but the map has 2 axes",
        "'Nobody' is no object on the map",
        "groups takes 1 words after it",
        "column='no' is not in the table",
        "No closing quotation",
        "save needs the name of a folder",
    ):
        assert answer in done.stdout
    assert done.stdout.count("Map 1") == 1


def test_help_and_script(shell):
    done = told(shell, "help", "script", "save kept", "script study.py", "script study.py", "exit")
    assert "take the last action back" not in done.stdout
    assert "go back to the map before" in done.stdout
    assert 'tables = read_tables("study")' in done.stdout
    assert "Wrote study.py; it reads the study from kept/study" in done.stdout
    assert "study.py: is there already" in done.stdout
    code = (shell.folder / "study.py").read_text(encoding="utf-8")
    names = {}
    exec(compile(code, "study.py", "exec"), names)
    pd.testing.assert_frame_equal(
        names["maps"][1].set_axis(["axis1", "axis2"], axis=1), Discovery.load("kept/study").embedding
    )


def test_the_end_of_the_answers(shell):
    done = told(shell)
    assert done.stderr == "Warning: the study was not saved; give --out DIR, or the command save.\n"
    assert not (shell.folder / "result").exists()
    done = told(shell, words=(*BARE, "--out", "result"))
    assert "Saved to result" in done.stdout
    done = told(shell, "quit")
    assert "Save to which folder? [not at all]" in done.stdout
    assert "Not saved." in done.stdout
    assert "Not saved." in told(shell, "quit", "").stdout


def test_a_study_goes_on_where_it_was(shell):
    told(shell, "quit", words=(*BARE, "--out", "result"))
    done = told(shell, "column gender", "", "", "quit", "", words=("discover", "result", "--references", 0, "-q"))
    assert "Map 1, nothing known" in done.stdout
    assert "Save to which folder? [result]" in done.stdout
    assert len(Discovery.load("result/study").steps) == 2
    # Looked at only: nothing to save.
    done = told(shell, "quit", words=("discover", "result", "--references", 0, "-q"))
    assert "Save" not in done.stdout
    done = told(shell, words=("discover", "result/study", "--references", 0, "-q"))
    assert "Map 2, given gender" in done.stdout
    assert "is a study, which has its tables" in shell.refusal("discover", "result", "--known", "known.csv")


def test_for_machines_the_dialogue_is_on_standard_error(shell):
    done = told(shell, "column gender", "", "", "quit", words=(*BARE, "--out", "result", "--json"))
    found = json.loads(done.stdout)
    assert found["known"] == ["gender"]
    assert [row["step"] for row in found["history"]] == [1, 2]
    assert found["saved"] is True
    assert "Map 2, given gender" in done.stderr


def test_along_a_surface(shell):
    told(shell, words=(*BARE, "-k", 4, "--out", "result"))
    assert Discovery.load("result/study").step.estimator == "isomap"


def test_one_dimension_and_none(shell):
    done = told(shell, "column gender", "", "", "fit 0", "suggest", words=(*START, "--dim", 1))
    assert "Map 3, given gender: stress 0." in done.stdout
    assert done.stdout.count("Grandmother") == 2


def test_nothing_to_suggest(shell):
    pd.DataFrame([[0, 1, 2, 4], [1, 0, 2, 3], [2, 2, 0, 1], [4, 3, 1, 0]]).to_csv("four.csv", header=False, index=False)
    done = told(shell, "line 0 3", "", "", words=("discover", "four.csv", "-d", 1, "--n-init", 1))
    assert "Nothing to suggest" in done.stdout
    assert "Map 2, given 0 to 3" in done.stdout


def test_a_stopped_fit_is_said_to_be(shell, monkeypatch):
    fit = Discovery.fit

    def stopped(self, *arguments, callback=None, **options):
        return fit(self, *arguments, callback=lambda *_: True, **options)

    monkeypatch.setattr(Discovery, "fit", stopped)
    assert "Stopped: this map is unfinished." in told(shell, "quit").stdout


def test_ctrl_c_at_the_question_ends_and_saves(shell, monkeypatch):
    class Interrupted:
        def isatty(self):
            return False

        def readline(self, *_):
            raise KeyboardInterrupt

    from unmask.cli._output import Output

    monkeypatch.setattr(Output, "ask", lambda *_: Interrupted().readline())
    done = told(shell, words=(*BARE, "--out", "result"), code=130)
    assert "Saved to result" in done.stdout
    assert sys.stdin is not None


# ---- maps of letters


def test_a_map_of_letters():
    places = pd.DataFrame({"x": [0.0, 4.0, 4.0, 0.0], "y": [0.0, 0.0, 4.0, 4.0]}, index=["a", "b", "c", "d"])
    drawn = text_map(places, width=40, height=9, longest=8).splitlines()
    assert len(drawn) == 9
    assert drawn[0].split() == ["*", "d", "*", "c"]
    assert drawn[-1].split() == ["*", "a", "*", "b"]
    # Equal units: 8 lines down are as far as 16 characters across.
    assert drawn[0].rindex("*") == 16


def test_places_that_coincide_are_counted_and_long_labels_cut():
    places = pd.DataFrame({"x": [0.0, 0.0, 9.0], "y": [0.0, 0.0, 1.0]}, index=["first", "second", "x" * 30])
    drawn = text_map(places, width=40, height=9, longest=8)
    assert "2 first/s…" in drawn
    assert f"* {'x' * 7}…" in drawn
    many = pd.DataFrame({"x": [0.0] * 12, "y": [0.0] * 12})
    assert text_map(many).startswith("+ ")


def test_labels_go_left_or_nowhere_without_room():
    places = pd.DataFrame({"x": [0.0, 5.0, 6.0, 7.0], "y": [0.0] * 4}, index=["a", "b", "c", "d"])
    drawn = text_map(places, width=32, height=5, longest=8)
    assert drawn == "* a           b *  *  * d"


def test_a_map_of_one_dimension_and_of_nothing():
    line = pd.DataFrame({"x": [0.0, 1.0]}, index=["a", "b"])
    assert text_map(line, width=30, longest=4).split() == ["*", "a", "*", "b"]
    assert text_map(line.iloc[:0]) == ""


@pytest.mark.parametrize("size", [(20, 10), (200, 80)])
def test_the_size_of_a_terminal_is_kept_within_reason(monkeypatch, size):
    from unmask.cli import _dialogue

    monkeypatch.setattr(_dialogue.shutil, "get_terminal_size", lambda fallback: size)
    assert _dialogue._size(terminal=True) == {20: (40, 12), 200: (120, 30)}[size[0]]
    assert _dialogue._size(terminal=False) == (76, 24)
