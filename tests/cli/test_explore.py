"""The command that opens the workbench, without the page."""

import pytest

from unmask.datasets import load_kinship
from unmask.discovery import Discovery

pytest.importorskip("fastapi")


@pytest.fixture
def served(monkeypatch):
    """The studies that were shown, as they were when the workbench ended."""
    shown = []

    def serve(session, **_):
        shown.append(session._study)
        session.close()

    monkeypatch.setattr("unmask.app.serve", serve)
    return shown


@pytest.fixture
def mine(shell):
    """A study that somebody has saved."""
    return Discovery(load_kinship().dissimilarities, title="Mine").save(shell.folder / "mine")


@pytest.mark.parametrize("end", ["", ".zip"])
def test_a_study_that_is_there_is_not_replaced_by_another(shell, served, mine, end):
    mine = Discovery.load(mine).save(f"{mine}{end}")
    assert "is there already" in shell.refusal("explore", "dissimilarities.csv", "--out", mine)
    assert Discovery.load(mine).title == "Mine"
    assert served == []
    shell("explore", "dissimilarities.csv", "--out", mine, "--force")
    assert Discovery.load(mine).title != "Mine"


def test_a_study_is_saved_where_it_is_or_where_nothing_is(shell, served, mine):
    (shell.folder / "empty").mkdir()
    for out in ("mine", "empty", "new"):
        shell("explore", mine, "--out", out)
        assert Discovery.load(out).title == "Mine"
    shell("explore", mine)
    assert [study.title for study in served] == ["Mine"] * 4


def test_several_files_are_taken_as_the_page_takes_them(shell, served):
    shell("explore", "dissimilarities.csv", "known.csv", "--out", "both")
    (study,) = served
    assert (study.title, list(study.material.table.columns)) == ("dissimilarities", list(load_kinship().known.columns))
    assert Discovery.load("both").title == "dissimilarities"
    assert "no such file" in shell.refusal("explore", "dissimilarities.csv", "nothing.csv")
    assert "need DATA" in shell.refusal("explore", "--known", "known.csv")
    assert "is a study, which has its tables" in shell.refusal("explore", "both", "known.csv")
