"""Dissimilarities in every form that is read: the same table comes out, and what was detected is said."""

import gzip
import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from unmask import ConditionalMDS
from unmask.io import read_dissimilarities, write_table
from unmask.io._numbers import find_decimal
from unmask.io._problems import times

N = 6
LABELS = [f"o{at}" for at in range(N)]
SQUARE = f"{times(N, N)} square"
NUMBERS = [str(at) for at in range(N)]


@pytest.fixture(scope="module")
def D():
    return squareform(pdist(np.random.default_rng(0).standard_normal((N, 2))))


def written(values, delimiter=",", above=None, left=None, corner="", decimal="."):
    """Write a table as people do, without help of the code that is tested."""
    lines = []
    if above is not None:
        lines.append(delimiter.join([*([corner] if left is not None and corner is not None else []), *above]))
    for at, row in enumerate(values):
        cells = ["" if value != value else repr(float(value)).replace(".", decimal) for value in row]
        lines.append(delimiter.join([*([left[at]] if left is not None else []), *cells]))
    return "\n".join(lines) + "\n"


def triangle(D, diagonal, left=None, above=None, delimiter=",", corner=""):
    lines = []
    if above is not None:
        lines.append(delimiter.join([*([corner] if left is not None and corner is not None else []), *above]))
    for at, row in enumerate(D):
        lines.append(delimiter.join([*([left[at]] if left else []), *(repr(float(d)) for d in row[: at + diagonal])]))
    return "\n".join(lines) + "\n"


def check(path, content, D, labels, *said, **options):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = read_dissimilarities(path, **options)
    np.testing.assert_array_equal(found.dissimilarities.to_numpy(), D)
    assert list(found.dissimilarities.index) == list(found.dissimilarities.columns) == list(labels)
    assert found.detected == said
    assert found.path == str(path)
    return found


# ---- square tables

DELIMITERS = {
    ",": "comma-separated",
    ";": "semicolon-separated",
    "\t": "tab-separated",
    "|": "separated by |",
    " ": "space-separated",
}
PLACES = {
    (False, False): "no labels",
    (True, False): "labels in the first row",
    (False, True): "labels in the first column",
    (True, True): "labels in the first row and column",
}


@pytest.mark.parametrize(("above", "left"), PLACES)
@pytest.mark.parametrize(
    ("delimiter", "decimal"), [(mark, decimal) for mark in DELIMITERS for decimal in ".," if mark != decimal]
)
def test_square(D, tmp_path, delimiter, decimal, above, left):
    text = written(
        D, delimiter, LABELS if above else None, LABELS if left else None, "id" if delimiter == " " else "", decimal
    )
    mark = "decimal comma" if decimal == "," else "decimal point"
    labels = LABELS if above or left else range(N)
    check(tmp_path / "d.txt", text, D, labels, DELIMITERS[delimiter], PLACES[above, left], mark, SQUARE)


BOTH = "labels in the first row and column"
SQUARES = {
    "R, which leaves out the corner": ({"above": LABELS, "left": LABELS, "corner": None}, LABELS, BOTH),
    "numbered in both": ({"above": NUMBERS, "left": NUMBERS}, NUMBERS, BOTH),
    "numbered, without the corner": ({"above": NUMBERS, "left": NUMBERS, "corner": None}, NUMBERS, BOTH),
    "numbered under a word": ({"above": NUMBERS, "left": NUMBERS, "corner": "id"}, NUMBERS, BOTH),
    "numbered in the first row": ({"above": NUMBERS}, NUMBERS, "labels in the first row"),
    "numbered in the first column": ({"left": NUMBERS}, NUMBERS, "labels in the first column"),
    "a comment for a corner": ({"above": LABELS, "left": LABELS, "corner": "#ID"}, LABELS, BOTH),
}


@pytest.mark.parametrize("kind", SQUARES)
def test_labels_are_found(D, tmp_path, kind):
    how, labels, said = SQUARES[kind]
    check(tmp_path / "d.csv", written(D, **how), D, labels, "comma-separated", said, "decimal point", SQUARE)


@pytest.mark.parametrize("end", ["\r\n", "\r", ",\n", "\n\n"])
def test_ends_of_lines(D, tmp_path, end):
    for how, labels in (({}, range(N)), ({"above": LABELS, "left": LABELS}, LABELS)):
        text = written(D, **how).replace("\n", end)
        said = BOTH if how else "no labels"
        check(tmp_path / "d.csv", text, D, labels, "comma-separated", said, "decimal point", SQUARE)


def test_quotes_blanks_and_escapes(D, tmp_path):
    labels = ["a, b", 'say "hi"', "two\nlines", "=1+1", " outer ", "plain"]
    file = write_table(pd.DataFrame(D, index=labels, columns=labels), tmp_path / "d.csv")
    found = read_dissimilarities(file)
    np.testing.assert_array_equal(found.dissimilarities.to_numpy(), D)
    assert list(found.dissimilarities.index) == labels
    quoted = [f'"{label}"' for label in LABELS]
    for delimiter in (", ", "  ", "\t"):
        text = written(D, delimiter, quoted, quoted, corner='"x"')
        (tmp_path / "q.txt").write_text(text, encoding="utf-8")
        again = read_dissimilarities(tmp_path / "q.txt")
        np.testing.assert_array_equal(again.dissimilarities.to_numpy(), D)
        assert list(again.dissimilarities.index) == LABELS


def test_numbers_in_quotes(D, tmp_path):
    text = "\n".join(",".join(f'"{float(value)!r}"' for value in row) for row in D)
    check(tmp_path / "d.csv", text, D, range(N), "comma-separated", "no labels", "decimal point", SQUARE)


def test_digits_that_only_python_reads(tmp_path):
    (tmp_path / "d.csv").write_text("0,٣\n٣,0\n", encoding="utf-8")
    assert read_dissimilarities(tmp_path / "d.csv").dissimilarities.iloc[0, 1] == 3


def test_columns_in_another_order_follow_the_rows(D, tmp_path):
    text = written(D[:, ::-1], ",", LABELS[::-1], LABELS)
    moved = "columns put into the order of the rows"
    check(tmp_path / "d.csv", text, D, LABELS, "comma-separated", BOTH, moved, "decimal point", SQUARE)


def test_missing_pairs_are_missing(D, tmp_path):
    D = D.copy()
    D[1, 4] = D[4, 1] = np.nan
    for word in ("", "NA", "nan", "n/a", "NULL"):
        text = written(D, ",", LABELS, LABELS).replace(",,", f",{word},")
        check(tmp_path / "d.csv", text, D, LABELS, "comma-separated", BOTH, "decimal point", SQUARE)


def test_an_empty_diagonal_is_zero_and_no_place_for_labels(tmp_path):
    rounded = squareform(np.arange(1.0, 16.0))
    empty = rounded.copy()
    np.fill_diagonal(empty, np.nan)
    text = written(empty).replace(".0", "")
    check(tmp_path / "d.csv", text, rounded, range(N), "comma-separated", "no labels", SQUARE)


def test_header_can_be_said(tmp_path):
    file = tmp_path / "d.csv"
    file.write_text("0,1,2\n1,0,3\n2,3,0\n", encoding="utf-8")
    assert list(read_dissimilarities(file).dissimilarities.index) == [0, 1, 2]
    file.write_text("5,6,7\n0,1,2\n1,0,3\n2,3,0\n", encoding="utf-8")
    assert list(read_dissimilarities(file, header=True).dissimilarities.index) == ["5", "6", "7"]
    with pytest.raises(ValueError, match="row 4: has more rows than its 3 columns"):
        read_dissimilarities(file, header=False, shape="square")
    with pytest.raises(ValueError, match="3 for the pair '0' and '1', but 2 in row 2"):
        read_dissimilarities(file)  # whole numbers in three columns are pairs, unless it is said that they are not


def test_delimiter_and_decimal_can_be_said(tmp_path):
    file = tmp_path / "d.txt"
    file.write_text("0;1,5\n1,5;0\n", encoding="utf-8")
    found = read_dissimilarities(file, delimiter=";", decimal=",")
    assert found.dissimilarities.iloc[0, 1] == 1.5
    file.write_text("1,5\n2,5\n3,5\n", encoding="utf-8")
    assert read_dissimilarities(file, decimal=",").dissimilarities.iloc[0, 1] == 1.5


@pytest.mark.parametrize("exponent", [0, 20, -20])
def test_rounding_errors_are_averaged_and_said_and_more_can_be_asked_for(tmp_path, exponent):
    file = tmp_path / "d.csv"
    a, b = 1.0 * 10.0**exponent, (1.0 + 1e-12) * 10.0**exponent
    file.write_text(f"0,{a!r},1\n{b!r},0,2\n1,2,0\n" if exponent == 0 else f"0,{a!r}\n{b!r},0\n", encoding="utf-8")
    found = read_dissimilarities(file)
    assert found.dissimilarities.iloc[0, 1] == found.dissimilarities.iloc[1, 0] == (a + b) / 2
    assert "differ by rounding" in found.detected[-1]
    file.write_text("0,1,\n3,0,5\n4,5,0\n", encoding="utf-8")
    mean = read_dissimilarities(file, symmetrize="mean")
    np.testing.assert_array_equal(mean.dissimilarities.to_numpy(), [[0, 2, 4], [2, 0, 5], [4, 5, 0]])
    assert mean.detected[-1] == "the two halves averaged"


# ---- triangles


@pytest.mark.parametrize("left", [None, LABELS, NUMBERS])
@pytest.mark.parametrize("above", [None, LABELS])
@pytest.mark.parametrize("diagonal", [0, 1])
@pytest.mark.parametrize(("delimiter", "corner"), [(",", ""), ("\t", None)])
def test_lower_triangle(D, tmp_path, left, above, diagonal, delimiter, corner):
    above = left if above and left else above
    text = triangle(D, diagonal, left, above, delimiter, corner)
    labels = left or above or range(N)
    said = PLACES[above is not None, left is not None]
    shape = f"lower triangle of 6 objects, {'with' if diagonal else 'without'} diagonal"
    check(tmp_path / "d.txt", text, D, labels, DELIMITERS[delimiter], said, "decimal point", shape)
    check(tmp_path / "d.txt", text, D, labels, DELIMITERS[delimiter], said, "decimal point", shape, shape="lower")


@pytest.mark.parametrize("how", [{}, {"left": LABELS}, {"above": LABELS, "left": LABELS}])
@pytest.mark.parametrize("half", ["lower", "upper"])
def test_a_square_of_which_one_half_is_empty(D, tmp_path, how, half):
    empty = D.copy()
    empty[np.triu_indices(N, 0) if half == "lower" else np.tril_indices(N, -1)] = np.nan
    labels = LABELS if how else range(N)
    found = check(
        tmp_path / "d.csv",
        written(empty, **how),
        D,
        labels,
        "comma-separated",
        PLACES["above" in how, "left" in how],
        "decimal point",
        f"{times(N, N)} {half} triangle",
    )
    assert not found.dissimilarities.isna().to_numpy().any()


def test_points_on_a_line_are_no_similarities(tmp_path):
    line = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    said = ("comma-separated", "no labels", "decimal point", "lower triangle of 4 objects, without diagonal")
    check(tmp_path / "d.csv", triangle(line, 0), line, range(4), *said)


# ---- condensed vectors


@pytest.mark.parametrize("join", ["\n", ",", " ", "\t"])
def test_condensed(D, tmp_path, join):
    text = join.join(map(repr, squareform(D).tolist()))
    first = "one cell per line" if join == "\n" else DELIMITERS[join]
    check(
        tmp_path / "d.txt", text, D, range(N), first, "no labels", "decimal point", "condensed, 15 pairs of 6 objects"
    )


def test_condensed_with_a_name_and_in_lines_of_any_length(D, tmp_path):
    numbers = list(map(repr, squareform(D).tolist()))
    said = ("no labels", "decimal point", "condensed, 15 pairs of 6 objects")
    check(tmp_path / "d.txt", "\n".join(["distance", *numbers]), D, range(N), "one cell per line", *said)
    lines = "\n".join([" ".join(numbers[:8]), " ".join(numbers[8:])])
    check(tmp_path / "d.txt", lines, D, range(N), "space-separated", *said, shape="condensed")


# ---- lists of pairs


@pytest.mark.parametrize("names", ["", "from,to,how far\n"])
@pytest.mark.parametrize("labels", [LABELS, NUMBERS, ["1", "b", "3", "d", "5", "f"]])
def test_list_of_pairs(D, tmp_path, names, labels):
    pairs = [(i, j) for i in range(N) for j in range(i)]
    text = names + "".join(f"{labels[j]},{labels[i]},{float(D[i, j])!r}\n" for i, j in pairs)
    said = "list of pairs, 15 of the 15 pairs of 6 objects"
    check(tmp_path / "d.csv", text, D, labels, "comma-separated", "decimal point", said)


def test_pairs_that_are_not_named_are_missing_and_pairs_named_twice_must_agree(tmp_path):
    expected = np.array([[0, 1, np.nan], [1, 0, 2], [np.nan, 2, 0]])
    text = "a,b,1\nb,a,1\nb,c,2\na,a,0\na,c,NA\n"
    said = ("comma-separated", "list of pairs, 2 of the 3 pairs of 3 objects")
    check(tmp_path / "d.csv", text, expected, ["a", "b", "c"], *said)


def test_three_objects_as_a_square_and_as_pairs(tmp_path):
    expected = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0.0]])
    pairs = "list of pairs, 3 of the 3 pairs of 3 objects"
    check(
        tmp_path / "d.csv",
        "0,1,2\n1,0,3\n2,3,0\n",
        expected,
        range(3),
        "comma-separated",
        "no labels",
        f"{times(3, 3)} square",
    )
    check(tmp_path / "d.csv", "0,1,1\n0,2,2\n1,2,3\n", expected, "012", "comma-separated", pairs)
    check(tmp_path / "d.csv", "a,b,1\na,c,2\nb,c,3\n", expected, "abc", "comma-separated", pairs)
    two = np.array([[0, 1.0], [1, 0]])
    check(tmp_path / "d.csv", ",a,b\na,0,1\nb,1,0\n", two, "ab", "comma-separated", BOTH, f"{times(2, 2)} square")


def test_pairs_in_quotes_with_a_decimal_comma(tmp_path):
    text = 'i;j;d\n"x;y";z;1,5\nz;"=w";2,5\n'
    expected = np.array([[0, 1.5, np.nan], [1.5, 0, 2.5], [np.nan, 2.5, 0]])
    said = ("semicolon-separated", "decimal comma", "list of pairs, 2 of the 3 pairs of 3 objects")
    check(tmp_path / "d.csv", text, expected, ["x;y", "z", "=w"], *said)


# ---- other programs' formats


def test_what_scikit_bio_writes(D, tmp_path):
    skbio = pytest.importorskip("skbio")
    matrix = skbio.DistanceMatrix(D, LABELS)
    matrix.write(str(tmp_path / "d.lsmat"), format="lsmat")
    content = (tmp_path / "d.lsmat").read_bytes()
    said = ("tab-separated", BOTH, "decimal point", SQUARE)
    check(tmp_path / "d.txt", content, D, LABELS, *said)
    commented = b"# made by hand\n\n# twice\n" + content
    first, *others = said
    comments = "3 comment lines left out"
    check(tmp_path / "d.txt", commented, D, LABELS, "LSMat", first, comments, *others, shape="lsmat")


@pytest.mark.parametrize("layout", ["square", "lower"])
def test_what_scikit_bio_writes_as_phylip(D, tmp_path, layout):
    skbio = pytest.importorskip("skbio")
    matrix = skbio.DistanceMatrix(D, LABELS)
    if "phylip_dm" not in skbio.io.registry.io_registry.list_write_formats(skbio.DistanceMatrix):
        pytest.skip("this version of scikit-bio does not write PHYLIP distances")
    matrix.write(str(tmp_path / "d.phy"), format="phylip_dm", layout=layout)
    found = read_dissimilarities(tmp_path / "d.phy")
    np.testing.assert_allclose(found.dissimilarities.to_numpy(), D, rtol=1e-6, atol=1e-6)
    assert list(found.dissimilarities.index) == LABELS
    assert found.detected[0] == "PHYLIP"


def phylip(D, part, label=lambda at: f"{LABELS[at]:10}"):
    lines = [f"{label(at)}{' '.join(map(repr, part(row, at)))}" for at, row in enumerate(D.tolist())]
    return "\n".join([f"   {len(D)}", *lines]) + "\n"


@pytest.mark.parametrize(
    ("part", "shape"),
    [
        (lambda row, at: row, SQUARE),
        (lambda row, at: row[:at], "lower triangle of 6 objects, without diagonal"),
        (lambda row, at: row[: at + 1], "lower triangle of 6 objects, with diagonal"),
    ],
)
def test_phylip(D, tmp_path, part, shape):
    said = ("PHYLIP", "labels in the first column", shape)
    check(tmp_path / "d.phy", phylip(D, part), D, LABELS, *said)
    check(tmp_path / "d.txt", phylip(D, part), D, LABELS, *said, shape="phylip")


def test_phylip_with_long_lines_and_labels(D, tmp_path):
    said = ("PHYLIP", "labels in the first column", SQUARE)
    lines = phylip(D, lambda row, at: row).splitlines()
    wrapped = "\n".join(
        [lines[0], *(" ".join(line.split()[:4]) + "\n  " + " ".join(line.split()[4:]) for line in lines[1:])]
    )
    check(tmp_path / "d.phy", wrapped, D, LABELS, *said)
    spaced = phylip(D, lambda row, at: row, lambda at: f"object {at} x  ")
    check(tmp_path / "d.phy", spaced, D, [f"object {at} x" for at in range(N)], *said)
    touching = phylip(D, lambda row, at: row, lambda at: f"abcdefghi{'uvwxyz'[at]}")
    check(tmp_path / "d.phy", touching, D, [f"abcdefghi{end}" for end in "uvwxyz"], *said)


def stored(save, *arrays, **named):
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


def test_numpy_files(D, tmp_path):
    labels = np.array(LABELS)
    check(tmp_path / "d.npy", stored(np.save, D), D, range(N), "NumPy array", SQUARE)
    check(tmp_path / "d.npy", stored(np.save, np.asfortranarray(D)), D, range(N), "NumPy array", SQUARE)
    check(tmp_path / "d.npy", stored(np.save, D.astype(">f8")), D, range(N), "NumPy array", SQUARE)
    condensed = "condensed, 15 pairs of 6 objects"
    check(tmp_path / "d.npy", stored(np.save, squareform(D)), D, range(N), "NumPy array", condensed)
    check(tmp_path / "d.npy", stored(np.save, squareform(D)[:, None]), D, range(N), "NumPy array", condensed)
    said = ("NumPy archive", "array 'D'")
    check(tmp_path / "d.npz", stored(np.savez, D=D), D, range(N), *said, SQUARE)
    for named in (labels, labels.astype("S")):
        check(
            tmp_path / "d.npz",
            stored(np.savez_compressed, D=D, ids=named),
            D,
            LABELS,
            *said,
            "labels from 'ids'",
            SQUARE,
        )


def test_single_precision_is_kept_and_whole_numbers_become_floats(D, tmp_path):
    file = tmp_path / "d.npy"
    np.save(file, D.astype(np.float32))
    assert (read_dissimilarities(file).dissimilarities.dtypes == np.float32).all()
    np.save(file, np.round(D * 10).astype(np.int8))
    assert (read_dissimilarities(file).dissimilarities.dtypes == np.float64).all()


def test_numpy_pairs(tmp_path):
    file = tmp_path / "d.npy"
    np.save(file, np.array([[3, 5, 1.0], [5, 9, 2.0]]))
    found = read_dissimilarities(file).dissimilarities
    assert list(found.index) == [3, 5, 9]
    np.testing.assert_array_equal(found.to_numpy(), [[0, 1, np.nan], [1, 0, 2], [np.nan, 2, 0]])
    np.save(file, np.array([[0.5, 5, 1.0], [5, 9, 2.0]]))
    with pytest.raises(ValueError, match="not numbers of objects"):
        read_dissimilarities(file)


def test_old_and_new_headers_of_numpy(D, tmp_path):
    from numpy.lib import format as npy

    for version in ((1, 0), (2, 0)):
        with open(tmp_path / "d.npy", "wb") as file:
            npy.write_array(file, D, version=version)
        np.testing.assert_array_equal(read_dissimilarities(tmp_path / "d.npy").dissimilarities.to_numpy(), D)


@pytest.mark.parametrize("name", ["d.csv.gz", "d.csv"])  # what a file is, its first bytes say
def test_gzip(D, tmp_path, name):
    packed = gzip.compress(written(D, ",", LABELS, LABELS).encode())
    check(tmp_path / name, packed, D, LABELS, "gzip", "comma-separated", BOTH, "decimal point", SQUARE)
    check(tmp_path / "d.npy.gz", gzip.compress(stored(np.save, D)), D, range(N), "gzip", "NumPy array", SQUARE)
    npz = gzip.compress(stored(np.savez, D=D))
    check(tmp_path / "d.npz.gz", npz, D, range(N), "gzip", "NumPy archive", "array 'D'", SQUARE)
    text = gzip.compress(phylip(D, lambda row, at: row).encode())
    check(tmp_path / "d.phy.gz", text, D, LABELS, "gzip", "PHYLIP", "labels in the first column", SQUARE)


@pytest.mark.parametrize(
    ("encoding", "given", "said"),
    [
        ("utf-8-sig", None, "UTF-8 with a byte-order mark"),
        ("utf-16", None, "UTF-16"),
        ("latin-1", "latin-1", "encoding latin-1"),
        ("utf-16-le", "utf-16-le", "encoding utf-16-le"),
    ],
)
def test_encodings(D, tmp_path, encoding, given, said):
    labels = [f"é{label}" for label in LABELS]
    content = written(D, "\t", labels, labels).encode(encoding)
    detected = (said, "tab-separated", BOTH, "decimal point", SQUARE)
    check(tmp_path / "d.tsv", content, D, labels, *detected, encoding=given)


def test_json(D, tmp_path):
    rows = json.dumps(D.tolist())
    check(
        tmp_path / "d.json",
        rows,
        D,
        range(N),
        "JSON",
        "no labels",
        SQUARE,
    )
    frame = pd.DataFrame(np.round(D, 3), index=LABELS, columns=LABELS)
    split = frame.to_json(orient="split")
    check(tmp_path / "d.json", split, frame, LABELS, "JSON", "labels of rows and columns", SQUARE)
    moved = frame[LABELS[::-1]]
    write_table(moved, tmp_path / "d.json")
    said = ("JSON", "labels of rows and columns, columns put into the order of the rows", SQUARE)
    check(tmp_path / "d.json", (tmp_path / "d.json").read_bytes(), frame, LABELS, *said)
    columns = frame.reset_index(drop=True)
    write_table(columns, tmp_path / "d.json")
    content = (tmp_path / "d.json").read_bytes()
    check(tmp_path / "d.json", content, frame, LABELS, "JSON", "labels of columns", SQUARE)


def test_json_pairs_and_condensed(tmp_path):
    expected = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0.0]])
    said = ("JSON", "list of pairs, 3 of the 3 pairs of 3 objects")
    text = '[{"i": "a", "j": "b", "d": 1}, {"i": "a", "j": "c", "d": 2}, {"i": "b", "j": "c", "d": 3}]'
    check(tmp_path / "d.json", text, expected, "abc", *said)
    check(tmp_path / "d.json", text.replace('"a", "j"', '7, "j"'), expected, "7bc", *said)
    check(tmp_path / "d.json", '{"d": [1, 2, 3]}', expected, range(3), "JSON", "condensed, 3 pairs of 3 objects")
    (tmp_path / "d.json").write_text(text.replace('"a"', "null", 1), encoding="utf-8")
    with pytest.raises(ValueError, match="row 1, column 1: an object has no label"):
        read_dissimilarities(tmp_path / "d.json")
    (tmp_path / "d.json").write_text('[{"a": 1, "b": 2}]', encoding="utf-8")
    with pytest.raises(ValueError, match="has 2 columns where a list of pairs has three"):
        read_dissimilarities(tmp_path / "d.json", shape="long")


def test_json_with_a_number_as_text(tmp_path):
    (tmp_path / "d.json").write_text('[[0, "1.5"], [1.5, 0]]', encoding="utf-8")
    assert read_dissimilarities(tmp_path / "d.json").dissimilarities.iloc[0, 1] == 1.5


def test_json_labels_that_disagree(tmp_path):
    (tmp_path / "d.json").write_text(
        '{"index": ["a", "b"], "columns": ["a", "c"], "data": [[0, 1], [1, 0]]}', encoding="utf-8"
    )
    with pytest.raises(ValueError, match="disagree: 'b' only in the first column, 'c' only in the first row"):
        read_dissimilarities(tmp_path / "d.json")


@pytest.mark.parametrize(("module", "name", "content"), [
    ("pyarrow.parquet", "d.parquet", b"PAR1xxxxPAR1"),
    ("openpyxl", "d.xlsx", None),
])  # fmt: skip
def test_packages_that_are_not_there(tmp_path, monkeypatch, module, name, content):
    import zipfile

    monkeypatch.setitem(sys.modules, module, None)
    if content is None:
        with zipfile.ZipFile(tmp_path / name, "w") as book:
            book.writestr("[Content_Types].xml", "")
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ImportError, match=r"needs the package .* pip install 'unmask\[files\]'"):
        read_dissimilarities(tmp_path / name)


def test_parquet(D, tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(D, index=LABELS, columns=LABELS)
    both = ("Parquet", "labels of rows and columns", SQUARE)
    frame.to_parquet(tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    check(tmp_path / "d.parquet", content, D, LABELS, *both)
    check(tmp_path / "d.parquet.gz", gzip.compress(content), D, LABELS, "gzip", *both)
    frame.reset_index().to_parquet(tmp_path / "a.parquet")
    check(tmp_path / "d.parquet", (tmp_path / "a.parquet").read_bytes(), D, LABELS, *both)
    frame.reset_index(drop=True).to_parquet(tmp_path / "a.parquet")
    only = ("Parquet", "labels of columns", SQUARE)
    check(tmp_path / "d.parquet", (tmp_path / "a.parquet").read_bytes(), D, LABELS, *only)
    (tmp_path / "d.parquet").write_bytes(b"PAR1" + content[4:200])
    with pytest.raises(ValueError, match="is a damaged Parquet file"):
        read_dissimilarities(tmp_path / "d.parquet")
    pd.DataFrame({"x": np.zeros(100_000)}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match="promises 100,000 rows, which would take 781 kB"):
        read_dissimilarities(tmp_path / "d.parquet", max_expanded=2**16)


@pytest.fixture
def book(D, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    workbook.active.append([None, *LABELS])
    for label, row in zip(LABELS, D.tolist(), strict=True):
        workbook.active.append([label, *row])
    half = workbook.create_sheet("half")
    half.append([])
    for at, row in enumerate(D.tolist()):
        half.append([2020 + at, *row[: at + 1]])
    half["XFD3"].number_format = "0.00"  # an empty cell far out, as people leave them behind
    workbook.create_sheet("none")
    workbook.save(tmp_path / "d.xlsx")
    return tmp_path / "d.xlsx"


def test_excel(book):
    import openpyxl

    sheet = openpyxl.load_workbook(book).active  # which rounds to 16 digits
    D = np.array([[cell.value for cell in row] for row in sheet.iter_rows(2, N + 1, 2, N + 1)], dtype=float)
    said = ("Excel", "sheet 'Sheet', the first of 3", BOTH, "decimal point", SQUARE)
    check(book, book.read_bytes(), D, LABELS, *said)
    years = [str(2020 + at) for at in range(N)]
    left = ("Excel", "sheet 'half'", "labels in the first column", "decimal point", f"{times(N, N)} lower triangle")
    check(book, book.read_bytes(), D, years, *left, sheet="half")
    with pytest.raises(ValueError, match="has no sheet 'other'; it has 'Sheet', 'half', 'none'"):
        read_dissimilarities(book, sheet="other")
    with pytest.raises(ValueError, match="holds nothing but blank lines"):
        read_dissimilarities(book, sheet="none")
    with pytest.raises(ValueError, match="has a sheet of millions of cells"):
        read_dissimilarities(book, sheet="half", max_expanded=2**16)


def test_a_damaged_workbook(book):
    import zipfile

    with zipfile.ZipFile(book) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/workbook.xml"] = b"<workbook"
    with zipfile.ZipFile(book, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="is a damaged Excel file"):
        read_dissimilarities(book)


# ---- what comes of it


def test_what_is_read_can_be_mapped(kinship, tmp_path):
    file = write_table(kinship.dissimilarities, tmp_path / "kin.csv")
    found = read_dissimilarities(file)
    pd.testing.assert_frame_equal(
        found.dissimilarities.astype(float),
        kinship.dissimilarities.astype(float),
        check_index_type=False,
        check_names=False,
    )
    assert found.detected == ("comma-separated", BOTH, f"{times(14, 14)} square")
    mds = ConditionalMDS(2, metric="precomputed", n_init=1, random_state=0).fit(found.dissimilarities)
    assert mds.embedding_.shape == (14, 2)


def test_large_files_are_read_in_pieces_and_take_little_memory(tmp_path, rng, monkeypatch):
    """Everything that depends on the size of a block gives the same table; memory is measured, not guessed."""
    import tracemalloc

    n = 700
    D = squareform(pdist(rng.standard_normal((n, 3))))
    labels = [f"object {at}" for at in range(n)]
    file = tmp_path / "d.csv"
    file.write_text(written(D, ",", labels, labels), encoding="utf-8")
    monkeypatch.setattr("unmask.io._numbers.BLOCK", 2**17)
    read_dissimilarities(file)
    tracemalloc.start()
    found = read_dissimilarities(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(found.dissimilarities.to_numpy(), D)
    assert found.detected[-1] == f"{times(700, 700)} square"
    # The rows, the table, and what is looked at of the first rows, which is the same for larger files.
    assert peak < 3 * D.nbytes + 2**24


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["1.5", "2,5"], "."),  # as many of each: the point, which more files have
        (["1.5", "2,5", "3,5"], ","),
        (["1.5", "2.5", "3,5"], "."),
        (["1", "2", "x"], None),
        ([], None),
    ],
)
def test_the_decimal_mark_is_that_of_most_cells(cells, mark):
    assert find_decimal(cells) == mark
