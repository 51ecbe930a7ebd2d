"""A session: what pages ask for, and what they hear."""

import runpy
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from unmask.app import Session
from unmask.app import _loop as loop
from unmask.datasets import load_kinship
from unmask.discovery import Discovery
from unmask.inspection import procrustes
from unmask.problem import Cyclic

from .talking import SOON, Page, visiting

FAST = {"params": {"n_init": 4}}


@pytest.fixture
def page(session):
    session.begin(Discovery(load_kinship().dissimilarities, table=load_kinship().known, title="Kinship"))
    with visiting(session) as page:
        yield page


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
    turned = procrustes(first.embedding, second.embedding, scale=False).aligned
    np.testing.assert_allclose(page.ask("map", step=3)["points"], turned, rtol=1e-5, atol=1e-6)


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
    assert page.state["undo"] == "map 2, given gender"
    page.ask("undo")
    assert (page.state["here"], page.state["redo"]) == (1, "gender, from a column"), "the map and what it was given"
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
    assert np.array_equal(page.ask("map", step=1)["points"], page.session.study.embedding.astype("f4"))
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
    assert page.ask("take", what="csv")["name"] == "Kinship.csv"


def test_the_script_reads_the_study_as_it_was_downloaded(page, tmp_path, monkeypatch):
    page.job("fit", **FAST)
    taken = {what: page.ask("take", what=what) for what in ("study", "script")}
    for answer in taken.values():
        made = page.session.files.made(answer["url"].removeprefix("/take/")).path
        (tmp_path / answer["name"]).write_bytes(made.read_bytes())
    assert taken["study"]["name"] == "Kinship.zip"
    monkeypatch.chdir(tmp_path)
    maps = runpy.run_path(taken["script"]["name"])["maps"]
    np.testing.assert_allclose(maps[1], page.session.study.embedding, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_the_report_names_the_study_as_it_is_downloaded(page):
    page.job("fit", **FAST)
    report = page.job("take", what="report")["result"]["url"].removeprefix("/take/")
    assert "Kinship.zip" in page.session.files.made(report).path.read_text(encoding="utf-8")


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
    assert session.study.revision == 1, "the next save is none over a newer study"


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
    assert page.state["undo"] == "degree corrected"


@pytest.mark.parametrize(
    ("name", "value"),
    [("init", "secret.npz"), ("callback", "print"), ("n_components", 3), ("estimator", "mds"), ("adjust", True)],
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


def test_a_reading_that_is_under_way_is_not_begun_again(page):
    page.job("fit", **FAST)
    job = page.ask("read", step=1, what="suggest")["job"]
    assert page.ask("read", step=1, what="suggest") == {"id": 7, "ok": True, "job": job}
    assert len(page.state["jobs"]) == 1
    other = page.ask("read", step=1, what="shepard")["job"]
    assert other != job
    page.ask("cancel", job=job)
    again = page.ask("read", step=1, what="suggest")["job"]
    assert again not in (job, other), "one that was ended is begun anew"
    page.ask("cancel", job=again)
    ends = [page.hear("done", "failed") for _ in range(3)]
    assert {end["job"] for end in ends} == {job, other, again}


def test_the_type_of_a_feature_that_is_put_aside_is_kept(page):
    known = load_kinship().known[["degree"]]
    page.session.begin(Discovery(load_kinship().dissimilarities, known=known, known_types={"degree": "ordinal"}))
    page.job("fit", **FAST)
    page.ask("adopt", name="hour", way={"values": list(range(14))}, kind="cyclic:24", why="")
    types = {"degree": "ordinal", "hour": "cyclic:24"}
    for name in types:
        page.ask("use", name=name, on=False)
    assert {known["name"]: (known["type"], known["used"]) for known in page.state["known"]} == {
        name: (kind, False) for name, kind in types.items()
    }
    scales = {column["name"]: column["scale"] for column in page.state["columns"]}
    assert scales == {"degree": "ordered", "hour": "cycle"}
    assert page.ask("column", key="known:hour")["period"] == 24
    for name in types:
        page.ask("use", name=name, on=True)
    assert page.session.study.known_types == {"degree": "ordinal", "hour": Cyclic(24)}
    assert "was never known" in page.refused("use", name="nothing", on=True)


def test_a_feature_is_taken_up_with_the_type_that_it_had_on_this_branch(page):
    page.job("fit", **FAST)
    page.ask("adopt", name="degree", way={"column": "degree"}, kind="numeric", why="")
    here = page.state["here"]
    page.ask("amend", name="degree", kind="ordinal")
    page.ask("go", to=here)
    page.ask("use", name="degree", on=False)
    page.ask("use", name="degree", on=True)
    assert page.session.study.known_types == {"degree": "numeric"}


def test_a_fit_that_is_ended_keeps_the_best_map_so_far(page):
    job = page.ask("fit", params={"n_init": 100_000})["job"]
    seen = [page.hear("progress", job=job)["stress"] for _ in range(5)]
    page.ask("cancel", job=job)
    page.hear("done", job=job)
    assert page.fit["stress"] <= min(seen)
    assert not page.fit["finished"]
    step = page.session.study.step
    assert np.isfinite(step.embedding.to_numpy()).all()


def test_camera_and_selection_of_each_step_come_back_with_the_page(page):
    page.job("fit", **FAST)
    page.job("fit", **FAST)
    views = {str(step): {"camera": {"x": step, "y": 0, "zoom": 2}, "selection": [step]} for step in (1, 2)}
    for step, view in views.items():
        page.ask("view", step=int(step), view=view)
    page.ask("undo")
    assert Page(page.session).state["views"] == views
    assert "no map 9" in page.refused("view", step=9, view={})


def test_a_page_that_catches_up_can_go_on(page):
    other = Page(page.session)
    behind = other.state["revision"]
    page.ask("title", title="Terms")
    assert other.refused("title", title="Late", revision=behind).startswith("the study has changed")
    assert other.hear("state")["state"]["title"] == "Terms"
    other.ask("title", title="Later")
    assert page.state["title"] == "Later"
    page.session.leave(other._hear)


def test_who_looks_on_does_not_wait_for_all_pairs_of_many_objects(monkeypatch):
    monkeypatch.setattr(loop, "MANY", 30)
    heard = []
    for asked in ({}, {"solver": "lbfgs"}, {"estimator": "classical"}):
        session = Session(Discovery(np.random.default_rng(0).normal(size=(40, 3)), metric="euclidean"))
        monkeypatch.setattr(session, "start", lambda *arguments: heard.append(arguments[-1]) or {})
        loop.begin_fit(session, **asked)
        session.close()
    assert heard == [{"solver": "stochastic"}, {"solver": "lbfgs"}, {"estimator": "classical"}]


@pytest.mark.slow
def test_a_hundred_thousand_objects_go_through_the_stochastic_solver():
    points = np.random.default_rng(0).normal(size=(100_000, 4)) * [4, 3, 1, 1]
    session = Session(Discovery(pd.DataFrame(points, columns=list("abcd")), metric="euclidean"))
    try:
        page = Page(session)
        job = page.ask("fit")["job"]
        maps, end = 0, None
        while end is None:
            event = page.events.get(timeout=10 * SOON)
            maps += event["event"] == "progress" and event.get("points") is not None
            end = event if event["event"] in ("done", "failed") and event["job"] == job else None
        assert end["event"] == "done", end
        assert maps >= 1, "it is seen on its way"
        assert session.study.step.solver.startswith("stochastic")
        found = page.ask("map", step=end["action"])["points"]
        assert found.shape == (100_000, 2)
        correlation = np.corrcoef(found.T, points[:, :2].T)[:2, 2:]
        assert np.abs(correlation).max(axis=1).min() > 0.9
    finally:
        session.close()


def test_a_parquet_file_without_its_package_is_refused_with_the_way_to_install_it(page, monkeypatch):
    page.ask("begin", dataset="kinship")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    error = page.refused("take", what="parquet")
    assert "pip install 'unmask[files]'" in error
    assert "went wrong" not in error


def test_what_is_typed_into_a_cell_of_numbers_is_a_number_or_refused(page):
    way, aunt = {"values": list(range(14))}, str(places(page, "Aunt")[0])
    for text in ("1,5", "far", "nan", "1_0"):
        error = page.refused("adopt", name="age", way=way, why="", corrections={aunt: text})
        assert f"age of Aunt: {text!r} is no number" in error
    page.ask("adopt", name="age", way=way, why="", corrections={aunt: " 1.5 "})
    assert "'1,5' is no number" in page.refused("amend", name="age", values={aunt: "1,5"})
    assert page.session.study.known["age"]["Aunt"] == 1.5
    page.ask("amend", name="age", values={aunt: ""})
    assert page.session.study.known["age"].isna().sum() == 1
    assert page.state["known"][-1]["type"] == "numeric"


def test_what_is_typed_into_a_cell_of_text_stays_text(page):
    aunt, uncle = map(str, places(page, "Aunt", "Uncle"))
    page.ask("adopt", name="code", way={"values": ["1", "007"] * 7}, kind="nominal", why="", corrections={aunt: "007"})
    page.ask("amend", name="code", values={uncle: "08"})
    known = page.session.study.known["code"]
    assert (known["Aunt"], known["Uncle"]) == ("007", "08")
    assert set(known) == {"1", "007", "08"}


def test_what_is_typed_into_a_cell_of_codes_is_one_of_them(page):
    aunt = str(places(page, "Aunt")[0])
    page.ask("adopt", name="code", way={"values": [1, 2] * 7}, kind="nominal", why="", corrections={aunt: "2"})
    assert set(page.session.study.known["code"]) == {1, 2}
    assert "is no number" in page.refused("amend", name="code", values={aunt: "two"})


def test_what_could_not_be_saved_is_saved_with_the_next_change_or_at_the_end(tmp_path, monkeypatch, capfd):
    save = Discovery.save

    def full(study, path):
        raise OSError("no space left")

    session = Session(Discovery(load_kinship().dissimilarities, title="Mine"), path=tmp_path / "study")
    try:
        page = Page(session)
        session.save()
        monkeypatch.setattr(Discovery, "save", full)
        page.ask("title", title="Changed")
        session.save()
        assert page.hear("notice")["text"] == "The study could not be saved: no space left"
        assert page.state["saved"] is None
        monkeypatch.setattr(Discovery, "save", save)
        session.save()
        assert page.state["saved"] == "study"
        assert Discovery.load(tmp_path / "study").title == "Changed"
        monkeypatch.setattr(Discovery, "save", full)
        page.ask("title", title="Changed again")
        session.save()
        page.ask("begin", dataset="kinship")  # another one, which is saved nowhere
        monkeypatch.setattr(Discovery, "save", save)
    finally:
        session.close()
    assert Discovery.load(tmp_path / "study").title == "Changed again"
    assert "could not be saved" not in capfd.readouterr().err


def test_what_cannot_be_saved_at_the_end_is_said_in_the_terminal(tmp_path, capfd):
    session = Session(Discovery(load_kinship().dissimilarities), path=tmp_path / "nowhere" / "study")
    session.close()
    assert "The study could not be saved" in capfd.readouterr().err


def test_a_page_that_does_not_know_the_study_begins_no_other(page):
    before = page.session.study
    answer = page.session.handle({"id": 1, "do": "begin", "dataset": "kinship", "revision": page.state["revision"] - 1})
    assert answer["stale"]
    assert page.session.study is before
