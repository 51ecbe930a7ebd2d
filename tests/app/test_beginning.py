"""A study begins with what people drop on the page."""

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_wine

from unmask.app import _inputs
from unmask.app._files import PREFIX, Files, Kept
from unmask.app._pictures import SIDE, thumbnail
from unmask.datasets import load_kinship
from unmask.discovery import Discovery


def drop(page, name, content):
    return page.ask("upload", name=name, data=content)["file"]


def csv(frame):
    return frame.to_csv().encode()


def png(color=(200, 30, 30), size=(600, 300)):
    target = io.BytesIO()
    Image.new("RGB", size, color).save(target, "PNG")
    return target.getvalue()


def begin(page, **fields):
    job = page.ask("begin", **fields)["job"]
    page.ask("cancel", job=job)
    page.hear("done", "failed", job=job)
    return page.session.study


def test_a_square_table_is_dissimilarities(page):
    kin = load_kinship()
    file = drop(page, "kin.csv", csv(kin.dissimilarities))
    (part,) = page.ask("detect", files=[file])["parts"]
    assert (part["name"], part["role"], part["rows"]) == ("kin.csv", "dissimilarities", 14)
    study = begin(page, files=[file])
    expected = kin.dissimilarities.rename_axis(index=None, columns=None)
    pd.testing.assert_frame_equal(study.dissimilarities, expected, check_dtype=False)
    assert page.state["title"] == "kin"


def test_wine_is_features_that_are_standardised(page):
    wine = load_wine(as_frame=True).data
    wine.insert(0, "name", [f"w{k}" for k in range(len(wine))])
    file = drop(page, "wine.csv", wine.to_csv(index=False).encode())
    told = page.ask("detect", files=[file])
    assert told["parts"][0]["role"] == "features"
    study = begin(page, files=[file], corrections={"labels": "name"})
    assert "each divided by its standard deviation" in study.origin.assumed[-1]
    expected = squareform(pdist(wine.drop(columns="name"), "seuclidean"))
    np.testing.assert_allclose(study.dissimilarities, expected, rtol=1e-12)
    assert list(study.dissimilarities.index[:2]) == ["w0", "w1"]
    assert set(study.table.columns) >= {"alcohol", "hue"}
    plain = begin(page, files=[file], corrections={"labels": "name", "metric": "euclidean"})
    np.testing.assert_allclose(plain.dissimilarities, squareform(pdist(wine.drop(columns="name"))), rtol=1e-12)


def test_each_column_has_one_use(page):
    frame = load_wine(as_frame=True).data[["alcohol", "ash", "hue"]].head(20).assign(kind=list("ab") * 10, batch=1)
    file = drop(page, "wine.csv", csv(frame))
    (part,) = page.ask("detect", files=[file])["parts"]
    uses = {column["name"]: column["use"] for column in part["columns"]}
    assert uses == dict.fromkeys(["alcohol", "ash", "hue", "batch"], "compare") | {"kind": "colour"}
    assert part["columns"][0]["values"][:2] == ["14.23", "13.2"]
    uses = {"alcohol": "known", "kind": "known", "batch": "ignore", "hue": "colour"}
    study = begin(page, files=[file], corrections={"uses": uses, "metric": "euclidean"})
    np.testing.assert_allclose(study.dissimilarities, squareform(pdist(frame[["ash"]])), rtol=1e-12)
    assert (set(study.known), "batch" in study.table) == ({"alcohol", "kind"}, False)
    assert "hue" in study.table


def test_known_columns_of_a_table_beside_go_with_those_of_the_first(page):
    wine = load_wine(as_frame=True).data[["alcohol", "ash", "hue"]].head(20)
    beside = pd.DataFrame({"side": list("ab") * 10, "top": list("cdef") * 5})
    files = [drop(page, "wine.csv", csv(wine)), drop(page, "beside.csv", csv(beside))]
    study = begin(page, files=files, corrections={"uses": {"alcohol": "known", "side": "known"}})
    assert (set(study.known), "top" in study.table) == ({"alcohol", "side"}, True)


def test_ratings_by_raters_say_who_judged_and_what_is_larger(page):
    pairs = [("tea", "milk", 1), ("tea", "beer", 8), ("milk", "beer", 9)]
    rows = [(rater, one, other, value + k) for k, rater in enumerate("pq") for one, other, value in pairs]
    ratings = pd.DataFrame(rows, columns=["who", "first", "second", "rating"]).to_csv(index=False).encode()
    file = drop(page, "ratings.csv", ratings)
    (part,) = page.ask("detect", files=[file])["parts"]
    assert (part["role"], part["rows"]) == ("dissimilarities", 3)
    assert set(part["raters"]) == {"who", "first", "second", "rating"}
    study = begin(page, files=[file])
    assert study.dissimilarities.loc["tea", "beer"] == 8.5
    study = begin(page, files=[file], corrections={"alike": True, "rater": "who"})
    assert study.dissimilarities.loc["tea", "beer"] == 11 - 8.5


def test_a_column_of_numbers_that_are_codes_does_not_set_objects_apart(page):
    wine = load_wine(as_frame=True).data[["alcohol", "hue"]].head(20)
    coded = wine.assign(batch=np.arange(20) % 4, hour=np.arange(20.0), rank=np.arange(20) % 3)
    file = drop(page, "wine.csv", csv(coded))
    types = {"batch": "nominal", "hour": "cyclic:24", "rank": "ordinal", "hue": "numeric"}
    study = begin(page, files=[file], corrections={"types": types, "metric": "euclidean"})
    np.testing.assert_allclose(study.dissimilarities, squareform(pdist(wine)), rtol=1e-12)
    assert {"batch", "hour", "rank"} <= set(study.table.columns)
    every = dict.fromkeys(coded, "nominal")
    assert "no column of numbers" in page.refused("begin", files=[file], corrections={"types": every})


def test_a_table_beside_stays_unknown_until_it_is_said_to_be_known(page):
    kin = load_kinship()
    files = [drop(page, "kin.csv", csv(kin.dissimilarities)), drop(page, "about.csv", csv(kin.known))]
    assert [part["role"] for part in page.ask("detect", files=files)["parts"]] == ["dissimilarities", "table"]
    study = begin(page, files=files)
    assert list(study.known) == []
    assert set(study.table.columns) == set(kin.known.columns)
    corrections = {"uses": dict.fromkeys(kin.known, "known"), "types": {"degree": "ordinal"}}
    study = begin(page, files=files, corrections=corrections)
    assert set(study.known.columns) == set(kin.known.columns)
    assert study.known_types == {"degree": "ordinal"}


def test_pictures_belong_to_the_objects_of_their_names(page):
    kin = load_kinship()
    files = [drop(page, "kin.csv", csv(kin.dissimilarities)), drop(page, "Aunt.png", png())]
    begin(page, files=files)
    assert page.state["pictures"]
    labels = page.ask("objects")["labels"]
    (found,) = page.ask("pictures", objects=list(range(14)))["pictures"]
    assert labels[found["object"]] == "Aunt"
    assert Image.open(io.BytesIO(found["data"])).size == (SIDE, SIDE // 2)


def test_a_problem_stands_at_its_cell(page):
    file = drop(page, "broken.csv", b"name,a,b\nx,0,1\ny,1\n")
    (problem,) = page.ask("detect", files=[file])["problems"]
    assert problem["row"] == 3
    assert "broken.csv" not in problem["text"]
    assert problem["text"] in page.refused("begin", files=[file])


def test_two_files_that_say_how_objects_differ_are_one_too_many(page):
    kin = csv(load_kinship().dissimilarities)
    files = [drop(page, "a.csv", kin), drop(page, "b.csv", kin)]
    roles = dict.fromkeys(files, "dissimilarities")
    assert "there must be one" in page.refused("begin", files=files, corrections={"roles": roles})


@pytest.mark.parametrize("name", ["kinship", "wine", "cars"])
def test_every_example_begins(page, name):
    listed = {row["name"]: row for row in page.ask("datasets")["rows"]}
    study = begin(page, dataset=name)
    assert len(study.material.objects) == listed[name]["objects"]


@pytest.mark.parametrize("name", ["evil.svg", "evil.html", "evil.pkl", "noend", "../../evil.exe"])
def test_files_of_other_kinds_are_refused(page, name):
    assert "is no kind of file" in page.refused("upload", name=name, data=b"x")


def test_only_the_end_of_a_name_is_used(tmp_path):
    files = Files()
    kept = files.kept(files.keep("..\\..\\<b>wine</b>.CSV", io.BytesIO(b"x"), 10)["file"])
    assert kept.name == ["<b>wine<", "b>.CSV"][-1]
    assert kept.path.name.removesuffix(".csv").isalnum()
    with pytest.raises(ValueError, match="larger than 10 bytes"):
        files.keep("big.csv", io.BytesIO(bytes(11)), 10)
    files.close()
    assert not kept.path.exists()


@pytest.mark.parametrize("content", [b"", b"<svg/>", b"\x89PNG\r\n\x1a\nnonsense", png()[:200]])
def test_what_is_no_picture_is_refused(content):
    with pytest.raises(ValueError, match="is no picture"):
        thumbnail(content, "x.png")


def test_a_picture_that_unfolds_to_too_many_pixels_is_refused():
    with pytest.raises(ValueError, match="too many"):
        thumbnail(png(size=(20_000, 3_000)), "bomb.png")


def parquet(frame):
    target = io.BytesIO()
    frame.to_parquet(target)
    return target.getvalue()


def test_text_that_reads_as_numbers_is_shown_as_it_is(page):
    frame = pd.DataFrame({"code": ["1", "2", "3", "2"], "size": [1.0, 2.0, 4.0, 8.0]}, index=list("abcd"))
    file = drop(page, "codes.parquet", parquet(frame))
    (part,) = page.ask("detect", files=[file])["parts"]
    assert [column["type"] for column in part["columns"]] == ["nominal", "numeric"]
    begin(page, files=[file])
    assert page.ask("column", key="table:code")["levels"] == ["1", "2", "3"]


def test_a_study_that_cannot_be_shown_leaves_the_one_before(page, monkeypatch):
    def refuse(study):
        if study.title == "Kinship terms":
            raise ValueError("this study is odd.")
        return []

    begin(page, dataset="cars")
    before = page.state
    monkeypatch.setattr("unmask.app._session.describe_columns", refuse)
    assert page.refused("begin", dataset="kinship") == "this study is odd."
    assert page.ask("hello", protocol=1)["state"]["title"] == before["title"]


# ---- a saved study


def saved(study, tmp_path, change=lambda told: None, **files):
    """Return a study as a zip file, in which study.json or other files were changed by whoever hands it over."""
    path = study.save(tmp_path / "saved.zip")
    with zipfile.ZipFile(path) as packed:
        content = {name: packed.read(name) for name in packed.namelist()}
    told = json.loads(content["study.json"])
    change(told)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in {**content, "study.json": json.dumps(told).encode(), **files}.items():
            packed.writestr(name, data)
    return target.getvalue()


@pytest.mark.parametrize("by", ["files", "study"])
def test_a_saved_study_that_is_dropped_goes_on(page, tmp_path, by):
    study = Discovery(load_kinship().dissimilarities, title="Mine")
    study.fit(2, n_init=1)
    file = drop(page, "kin.zip", saved(study, tmp_path))
    detected = page.ask("detect", files=[file])
    (part,) = detected["parts"]
    assert (part["role"], part["rows"], detected["problems"]) == ("study", 14, [])
    assert "job" not in page.ask("begin", **{by: [file] if by == "files" else file}), "it has a map"
    assert (page.state["title"], page.fit["number"]) == ("Mine", 1)
    beside = drop(page, "about.csv", csv(load_kinship().known))
    assert "drop it alone" in page.refused("begin", files=[file, beside])


def test_a_study_that_names_a_file_of_this_machine_is_refused_before_that_is_opened(page, tmp_path):
    secret = tmp_path / "secret.npy"
    np.save(secret, load_kinship().dissimilarities.to_numpy())

    def name_it(told):
        told |= {"path": str(secret), "checksum": 0}

    file = drop(page, "mine.zip", saved(Discovery(load_kinship().dissimilarities), tmp_path, name_it))
    (problem,) = page.ask("detect", files=[file])["problems"]
    assert problem["text"].startswith("mine.zip: was made from the dissimilarities in the file")
    for fields in ({"files": [file]}, {"study": file}):
        assert page.refused("begin", **fields) == problem["text"]


@pytest.mark.parametrize("content", [b"PK no zip", b""])
def test_what_is_wrong_with_a_study_is_said_under_the_name_that_people_know(page, content):
    file = drop(page, "broken.zip", content)
    why = page.refused("begin", study=file)
    assert why.startswith("broken.zip: is not a zip file")
    assert file not in why


def test_pictures_of_a_loaded_study_are_written_anew(page, tmp_path):
    rest = b"the rest of another file"
    study = Discovery(load_kinship().dissimilarities, pictures={"Aunt": png() + rest, "Uncle": png()})
    uncle = list(study.material.objects).index("Uncle")
    name, broken = f"picture{uncle}-{study.uuid[:8]}.png", png()[:60]

    def damage(told):
        told["files"][name] = sha256(broken).hexdigest()

    page.ask("begin", study=drop(page, "kin.zip", saved(study, tmp_path, damage, **{name: broken})))
    (found,) = page.ask("pictures", objects=list(range(14)))["pictures"]
    assert page.ask("objects")["labels"][found["object"]] == "Aunt"
    assert found["data"].startswith(b"\x89PNG")
    assert rest not in found["data"]
    assert max(Image.open(io.BytesIO(found["data"])).size) == SIDE
    assert "the picture of Uncle is no picture" in page.hear("notice")["text"]
    assert page.ask("pictures", objects=[found["object"]])["pictures"] == [found]


# ---- what is corrected


def test_missing_cells_of_compared_columns_are_a_problem(page):
    frame = pd.DataFrame({"town": ["u", None, "u", "v"], "a": [1.0, 2.0, None, 4.0], "b": [1.0, None, 3.0, 4.0]})
    file = drop(page, "holes.csv", csv(frame.set_axis(["p", "q", "r", "s"])))
    (problem,) = page.ask("detect", files=[file])["problems"]
    assert problem["text"].startswith("b of q, a of r are missing; ")
    assert [column["missing"] for column in page.ask("detect", files=[file])["parts"][0]["columns"]] == [1, 1, 1]
    assert "is missing" in page.refused("begin", files=[file])
    for corrections in ({"metric": "gower"}, {"uses": {"a": "colour", "b": "known"}}):
        assert page.ask("detect", files=[file], corrections=corrections)["problems"] == []
    (problem,) = page.ask("detect", files=[file], corrections={"types": {"b": "nominal"}})["problems"]
    assert problem["text"].startswith("a of r is missing; ")


@pytest.mark.parametrize("name", ["level_0", "index", "label", "axis1", "0"])
def test_columns_may_have_any_name(page, name):
    frame = pd.DataFrame({name: [1.0, 2.0, 4.0, 9.0], "b": [3.0, 1.0, 2.0, 5.0]}, index=list("pqrs"))
    file = drop(page, "odd.csv", csv(frame.rename_axis("object")))
    corrections = {"labels": "object", "metric": "euclidean"}
    found = page.ask("detect", files=[file], corrections=corrections)
    assert found["problems"] == []
    assert found["parts"][0]["columns"][0] == {
        "name": name,
        "type": "numeric",
        "missing": 0,
        "values": ["1", "2", "4", "9"],
        "use": "compare",
    }
    page.job("begin", files=[file], corrections=corrections)
    page.ask("adopt", name=name, way={"column": name}, why="")
    for what in ("csv", "parquet"):
        url = page.ask("take", what=what)["url"]
        path = page.session.files.made(url.removeprefix("/take/")).path
        table = pd.read_csv(path, index_col="label") if what == "csv" else pd.read_parquet(path)
        assert table.iloc[:, -1].tolist() == [1.0, 2.0, 4.0, 9.0]


def test_gower_compares_columns_as_they_were_corrected(page):
    frame = pd.DataFrame(
        {"size": [0.0, 1.0, 4.0, 2.0], "batch": [1, 7, 7, 2], "grade": [1, 2, 9, 2], "hour": [0.0, 23.0, 12.0, 1.0]},
        index=list("pqrs"),
    )
    file = drop(page, "mixed.csv", csv(frame.rename_axis("name")))
    types = {"batch": "nominal", "grade": "ordinal", "hour": "cyclic:24"}
    study = begin(page, files=[file], corrections={"metric": "gower", "types": types})
    size, batch, rank = np.array([0, 1, 4, 2]) / 4, frame["batch"].to_numpy(), np.array([0, 1, 2, 1]) / 2
    by_column = [np.abs(np.subtract.outer(size, size)), np.not_equal.outer(batch, batch)]
    by_column.append(np.abs(np.subtract.outer(rank, rank)))
    np.testing.assert_allclose(study.dissimilarities, sum(by_column) / 3, rtol=1e-12)
    scales = {column["name"]: column["scale"] for column in page.state["columns"]}
    assert scales == {"size": "number", "batch": "category", "grade": "ordered", "hour": "number"}


def test_more_rows_than_the_page_shows_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(_inputs, "MOST_ROWS", 10)
    load_wine(as_frame=True).data.head(11).to_csv(tmp_path / "wine.csv")
    found = _inputs.detect(None, [("1", Kept(tmp_path / "wine.csv", "wine.csv"))], _inputs.Corrections())
    assert found["problems"][0]["text"].startswith("wine.csv has 11 rows, and the workbench shows at most 10")


def test_reading_may_not_take_all_memory(page):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    with _inputs.limited_memory(share=1e-6), pytest.raises(MemoryError):
        np.ones(2**28)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_all_files_together_have_a_limit():
    files = Files(limit=10)
    files.keep("a.csv", io.BytesIO(bytes(6)), 10)
    with pytest.raises(ValueError, match=r"no room for b\.csv"):
        files.keep("b.csv", io.BytesIO(bytes(6)), 10)
    _, made = files.make("d.csv")
    made.path.write_bytes(bytes(4))
    files.count(made)
    with pytest.raises(ValueError, match=r"no room for e\.csv"):
        files.make("e.csv")
    files.close()


@pytest.mark.skipif(os.name != "posix", reason="elsewhere it is not known whether a program runs")
def test_folders_left_by_a_program_that_was_killed_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, own = (tmp_path / f"{PREFIX}{number}-x" for number in (gone.pid, os.getpid()))
    for folder in (left, own):
        folder.mkdir()
        (folder / "data.csv").touch()
    Files().close()
    assert (left.exists(), own.exists()) == (False, True)


def test_a_study_that_changes_while_a_file_is_read_stays(page, monkeypatch):
    begin(page, dataset="kinship")
    read = page.session.jobs.result

    def meanwhile(*arguments):
        study = read(*arguments)
        page.ask("title", title="Meanwhile")
        return study

    monkeypatch.setattr(page.session.jobs, "result", meanwhile)
    file = drop(page, "kin.csv", csv(load_kinship().dissimilarities))
    answer = page.send("begin", files=[file])
    assert (answer["ok"], answer["stale"]) == (False, True)
    assert (page.state["title"], page.session.study.title) == ("Meanwhile", "Meanwhile")
