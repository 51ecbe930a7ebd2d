"""The page is safe, can be used by everybody, and is the same every time."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pandas as pd
import pytest

from unmask.discovery import Discovery, Stopped
from unmask.reports import write_report

from .markup import everything, pictures, read, table
from .studies import NASTY, QUICK, distances, nasty_study, page_of, quick_study, small_study


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
    points = [row[0] for row in table(nasty, "points")[1:]]
    assert {"<script>alert(1)</script>", "a & b &amp; c", "שלום עולם", "��\N{SPACE}control"} <= set(points)
    assert len(points) == len(NASTY)


def test_pictures_are_sound_whatever_labels_hold(nasty):
    found = pictures(nasty)
    assert len(found) == 11  # a wide one, and of two maps side by side a narrow one too
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


def test_the_page_can_be_written_whatever_labels_hold(tmp_path, no_pictures):
    path = write_report(nasty_study(), tmp_path / "page.html", **QUICK)
    assert path.read_bytes().decode("utf-8").startswith("<!doctype html>")


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
    assert labels
    assert set(links) | set(labels) <= set(names)


def test_boxes_that_scroll_can_be_reached_by_keyboard(page):
    boxes = [e for e in everything(read(page)) if e.attributes.get("class") == "scroll"]
    assert len(boxes) >= 8
    assert all(box.attributes["tabindex"] == "0" and box.attributes["role"] == "region" for box in boxes)


REPEATED = {"scree": False, "bootstrap": 2, "compare": False}


@pytest.fixture(scope="module")
def drawn():
    """A study with something known, and its page with everything drawn."""
    study = quick_study(known=pd.DataFrame({"x": distances(12)[0][:, 0]}))
    return study, page_of(study, **REPEATED)


def test_the_same_study_makes_the_same_page_in_any_style_of_pictures(drawn):
    import matplotlib

    study, page = drawn
    with matplotlib.rc_context({"font.size": 30.0, "axes.facecolor": "black", "svg.fonttype": "path"}):
        assert page_of(study.branch(""), **REPEATED) == page


def test_a_saved_study_makes_the_same_page(study, tmp_path, no_pictures):
    again = Discovery.load(study.save(tmp_path / "kinship.zip"))
    assert page_of(again, **QUICK) == page_of(study, **QUICK)


def test_the_study_and_the_style_of_pictures_stay_as_they_were():
    import matplotlib

    study = quick_study()
    before, actions = dict(matplotlib.rcParams), study.actions
    page_of(study, **QUICK)
    assert dict(matplotlib.rcParams) == before
    assert study.actions == actions


def test_progress_is_told(study, no_pictures):
    told = []
    page_of(study, **QUICK, callback=lambda heard: told.append((heard.stage, heard.iteration, heard.max_iter)))
    assert [number for _, number, _ in told] == list(range(len(told)))
    assert {total for *_, total in told} == {len(told) - 1}
    assert (told[0][0], told[-1][0]) == ("report: Before and after", "report: done")


def test_a_page_is_written_whole_or_not_at_all(study, tmp_path, monkeypatch, no_pictures):
    path = tmp_path / "page.html"
    assert write_report(study, str(path), **QUICK, title="First") == path
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(study, path, **QUICK, title="Second", callback=stop)
    assert "<title>First</title>" in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="there is no folder"):
        write_report(study, tmp_path / "nowhere" / "page.html", **QUICK)


def test_a_callback_stops_a_report_in_the_middle_of_a_fit(study, tmp_path, no_pictures):
    parts = []

    def stop(progress):
        if progress.stage.startswith("report: "):
            parts.append(progress.stage)
        return (
            parts[-1] == "report: How good the last map is" and progress.stage == "search" and progress.iteration == 2
        )

    with pytest.raises(Stopped):
        write_report(study, tmp_path / "page.html", bootstrap=0, compare=False, callback=stop)
    assert parts[-1] == "report: How good the last map is"
    assert list(tmp_path.iterdir()) == []


def test_title(study, no_pictures):
    assert "<title>Kinship</title>" in page_of(study, **QUICK)
    assert "<title>A &amp; B</title>" in page_of(study, **QUICK, title="A & B")
    assert "<title>A study of dissimilarities</title>" in page_of(quick_study(), **QUICK)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"scree": 1}, "scree"),
        ({"bootstrap": -1}, "bootstrap"),
        ({"bootstrap": 1}, "bootstrap"),
        ({"compare": "mds"}, "compare"),
        ({"compare": [1]}, "compare"),
        ({"seed": -1}, "seed"),
        ({"max_objects": 0.5}, "max_objects"),
        ({"interactive": "yes"}, "interactive"),
    ],
)
def test_bad_options_are_named(study, options, argument):
    with pytest.raises(ValueError, match=argument):
        page_of(study, **options)


def test_bad_studies_are_named():
    with pytest.raises(ValueError, match="pass a Discovery"):
        page_of("study.zip")
    with pytest.raises(ValueError, match="no fit"):
        page_of(small_study())
