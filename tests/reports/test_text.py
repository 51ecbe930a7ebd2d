"""Names and numbers as the page writes them, and its colours."""

import re
from importlib import resources

import numpy as np
import pytest

from unmask.reports._text import clean, clip, clip_apart, count, name_of, names_of, number, percent

from .markup import read


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\n c", "a b c"),
        ("\x00x\x7f", "�x�"),
        ("lone \ud800", "lone �"),
        ("\u202eabc\u2066", "�abc�"),
        ("שלום", "שלום"),
        ("fa\u200cmily 👩\u200d🔬", "fa\u200cmily 👩\u200d🔬"),  # joiners belong to words and pictures
    ],
)
def test_clean_text_has_nothing_that_a_browser_cannot_show(text, shown):
    assert clean(text) == shown
    clean(text).encode("utf-8")


def test_names_are_cut_stay_apart_and_keep_their_direction():
    assert [clip("x" * n, 10) for n in (10, 11)] == ["x" * 10, "x" * 9 + "…"]
    names = clip_apart(["y" * 30 + "a", "y" * 30 + "b", "y" * 30 + "c", "short"], 12)
    assert len(set(names)) == 4
    assert max(map(len, names)) <= 12
    assert names[3] == "short"
    assert name_of("שלום <") == "<bdi>שלום &lt;</bdi>"


@pytest.mark.parametrize(
    ("names", "words"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (list("abc"), "a, b and c")]
)
def test_names_in_a_sentence(names, words):
    assert read(names_of(names)).text == words
    assert read(names_of([f"f{i}" for i in range(30)])).text.endswith("f8, f9 and 20 more")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0713, "0.0713"),
        (23.345, "23.3"),
        (1234.5, "1,234"),
        (2, "2"),
        (0, "0"),
        (-0.25, "-0.25"),
        (2.2e-11, "2.2e-11"),
        (1.5e12, "1.50e+12"),
        (np.nan, "\N{EN DASH}"),
        (np.inf, "\N{EN DASH}"),
    ],
)
def test_numbers_are_short(value, shown):
    assert number(value) == shown


def test_percent_and_counts():
    assert percent(0.9287) == "92.9\N{NO-BREAK SPACE}%"
    assert percent(np.nan) == "\N{EN DASH}"
    assert [count(n, "object") for n in (1, 2, 1000)] == ["1 object", "2 objects", "1,000 objects"]


def luminance(color):
    """Return the relative luminance of WCAG 2."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_in_both_schemes(scheme):
    style = (resources.files("unmask.reports") / "templates" / "report.css").read_text(encoding="utf-8")
    colors = dict(re.findall(r"--([\w-]+): (#\w{6});", re.findall(r":root \{([^}]*)\}", style)[scheme]))
    pairs = [(text, ground) for text in ("text", "quiet", "accent") for ground in ("ground", "panel")]
    pairs += [("careful", "careful-ground"), ("text", "careful-ground")]
    np.testing.assert_allclose(contrast("#000000", "#ffffff"), 21.0, rtol=1e-12, atol=0)
    assert min(contrast(colors[text], colors[ground]) for text, ground in pairs) >= 4.5
