"""Kinship terms: how often students did not sort two terms together."""

from __future__ import annotations

from importlib.resources import files
from io import StringIO

from sklearn.utils import Bunch


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

    folder = files(__package__) / "data"
    dissimilarities = pd.read_csv(
        StringIO((folder / "kinship_dissimilarities.csv").read_text(encoding="utf-8")), index_col=0
    )
    known = pd.read_csv(StringIO((folder / "kinship_features.csv").read_text(encoding="utf-8")), index_col=0)
    return Bunch(dissimilarities=dissimilarities, known=known, DESCR=load_kinship.__doc__)
