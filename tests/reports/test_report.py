"""The page as a whole: what it says, that it says it safely, and that it is the same every time."""

import re
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS, MissingDissimilarityWarning
from unmask.discovery import Discovery
from unmask.inspection import bootstrap, compare, scree
from unmask.problem import leak_reference
from unmask.reports import _asked, _findings, _maps, _subject, render_report, write_report
from unmask.reports._html import number

from .markup import everything, pictures, read, rows, section
from .studies import NASTY, distances, kinship_study, nasty_study

QUICK = {"scree": False, "bootstrap": 0, "compare": False}


@pytest.fixture(scope="module")
def study():
    return kinship_study()


@pytest.fixture(scope="module")
def page(study):
    return render_report(study, bootstrap=8, compare=["partial-dbrda", "mds"], saved_as="kinship.zip")


@pytest.fixture(scope="module")
def nasty():
    return render_report(nasty_study(), **QUICK, saved_as="</script> & study")


@pytest.fixture
def no_pictures(monkeypatch):
    """Leave out the drawing, which takes most of the time, where pictures are not what is tested."""
    for module in (_maps, _findings):
        monkeypatch.setattr(module, "draw", lambda *_, **__: "data:image/svg+xml;base64,")


def small_study(n=12, **known):
    return Discovery(distances(n)[1], **known)


def quick_study(fits=1, **known):
    study = small_study(**known)
    for _ in range(fits):
        study.fit(2, n_init=1)
    return study


# ---- what it says


def test_the_page_has_every_part_in_order(page):
    headings = [e.text for e in read(page).all("h2")]
    assert headings == [
        "Contents",
        "In short",
        "What was asked",
        "Before and after",
        "Step by step",
        "Does the last map repeat what was known?",
        "How many dimensions?",
        "What the known features do",
        "How good the fit is",
        "How sure the places are",
        "Would a simpler method have done?",
        "What to be careful about",
        "History",
        "Versions",
        "The script",
    ]


def test_no_part_of_an_ordinary_study_fails(page):
    assert "could not be made" not in page
    assert "While this page was made" not in page


def test_it_says_what_was_asked(page):
    said = section(page, "asked")
    assert "91 of 91" in said.text
    (known,) = rows(said)
    assert known[1:] == [
        ["gender", "nominal", "2", "0", "column 'gender' of the table"],
        ["degree", "numeric", "3", "0", "column 'degree' of the table"],
    ]


def test_every_step_is_told_with_what_was_adopted_and_why(page, study):
    said = section(page, "steps")
    assert [e.text for e in said.all("h3")] == [
        "Map 1: nothing known",
        "Map 2: given gender",
        "Map 3: given gender and degree",
    ]
    assert "Adopted gender (column 'gender' of the table): men on one side, women on the other" in said.text
    assert len(said.all("img")) == 3
    for step in study.steps:
        assert number(step.stress) in said.text


def test_maps_are_coloured_by_what_was_recognised_on_them(page):
    alts = [image.attributes["alt"] for image in section(page, "steps").all("img")]
    assert alts == [
        "Map 1 of 14 objects, nothing known. Coloured by gender.",
        "Map 2 of 14 objects, given gender. Coloured by degree.",
        "Map 3 of 14 objects, given gender, degree. Coloured by degree.",  # which it was told last
    ]


def test_the_scree_is_that_of_inspection(page, study, kinship):
    step = study.step
    mds = ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0)
    found = scree(mds, kinship.dissimilarities, study.known, max_components=6)
    (shown,) = rows(section(page, "scree"))
    assert [row[:2] for row in shown[1:]] == [[str(p), number(s)] for p, s in found["stress"].items()]
    assert f"bends most at {found.attrs['elbow']} dimension" in section(page, "scree").text
    assert found.loc[2, "stress"] <= step.stress


def test_importances_have_the_intervals_of_the_bootstrap(page, study, kinship):
    mds = ConditionalMDS(2, metric="precomputed", n_init=2, random_state=0)
    found = bootstrap(mds, kinship.dissimilarities, study.known, n_resamples=8, random_state=0).importance
    (shown,) = rows(section(page, "importance"))
    assert shown[0] == ["Feature", "Importance", "95% interval"]
    for name, value, interval in shown[1:]:
        row = found.loc[name]
        assert (value, interval) == (number(row["standardized"]), f"{number(row['low'])} to {number(row['high'])}")


def test_stress_per_point_is_that_of_the_step(page, study):
    _, points = rows(section(page, "quality"))
    stress = study.step.stress_per_point.sort_values(ascending=False, kind="stable")
    assert [row[0] for row in points[1:]] == list(stress.index)
    assert points[1][1] == f"{stress.iloc[0] / stress.mean():.2f}"


def test_the_worst_pairs_have_the_largest_residuals(page, study, kinship):
    pairs, _ = rows(section(page, "quality"))
    gaps = [abs(float(aim) - float(distance)) for _, aim, distance in pairs[1:]]
    assert len(gaps) == 10
    assert all(a >= b - 0.11 for a, b in pairwise(gaps))  # both rounded to three digits
    first, second = pairs[1][0].split(" and ")
    assert number(kinship.dissimilarities.loc[first, second]) == pairs[1][1]


def test_rivals_are_those_of_inspection(page, study, kinship):
    (shown,) = rows(section(page, "rivals"))
    found = compare(kinship.dissimilarities, study.known, methods=["partial-dbrda", "mds"], random_state=0)
    assert [row[0] for row in shown[1:]] == [
        "This study's last map",
        "Partial distance-based redundancy analysis",
        "Metric scaling, told nothing",
    ]
    assert shown[1][1] == number(study.step.stress)
    assert shown[3][1:] == [number(found.loc["mds", "stress"])] + [
        f"{found.loc['mds', name]:.2f}" for name in ("leak", "trustworthiness")
    ]


def test_history_versions_and_script(page, study):
    told = [e.text for e in section(page, "history").all("li")]
    assert told[0].startswith("Map 1, conditional scaling in 2 dimensions, nothing known: stress 0.0")
    assert told[1].startswith("Adopted gender (column 'gender' of the table): men on one side")
    assert len(told) == len(study.actions)
    (versions,) = rows(section(page, "versions"))
    assert ["numpy", np.__version__, np.__version__] in versions
    (script,) = section(page, "script").all("pre")
    assert script.text == study.to_script("kinship.zip").rstrip("\n")


# ---- safety


def test_the_page_needs_nothing_from_elsewhere(page):
    root = read(page)
    policies = [e for e in root.all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policies[0].attributes["content"].startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    addresses = [e.attributes.get(name) for e in everything(root) for name in ("src", "href", "srcset", "action")]
    assert {a[:5] for a in addresses if a} - {"data:"} <= {a[:5] for a in addresses if a and a.startswith("#")}
    assert "http" not in re.sub(r'"data:[^"]*"', "", page).replace('http-equiv="', "")
    assert root.all("script") == root.all("iframe") == root.all("object") == []


def test_hostile_text_stays_text(nasty):
    root = read(nasty)
    names = {e.name for e in everything(root)}
    assert names.isdisjoint({"script", "iframe", "object"})
    assert not [key for e in everything(root) for key in e.attributes if key.startswith("on")]
    (heading,) = root.all("h1")
    assert heading.text.startswith("<script>alert('title')</script> & \"title\" שלום long long")
    assert "<script>alert('why')</script>" in root.text
    points = [row[0] for row in rows(section(nasty, "quality"))[1][1:]]
    assert {"<script>alert(1)</script>", "a & b &amp; c", "שלום עולם", "��\N{SPACE}control"} <= set(points)
    assert len(points) == len(NASTY)


def test_pictures_are_sound_whatever_labels_hold(nasty):
    found = pictures(nasty)
    assert len(found) == 11  # what is repeated, and the map before and after adjusting, each wide and narrow
    for picture in found:
        root = ElementTree.fromstring(picture)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        kinds = {e.tag.partition("}")[2] for e in root.iter()}
        assert kinds.isdisjoint({"script", "foreignObject", "a"})
        assert not [name for e in root.iter() for name in e.attrib if name.startswith("on")]
        links = [v for e in root.iter() for name, v in e.attrib.items() if name.endswith("href")]
        assert all(link.startswith(("#", "data:image/png")) for link in links)


def test_text_in_pictures_is_left_to_the_browser(nasty):
    texts = [
        e.text for picture in pictures(nasty) for e in ElementTree.fromstring(picture).iter() if e.tag.endswith("}text")
    ]
    assert "<script>alert(1)</script>" in texts
    assert any("שלום" in text for text in texts)
    assert "$x^$ \\frac" in texts  # not read as a formula


def test_the_page_can_be_written_whatever_labels_hold(tmp_path):
    path = write_report(nasty_study(), tmp_path / "page.html", **QUICK)
    assert path.read_bytes().decode("utf-8").startswith("<!doctype html>")


# ---- for everybody


def test_headings_do_not_jump(page):
    levels = [int(e.name[1]) for e in everything(read(page)) if re.fullmatch(r"h[1-6]", e.name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_pictures_have_words_and_tables_have_headings(page):
    root = read(page)
    assert all(image.attributes["alt"].strip() for image in root.all("img"))
    assert all(figure.all("figcaption")[0].text.strip() for figure in root.all("figure"))
    assert {th.attributes.get("scope") for th in root.all("th")} == {"row", "col"}
    assert all(len(table.all("caption")) == 1 for table in root.all("table"))
    assert root.all("html")[0].attributes["lang"] == "en"


def test_names_that_refer_to_others_find_them(page):
    root = read(page)
    names = [e.attributes["id"] for e in everything(root) if "id" in e.attributes]
    assert len(names) == len(set(names))
    links = [a.attributes["href"][1:] for a in root.all("a")]
    labels = [e.attributes["aria-labelledby"] for e in everything(root) if "aria-labelledby" in e.attributes]
    assert set(links) | set(labels) <= set(names)


def test_boxes_that_scroll_can_be_reached_by_keyboard(page):
    boxes = [e for e in everything(read(page)) if e.attributes.get("class") == "scroll"]
    assert len(boxes) >= 8
    assert all(box.attributes["tabindex"] == "0" and box.attributes["role"] == "region" for box in boxes)


# ---- the same every time, and not in the way


def test_the_same_study_makes_the_same_page():
    study = quick_study(known=pd.DataFrame({"x": distances(12)[0][:, 0]}))
    options = {"scree": False, "bootstrap": 2, "compare": False}
    assert render_report(study, **options) == render_report(study.branch(""), **options)


def test_a_saved_study_makes_the_same_page(study, tmp_path, no_pictures):
    again = Discovery.load(study.save(tmp_path / "kinship.zip"))
    assert render_report(again, **QUICK) == render_report(study, **QUICK)


def test_the_study_and_the_style_of_pictures_stay_as_they_were():
    import matplotlib

    study = quick_study()
    before, actions = dict(matplotlib.rcParams), study.actions
    plain = render_report(study, **QUICK)
    assert dict(matplotlib.rcParams) == before
    assert study.actions == actions
    with matplotlib.rc_context({"font.size": 30.0, "axes.facecolor": "black", "svg.fonttype": "path"}):
        assert render_report(study, **QUICK) == plain


def test_progress_is_told(study, no_pictures):
    told = []
    render_report(study, **QUICK, progress=lambda *call: told.append(call))
    assert [number for _, number, _ in told] == list(range(len(told)))
    assert {total for *_, total in told} == {len(told) - 1}
    assert (told[0][0], told[-1][0]) == ("what was asked", "done")


def test_a_page_is_written_whole_or_not_at_all(study, tmp_path, monkeypatch, no_pictures):
    path = tmp_path / "page.html"
    assert write_report(study, str(path), **QUICK, title="First") == path
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(study, path, **QUICK, title="Second", progress=stop)
    assert "<title>First</title>" in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="there is no folder"):
        write_report(study, tmp_path / "nowhere" / "page.html", **QUICK)


def test_title(study, no_pictures):
    assert "<title>Kinship</title>" in render_report(study, **QUICK)
    assert "<title>A &amp; B</title>" in render_report(study, **QUICK, title="A & B")
    assert "<title>A study of dissimilarities</title>" in render_report(quick_study(), **QUICK)


# ---- studies of other kinds


def test_nothing_known_has_no_after(no_pictures):
    page = render_report(quick_study(), **QUICK)
    assert "There is no after yet" in section(page, "pair").text
    assert "Nothing was found to warn of." in section(page, "cautions").text
    assert "no known features" in section(page, "importance").text
    assert "no known features" in section(page, "asked").text
    assert len(section(page, "steps").all("img")) == 1


def test_what_was_known_from_the_start_gets_a_map_with_nothing_known(no_pictures):
    known = pd.DataFrame({"x": distances(12)[0][:, 0]})
    page = render_report(quick_study(known=known, known_types={"x": "numeric"}), **QUICK)
    assert "it was fitted for this page" in section(page, "pair").text
    assert "numeric, declared" in section(page, "asked").text
    assert "known from the start" in section(page, "asked").text


@pytest.mark.parametrize("p", [0, 1, 3])
def test_maps_of_any_number_of_dimensions(p):
    study = small_study(known=pd.DataFrame({"x": distances(12)[0][:, 0]}))
    study.fit(p, n_init=1)
    page = render_report(study, scree=False, bootstrap=4, compare=["partial-dbrda"])
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
    page = render_report(study, bootstrap=2, compare=["partial-dbrda"])
    assert "could not be made" not in page
    assert len(section(page, "quality").all("img")) == 2


def test_weights_and_an_external_table_are_told(no_pictures):
    W = np.ones((12, 12))
    W[0, 1] = W[1, 0] = 5.0
    study = small_study(weights=W, table=pd.DataFrame({"outside": np.arange(12)}))
    study.fit(2, n_init=1)
    page = render_report(study, bootstrap=2, compare=["conditional-mds"])
    said = section(page, "asked").text
    assert "Weights of the pairsgiven" in said
    assert "outside" in said
    # Without the weights it is another method.
    assert "Conditional scaling with its defaults" in section(page, "rivals").text


@pytest.mark.filterwarnings("ignore::unmask.ImputedKnownWarning")
def test_estimated_cells_are_told(no_pictures):
    X = distances(12)[0]
    known = pd.DataFrame({"size": X[:, 0], "site": np.array(["wood", "field"])[np.arange(12) % 2]})
    known.loc[3, "size"], known.loc[4, "site"] = np.nan, None
    study = quick_study(known=known)
    number, level = study.step.imputed.itertuples()
    said = section(render_report(study, **QUICK), "asked").text
    assert "Missing cells, as the last map estimated them" in said
    assert "ObjectFeatureEstimatedHow sureRemark3size" in said
    assert f"4site{level.value}{100 * level.certainty:.1f}" in said
    assert "95%: " in said
    assert number.remark in said


@pytest.mark.filterwarnings("ignore::unmask.ImputedKnownWarning")
def test_missing_known_cells_are_estimated_for_the_rivals(no_pictures):
    known = pd.DataFrame({"a": [np.nan, *np.random.default_rng(0).normal(size=11)]})
    page = render_report(
        quick_study(known=known), scree=False, bootstrap=0, compare=["mds-then-regress", "partial-dbrda"]
    )
    text = section(page, "rivals").text
    assert "1 missing cell of the known features is estimated, and all methods use the estimates." in text
    assert "could not be made" not in text
    assert "Partial distance-based redundancy analysis" in text


def test_conditional_scaling_is_no_rival_of_itself(no_pictures):
    page = render_report(quick_study(), scree=False, bootstrap=0, compare=["conditional-mds", "partial-dbrda"])
    study = quick_study()
    study.undo()
    study.fit(2)
    plain = render_report(study, scree=False, bootstrap=0, compare=["conditional-mds", "partial-dbrda"])
    assert "with its defaults" in section(page, "rivals").text  # which make more starts
    assert "with its defaults" not in section(plain, "rivals").text


def test_a_method_that_cannot_be_run_is_named_with_the_reason(no_pictures):
    D = distances(12)[1]
    D[0, 1] = D[1, 0] = np.nan
    study = Discovery(D)
    with pytest.warns(MissingDissimilarityWarning):
        study.fit(2, n_init=1)
    page = render_report(study, scree=False, bootstrap=0, compare=["mds", "partial-dbrda"])
    said = section(page, "rivals")
    assert "Methods that made no map:" in said.text
    assert "partial-dbrda: ValueError: 1 pairs have no dissimilarity" in said.text
    (shown,) = rows(said)
    assert [row[0] for row in shown[1:]] == ["This study's last map", "Metric scaling, told nothing"]
    assert shown[1][3] == "\N{EN DASH}"  # of trustworthiness, which needs all pairs
    assert "Said by the methods:" in said.text
    cautions = section(page, "cautions").text
    assert cautions.count("1 of 66 pairs") == 1


def test_a_method_that_was_not_registered(no_pictures):
    page = render_report(quick_study(), scree=False, bootstrap=0, compare=["magic"])
    assert "must name registered methods" in section(page, "rivals").text
    assert "must name registered methods" in section(page, "cautions").text


# ---- cautions


def test_cautions_are_in_plain_words(no_pictures):
    study = small_study(8, known=pd.DataFrame({"x": np.arange(8.0), "copy": 2 * np.arange(8.0)}))
    with pytest.warns(UserWarning, match="carry no information"):
        study.fit(2, n_init=1)
    with pytest.warns(UserWarning, match="carry no information"), pytest.warns(UserWarning, match="before the stress"):
        study.fit(2, n_init=1, max_iter=1)
    study.adopt("later", from_axis=0, why="seen")
    page = render_report(study, **QUICK)
    said = section(page, "cautions").text
    assert "Few objects. Of 8 objects almost any pattern can be chance." in said
    assert "Maps 1, 2. Some known features tell nothing that the others do not" in said
    assert "Map 2. The search stopped before it had settled" in said
    assert "Not fitted yet. Adopted after the last map, which was not given: later" in said
    number_of = int(re.search(r"There are (\d+) things", section(page, "short").text)[1])
    assert number_of == len(section(page, "cautions").all("li"))
    assert "not settled" in section(page, "steps").text


def test_an_interrupted_map_is_marked(no_pictures):
    study = small_study()
    with pytest.warns(UserWarning, match="interrupted"):
        study.fit(2, n_init=1, callback=lambda *_: True)
    page = render_report(study, **QUICK)
    assert "The fit was interrupted, and its map is what it had by then" in section(page, "cautions").text
    assert "interrupted" in section(page, "steps").text
    assert "interrupted" in rows(section(page, "history"))[0][1]


@pytest.fixture
def leaking():
    """Return a function that makes a study: one known feature of two that act together, and too many dimensions."""
    X, D = distances(40, 2)

    def study(p=3, **options):
        made = Discovery(D, known=pd.DataFrame({"x": X[:, 0]}))
        made.fit(p, n_init=1, **options)
        return made

    return study


def test_what_the_last_map_repeats_is_said_in_short_and_not_among_the_cautions(no_pictures, leaking):
    study = leaking(adjust=False)
    leak = study.step.leak
    page = render_report(study, **QUICK)
    assert leak > 0.5
    said = section(page, "short").text
    assert f"The last map repeats what was known (leak {leak:.2f}; by chance it would be below" in said
    assert f"below {leak_reference(40, 3, 1):.2f} in 19 of 20 maps)" in said
    assert "adjust=True" in said
    assert "repeats" not in section(page, "cautions").text
    ((_, (feature, along, *_)),) = rows(section(page, "repeats"))
    assert feature == "x"
    assert along == f"{leak:.2f} ({leak_reference(40, 3, 1):.2f})"


def test_an_adjusted_map_is_shown_beside_the_free_one(no_pictures, leaking):
    study = leaking()
    page = render_report(study, **QUICK)
    assert study.step.adjusted
    assert f"as it was fitted, its leak was {study.step.free_leak:.2f}" in section(page, "short").text
    assert "The last map as it was fitted, and adjusted for what was known." in section(page, "repeats").text
    assert rows(section(page, "repeats"))[0][1][1].startswith("0.00 (")
    # Distances are those of the free map: the record is enough for the Shepard diagram, nothing is fitted again.
    assert "left out" not in section(page, "quality").text


def test_a_map_that_repeats_nothing_says_so(no_pictures, leaking):
    assert (
        "It repeats nothing of what was known beyond chance (leak 0.00"
        in section(render_report(leaking(1, orthogonal=True), **QUICK), "short").text
    )


def test_fewer_dimensions_than_the_elbow_are_cautioned_against(no_pictures):
    angle = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    study = Discovery(np.hypot(*(np.subtract.outer(x, x) for x in (np.cos(angle), np.sin(angle)))))
    study.fit(1, n_init=1)
    page = render_report(study, bootstrap=0, compare=False)
    assert "bends most at 2 dimensions; the last map has 1" in section(page, "scree").text
    assert "More dimensions. The stress bends at 2 and the last map has 1" in section(page, "cautions").text


def test_importance_that_may_be_nothing_is_cautioned_against(no_pictures):
    rng = np.random.default_rng(3)
    _, D = distances(12, 2)
    study = Discovery(D, known=pd.DataFrame({"noise": rng.normal(size=12)}))
    study.fit(2, n_init=1)
    page = render_report(study, scree=False, bootstrap=20, compare=False)
    (shown,) = rows(section(page, "importance"))
    low = float(shown[1][2].split(" to ")[0])
    assert ("Perhaps nothing" in section(page, "cautions").text) == (low <= 0)
    assert low <= 0


def test_nothing_to_warn_of(study, no_pictures):
    assert "Nothing was found to warn of." in section(render_report(study, **QUICK), "cautions").text


def test_a_bootstrap_that_fails_leaves_importances_without_intervals(study, monkeypatch, no_pictures):
    def fail(*_, **__):
        raise ValueError("no residuals")

    monkeypatch.setattr(_subject, "bootstrap", fail)
    page = render_report(study, scree=False, bootstrap=5, compare=False)
    said = section(page, "importance")
    assert rows(said)[0][0] == ["Feature", "Importance"]
    assert "Intervals could not be made (ValueError: no residuals)" in said.text
    assert "This part could not be made (ValueError: no residuals)" in section(page, "sureness").text


# ---- many


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
    assert "680 more objects are not shown." in section(page, "quality").text
    left_out = section(page, "cautions").text
    for part in ("The scree", "The bootstrap", "The comparison with other methods"):
        assert f"{part} is left out" in left_out
    assert "700 objects are more than the 500 for which a report makes that" in left_out
    assert "Lines or arrows show where some of the objects went" in section(page, "pair").text
    # Points became pixels.
    assert all(
        "<image" in picture for picture in pictures(section(page, "steps").all("img")[0].attributes["src"] + '"')
    )


def test_a_sample_of_pairs_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr(_subject, "MOST_IN_PAIRS", 9)
    page = render_report(quick_study(), **QUICK)
    assert "Shown are the pairs of 9 objects, picked at random." in section(page, "quality").text


def test_many_steps_and_features_are_counted(monkeypatch, no_pictures):
    monkeypatch.setattr(_asked, "MOST_MAPS", 3)
    rng = np.random.default_rng(0)
    known = pd.DataFrame(rng.normal(size=(40, 24)), columns=[f"f{i}" for i in range(24)])
    study = small_study(40, known=known)
    for _ in range(21):
        study.fit(2, estimator="classical")
        study.forget(study.known.columns[-1])
        study.adopt(f"a{len(study.steps)}", rng.normal(size=40))
    page = render_report(study, **QUICK)
    assert "Shown are the first map and the last 2; 18 between are left out." in section(page, "steps").text
    assert len(section(page, "steps").all("h3")) == 3
    assert "4 more features are not shown." in section(page, "asked").text
    assert "4 more features are not shown." in section(page, "importance").text
    assert "23 more actions are not shown." in section(page, "history").text
    assert section(page, "history").all("ol")[0].attributes["start"] == "24"
    assert "Put aside" in section(page, "steps").text


def test_adoptions_before_the_first_map_are_told(no_pictures):
    study = small_study()
    study.adopt("early", np.arange(12), why="known all along")
    study.fit(2, n_init=1)
    assert "Adopted early (given values): known all along" in section(render_report(study, **QUICK), "steps").text


def test_one_of_a_kind(no_pictures):
    study = small_study(21)
    study.fit(2, n_init=1)
    page = render_report(study, **QUICK)
    assert "1 more object is not shown." in section(page, "quality").text


# ---- colours


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
def test_how_a_feature_is_coloured(values, kind, coloured):
    from unmask.reports._maps import paint_of

    study = small_study()
    study.fit(2, n_init=1)
    study.adopt("feature", values, kind=kind)
    asked = _subject.Subject(study, None)
    paint = paint_of(asked, "feature")
    if coloured == "plain":
        assert paint.values is None
        assert paint.words == paint.caption == ""
    else:
        assert isinstance(paint.values.dtype, pd.CategoricalDtype) == (coloured == "levels")
        assert paint.words == " Coloured by feature."
    page = render_report(study, **QUICK)
    assert "could not be made" not in page


def test_levels_that_are_cut_stay_different():
    from unmask.reports._maps import paint_of

    study = small_study()
    study.adopt("feature", ["z" * 50 + c for c in "abcd"] * 3)
    paint = paint_of(_subject.Subject(study, None), "feature")
    assert paint.values.nunique() == 4


# ---- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scree": 1}, "scree=1 must be True or False"),
        ({"bootstrap": -1}, "bootstrap=-1 must be an integer of at least 0"),
        ({"bootstrap": 1}, "bootstrap=1 says nothing about spread"),
        ({"compare": "mds"}, "compare='mds' must be True, False or a list"),
        ({"compare": [1]}, r"compare=\[1\] must be True, False or a list"),
        ({"seed": -1}, "seed=-1 must be an integer of at least 0"),
        ({"max_objects": 0.5}, "max_objects=0.5 must be an integer of at least 0"),
    ],
)
def test_bad_options_are_named(study, options, message):
    with pytest.raises(ValueError, match=message):
        render_report(study, **options)


def test_bad_studies_are_named():
    with pytest.raises(ValueError, match="study is of type str; pass a Discovery"):
        render_report("study.zip")
    with pytest.raises(ValueError, match="study has no fit to report"):
        render_report(small_study())


def test_all_rivals_are_asked_for_by_default():
    from unmask.reports._report import _options
    from unmask.reports._rivals import RIVALS

    assert _options(True, 0, True, 0, 0, Path("a") / "b").rivals == tuple(RIVALS)
    assert _options(True, 0, False, 0, 0, "b").rivals == ()


def test_every_rival_has_a_name_in_plain_words():
    from unmask.inspection._compare import _METHODS
    from unmask.reports._rivals import RIVALS

    assert set(_METHODS) == set(RIVALS)


def test_what_is_not_installed_is_no_caution(study, no_pictures, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    page = render_report(study, **QUICK | {"compare": ["umap", "mds"]})
    said = section(page, "rivals").text
    assert "Not compared, because not installed: UMAP. pip install 'unmask[compare]' adds them." in said
    assert "ImportError" not in said
    assert "umap" not in section(page, "cautions").text.lower()


def test_a_part_that_lacks_its_package_is_no_caution(study, no_pictures, monkeypatch):
    def missing(*_, **__):
        raise ImportError("this needs the package 'x'")

    monkeypatch.setattr("unmask.reports._rivals.compare", missing)
    page = render_report(study, **QUICK | {"compare": ["mds"]})
    assert "This part is not there: this needs the package 'x'." in section(page, "rivals").text
    assert "package" not in section(page, "cautions").text
