"""Small parts of the page: escaping, numbers, names."""

import numpy as np
import pytest

from unmask.reports._html import (
    Html,
    clean,
    clip,
    clip_apart,
    count,
    element,
    join,
    name_of,
    names_of,
    number,
    percent,
)
from unmask.reports._style import DARK, LIGHT, PICTURE

from .markup import read


@pytest.mark.parametrize("text", ["<b>", "a & b", "\"'", "</p><script>x</script>", "&lt;"])
def test_text_comes_back_as_it_was_given(text):
    made = element("p", text, title=text)
    (found,) = read(made).children
    assert (found.name, found.text, found.attributes) == ("p", text, {"title": text})


def test_markup_is_not_escaped_twice():
    inner = element("b", "<x>")
    assert element("p", inner, " & ") == "<p><b>&lt;x&gt;</b> &amp; </p>"
    assert join([inner, "<"], ", ") == "<b>&lt;x&gt;</b>, &lt;"


def test_attributes_are_named_as_in_html_and_none_is_left_out():
    made = element("td", "1", class_="number", aria_label="one", scope=None)
    assert made == '<td class="number" aria-label="one">1</td>'
    assert element("meta", name="viewport") == '<meta name="viewport">'


def test_adding_text_to_markup_makes_it_text_again():
    # The class of a sum is str, so that it would be escaped, and not trusted.
    assert not isinstance(element("b", "x") + "<script>", Html)


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


def test_clipped_text_says_that_it_was():
    assert clip("x" * 10, 10) == "x" * 10
    assert clip("x" * 11, 10) == "x" * 9 + "…"


def test_clipped_names_stay_apart():
    names = clip_apart(["y" * 30 + "a", "y" * 30 + "b", "y" * 30 + "c", "short"], 12)
    assert len(set(names)) == 4
    assert max(map(len, names)) <= 12
    assert names[3] == "short"


def test_a_name_keeps_its_direction_to_itself():
    assert name_of("שלום <") == "<bdi>שלום &lt;</bdi>"


@pytest.mark.parametrize(
    ("names", "words"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (list("abc"), "a, b and c")],
)
def test_names_in_a_sentence(names, words):
    assert read(names_of(names)).text == words


def test_many_names_are_counted():
    assert read(names_of([f"f{i}" for i in range(30)])).text.endswith("f8, f9 and 20 more")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0713, "0.0713"),
        (0.5, "0.5"),
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


# ---- colours


def luminance(color):
    """Return the relative luminance of WCAG 2."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_the_guidelines():
    np.testing.assert_allclose(contrast("#000000", "#ffffff"), 21.0, rtol=1e-12, atol=0)
    np.testing.assert_allclose(contrast("#777777", "#ffffff"), 4.48, rtol=2e-3, atol=0)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_in_both_schemes(scheme):
    pairs = [(text, ground) for text in ("text", "quiet", "accent") for ground in ("ground", "panel")]
    pairs += [("careful", "careful-ground"), ("text", "careful-ground")]
    assert {
        pair: contrast(*(scheme[name] for name in pair))
        for pair in pairs
        if contrast(*(scheme[name] for name in pair)) < 4.5
    } == {}


def test_pictures_keep_a_light_ground():
    assert contrast(PICTURE, "#595959") > 4.5  # the grey of axes and ticks
