"""A study begins with what people drop on the page."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_wine

from unmask.app import Session
from unmask.app._files import Files
from unmask.app._pictures import SIDE, thumbnail
from unmask.datasets import load_kinship

from .talking import Page


@pytest.fixture(scope="module")
def session():
    session = Session()
    yield session
    session.close()


@pytest.fixture
def page(session):
    page = Page(session)
    yield page
    session.leave(page._hear)


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
    expected = squareform(pdist(wine.drop(columns="name"), "seuclidean"))
    np.testing.assert_allclose(study.dissimilarities, expected, rtol=1e-12)
    assert list(study.dissimilarities.index[:2]) == ["w0", "w1"]
    assert set(study.table.columns) >= {"alcohol", "hue"}
    plain = begin(page, files=[file], corrections={"labels": "name", "standardise": False})
    np.testing.assert_allclose(plain.dissimilarities, squareform(pdist(wine.drop(columns="name"))), rtol=1e-12)


def test_euclidean_with_standardise_ticked_is_standardised(page):
    wine = load_wine(as_frame=True).data
    file = drop(page, "wine.csv", csv(wine))
    for standardise, metric in [(True, "seuclidean"), (False, "euclidean")]:
        study = begin(page, files=[file], corrections={"metric": "euclidean", "standardise": standardise})
        np.testing.assert_allclose(study.dissimilarities, squareform(pdist(wine, metric)), rtol=1e-12)


def test_a_column_of_numbers_that_are_codes_does_not_set_objects_apart(page):
    wine = load_wine(as_frame=True).data[["alcohol", "hue"]].head(20)
    coded = wine.assign(batch=np.arange(20) % 4, hour=np.arange(20.0), rank=np.arange(20) % 3)
    file = drop(page, "wine.csv", csv(coded))
    types = {"batch": "nominal", "hour": "cyclic:24", "rank": "ordinal", "hue": "numeric"}
    study = begin(page, files=[file], corrections={"types": types, "standardise": False})
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
    corrections = {"roles": {files[1]: "known"}, "types": {"degree": "ordinal"}}
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


def test_a_file_that_cannot_be_described_is_a_problem_not_a_failure(page, monkeypatch):
    def refuse(*_):
        raise ValueError("this column is odd.")

    file = drop(page, "wine.csv", csv(load_wine(as_frame=True).data.head()))
    monkeypatch.setattr("unmask.app._beginning.type_name", refuse)
    found = page.ask("detect", files=[file])
    assert [problem["text"] for problem in found["problems"]] == ["this column is odd."]
    assert found["parts"][0]["columns"] == []


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
