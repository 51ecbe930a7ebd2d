"""Dissimilarities in every form that is read: the same table comes out."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from unmask.dissimilarities import similarity_to_dissimilarity
from unmask.io import DissimilarityFile, FileProblem, TableFile, read_data, read_dissimilarities, write_table

N = 6
LABELS = [f"o{at}" for at in range(N)]
D = squareform(pdist(np.random.default_rng(0).standard_normal((N, 2))))
TRIANGLE = "a,0\nb,1,0\nc,2,3,0\n"
THREE = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0.0]])


def check(path, content, values, labels, **options):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = read_dissimilarities(path, **options)
    np.testing.assert_array_equal(found.dissimilarities.to_numpy(), values)
    assert list(found.dissimilarities.index) == list(found.dissimilarities.columns) == list(labels)
    assert found.path == str(path)
    return found.detected


def written(values, form, delimiter=",", above=None, left=None, corner="", decimal="."):
    """Write dissimilarities as people do, without help of the code that is tested."""
    cells = [["" if d != d else repr(float(d)).replace(".", decimal) for d in row] for row in values.tolist()]
    names = [*above] if above else []
    if form == "condensed":
        return "\n".join(cells[i][j] for i in range(len(cells)) for j in range(i + 1, len(cells)))
    if form == "long":
        names = ["from", "to", "far"] if above else []
        rows = [[left[j], left[i], cells[i][j]] for i in range(len(cells)) for j in range(i)]
    else:
        ends = {"square": len(cells), "lower": 0, "diagonal": 1}[form]
        rows = [row[: (at if ends < 2 else 0) + ends] for at, row in enumerate(cells)]
        names = [corner, *names] if names and left and corner is not None else names
        rows = [[left[at], *row] for at, row in enumerate(rows)] if left else rows
    return "\n".join(delimiter.join(row) for row in [*([names] if names else []), *rows] if row) + "\n"


NAMES = st.lists(st.text("abcXYZéß_0123", min_size=1, max_size=5).map("n".__add__), min_size=N, max_size=N, unique=True)


@settings(max_examples=150, deadline=None)
@given(
    form=st.sampled_from(["square", "lower", "diagonal", "condensed", "long"]),
    delimiter=st.sampled_from(",;\t| "),
    decimal=st.sampled_from(".,"),
    sides=st.tuples(st.booleans(), st.booleans()),
    names=NAMES | st.just([str(at) for at in range(N)]),
    exponent=st.integers(-12, 12),
    missing=st.booleans(),
    packed=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
)
def test_what_is_written_reads_back_exactly(
    tmp_path_factory, form, delimiter, decimal, sides, names, exponent, missing, packed, end
):
    above, left = (names if side else None for side in sides)
    left = names if form == "long" else left
    assume(decimal != delimiter)
    values = D * 10.0**exponent
    if missing:
        values[1, 4] = values[4, 1] = np.nan
    content = written(values, form, delimiter, above, left, "id" if delimiter == " " else "", decimal)
    content = content.replace("\n", end).encode()
    path = tmp_path_factory.mktemp("d") / "d.txt"
    named = left if form != "condensed" and left else above if form != "condensed" else None
    try:
        detected = check(path, gzip.compress(content) if packed else content, values, named or range(N))
    except FileProblem:
        assert missing  # nothing shows which cell it is between blanks, or on a blank line
        assert delimiter == " " or form == "condensed"
        return
    assert ("gzip" in detected) == packed
    assert ("decimal comma" if decimal == "," else "decimal point") in detected


NUMBERED = [str(at) for at in range(N)]
AS_THEY_COME = {
    "R, which leaves out the corner": (written(D, "square", above=LABELS, left=LABELS, corner=None), D, LABELS, {}),
    "numbered, without the corner": (written(D, "square", above=NUMBERED, left=NUMBERED, corner=None), D, NUMBERED, {}),
    "a comment for a corner": (written(D, "square", above=LABELS, left=LABELS, corner="#ID"), D, LABELS, {}),
    "comments": ("# by hand\n\n# twice\n" + written(D, "square", "\t", LABELS, LABELS), D, LABELS, {}),
    "a last delimiter": (written(D, "square", above=LABELS).replace("\n", ",\n"), D, LABELS, {}),
    "columns in another order": (written(D[:, ::-1], "square", ";", LABELS[::-1], LABELS), D, LABELS, {}),
    "quotes": (
        written(D, "square", ", ", [f'"{x}"' for x in LABELS], [f'"{x}"' for x in LABELS], '"x"'),
        D,
        LABELS,
        {},
    ),
    "numbers in quotes": ("\n".join(",".join(f'"{x!r}"' for x in row) for row in D.tolist()), D, range(N), {}),
    "labels that look missing": (",NA,b,c\nNA,0,1,2\nb,1,0,3\nc,2,3,0\n", THREE, ["NA", "b", "c"], {}),
    "digits of another script": ("0,٣,2\n٣,0,1\n2,1,0\n", [[0, 3, 2], [3, 0, 1], [2, 1, 0]], range(3), {}),
    "an empty diagonal": (",1,2\n1,,3\n2,3,\n", THREE, range(3), {}),
    "one half, and a diagonal": ("0,1,2\n,0,3\n,,0\n", THREE, range(3), {}),
    "one row of numbers": ("1 2 3", THREE, range(3), {}),
    "a named column": ("far\n1\n2\n3\n", THREE, range(3), {}),
    "numbers in lines of any length": ("1 2\n3", THREE, range(3), {"shape": "condensed"}),
    "pairs without a header": ("a,b,1\na,c,2\nb,c,3\n", THREE, "abc", {}),
    "numbered pairs without a header": ("0,1,1\n0,2,2\n1,2,3\n", THREE, "012", {}),
    "pairs named twice": ("a,b,1\nb,a,1\na,c,2\na,a,0\nc,b,3\n", THREE, "abc", {}),
    "quoted pairs": (
        'i;j;d\n"x;y";z;1,5\nz;"=w";2,5\n"x;y";"=w";1\n',
        [[0, 1.5, 1], [1.5, 0, 2.5], [1, 2.5, 0]],
        ["x;y", "z", "=w"],
        {},
    ),
    "a square of three columns": ("0,1,2\n1,0,3\n2,3,0\n", THREE, range(3), {}),
    "a header that is said": ("5,6,7\n0,1,2\n1,0,3\n2,3,0\n", THREE, "567", {"header": True}),
    "a mark that is said": (
        "1,5\n2,5\n3,5\n",
        [[0, 1.5, 2.5], [1.5, 0, 3.5], [2.5, 3.5, 0]],
        range(3),
        {"decimal": ","},
    ),
    "points on a line": (
        "1.0\n2.0,1.0\n3.0,2.0,1.0\n",
        np.abs(np.subtract.outer(np.arange(4.0), np.arange(4))),
        range(4),
        {},
    ),
    "the mean of two halves": (
        "0,1,\n3,0,5\n4,5,0\n",
        [[0, 2, 4], [2, 0, 5], [4, 5, 0]],
        range(3),
        {"symmetrize": "mean"},
    ),
    "rounding": (
        "0,1.0,2\n1.0000000000001,0,3\n2,3,0\n",
        [[0, 1.00000000000005, 2], [1.00000000000005, 0, 3], [2, 3, 0]],
        range(3),
        {},
    ),
    "UTF-16": (written(D, "square", "\t", LABELS, LABELS).encode("utf-16"), D, LABELS, {}),
    "UTF-16 with blanks at the end of cells": ("a ,b ,c\n0,1,2\n1,0,3\n2,3,0\n".encode("utf-16"), THREE, "abc", {}),
    "a byte-order mark": (written(D, "square", "\t", LABELS, LABELS).encode("utf-8-sig"), D, LABELS, {}),
    "latin-1": (
        written(D, "square", left=["é", *LABELS[1:]]).encode("latin-1"),
        D,
        ["é", *LABELS[1:]],
        {"encoding": "latin-1"},
    ),
    "PHYLIP": ("3\na 0 1 2\nb 1 0\n 3\nc c  2 3 0\n", THREE, ["a", "b", "c c"], {}),
    "PHYLIP, a triangle": ("3\na\nb 1\nc 2 3\n", THREE, "abc", {}),
    "PHYLIP, a triangle with diagonal": ("3\na 0\nb 1 0\nc 2 3 0\n", THREE, "abc", {"shape": "phylip"}),
    "PHYLIP, labels of ten characters": (
        "3\nabcdefghiu0 1 2\nabcdefghiv1 0 3\nabcdefghiw2 3 0\n",
        THREE,
        [f"abcdefghi{x}" for x in "uvw"],
        {},
    ),
}


@pytest.mark.parametrize("kind", AS_THEY_COME)
def test_files_as_they_come(kind, tmp_path):
    content, values, labels, options = AS_THEY_COME[kind]
    check(tmp_path / "d.txt", content, values, labels, **options)


def saved(save, *arrays, **named):
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


PAIRS = '[{"i": "a", "j": "b", "d": 1}, {"i": "a", "j": "c", "d": 2}, {"i": "b", "j": "c", "d": 3}]'
TYPED = {
    "npy": ("d.npy", saved(np.save, D), D, range(N)),
    "npy, columns first": ("d.npy", saved(np.save, np.asfortranarray(D)), D, range(N)),
    "npy, another byte order": ("d.npy", saved(np.save, D.astype(">f8")), D, range(N)),
    "npy, condensed": ("d.npy", saved(np.save, squareform(D)), D, range(N)),
    "npy, a column": ("d.npy", saved(np.save, squareform(D)[:, None]), D, range(N)),
    "npy, pairs": ("d.npy", saved(np.save, [[3, 5, 1.0], [3, 9, 2], [5, 9, 3], [9, 9, 0]]), THREE, [3, 5, 9]),
    "npy, whole numbers": ("d.npy", saved(np.save, THREE.astype(np.int8)), THREE, range(3)),
    "npy, packed": ("d.npy.gz", gzip.compress(saved(np.save, D)), D, range(N)),
    "npz": ("d.npz", saved(np.savez, D=D, ids=np.array(LABELS)), D, LABELS),
    "npz, bytes": ("d.npz", saved(np.savez_compressed, D=D, ids=np.array(LABELS).astype("S")), D, LABELS),
    "JSON, rows": ("d.json", json.dumps(D.tolist()), D, range(N)),
    "JSON, split": ("d.json", pd.DataFrame(THREE, list("abc"), list("abc")).to_json(orient="split"), THREE, "abc"),
    "JSON, pairs": ("d.json", PAIRS, THREE, "abc"),
    "JSON, labels of two types": ("d.json", PAIRS.replace('"a", "j"', '7, "j"').replace('"a"', '"7"'), THREE, "7bc"),
    "JSON, condensed": ("d.json", '{"d": [1, 2, 3]}', THREE, range(3)),
    "JSON, a number as text": ("d.json", json.dumps([[0, str(D[0, 1]), *D[0, 2:]], *D[1:].tolist()]), D, range(N)),
}


@pytest.mark.parametrize("kind", TYPED)
def test_typed_files(kind, tmp_path):
    name, content, values, labels = TYPED[kind]
    check(tmp_path / name, content, values, labels)


def test_single_precision_is_kept(tmp_path):
    np.save(tmp_path / "d.npy", D.astype(np.float32))
    assert (read_dissimilarities(tmp_path / "d.npy").dissimilarities.dtypes == np.float32).all()


def save(frame, path):
    if path.suffix == ".json":
        frame.to_json(path, orient="split", double_precision=15)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        write_table(frame, path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".json", ".parquet"])
def test_what_we_write_reads_back(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    labels = ["a, b", 'say "hi"', "two\nlines", "=1+1", " outer ", "plain"]
    for columns in (labels, labels[::-1]):
        frame = pd.DataFrame(D, index=labels, columns=labels)[columns]
        path = save(frame, tmp_path / f"d{suffix}")
        found = read_dissimilarities(path).dissimilarities
        np.testing.assert_allclose(found.to_numpy(), D, rtol=0, atol=1e-14 if suffix == ".json" else 0)
        assert list(found.index) == list(found.columns) == list(frame.index)


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ([None, *LABELS], *([label, *row] for label, row in zip(LABELS, D.round(6).tolist(), strict=True))):
        book.active.append(row)
    half = book.create_sheet("half")
    half.append([])
    for at, row in enumerate(D.round(6).tolist()):
        half.append([2020 + at, *row[: at + 1]])
    half["XFD3"].number_format = "0.00"  # an empty cell far out, as people leave them behind
    book.save(tmp_path / "d.xlsx")
    content = (tmp_path / "d.xlsx").read_bytes()
    assert "sheet 'Sheet', the first of 2" in check(tmp_path / "d.xlsx", content, D.round(6), LABELS)
    check(tmp_path / "d.xlsx", content, D.round(6), [str(2020 + at) for at in range(N)], sheet="half")
    with pytest.raises(ValueError, match="has no sheet 'other'"):
        read_dissimilarities(tmp_path / "d.xlsx", sheet="other")
    with pytest.raises(ValueError, match="millions of cells"):
        read_dissimilarities(tmp_path / "d.xlsx", sheet="half", max_expanded=2**16)


@pytest.mark.parametrize("form", ["lsmat", "phylip_dm"])
def test_what_scikit_bio_writes(tmp_path, form):
    skbio = pytest.importorskip("skbio")
    matrix = skbio.DistanceMatrix(D, LABELS)
    if form not in skbio.io.registry.io_registry.list_write_formats(skbio.DistanceMatrix):
        pytest.skip("this version of scikit-bio does not write it")
    matrix.write(str(tmp_path / "d.txt"), format=form)
    found = read_dissimilarities(tmp_path / "d.txt").dissimilarities
    np.testing.assert_allclose(found.to_numpy(), D, rtol=1e-6, atol=1e-6)
    assert list(found.index) == LABELS


def test_reading_takes_little_more_memory_than_the_table(tmp_path, rng):
    import tracemalloc

    n = 700
    values = squareform(pdist(rng.standard_normal((n, 3))))
    labels = [f"object {at}" for at in range(n)]
    path = tmp_path / "d.csv"
    path.write_text(written(values, "square", ",", labels, labels), encoding="utf-8")
    read_dissimilarities(path)
    tracemalloc.start()
    found = read_dissimilarities(path).dissimilarities
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(found.to_numpy(), values)
    assert peak < 3 * values.nbytes + 2**24


@pytest.mark.parametrize("form", ["square", "diagonal", "long"])
def test_similarities_in_every_form(tmp_path, form):
    R = pd.DataFrame(np.random.default_rng(0).standard_normal((30, N)), columns=LABELS).corr()
    path = tmp_path / "r.csv"
    path.write_text(written(R.to_numpy(), form, left=LABELS), encoding="utf-8")
    found = read_dissimilarities(path, similarity="correlation").dissimilarities
    expected = similarity_to_dissimilarity(R, "correlation").to_numpy()
    np.testing.assert_allclose(found.to_numpy(), expected, atol=1e-12)
    path.write_text(written(R.to_numpy() + 2, form, left=LABELS), encoding="utf-8")
    found = read_dissimilarities(path, similarity="reverse:1:3").dissimilarities
    np.testing.assert_allclose(found.to_numpy(), (2 - R.to_numpy()) * (1 - np.eye(N)), atol=1e-12)
    confusion = "a,b,c\n9,1,2\n2,8,1\n1,1,7\n"
    path.write_text(confusion, encoding="utf-8")
    found = read_dissimilarities(path, similarity="confusion:0.5", shape="square").dissimilarities
    cells = np.array([[9, 1, 2], [2, 8, 1], [1, 1, 7]])
    np.testing.assert_allclose(found, similarity_to_dissimilarity(cells, "confusion", pseudocount=0.5))


# ---- files that may hold either

DISSIMILAR = {
    "labelled square": ",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n",
    "plain square": "0,1,2\n1,0,3\n2,3,0\n",
    "square with a header": "a,b,c\n0,1,2\n1,0,3\n2,3,0\n",
    "triangle": "a\nb,1\nc,2,3\n",
    "condensed": "1\n2\n3\n",
    "pairs": "i,j,d\na,b,1\na,c,2\nb,c,3\n",
    "numbered pairs": "i,j,d\n0,1,1\n0,2,2\n1,2,3\n1,3,3\n0,3,3\n",
    "PHYLIP": "3\na 0 1 2\nb 1 0 3\nc 2 3 0\n",
}
FEATURES = {
    "numbers": "x,y\n1,2.5\n3,4.5\n5,6.5\n",
    "labelled numbers": "id,x,y\na,1,2\nb,3,4\nc,5,6\n",
    "square by chance": "x,y,z\n1,2.5,3\n3,4.5,5\n5,6.5,7\n",
    "text": "name,town,age,tall\nAda,Oslo,36,1\nBo,Bern,41,2\nCy,Oslo,29,3\n",
    "two texts and a number": "name,town,age\nAda,Oslo,36\nBo,Bern,41\n",
    "three whole numbers": "a,b,c\n1,5,2\n3,1,4\n5,7,6\n7,8,9\n",
    "answers from 1 to 5": "person,q1,q2,q3\n" + "".join(f"{i},{i % 5},{i * 2 % 5},{i * 3 % 5}\n" for i in range(40)),
    "one named column": "age\n1\n2\n3\n",
    "one column of four": "1\n2\n3\n4\n",
    "asymmetric": "0,1,2\n1,0,3\n2,4,0\n",
}


@pytest.mark.parametrize(("kind", "content"), [*DISSIMILAR.items(), *FEATURES.items()])
def test_the_kind_of_a_file_is_detected_and_explained(kind, content, tmp_path):
    (tmp_path / "d.txt").write_text(content, encoding="utf-8")
    found = read_data(tmp_path / "d.txt")
    assert isinstance(found, DissimilarityFile if kind in DISSIMILAR else TableFile)
    what = "dissimilarities" if kind in DISSIMILAR else "a table of features"
    assert found.detected[-1].startswith(f"taken for {what}: ")


def test_the_kind_of_a_typed_file_is_detected(tmp_path, rng):
    X = rng.standard_normal((5, 3))
    for values, kind in ((X, TableFile), (squareform(pdist(X)), DissimilarityFile)):
        np.save(tmp_path / "x.npy", values)
        assert isinstance(read_data(tmp_path / "x.npy"), kind)
        pd.DataFrame(values).to_json(tmp_path / "d.json", orient="records")
        assert isinstance(read_data(tmp_path / "d.json"), kind)


def test_a_file_is_opened_once(tmp_path, monkeypatch):
    import builtins

    path = tmp_path / "d.csv"
    path.write_text(",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n", encoding="utf-8")
    opened = []
    real = builtins.open
    monkeypatch.setattr(builtins, "open", lambda name, *args, **kw: opened.append(str(name)) or real(name, *args, **kw))
    read_data(path)
    read_dissimilarities(path)
    assert opened.count(str(path)) == 2
