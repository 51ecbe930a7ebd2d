"""Wrong files: one sentence with the file and the place in it, in little memory and time."""

import gzip
import io
import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest

import unmask.io._files as input_file
from unmask.io import FileProblem, memory_limit, read_data, read_dissimilarities, read_known, read_table

READERS = [read_dissimilarities, read_table, read_data, lambda path, **options: read_known(path, ["a"], **options)]


def npy(array, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def npy_that_promises(shape: str) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"\0" * 80


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def damaged(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


SQUARE = ",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n"
HUNDRED = npz(D=np.zeros((100, 100)))
LONG = "i,j,d\n" + "".join(f"{i},{j},1\n" for i in range(25) for j in range(i))
LARGE = [["", *map(str, range(300))], *([str(at), *["1"] * 300] for at in range(300))]
for _at in range(300):
    LARGE[_at + 1][_at + 1] = "0"


def large(row: int, column: int, cell: str) -> bytes:
    """Return a table in which one cell is wrong below the lines from which the format is detected."""
    lines = [
        ",".join([*cells[: column - 1], cell, *cells[column:]] if at == row else cells)
        for at, cells in enumerate(LARGE, 1)
    ]
    return "\n".join(lines).encode()


# name of the file, content, row, column
DISSIMILARITIES = {
    # files as such
    "empty": ("d.csv", b"", None, None),
    "blank lines only": ("d.csv", b"\n  \n\n", None, None),
    "gzip of nothing": ("d.csv.gz", gzip.compress(b""), None, None),
    "truncated gzip": ("d.csv.gz", gzip.compress(SQUARE.encode() * 99)[:-30], None, None),
    "half a gzip header": ("d.csv.gz", b"\x1f\x8b\x08", None, None),
    "zip archive": ("d.zip", zipped(d__csv=SQUARE.encode()), None, None),
    "damaged zip archive": ("d.npz", HUNDRED[:-40], None, None),
    "bzip2": ("d.csv.bz2", b"BZh91AY&SY", None, None),
    "old Excel": ("d.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 50, None, None),
    "a file of R": ("d.rds", gzip.compress(b"X\n\x00\x00\x00\x03"), None, None),
    "a picture": ("d.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", None, None),
    # text as such
    "latin-1": ("d.csv", SQUARE.replace("b", "é").encode("latin-1"), 1, None),
    "latin-1 far down": ("d.csv", large(290, 1, "é").decode().encode("latin-1"), 290, None),
    "UTF-16 without mark": ("d.csv", SQUARE.encode("utf-16-le"), 1, None),
    "half a UTF-16 file": ("d.csv", SQUARE.encode("utf-16")[:-1], None, None),
    "NUL in a cell": ("d.csv", SQUARE.replace("3", "3\0").encode(), 3, None),
    "NUL far down in UTF-16": ("d.csv", large(290, 5, "1\0").decode().encode("utf-16"), 290, None),
    "NUL far down": ("d.csv", large(290, 5, "1\0"), 290, None),
    "quotation mark not closed": ("d.csv", SQUARE.replace("b,1", '"b,1').encode(), 3, None),
    "quotation mark not closed for long": ("d.csv", b'"a,1\n' + b"b,2\n" * 2000, 1, None),
    "quotation mark far down": ("d.csv", large(290, 5, '"1'), 290, None),
    "text after a quoted cell": ("d.csv", SQUARE.replace("b,1", '"b"x,1').encode(), 3, None),
    "text after a quoted cell far down": ("d.csv", large(290, 5, '"1"x'), 290, None),
    "text after an empty quoted cell": ("d.csv", large(290, 5, '""1'), 290, None),
    "huge quoted cell": ("d.csv", (SQUARE + '"' + "x" * 200_000 + '",1,2,3\n').encode(), 5, None),
    "huge cell": ("d.csv", SQUARE.replace("2\n", "x" * 200_000 + "\n").encode(), 2, None),
    # cells
    "text in a cell": ("d.csv", SQUARE.replace("1,0,3", "1,0,far").encode(), 3, 4),
    "text among two objects": ("d.csv", b",a,b\na,0,2.4\nb,2.A,0\n", 3, 2),
    "text far down": ("d.csv", large(290, 30, "far"), 290, 30),
    "truth far down": ("d.csv", large(290, 30, "True"), 290, 30),
    "text in a cell of the first row": ("d.csv", b"0,x,2\n1,0,3\n2,3,0\n", 1, 2),
    "digits in groups": ("d.csv", SQUARE.replace("3", "1_000").encode(), 3, 4),
    "mixed decimal marks": ("d.csv", b";a;b;c\na;0;1,5;2,5\nb;1,5;0;3.5\nc;2,5;3,5;0\n", 3, 4),
    "a decimal comma among points": ("d.tsv", b"0\t1.5\t2.5\n1.5\t0\t3,5\n2.5\t3.5\t0\n", 2, 3),
    "infinite": ("d.csv", SQUARE.replace("3", "inf").encode(), 3, 4),
    "overflow": ("d.csv", SQUARE.replace("3", "1e999").encode(), 3, 4),
    "negative": ("d.csv", SQUARE.replace("3", "-3").encode(), 3, 4),
    "similarities": ("d.csv", b"1,.5,.2\n.5,1,.3\n.2,.3,1\n", 1, 1),
    "similarities in a triangle": ("d.csv", b"1\n.5,1\n.2,.3,1\n.1,.2,.3,1\n", None, None),
    "asymmetric": ("d.csv", SQUARE.replace("c,2,3", "c,2,4").encode(), 3, 4),
    "given one way only": ("d.csv", SQUARE.replace("c,2,3", "c,2,").encode(), 3, 4),
    "nothing given": ("d.csv", b",a,b,c\na,0,,\nb,,0,\nc,,,0\n", None, None),
    # rows and labels
    "ragged": ("d.csv", SQUARE.replace("b,1,0,3", "b,1,0").encode(), 3, None),
    "ragged far down": ("d.csv", large(290, 5, "1").replace(b"\n288,1", b"\n288"), 290, None),
    "a delimiter too many": ("d.csv", SQUARE.replace("b,1", "b,,1").encode(), 3, None),
    "a delimiter too many far down": ("d.csv", large(290, 5, "1,1"), 290, None),
    "ragged triangle": ("d.csv", b"a,0\nb,1,0\nc,2,3,0\nd,4,5,6,7,0\n", 4, None),
    "no triangle": ("d.csv", b"1,5\n1,1,5\n", 2, None),
    "only a header": ("d.csv", b"a,b,c\n", None, None),
    "only a name": ("d.csv", b"distance\n", 1, 1),
    "duplicate labels": ("d.csv", SQUARE.replace("b,1", "a,1").encode(), 3, None),
    "duplicate names": ("d.csv", SQUARE.replace(",a,b,c", ",a,b,b").encode(), None, 4),
    "an empty label": ("d.csv", SQUARE.replace("b,1", ",1").encode(), 3, None),
    "labels that disagree": ("d.csv", SQUARE.replace("c,2", "e,2").encode(), None, None),
    "labels of a triangle in another order": ("d.csv", b",b,a,c\na\nb,1\nc,2,3\n", None, None),
    "too few names above a triangle": ("d.csv", b",a,b\na\nb,1\nc,2,3\n", None, None),
    "more rows than columns": ("d.csv", b"0,1.5\n1.5,0\n2,3\n", None, None),
    "fewer rows than columns": ("d.csv", b"0.5,1.5,1\n1.5,0.5,1\n", None, None),
    "one object": ("d.csv", b",a\na,0\n", None, None),
    # condensed vectors and lists of pairs
    "condensed of impossible length": ("d.csv", b"1\n2\n3\n4\n", None, None),
    "text in a condensed vector": ("d.csv", b"1\n2\nx\n", 3, 1),
    "negative in a condensed row": ("d.csv", b"1,-2,3\n", 1, 2),
    "a pair twice": ("d.csv", b"i,j,d\na,b,1\nb,c,2\nb,a,3\n", 4, 3),
    "a pair of one": ("d.csv", b"i,j,d\na,b,1\nb,b,2\na,c,1\n", 3, 3),
    "a negative pair": ("d.csv", LONG.replace("24,23,1", "24,23,-1").encode(), 301, 3),
    "a pair without label": ("d.csv", b"i,j,d\na,b,1\nb,c,2\n,a,3\nc,a,2\n", 4, 1),
    "a pair with more": ("d.csv", b"i,j,d\na,b,1\nb,c,2,9\nc,a,3\n", 3, None),
    "pairs with text": ("d.csv", b"i,j,d\n" + b"a,b,1\n" * 300 + b"b,c,near\n", 302, 3),
    "pairs with two numbers": ("d.csv", b"i,j,d,w\na,b,1,1\na,c,2,1\nb,c,3,1\n", None, None),
    # PHYLIP
    "PHYLIP with too few objects": ("d.phy", b"4\na 0 1 2 3\nb 1 0 2 3\nc 2 2 0 3\n", None, None),
    "PHYLIP with too many": ("d.phy", b"2\na 0 1\nb 1 0\nc 2 2\n", None, None),
    "PHYLIP with a short row": ("d.phy", b"3\na 0 1 2\nb 1 0\nc 2 3 0\n", 3, None),
    "PHYLIP with text": ("d.phy", b"3\na 0 1 2\nb 1 0 x\nc 2 x 0\n", 3, 4),
    # NumPy
    "npy of 10^12 cells": ("d.npy", npy_that_promises("(1000000, 1000000)"), None, None),
    "npy of negative length": ("d.npy", npy_that_promises("(-2, -5)"), None, None),
    "npy that is cut off": ("d.npy", npy(np.zeros((9, 9)))[:-8], None, None),
    "npy with more behind it": ("d.npy", npy(np.zeros((9, 9))) * 2, None, None),
    "npy with a damaged header": ("d.npy", b"\x93NUMPY\x01\x00\x05\x00hello", None, None),
    "pickled npy": ("d.npy", npy(np.array([{}, None], dtype=object), allow_pickle=True), None, None),
    "npy of text": ("d.npy", npy(np.array(["a", "b"])), None, None),
    "npy of records": ("d.npy", npy(np.zeros(3, dtype=[("x", float)])), None, None),
    "npy of three axes": ("d.npy", npy(np.zeros((2, 2, 2))), None, None),
    "npy of no rows": ("d.npy", npy(np.zeros((0, 3))), None, None),
    "npy asymmetric": ("d.npy", npy(np.array([[0, 1.0, 1], [2, 0, 1], [1, 1, 0]])), 1, 2),
    "npy of features": ("d.npy", npy(np.array([[0.5, 5, 1.0], [5, 9, 2.0]])), None, None),
    "not an npy": ("d.npy", b"hello", None, None),
    "a pickle": ("d.npy", pickle.dumps([1, 2]), None, None),
    "npz of several arrays": ("d.npz", npz(a=np.zeros(3), b=np.zeros(3)), None, None),
    "npz of none": ("d.npz", npz(a=np.array(["x"])), None, None),
    "pickled npz": ("d.npz", npz(a=np.array([{}], dtype=object)), None, None),
    "npz with labels for others": ("d.npz", npz(D=np.zeros((3, 3)), labels=np.array(["a"])), None, None),
    "npz with a damaged member": ("d.npz", damaged(HUNDRED, 60), None, None),
    "npz that promises more": ("d.npz", zipped(D__npy=npy_that_promises("(10, 10)")), None, None),
    # others
    "not a Parquet file": ("d.parquet", b"hello, world", None, None),
    "not a workbook": ("d.xlsx", b"hello, world", None, None),
    "no JSON": ("d.json", b'[{"a": 1},\n {"a": }]', 2, 8),
    "JSON without a table": ("d.json", b'"hello"', None, None),
    "JSON of numbers": ("d.json", b"[1, 2, 3]", None, None),
    "JSON of nothing": ("d.json", b"[[]]", None, None),
    "JSON of no rows": ("d.json", b'{"columns": ["a"], "data": []}', None, None),
    "JSON with too few labels": ("d.json", b'{"columns": ["a"], "index": [1], "data": [[1], [2]]}', None, None),
    "JSON with one name alone": ("d.json", b'{"columns": 5, "data": [[1], [2]]}', None, None),
    "JSON of numbers by name": ("d.json", b'{"a": 1, "b": 2}', None, None),
    "JSON of nothing by name": ("d.json", b"{}", None, None),
    "JSON of empty records": ("d.json", b"[{}]", None, None),
    "JSON of a number among rows": ("d.json", b"[[0, 1], 1]", 2, None),
    "JSON of unequal columns": ("d.json", b'{"a": [1], "b": [1, 2]}', None, None),
    "JSON of unequal rows": ("d.json", b"[[0, 1], [1]]", 2, None),
    "JSON with lists in cells": ("d.json", b"[[0, [1]], [1, 0]]", 1, 2),
    "JSON with text": ("d.json", b'[[0, "x"], [1, 0]]', 1, 2),
    "JSON pairs without label": ("d.json", b'{"i": [null, "a"], "j": ["b", "c"], "d": [1, 2]}', 1, 1),
    "JSON of great depth": ("d.json", b"[" * 100_000, None, None),
    "JSON that is not square": ("d.json", b"[[0, 1, 2, 3], [1, 0, 2, 3]]", None, None),
    "JSON in latin-1": ("d.json", '["é"]'.encode("latin-1"), None, None),
}


def located(read, name, content, row, column, folder, monkeypatch, **options):
    monkeypatch.chdir(folder)
    (folder / name).write_bytes(content)
    with pytest.raises(FileProblem) as caught:
        read(name, **options)
    problem = caught.value
    assert (problem.path, problem.row, problem.column) == (name, row, column)
    places = [f"{what} {at}" for what, at in (("row", row), ("column", column)) if at]
    assert str(problem).startswith(", ".join([name, *places]) + ": ")
    assert str(problem).endswith((".", "?"))
    assert len(str(problem).splitlines()) == 1
    assert len(str(problem)) < 400
    return problem


@pytest.mark.parametrize("kind", DISSIMILARITIES)
def test_a_wrong_file_of_dissimilarities_gets_one_sentence(kind, tmp_path, monkeypatch):
    located(read_dissimilarities, *DISSIMILARITIES[kind], tmp_path, monkeypatch)


TABLES = {
    "ragged": ("t.csv", b"id,x,y\na,1,2\nb,1\n", 3, None),
    "ragged far down": ("t.csv", b"id,x,y\n" + b"a,1,2\n" * 300 + b"b,1\n", 302, None),
    "only a header": ("t.csv", b"id,x,y\n", None, None),
    "only labels": ("t.csv", b"id\na\nb\n", None, None),
    "two columns of one name": ("t.csv", b"id,x,x\na,1,2\n", 1, 3),
    "two columns of one name in JSON": ("t.json", b'{"columns": ["a", "a"], "data": [[1, 2]]}', None, 2),
    "three axes": ("t.npy", npy(np.zeros((2, 2, 2))), None, None),
    "no rows": ("t.npy", npy(np.zeros((0, 3))), None, None),
    "JSON of nothing": ("t.json", b"[[]]", None, None),
    "labels for others": ("t.npz", npz(X=np.zeros((3, 3)), ids=np.array(["a"])), None, None),
    "nothing": ("t.csv", b"", None, None),
    "records that share no key": ("t.json", json.dumps([{f"k{at}": at} for at in range(40_000)]).encode(), None, None),
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
def test_a_wrong_table_gets_one_sentence(kind, tmp_path, monkeypatch):
    located(read_table, *TABLES[kind], tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", ["text in a cell", "NUL in a cell", "PHYLIP with too few objects", "ragged triangle"])
def test_an_error_in_what_can_only_be_dissimilarities_is_an_error(kind, tmp_path, monkeypatch):
    located(read_data, *DISSIMILARITIES[kind], tmp_path, monkeypatch)


@pytest.mark.parametrize("read", READERS)
def test_what_is_no_file_gets_one_sentence(read, tmp_path):
    for path in (tmp_path / "nowhere.csv", tmp_path, "a\0b.csv", tmp_path / ("x" * 500)):
        with pytest.raises(FileProblem):
            read(path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(FileProblem, match="is not a regular file"):
            read(tmp_path / "pipe.csv")


# ---- bombs


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.csv.gz", gzip.compress(b"0," * 10_000_000)),
        ("d.csv.gz", gzip.compress(b"a,0\n" * 5_000_000)),
        ("d.npz", npz(D=np.zeros((2000, 2000)))),
        ("d.npz.gz", gzip.compress(npz(D=np.zeros((3000, 3000))))),
    ],
)
def test_a_bomb_is_stopped_at_the_limit(read, name, content, tmp_path):
    assert len(content) < 100_000
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileProblem, match="max_expanded"):
        read(tmp_path / name, max_expanded=2**16)


@pytest.mark.parametrize("read", READERS)
def test_a_parquet_file_is_measured_before_it_is_unpacked(read, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    texts = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int32), ["a" * 2_000_000])  # 40 GB
    parquet.write_table(pa.table({"x": texts}), path, store_schema=False)
    assert path.stat().st_size < 200_000
    with pytest.raises(FileProblem, match="texts in column 'x'"):
        read(path, max_expanded=2**30)
    pd.DataFrame({"x": np.zeros(100_000)}).to_parquet(path)
    with pytest.raises(FileProblem, match="promises 100,000 rows"):
        read(path, max_expanded=2**16)
    pd.DataFrame({"x": ["a" * 1000 + str(at) for at in range(999)]}).to_parquet(
        path, use_dictionary=False, column_encoding={"x": "DELTA_BYTE_ARRAY"}
    )
    with pytest.raises(FileProblem, match="has the column 'x'"):
        read(path, max_expanded=2**16)
    pd.DataFrame({"x": [[1, 2], [3]]}).to_parquet(path)
    with pytest.raises(FileProblem, match="lists or records in column 'x'"):
        read(path)
    for frame in (pd.DataFrame(index=range(3)), pd.DataFrame({"x": []})):
        frame.to_parquet(path)
        with pytest.raises(FileProblem, match="no cells"):
            read(path)
    path.write_bytes(b"PAR1" + path.read_bytes()[4:200])
    with pytest.raises(FileProblem, match="damaged Parquet"):
        read(path)


def test_unpacking_ends_at_the_limit_and_not_after_it(tmp_path, monkeypatch):
    file = tmp_path / "bomb.csv.gz"
    file.write_bytes(gzip.compress(b"0," * 50_000_000))
    unpacked = []
    read = input_file.gzip.GzipFile.read
    monkeypatch.setattr(
        input_file.gzip.GzipFile, "read", lambda self, size=-1: unpacked.append(read(self, size)) or unpacked[-1]
    )
    with pytest.raises(FileProblem, match="unpacks to more than 1 MB"):
        read_table(file, max_expanded=2**20)
    assert sum(map(len, unpacked)) < 4 * 2**20


def test_a_short_list_that_asks_for_a_huge_table_is_refused(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("".join(f"a{at},b{at},1\n" for at in range(5000)), encoding="utf-8")
    with pytest.raises(FileProblem, match="10,000 objects in 5,000 pairs, which would take 763 MB"):
        read_dissimilarities(file, max_expanded=2**28)


def test_many_columns_are_read_as_a_whole(tmp_path):
    names = [f"x{at}" for at in range(30_001)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *[",".join(["1.5"] * len(names))] * 3]), encoding="utf-8")
    assert read_table(path).table.shape == (3, len(names))
    assert read_data(path).table.shape == (3, len(names))


def test_the_limit_is_a_share_of_the_memory(tmp_path, monkeypatch):
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**22}
    monkeypatch.setattr(input_file.os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(input_file, "_LIMITS", ())
    assert memory_limit() == 4 * 2**30
    (tmp_path / "limit").write_text("8388608\n", encoding="utf-8")
    (tmp_path / "none").write_text("max\n", encoding="utf-8")
    monkeypatch.setattr(input_file, "_LIMITS", (tmp_path / "none", tmp_path / "limit", tmp_path / "absent"))
    assert memory_limit() == 2 * 2**20
    monkeypatch.delattr(input_file.os, "sysconf")
    monkeypatch.setattr(input_file, "_LIMITS", ())
    assert memory_limit() == 4 * 2**30


# ---- wrong arguments


@pytest.mark.parametrize(
    "options",
    [
        {"shape": "round"},
        {"delimiter": "x"},
        {"decimal": "x"},
        {"delimiter": ",", "decimal": ","},
        {"header": "yes"},
        {"encoding": "klingon"},
        {"encoding": "rot13"},
        {"encoding": 8},
        {"sheet": 1},
        {"symmetrize": "max"},
        {"max_expanded": 0},
        {"aggregate": "sum"},
        {"rater": "who"},
        {"similarity": "correlation:1"},
        {"similarity": "reverse:1"},
        {"similarity": "reverse:1:x"},
    ],
)
def test_arguments_are_checked(options, tmp_path):
    (tmp_path / "d.csv").write_text(SQUARE, encoding="utf-8")
    with pytest.raises(ValueError, match="|".join(options)) as caught:
        read_dissimilarities(tmp_path / "d.csv", **options)
    assert not isinstance(caught.value, FileProblem)  # the file is not to blame


@pytest.mark.parametrize(
    ("content", "row", "options"),
    [
        (SQUARE, 1, {"shape": "phylip"}),
        ("0\n", 1, {"shape": "phylip"}),
        (",a,b,c,d\na,0,1,2,3\n", 2, {"shape": "long"}),
        ("i,j,d\n", None, {"shape": "long", "header": True}),
        ("d\n", None, {"shape": "condensed", "header": True}),
        ("a,b\n", None, {"shape": "square", "header": True}),
        ("0,1,2\n1,0,3\n2,3,0\n", None, {"aggregate": "mean", "shape": "square"}),
        ("0,1,2\n1,0,3\n2,3,0\n", None, {"similarity": "correlation"}),
        (SQUARE, None, {"similarity": "reverse:2:3"}),
    ],
)
def test_a_file_that_is_not_as_it_is_said_to_be(content, row, options, tmp_path, monkeypatch):
    located(read_dissimilarities, "d.csv", content.encode(), row, None, tmp_path, monkeypatch, **options)


@pytest.mark.parametrize("reader", [read_table, read_data, read_dissimilarities, read_known])
def test_a_file_goes_by_the_name_that_was_given(tmp_path, reader):
    given = [["Ada"]] if reader is read_known else []
    secret = tmp_path / "upload-17"
    for content in (None, b"", b"\x89PNG\r\n\x1a\n0000", b"\x1f\x8b\x08\x00broken"):
        if content is not None:
            secret.write_bytes(content)
        with pytest.raises(FileProblem) as error:
            reader(secret, *given, name="wine.csv")
        assert str(error.value).startswith("wine.csv: ")
        assert "upload" not in str(error.value)
        assert error.value.path == "wine.csv"


@pytest.mark.parametrize(("module", "name"), [("pyarrow.parquet", "d.parquet"), ("openpyxl", "d.xlsx")])
def test_packages_that_are_not_there(tmp_path, monkeypatch, module, name):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / name).write_bytes(b"PAR1xxxxPAR1" if "parquet" in name else zipped(**{"[Content_Types]__xml": b""}))
    with pytest.raises(ImportError, match=r"pip install 'unmask\[files\]'"):
        read_dissimilarities(tmp_path / name)


def test_a_problem_survives_pickling():
    problem = FileProblem("d.csv, row 2: is wrong.", "d.csv", 2, None, "is wrong.")
    again = pickle.loads(pickle.dumps(problem))
    assert str(again) == str(problem)
    assert (again.path, again.row, again.column, again.what) == ("d.csv", 2, None, "is wrong.")
    assert FileProblem("alone").what == "alone"
