"""Studies that are made from files."""

from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask.datasets import load_kinship
from unmask.discovery import Discovery, study_from_files


@pytest.fixture
def wine(tmp_path):
    """A table of features in different units, with a column of text and a constant one."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"proline": rng.normal(700, 300, 12), "hue": rng.normal(1, 0.2, 12)})
    frame = frame.assign(site=list("ab") * 6, year=2020).set_axis([f"w{i}" for i in range(12)]).rename_axis("name")
    frame.to_csv(tmp_path / "wine.csv")
    return tmp_path / "wine.csv", frame


def distances(frame, metric="euclidean"):
    return squareform(pdist(frame.to_numpy(), metric))


def test_features_are_divided_by_their_standard_deviation_unless_a_metric_is_named(wine):
    path, frame = wine
    numbers = frame[["proline", "hue"]]
    study = study_from_files(path)
    np.testing.assert_allclose(study.dissimilarities, distances(numbers, "seuclidean"), rtol=1e-12)
    assert "each divided by its standard deviation" in " ".join(study.origin.assumed)
    assert "'site'" in study.origin.assumed[0]
    assert "'year'" in study.origin.assumed[1]
    assert (study.origin.metric, study.origin.features) == ("seuclidean", ("proline", "hue"))
    plain = study_from_files(path, metric="euclidean", features=["proline", "hue"])
    np.testing.assert_allclose(plain.dissimilarities, distances(numbers), rtol=1e-12)
    assert plain.origin.assumed == ()


def test_a_second_file_changes_nothing_about_how_the_first_is_compared(wine, tmp_path):
    path, frame = wine
    frame[[]].assign(score=range(12)).to_csv(tmp_path / "more.csv")
    alone, both = study_from_files(path), study_from_files(path, table=tmp_path / "more.csv")
    pd.testing.assert_frame_equal(alone.dissimilarities, both.dissimilarities)
    assert list(both.table.columns) == ["proline", "hue", "site", "year", "score"]


def test_known_columns_of_the_data_are_not_compared(wine):
    path, frame = wine
    study = study_from_files(path, columns=["hue"], types={"hue": "numeric", "site": "nominal"})
    np.testing.assert_allclose(study.dissimilarities, distances(frame[["proline"]], "seuclidean"), rtol=1e-12)
    assert (list(study.known.columns), study.known_types) == (["hue"], {"hue": "numeric"})
    assert list(study.table.columns) == ["proline", "site", "year"]
    assert study.origin.known_in_data == ("hue",)


def test_kinship_given_one_column_keeps_the_others_beside(tmp_path):
    kin = load_kinship()
    kin.dissimilarities.to_csv(tmp_path / "data.csv")
    kin.known.to_csv(tmp_path / "known.csv")
    study = study_from_files(tmp_path / "data.csv", known=tmp_path / "known.csv", columns=["gender"])
    assert list(study.known.columns) == ["gender"]
    assert set(study.table.columns) == set(kin.known.columns) - {"gender"}
    assert study.title == tmp_path.name
    assert [(file.role, file.name) for file in study.origin.files] == [("data", "data.csv"), ("known", "known.csv")]
    assert study.origin.files[0].sha256 == sha256((tmp_path / "data.csv").read_bytes()).hexdigest()
    again = Discovery.load(study.save(tmp_path / "study"))
    assert again.origin == study.branch().origin == study.origin


def test_ratings_that_are_similarities(tmp_path):
    rows = ["who,one,other,alike", "Ann,tea,milk,6", "Bob,milk,tea,4", "Ann,tea,rum,1", "Ann,rum,milk,2"]
    (tmp_path / "drinks.csv").write_text("\n".join(rows), encoding="utf-8")
    reading = {"similarity": "reverse:1:9", "aggregate": "mean"}
    study = study_from_files(tmp_path / "drinks.csv", read_as=reading, rating_weights="count")
    assert study.dissimilarities.loc["tea", "milk"] == 5.0
    assert study.material.weights.loc["tea", "milk"] == 2 * study.material.weights.loc["tea", "rum"]
    assert (study.title, study.origin.similarity) == ("drinks", "reverse:1:9")


def test_a_file_is_called_as_people_know_it(wine):
    path, frame = wine
    study = study_from_files(path, names={str(path): "Mine.csv"})
    assert study.title == "Mine"
    assert study.origin.detected[0].startswith("Mine.csv: ")
    frame.iloc[2, 1] = np.nan
    frame.to_csv(path)
    with pytest.raises(ValueError, match=r"Mine\.csv: hue of w2 is missing"):
        study_from_files(path, names={str(path): "Mine.csv"})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"columns": ["tannin"]}, "tannin"),
        ({"features": ["tannin"]}, "tannin"),
        ({"types": {"tannin": "nominal"}}, "tannin"),
        ({"types": dict.fromkeys(["proline", "hue", "year"], "nominal")}, "no column of numbers"),
        ({"metric": "euclidean", "read_as": {"aggregate": "mean"}}, "aggregate"),
        ({"kind": "dissimilarities", "metric": "euclidean"}, "metric"),
    ],
)
def test_what_does_not_fit_the_file_is_refused(wine, options, named):
    with pytest.raises(ValueError, match=named):
        study_from_files(wine[0], **options)
