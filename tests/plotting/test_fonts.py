"""Labels as they were written: dollars, and scripts that the usual font does not have."""

from io import BytesIO

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from unmask.plotting import plot_coef, plot_map

# In the STIX fonts that matplotlib brings along, not in its DejaVu; and in none of its fonts.
ELSEWHERE, NOWHERE = "\u1d81", "\U000e9999"


def drawn_map(labels, **options):
    ax = Figure().add_subplot()
    plot_map(pd.DataFrame(np.random.default_rng(0).normal(size=(len(labels), 2)), index=labels), ax=ax, **options)
    return ax


@pytest.mark.parametrize("label", ["$10-$20", "$^$", r"$\frac{1}{$"])
def test_a_dollar_is_a_dollar(label):
    names = [label, "b", "c", "d"]
    color = pd.Series([label, label, "other", "other"], index=names, name=label)
    ax = drawn_map(names, color=color, title=label)
    ax.figure.savefig(BytesIO())  # mathematics that cannot be understood would raise
    texts = [text for text in ax.figure.findobj(matplotlib.text.Text) if text.get_text() == label]
    assert len(texts) >= 3
    assert not any(text.get_parse_math() for text in texts)


def test_a_tab_is_drawn_as_a_blank():
    names = ["one\ttab", "b", "c", "d"]
    ax = drawn_map(names, color=pd.Series(["x\ty", "x\ty", "z", "z"], index=names, name="k\x07"), title="a\tb")
    texts = {text.get_text() for text in ax.figure.findobj(matplotlib.text.Text)}
    assert {"one tab", "x y", "k ", "a b"} <= texts
    assert not any("\t" in text or "\x07" in text for text in texts)


def test_dollars_beside_bars_and_cells():
    coef = pd.DataFrame([[1.0, 0.2], [0.2, 2.0]], index=["$^$", "b"], columns=["$^$", "b"])
    ax = plot_coef(coef, ax=Figure().add_subplot())
    ax.figure.savefig(BytesIO())


def test_an_installed_font_that_has_the_characters_is_used(caplog):
    ax = drawn_map([ELSEWHERE, "b", "c"])
    (text,) = [text for text in ax.texts if text.get_text() == ELSEWHERE]
    assert "STIXGeneral" in text.get_fontfamily()
    assert not caplog.records  # fonts that are not installed are not asked for, which matplotlib would log
    ax.figure.savefig(BytesIO())  # a missing character would warn, and warnings are errors


def test_a_character_that_no_font_has_is_named_by_matplotlib():
    with pytest.warns(UserWarning, match="Glyph .* missing from font"):
        drawn_map([NOWHERE, "b", "c"]).figure.savefig(BytesIO())


def test_the_style_of_the_user_stays():
    before = dict(matplotlib.rcParams)
    drawn_map(["$a$", ELSEWHERE, "c"])
    assert dict(matplotlib.rcParams) == before
    pyplot.close("all")
