"""Files of which it is not said what they hold."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask.io import DissimilarityFile, FileProblem, TableFile, read_data, write_table

DISSIMILAR = {
    "labelled square": (",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n", "labels of rows and columns agree"),
    "plain square": ("0,1,2\n1,0,3\n2,3,0\n", "symmetric, with zeros on the diagonal"),
    "square with a header": ("a,b,c\n0,1,2\n1,0,3\n2,3,0\n", "symmetric, with zeros on the diagonal"),
    "triangle": ("a\nb,1\nc,2,3\n", "a lower triangle"),
    "condensed": ("1\n2\n3\n", "one number per pair"),
    "pairs": ("i,j,d\na,b,1\na,c,2\nb,c,3\n", "three columns, of which the first two name objects"),
    "numbered pairs": (
        "i,j,d\n0,1,1\n0,2,2\n1,2,3\n1,3,3\n0,3,3\n",
        "three columns, of which the first two name objects",
    ),
    "PHYLIP": ("3\na 0 1 2\nb 1 0 3\nc 2 3 0\n", "PHYLIP"),
}
FEATURES = {
    "numbers": ("x,y\n1,2.5\n3,4.5\n5,6.5\n", "has more rows than its 2 columns of numbers"),
    "labelled numbers": ("id,x,y\na,1,2\nb,3,4\nc,5,6\n", "has more rows than its 2 columns of numbers"),
    "square by chance": ("x,y\n1,2.5\n3,4.5\n", "4.5 on the diagonal, for object 'y'|1 on the diagonal"),
    "text": (
        "name,town,age,tall\nAda,Oslo,36,1\nBo,Bern,41,2\nCy,Oslo,29,3\n",
        "has 4 columns, of which the first two",
    ),
    "two texts and a number": ("name,town,age\nAda,Oslo,36\nBo,Bern,41\n", "first two do not name the same objects"),
    "three whole numbers": ("a,b,c\n1,5,2\n3,1,4\n5,7,6\n7,8,9\n", "first two do not name the same objects"),
    "one named column": ("age\n1\n2\n3\n", "its one column has a name"),
    "one column of four": ("1\n2\n3\n4\n", "has 4 numbers in one line"),
    "asymmetric": ("0,1,2\n1,0,3\n2,4,0\n", "3 for objects 2 and 3, but 4 the other way round"),
}


@pytest.mark.parametrize("kind", DISSIMILAR)
def test_dissimilarities_are_recognised_and_it_is_said_why(kind, tmp_path):
    content, why = DISSIMILAR[kind]
    (tmp_path / "d.txt").write_text(content, encoding="utf-8")
    found = read_data(tmp_path / "d.txt")
    assert isinstance(found, DissimilarityFile)
    assert found.detected[-1] == f"taken for dissimilarities: {why}"


@pytest.mark.parametrize("kind", FEATURES)
def test_features_are_recognised_and_it_is_said_why(kind, tmp_path):
    import re

    content, why = FEATURES[kind]
    (tmp_path / "t.txt").write_text(content, encoding="utf-8")
    found = read_data(tmp_path / "t.txt")
    assert isinstance(found, TableFile)
    assert re.match(f"taken for a table of features: .*({why})", found.detected[-1])


def test_arrays_and_typed_tables(tmp_path, rng):
    X = rng.standard_normal((5, 3))
    np.save(tmp_path / "x.npy", X)
    assert isinstance(read_data(tmp_path / "x.npy"), TableFile)
    np.save(tmp_path / "x.npy", squareform(pdist(X)))
    assert isinstance(read_data(tmp_path / "x.npy"), DissimilarityFile)
    frame = pd.DataFrame(squareform(pdist(X)), index=list("abcde"), columns=list("abcde"))
    assert isinstance(read_data(write_table(frame, tmp_path / "d.json")), DissimilarityFile)
    assert isinstance(read_data(write_table(frame.iloc[:, :2], tmp_path / "d.json")), TableFile)


def test_an_error_in_what_can_only_be_dissimilarities_is_an_error(tmp_path):
    (tmp_path / "d.csv").write_text(",a,b,c\na,0,1,2\nb,1,0,3\nc,2,x,0\n", encoding="utf-8")
    with pytest.raises(FileProblem, match="row 4, column 3: 'x' is not a number"):
        read_data(tmp_path / "d.csv")
    (tmp_path / "d.csv").write_text("a,1\nb,2,3\n\0", encoding="utf-8")
    with pytest.raises(FileProblem, match="NUL"):
        read_data(tmp_path / "d.csv")
    (tmp_path / "d.phy").write_text("3\na 0 1 2\nb 1 0 3\n", encoding="utf-8")
    with pytest.raises(FileProblem, match="promises 3 objects"):
        read_data(tmp_path / "d.phy")
