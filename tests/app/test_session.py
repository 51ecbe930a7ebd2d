"""A session: what pages ask for, and what they hear."""

import pickle
import threading

import numpy as np
import pandas as pd
import pytest

from unmask.app import Session
from unmask.datasets import load_kinship
from unmask.discovery import Discovery

from .talking import SOON, Page

FAST = {"params": {"n_init": 4}}


@pytest.fixture(scope="module")
def shared_session():
    session = Session()
    yield session
    session.close()


@pytest.fixture
def page(shared_session):
    shared_session.begin(Discovery(load_kinship().dissimilarities, table=load_kinship().known, title="Kinship"))
    page = Page(shared_session)
    yield page
    shared_session.leave(page._hear)


def places(page, *labels):
    own = page.ask("objects")["labels"]
    return [own.index(label) for label in labels]


WOMEN = ["Aunt", "Daughter", "Granddaughter", "Grandmother", "Mother", "Niece", "Sister"]


def test_the_loop_gives_the_numbers_of_the_library(page):
    assert page.state["step"] is None
    assert page.job("fit", **FAST)["action"] == 1
    study = Discovery(load_kinship().dissimilarities)
    first = study.fit(2, n_init=4)
    found = page.ask("map", step=1)
    np.testing.assert_allclose(found["points"], first.embedding, rtol=1e-6)
    np.testing.assert_allclose(found["stress"], first.stress_per_point, rtol=1e-6)
    women = places(page, *WOMEN)
    seen = page.ask("preview", way={"groups": {"women": women}})
    assert (seen["type"], seen["scale"], seen["levels"]) == ("nominal", "category", ["other", "women"])
    assert np.flatnonzero(seen["values"]).tolist() == sorted(women)
    assert page.ask("adopt", name="gender", way={"groups": {"women": women}}, why="they stand apart")["action"] == 2
    assert [(known["name"], known["used"]) for known in page.state["known"]] == [("gender", True)]
    assert page.job("fit")["action"] == 3
    study.adopt("gender", groups={"women": WOMEN})
    second = study.fit(2, n_init=4)
    assert page.fit["stress"] == pytest.approx(second.stress, rel=1e-12)
    assert page.fit["known"] == ["gender"]
    np.testing.assert_allclose(page.ask("map", step=3)["points"], second.embedding, rtol=1e-5, atol=1e-7)


def test_a_fit_is_seen_on_its_way_and_can_be_ended(page):
    job = page.ask("fit", params={"n_init": 5000})["job"]
    event = page.hear("progress", job=job)
    while "points" not in event:
        event = page.hear("progress", job=job)
    assert event["points"].shape == (14, 2)
    assert page.state["jobs"][0]["kind"] == "fit"
    page.ask("cancel", job=job)
    assert page.hear("done", job=job)["action"] == 1
    assert not page.fit["finished"]
    assert page.state["jobs"] == []


def test_a_page_that_is_behind_is_refused_and_catches_up(page):
    other = Page(page.session)
    page.ask("title", title="Terms")
    assert other.state["title"] == "Terms"
    answer = page.session.handle({"id": 1, "do": "title", "title": "Late", "revision": 0})
    assert (answer["ok"], answer["stale"]) == (False, True)
    assert page.hear("state")["state"]["title"] == "Terms"
    page.session.leave(other._hear)


def test_what_is_done_while_a_fit_runs_is_not_lost(page):
    page.job("fit", **FAST)
    job = page.ask("fit", params={"n_init": 300})["job"]
    page.ask("adopt", name="degree", way={"column": "degree"}, why="")
    page.hear("done", job=job)
    parents = {action["id"]: action["parent"] for action in page.state["tree"]}
    assert parents == {1: 0, 2: 1, 3: 1}
    assert page.state["here"] == 2, "people stay where they are"
    page.ask("go", to=3)
    assert page.state["known"] == []


def test_undo_redo_and_leaving_out(page):
    page.job("fit", **FAST)
    page.ask("adopt", name="gender", way={"column": "gender"}, why="")
    page.job("fit")
    assert page.state["undo"].startswith("fit 2")
    page.ask("undo")
    assert page.state["redo"].startswith("fit 2")
    page.ask("redo")
    assert page.state["here"] == 3
    page.job("without", action=2)
    assert page.fit["known"] == []
    assert page.refused("undo", revision=page.state["revision"] - 1).startswith("the study has changed")


def test_features_are_corrected_put_aside_and_taken_up_again(page):
    page.job("fit", **FAST)
    aunt, uncle = places(page, "Aunt", "Uncle")
    way = {"along": [{"object": aunt}, {"object": uncle}], "axes": [0, 1]}
    page.ask("adopt", name="side", way=way, why="", corrections={str(aunt): 5, str(uncle): None})
    values = page.ask("column", key="known:side")["values"]
    assert values[aunt] == 5
    assert np.isnan(values[uncle])
    page.ask("amend", name="side", rename="flank", values={str(uncle): 2})
    assert page.ask("column", key="known:flank")["values"][uncle] == 2
    page.ask("use", name="flank", on=False)
    assert [known["used"] for known in page.state["known"] if known["name"] == "flank"] == [False]
    page.ask("use", name="flank", on=True)
    assert page.ask("column", key="known:flank")["values"][aunt] == 5


def test_a_curve_is_read_in_the_plane_it_was_drawn_in(page):
    page.job("fit", n_components=3, **FAST)
    curve = [[-1.0, 0.0], [0.0, 0.5], [1.0, 0.0]]
    found = page.ask("preview", way={"along": curve, "axes": [0, 2]})
    expected = page.session.study.preview(along=curve, axes=(0, 2))
    np.testing.assert_allclose(found["values"], expected.values, rtol=1e-6)
    assert (found["type"], found["known"], found["warnings"]) == ("numeric", None, [])


@pytest.mark.parametrize(
    ("do", "fields", "why"),
    [
        ("fly", {}, "unknown"),
        (None, {}, "unknown"),
        ("map", {"step": 99}, "no map 99"),
        ("map", {"step": "1"}, "reload"),
        ("column", {"key": "table:nothing"}, "no column 'nothing'"),
        ("hello", {"protocol": 0}, "another version"),
        ("adopt", {"name": "x", "way": {"column": "nothing"}}, "nothing"),
        ("adopt", {"name": "x", "way": {"spell": 1}}, "spell"),
        ("begin", {"dataset": "moon"}, "is no example"),
        ("detect", {"files": ["../etc/passwd"]}, "no longer here"),
        ("take", {"what": "everything"}, "cannot be taken"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(page, do, fields, why):
    assert why in page.refused(do, **fields)


def test_a_map_is_read_in_the_background_and_the_result_is_kept(page):
    page.session.begin(Discovery(load_kinship().dissimilarities, known=load_kinship().known[["gender"]]))
    page.job("fit", **FAST)
    step = page.state["step"]
    study = Discovery(load_kinship().dissimilarities, known=load_kinship().known[["gender"]])
    study.fit(2, n_init=4)
    shepard = page.job("read", step=step, what="shepard")["result"]
    assert (shepard["pairs"], len(shepard["distance"])) == (91, 91)
    expected = study.reading().shepard()
    assert shepard["correlation"] == pytest.approx(expected["dissimilarity"].corr(expected["distance"]))
    assert page.ask("read", step=step, what="shepard")["result"] is shepard
    leak = page.job("read", step=step, what="leak")["result"]
    assert leak["rows"][0]["name"] == "gender"
    assert leak["rows"][0]["linear"] == pytest.approx(study.reading().leaks().loc["gender", "linear"])
    assert not leak["cure"]
    scree = page.job("read", step=step, what="scree")["result"]
    assert len(scree["stress"]) > 2
    assert scree["stress"] == pytest.approx(study.reading().scree()["stress"].tolist(), rel=1e-6)
    assert "cannot be read" in page.refused("read", step=step, what="palm")


def test_what_sets_a_group_apart(page):
    page.job("fit", **FAST)
    rows = page.ask("contrast", group=places(page, *WOMEN))["rows"]
    assert (rows[0]["key"], rows[0]["strength"]) == ("table:gender", pytest.approx(1.0))
    assert rows[0]["p_value"] < 0.05


def test_files_are_taken_away(page):
    page.job("fit", **FAST)
    page.ask("adopt", name="gender", way={"column": "gender"}, why="")

    def content(answer):
        return page.session.files.made(answer["url"].removeprefix("/take/")).path

    table = pd.read_csv(content(page.ask("take", what="csv")), index_col="label")
    assert list(table.columns) == ["axis1", "axis2", "gender"]
    np.testing.assert_allclose(table[["axis1", "axis2"]], page.session.study.embedding)
    parquet = pd.read_parquet(content(page.ask("take", what="parquet")))
    assert parquet.shape == (14, 3)
    again = Discovery.load(content(page.ask("take", what="study")))
    assert list(again.known) == ["gender"]
    assert "ConditionalMDS" in content(page.ask("take", what="script")).read_text(encoding="utf-8")
    assert page.ask("take", what="csv")["name"] == "Kinship.csv"


def test_the_study_is_saved_as_it_goes(tmp_path):
    session = Session(Discovery(load_kinship().dissimilarities), path=tmp_path / "study")
    try:
        page = Page(session)
        page.job("fit", **FAST)
        assert page.state["saved"] == "study"
    finally:
        session.close()
    assert len(Discovery.load(tmp_path / "study").steps) == 1


def test_another_study_is_not_saved_in_the_place_of_the_one_before(tmp_path):
    session = Session(Discovery(load_kinship().dissimilarities, title="Mine"), path=tmp_path / "study")
    try:
        page = Page(session)
        page.ask("title", title="Mine, with a change that is not saved yet")
        assert page.hear("done", job=page.ask("begin", dataset="kinship")["job"])
        assert page.state["title"] == "Kinship terms"
        assert page.state["saved"] is None
    finally:
        session.close()
    kept = Discovery.load(tmp_path / "study")
    assert (kept.title, kept.steps) == ("Mine, with a change that is not saved yet", ())


def test_a_page_is_answered_while_the_study_is_written(tmp_path, monkeypatch):
    session = Session(Discovery(load_kinship().dissimilarities), path=tmp_path / "study")
    begun, go_on, save = threading.Event(), threading.Event(), Discovery.save

    def slow(study, path):
        begun.set()
        assert go_on.wait(SOON)
        return save(study, path)

    monkeypatch.setattr(Discovery, "save", slow)
    answered = threading.Event()
    try:
        assert begun.wait(SOON)
        page = threading.Thread(target=lambda: session.handle({"id": 1, "do": "objects"}) and answered.set())
        page.start()
        assert answered.wait(SOON / 4)
    finally:
        go_on.set()
        page.join()
        session.close()
    assert session.study._saved is not None, "the next save writes only what is new"


def test_a_mistake_with_what_a_job_found_is_told(page, monkeypatch, capfd):
    def stumble(*_):
        raise RuntimeError("a mistake")

    monkeypatch.setattr(Discovery, "take_over", stumble)
    failed = page.hear("failed", job=page.ask("fit", **FAST)["job"])
    assert failed["error"] == "this went wrong: RuntimeError: a mistake"
    assert page.state["jobs"] == []


def test_a_page_that_has_gone_keeps_no_other_from_hearing(page):
    def gone(event):
        raise RuntimeError("the loop is closed")

    page.session._hearing.insert(0, gone)
    page.ask("title", title="Heard")
    page.session.leave(gone)
    assert page.state["title"] == "Heard"


def test_a_job_is_not_sent_what_is_saved(tmp_path):
    study = Discovery(load_kinship().dissimilarities)
    study.fit(2, n_init=1)
    size = len(pickle.dumps(study))
    study.save(tmp_path / "study")
    assert len(pickle.dumps(study.branch(study.title))) == size
    assert study.branch()._saved is study._saved, "a branch that stays here saves only what is new"


@pytest.mark.parametrize("place", [-1, 14, "x", "-1", None, True, 1.5])
def test_an_object_that_there_is_not_is_refused(page, place):
    page.job("fit", **FAST)
    degree = {"name": "degree", "way": {"column": "degree"}, "why": ""}
    for do, fields in [
        ("preview", {"way": {"groups": {"some": [0, place]}}}),
        ("preview", {"way": {"along": [{"object": 0}, {"object": place}]}}),
        ("contrast", {"group": [0, place]}),
        ("contrast", {"group": [0, 1], "other": [place]}),
        ("adopt", {**degree, "corrections": {place: 1}}),
    ]:
        assert f"named object {place!r}, and objects are 0 to 13" in page.refused(do, **fields)
    assert page.state["known"] == []


def test_a_feature_is_adopted_with_all_its_corrections_or_not_at_all(page):
    page.job("fit", **FAST)
    fields = {"name": "degree", "way": {"column": "degree"}, "kind": "numeric", "why": ""}
    before = page.state
    page.refused("adopt", **fields, corrections={"0": "far"})
    assert page.ask("hello", protocol=1)["state"] == before
    assert page.ask("adopt", **fields, corrections={"0": 9})["action"] == page.state["here"] == 3
    assert page.state["undo"].startswith("correction")


@pytest.mark.parametrize(
    ("name", "value"),
    [("resume_from", "secret.npz"), ("callback", "print"), ("n_components", 3), ("estimator", "mds"), ("adjust", True)],
)
def test_a_page_gives_a_fit_only_parameters_of_the_estimator(page, name, value):
    why = page.refused("fit", n_components=2, params={name: value})
    assert f"params of 'fit' has {name}={value!r}" in why
    assert page.state["jobs"] == []


def test_another_estimator_is_not_given_parameters_that_it_does_not_have(page):
    page.job("fit", estimator="isomap", params={"n_neighbors": 6, "n_init": 3})
    page.job("fit", estimator="mds")
    first, second = page.session.study.steps
    assert (first.params["n_neighbors"], second.params["n_init"]) == (6, 3)
    page.job("fit", estimator="classical")
    assert page.session.study.step.params["n_components"] == 2
    assert "estimator" in page.hear("failed", job=page.ask("fit", estimator="magic")["job"])["error"]


def test_a_page_that_comes_later_hears_of_readings_and_of_another_study(page):
    page.job("fit", **FAST)
    number = page.state["study"]
    job = page.ask("read", step=1, what="suggest")["job"]
    (told,) = Page(page.session).state["jobs"]
    assert (told["job"], told["kind"], told["step"], told["what"]) == (job, "read", 1, "suggest")
    page.ask("cancel", job=job)
    page.hear("done", "failed", job=job)
    page.session.begin(Discovery(load_kinship().dissimilarities))
    assert page.state["study"] != number
