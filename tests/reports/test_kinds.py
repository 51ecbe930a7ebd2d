"""Studies of other kinds: any number of dimensions, any estimator, weights, estimated cells, many objects."""

import numpy as np
import pandas as pd
import pytest

from unmask.discovery import Discovery, _reading
from unmask.reports import _steps, write_report

from .markup import pictures, section, table
from .studies import QUICK, distances, page_of, quick_study, small_study


def test_nothing_known_has_no_after(no_pictures):
    page = page_of(quick_study(), **QUICK)
    assert "There is no after yet" in section(page, "pair").text
    assert "Nothing was found to warn of." in section(page, "findings").text
    assert "no known features" in section(page, "known").text
    assert len(section(page, "steps").all("img")) == 1


def test_what_was_known_from_the_start_gets_a_map_with_nothing_known(no_pictures):
    known = pd.DataFrame({"x": distances(12)[0][:, 0]})
    page = page_of(quick_study(known=known, known_types={"x": "numeric"}), **QUICK)
    assert "it was fitted for this page" in section(page, "pair").text
    assert table(page, "types")[1] == ["x", "numeric, declared", "12", "0", "known from the start"]


@pytest.mark.parametrize("p", [0, 1, 3])
def test_maps_of_any_number_of_dimensions(p):
    study = small_study(known=pd.DataFrame({"x": distances(12)[0][:, 0]}))
    study.fit(p, n_init=1)
    page = page_of(study, scree=False, bootstrap=4, compare=["partial-dbrda"])
    assert "could not be made" not in page
    assert len(section(page, "steps").all("img")) == {0: 0, 1: 1, 3: 2}[p]
    assert ("Ellipses are left out" in page) == (p < 2)
    assert ("they need at least one dimension" in page) == (p == 0)
    assert ("a picture shows two" in page) == (p == 3)
    if p == 3:
        assert "Axes 1 and 3 of 3." in section(page, "steps").text


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": "classical"},
        {"estimator": "isomap", "n_neighbors": 5, "n_init": 1},
        {"level": "ordinal", "n_init": 1},
    ],
    ids=["classical", "isomap", "ordinal"],
)
def test_every_kind_of_fit_has_a_page(options):
    study = small_study(16, known=pd.DataFrame({"x": distances(16)[0][:, 0]}))
    study.fit(2, **options)
    page = page_of(study, bootstrap=2, compare=["partial-dbrda"])
    assert "could not be made" not in page
    assert len(section(page, "fit").all("img")) == 4


def test_weights_and_an_external_table_are_told(no_pictures):
    W = np.ones((12, 12))
    W[0, 1] = W[1, 0] = 5.0
    study = small_study(weights=W, table=pd.DataFrame({"outside": np.arange(12)}))
    study.fit(2, n_init=1)
    page = page_of(study, bootstrap=2, compare=["conditional-mds"])
    assert ["Weights of the pairs", "given"] in table(page, "data")
    assert ["Columns of the table", "outside"] in table(page, "data")
    # Without the weights it is another method.
    assert "Conditional scaling with its defaults" in section(page, "rivals").text


@pytest.mark.filterwarnings("ignore::unmask.KnownFeatureWarning")
def test_estimated_cells_are_told(no_pictures):
    X = distances(12)[0]
    known = pd.DataFrame({"size": X[:, 0], "site": np.array(["wood", "field"])[np.arange(12) % 2]})
    known.loc[3, "size"], known.loc[4, "site"] = np.nan, None
    study = quick_study(known=known)
    number, level = study.step.imputed.itertuples()
    page = page_of(study, **QUICK)
    _, size, site = table(page, "imputed")
    assert size[:2] == ["3", "size"]
    assert size[3].startswith("95%: ")
    assert size[4] == number.remark
    assert site[:4] == ["4", "site", level.value, f"{100 * level.certainty:.1f}\N{NO-BREAK SPACE}%"]


def test_many_objects_have_a_bounded_page(tmp_path):
    n = 700
    X, D = distances(n)
    study = Discovery(
        D, known=pd.DataFrame({"group": np.arange(n) % 3, "x": X[:, 0]}), known_types={"group": "nominal"}
    )
    study.fit(2, estimator="classical")
    path = write_report(study, tmp_path / "many.html", compare=["partial-dbrda"])
    page = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1_500_000
    assert "680 more objects are not shown." in section(page, "fit").text
    left_out = section(page, "findings").text
    for part in ("The scree", "The bootstrap", "The comparison with other methods"):
        assert f"{part} is left out" in left_out
    assert "700 objects are more than the 500 for which a report makes that" in left_out
    assert "Lines or arrows show where some of the objects went" in section(page, "pair").text
    # Points became pixels.
    assert all(
        "<image" in picture for picture in pictures(section(page, "steps").all("img")[0].attributes["src"] + '"')
    )


def test_a_sample_of_pairs_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr(_reading, "MOST_IN_PAIRS", 9)
    page = page_of(quick_study(), **QUICK)
    assert "Shown are the pairs of 9 objects, picked at random." in section(page, "fit").text


def test_many_steps_and_features_are_counted(monkeypatch, no_pictures):
    monkeypatch.setattr(_steps, "MOST_MAPS", 3)
    rng = np.random.default_rng(0)
    known = pd.DataFrame(rng.normal(size=(40, 24)), columns=[f"f{i}" for i in range(24)])
    study = small_study(40, known=known)
    for _ in range(21):
        study.fit(2, estimator="classical")
        study.forget(study.known.columns[-1])
        study.adopt(f"a{len(study.steps)}", rng.normal(size=40))
    page = page_of(study, **QUICK)
    assert "Shown are the first map and the last 2; 18 between are left out." in section(page, "steps").text
    assert len(section(page, "steps").all("h3")) == 3
    for part in ("findings", "known"):
        assert "4 more features are not shown." in section(page, part).text
    assert "23 more actions are not shown." in section(page, "record").text
    assert section(page, "record").all("ol")[0].attributes["start"] == "24"
    assert "Put aside" in section(page, "steps").text


def test_adoptions_before_the_first_map_are_told(no_pictures):
    study = small_study()
    study.adopt("early", np.arange(12), why="known all along")
    study.fit(2, n_init=1)
    assert "Adopted early (given values): known all along" in section(page_of(study, **QUICK), "steps").text


def test_one_of_a_kind(no_pictures):
    study = small_study(21)
    study.fit(2, n_init=1)
    page = page_of(study, **QUICK)
    assert "1 more object is not shown." in section(page, "fit").text
