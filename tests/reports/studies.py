"""Small studies to report, quick to fit."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from unmask.datasets import load_kinship
from unmask.discovery import Discovery
from unmask.reports import write_report

# Options of a report that leave out what takes long.
QUICK = {"scree": False, "bootstrap": 0, "compare": False}
# What could break out of a page, of an attribute, of a picture, or of a sentence.
NASTY = [
    "<script>alert(1)</script>",
    "a & b &amp; c",
    "\"double\" 'single'",
    "שלום עולם",
    "مرحبا بالعالم",
    "漢字",
    "x" * 400,
    "word " * 80,
    "$x^$ \\frac",
    "tab\tand\nline",
    "\x00\x01 control",
    "\u202eturned",
    "</style><img src=x onerror=alert(2)>",
    "{braces} %s {{0}}",
    "-->",
    "]]>",
    "javascript:alert(3)",
]


def kinship_study():
    """Return three steps from nothing, with two adoptions."""
    kin = load_kinship()
    table = kin.known.assign(gender=kin.known["gender"].map({1: "male", 2: "female"}))
    study = Discovery(kin.dissimilarities, table=table, title="Kinship")
    study.fit(2, n_init=2)
    study.adopt("gender", column="gender", why="men on one side, women on the other")
    study.fit(2, n_init=2)
    study.adopt("degree", column="degree", why="near kin at one end")
    study.fit(2, n_init=2)
    return study


def distances(n, dimensions=3, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, dimensions))
    noise = np.triu(np.random.default_rng(seed + 1).uniform(0.8, 1.2, (n, n)), 1)
    return X, np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) * (noise + noise.T)


def nasty_study():
    """Return a study in which every text that a user can give is hostile."""
    X, D = distances(len(NASTY))
    D = pd.DataFrame(D, index=NASTY, columns=NASTY)
    cells = {'<b>bold</b> & "q"': [NASTY[i % 3] for i in range(len(D))], "n" * 300: X[:, 1]}
    table = pd.DataFrame(cells, index=NASTY)
    study = Discovery(D, table=table, title="<script>alert('title')</script> & \"title\" שלום " + "long " * 60)
    study.fit(2, n_init=1)
    study.adopt("<img src=x onerror=alert(4)>", column=table.columns[0], why="<script>alert('why')</script> \u202e why")
    study.adopt('" onmouseover="alert(5)', from_axis=0, why="y" * 3000)
    study.adopt("n" * 300, column="n" * 300)
    study.fit(2, n_init=1)
    return study


def small_study(n=12, **known):
    return Discovery(distances(n)[1], **known)


def quick_study(fits=1, **known):
    study = small_study(**known)
    for _ in range(fits):
        study.fit(2, n_init=1)
    return study


def page_of(study, **options):
    """Return the page of a study."""
    with tempfile.TemporaryDirectory() as folder:
        return write_report(study, Path(folder) / "page.html", **options).read_text(encoding="utf-8")
