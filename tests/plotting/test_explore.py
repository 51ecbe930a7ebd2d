"""Maps to look at in a browser: what a page holds, what it refuses, and how large it is."""

import base64
import hashlib
import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS
from unmask.plotting import InteractiveMap, explore
from unmask.plotting._page import map_asset

NASTY = [
    "</script><script>alert(1)</script>",
    "<!--",
    "<img src=x onerror=alert(2)>",
    "'\" &amp;",
    "\ud800",
    "\u202eevil\x00",
]


def data_of(shown):
    return json.loads(shown.data)


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), kind).astype(float)


def cloud(n, seed=0):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 2)), index=[f"object {i}" for i in range(n)])


def test_places_are_kept_to_a_16th_bit():
    U = np.random.default_rng(0).normal(size=(50, 3)) * [3, 1, 1] + [100, -5, 0]
    data = data_of(explore(U))
    places = 2 * numbers(data["places"], "<u2").reshape(-1, 2) / 65534 - 1
    back = np.array(data["middle"]) + data["half"] * places
    assert np.abs(back - U[:, :2]).max() <= data["half"] / 65534 * 1.0001
    assert data["names"] is None
    assert data["colour"] is None


@pytest.mark.parametrize("places", [[[1.0, 2.0]], [[3.0, 3.0], [3.0, 3.0]], [[-1.7e308, 0.0], [1.7e308, 1.0]], [1, 2]])
def test_any_finite_places(places):
    data = data_of(explore(places))
    assert len(numbers(data["places"], "<u2")) == 2 * len(places)
    assert np.isfinite([*data["middle"], data["half"]]).all()
    assert len(data["axes"]) == np.ndim(places)


def test_labels_of_an_estimator_and_colours_by_label(kinship):
    mds = ConditionalMDS(2, metric="precomputed", n_init=1, random_state=0).fit(kinship.dissimilarities)
    gender = kinship.known["gender"].map({1: "male", 2: "female"})
    shown = explore(mds, color=gender.iloc[::-1], title="Kin")
    data = data_of(shown)
    assert data["names"] == list(kinship.dissimilarities.index)
    assert data["colour"]["name"] == "gender"
    codes = numbers(data["colour"]["codes"], "u1").astype(int)
    assert [data["colour"]["levels"][code] for code in codes] == list(gender)
    assert repr(shown) == "<map of 14 objects: a notebook shows it, save(path) writes a page>"
    assert isinstance(shown, InteractiveMap)


def test_missing_categories_and_numbers():
    U = np.eye(4)
    levels = data_of(explore(U, color=["b", None, "a", "b"]))["colour"]
    assert numbers(levels["codes"], "u1").tolist() == [1, 255, 0, 1]
    scale = data_of(explore(U, color=[0.5, np.nan, 2.5, np.inf]))["colour"]
    assert scale["range"] == [0.5, 2.5]
    assert numbers(scale["codes"], "<u2").tolist() == [0, 65535, 65534, 65535]
    grades = data_of(explore(U, color=pd.array([3, None, 1, 2], dtype="Int64")))["colour"]
    assert (grades["levels"], grades["shares"]) == (["1", "2", "3"], [0.0, 0.5, 1.0])
    assert numbers(grades["codes"], "u1").tolist() == [2, 255, 0, 1]
    assert data_of(explore(U, color=[7.0] * 4))["colour"]["shares"] == [0.0]
    assert numbers(data_of(explore(U, color=[0.5] * 4))["colour"]["codes"], "<u2").tolist() == [0] * 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"embedding": [[1.0, np.nan]]}, "embedding has nan in row 0, column 1"),
        ({"labels": ["a"]}, "labels has 1 entries but the map has 40 objects"),
        ({"color": [str(i) for i in range(40)]}, "color has 40 categories, of which at most 32"),
    ],
)
def test_what_does_not_fit_is_refused_as_by_plot_map(given, said):
    with pytest.raises(ValueError, match=said):
        explore(**{"embedding": np.zeros((40, 2)), **given})


def test_labels_are_text():
    # pandas itself refuses half a character in categories.
    kinds = [label.replace("\ud800", "half") for label in NASTY]
    shown = explore(np.arange(12.0).reshape(6, 2), labels=NASTY, color=kinds, title=NASTY[0] + NASTY[4])
    assert data_of(shown)["names"] == NASTY
    assert sorted(data_of(shown)["colour"]["levels"]) == sorted(kinds)
    page = shown.page
    assert page.count("<script") == 2  # the data and the one that is allowed
    assert "<img" not in page
    page.encode("utf-8")
    shown._repr_html_().encode("utf-8")


def test_the_page_allows_its_script_and_style_by_hash_and_nothing_else(tmp_path):
    text = explore(np.eye(3)).save(tmp_path / "map.html").read_text(encoding="utf-8")
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    for name, kind in (("script", "<script>"), ("style", "<style>")):
        (inside,) = re.findall(rf"{kind}(.*?)</{name}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_a_script_that_may_stand_in_a_page():
    unwanted = r"</script|<!--|\beval\(|new Function\(|innerHTML|document\.write|https?:(?!//www\.w3\.org)"
    assert re.findall(unwanted, map_asset("explore.js")) == []


def test_a_notebook_shows_it_in_a_frame_of_its_own():
    shown = explore(np.eye(3), labels=["it's", 'a "b"', "&lt;"], title='"<T>"')
    frame = shown._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts" title="&quot;&lt;T&gt;&quot;"')
    assert html.unescape(re.search(r"srcdoc='([^']*)'", frame)[1]) == shown.page


@pytest.mark.parametrize(("n", "most"), [(200, 40_000), (20_000, 1_000_000)])
@pytest.mark.parametrize("kind", ["nominal", "numbers"])
def test_pages_are_small(tmp_path, n, most, kind):
    values = np.arange(n) % 7 / 10
    color = pd.Series(values if kind == "numbers" else values.astype(str), name="color")
    page = explore(cloud(n), color=color.to_numpy(), title="A map of objects").save(tmp_path / "map.html")
    assert page.stat().st_size <= most


@pytest.mark.parametrize(("first", "size"), [(12_345, 2), (20_240_315, 4)])
def test_whole_numbers_are_kept_as_they_are(first, size):
    values = np.array([first, *range(20), np.nan, first - 10])
    stored = data_of(explore(np.zeros((len(values), 2)), color=values))["colour"]
    codes = numbers(stored["codes"], f"<u{size}")
    found = np.where(codes == 2 ** (8 * size) - 1, np.nan, stored["range"][0] + codes)
    assert stored["whole"] == size
    np.testing.assert_array_equal(found, values)
