"""Files that are wrong, of every kind we could think of: each gets one sentence with the file and the place in it."""

import gzip
import io
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest

import unmask.io._input_file as input_file
from unmask.io import FileProblem, memory_limit, read_data, read_dissimilarities, read_known, read_table
from unmask.io._input_file import InputFile
from unmask.io._tables import _require_distinct


def npy(array, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def npy_that_promises(shape: str, dtype: str = "<f8") -> bytes:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
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

# name of the file, content, what the sentence says, row, column
DISSIMILARITIES = {
    # files as such
    "empty": ("d.csv", b"", "is empty", None, None),
    "blank lines only": ("d.csv", b"\n  \n\n", "nothing but blank lines", None, None),
    "gzip of nothing": ("d.csv.gz", gzip.compress(b""), "is empty", None, None),
    "truncated gzip": ("d.csv.gz", gzip.compress(SQUARE.encode() * 99)[:-30], "ends too early", None, None),
    "damaged gzip": ("d.csv.gz", damaged(gzip.compress(os.urandom(500)), 200), "is damaged|not UTF-8", None, None),
    "half a gzip header": ("d.csv.gz", b"\x1f\x8b\x08", "ends too early|is damaged", None, None),
    "zip archive": ("d.zip", zipped(d__csv=SQUARE.encode()), "is a zip archive; unpack it", None, None),
    "damaged zip archive": ("d.npz", HUNDRED[:-40], "is a damaged archive", None, None),
    "bzip2": ("d.csv.bz2", b"BZh91AY&SY", "compressed by bzip2", None, None),
    "old Excel": ("d.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 50, "old Excel file", None, None),
    "a file of R": ("d.rds", gzip.compress(b"X\n\x00\x00\x00\x03"), r"R's own \(.rds\).*write.csv", None, None),
    "a workspace of R": ("d.RData", gzip.compress(b"RDX3\nX\n"), r"workspace of R.*write.csv", None, None),
    "a picture": ("d.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is a PNG picture", None, None),
    # text as such
    "latin-1": ("d.csv", SQUARE.replace("b", "é").encode("latin-1"), r"not UTF-8 text \(byte 0xe9\)", 1, None),
    "UTF-16 without mark": ("d.csv", SQUARE.encode("utf-16-le"), "NUL characters.*encoding='utf-16", 1, None),
    "half a UTF-16 file": ("d.csv", SQUARE.encode("utf-16")[:-1], "is not text in the encoding utf-16", None, None),
    "NUL in a cell": ("d.csv", SQUARE.replace("3", "3\0").encode(), "NUL characters", 3, None),
    "quotation mark not closed": ("d.csv", SQUARE.replace("b,1", '"b,1').encode(), "opened here and not", 3, None),
    "quotation mark not closed for long": ("d.csv", b'"a,1\n' + b"b,2\n" * 2000, "not closed", 1, None),
    "text after a quoted cell": ("d.csv", SQUARE.replace("b,1", '"b"x,1').encode(), "cannot be cut", 3, None),
    "huge quoted cell": ("d.csv", (SQUARE + '"' + "x" * 200_000 + '",1,2,3\n').encode(), "131,072", 5, None),
    "huge cell": ("d.csv", SQUARE.replace("2\n", "x" * 200_000 + "\n").encode(), "131,072", 2, 4),
    # cells
    "text in a cell": ("d.csv", SQUARE.replace("1,0,3", "1,0,far").encode(), "'far' is not a number", 3, 4),
    "text in a cell of the first row": ("d.csv", b"0,x,2\n1,0,3\n2,3,0\n", "'x' is not a number", 1, 2),
    "digits in groups": ("d.csv", SQUARE.replace("3", "1_000").encode(), "'1_000' is not a number", 3, 4),
    "mixed decimal marks": (
        "d.csv",
        b";a;b;c\na;0;1,5;2,5\nb;1,5;0;3.5\nc;2,5;3,5;0\n",
        "'3.5' has a decimal point where others have a decimal comma",
        3,
        4,
    ),
    "a decimal comma among points": (
        "d.tsv",
        b"0\t1.5\t2.5\n1.5\t0\t3,5\n2.5\t3.5\t0\n",
        "'3,5' has a decimal comma where others have a decimal point",
        2,
        3,
    ),
    "infinite": ("d.csv", SQUARE.replace("3", "inf").encode(), "inf for objects 'b' and 'c' is infinite", 3, 4),
    "overflow": ("d.csv", SQUARE.replace("3", "1e999").encode(), "is infinite", 3, 4),
    "negative": ("d.csv", SQUARE.replace("3", "-3").encode(), "-3 for objects 'b' and 'c' is negative", 3, 4),
    "similarities": ("d.csv", b"1,.5,.2\n.5,1,.3\n.2,.3,1\n", "1 on the diagonal.*similarities", 1, 1),
    "similarities in a triangle": ("d.csv", b"1\n.5,1\n.2,.3,1\n.1,.2,.3,1\n", "ends in 1.*similarities", None, None),
    "asymmetric": (
        "d.csv",
        SQUARE.replace("c,2,3", "c,2,4").encode(),
        r"3 for objects 'b' and 'c', but 4 the other way round \(row 4, column 3\)",
        3,
        4,
    ),
    "given one way only": ("d.csv", SQUARE.replace("c,2,3", "c,2,").encode(), "but nan the other way", 3, 4),
    "nothing given": ("d.csv", b",a,b\na,0,\nb,,0\n", "holds no dissimilarity", None, None),
    # rows and labels
    "ragged": ("d.csv", SQUARE.replace("b,1,0,3", "b,1,0").encode(), "has 3 cells where 4 are expected", 3, None),
    "a delimiter too many": ("d.csv", SQUARE.replace("b,1", "b,,1").encode(), "has 5 cells where 4", 3, None),
    "ragged triangle": (
        "d.csv",
        b"a,0\nb,1,0\nc,2,3,0\nd,4,5,6,7,0\n",
        "has 6 cells where a lower triangle has 5",
        4,
        None,
    ),
    "no triangle": ("d.csv", b"1,5\n1,1,5\n", "the label '1' is that of row 1 too", 2, None),
    "only a header": ("d.csv", b"a,b,c\n", "has a header and no rows", None, None),
    "only a name": ("d.csv", b"distance\n", "'distance' is not a number", 1, 1),
    "duplicate labels": (
        "d.csv",
        SQUARE.replace("b,1", "a,1").encode(),
        "the label 'a' is that of row 2 too",
        3,
        None,
    ),
    "duplicate names": ("d.csv", SQUARE.replace(",a,b,c", ",a,b,b").encode(), "that of column 3 too", None, 4),
    "an empty label": ("d.csv", SQUARE.replace("b,1", ",1").encode(), "has no label", 3, None),
    "labels that disagree": (
        "d.csv",
        SQUARE.replace("c,2", "e,2").encode(),
        "disagree: 'e' only in the first column, 'c' only in the first row",
        None,
        None,
    ),
    "labels of a triangle in another order": (
        "d.csv",
        b",b,a,c\na\nb,1\nc,2,3\n",
        "in another order",
        None,
        None,
    ),
    "too few names above a triangle": ("d.csv", b",a,b\na\nb,1\nc,2,3\n", "names 2 objects.*rows for 3", None, None),
    "more rows than columns": ("d.csv", b"0,1.5\n1.5,0\n2,3\n", "more rows than its 2 columns", 3, None),
    "fewer rows than columns": ("d.csv", b"0.5,1.5,1\n1.5,0.5,1\n", "has 2 rows and 3 columns", None, None),
    "one object": ("d.csv", b",a\na,0\n", "holds one object", None, None),
    # condensed vectors and lists of pairs
    "condensed of impossible length": ("d.csv", b"1\n2\n3\n4\n", "has 4 numbers.*1, 3 or 6", None, None),
    "text in a condensed vector": ("d.csv", b"1\n2\nx\n", "'x' is not a number", 3, 1),
    "negative in a condensed row": ("d.csv", b"1,-2,3\n", "-2 for objects 1 and 3 is negative", 1, 2),
    "a pair twice": ("d.csv", b"i,j,d\na,b,1\nb,c,2\nb,a,3\n", "3 for the pair 'a' and 'b', but 1 in row 2", 4, 3),
    "a pair of one": ("d.csv", b"i,j,d\na,b,1\nb,b,2\n", "2 on the diagonal, for object 'b'", 3, 3),
    "a pair without label": ("d.csv", b"i,j,d\na,b,1\nb,c,2\n,a,3\nc,a,2\n", "has no label", 4, 1),
    "a pair with more": ("d.csv", b"i,j,d\na,b,1\nb,c,2,9\nc,a,3\n", "4 cells where", 3, None),
    "pairs with text": ("d.csv", b"i,j,d\n" + b"a,b,1\n" * 300 + b"b,c,near\n", "'near' is not a number", 302, 3),
    "pairs with two numbers": ("d.csv", b"i,j,d,w\na,b,1,1\na,c,2,1\nb,c,3,1\n", "has 4 columns", None, None),
    # PHYLIP
    "PHYLIP with too few objects": ("d.phy", b"4\na 0 1 2 3\nb 1 0 2 3\nc 2 2 0 3\n", "promises 4.*has 3", None, None),
    "PHYLIP with too many": (
        "d.phy",
        b"2\na 0 1\nb 1 0\nc 2 2\n",
        "promises 2 objects in row 1, but has 3",
        None,
        None,
    ),
    "PHYLIP with a short row": ("d.phy", b"3\na 0 1 2\nb 1 0\nc 2 3 0\n", "has 2 numbers .*'b'.*3 are", 3, None),
    "PHYLIP with text": ("d.phy", b"3\na 0 1 2\nb 1 0 x\nc 2 x 0\n", "'x' is not a number", 3, 4),
    "PHYLIP of nothing": ("d.phy", b"0\na\n", "promises 0 objects in row 1, but has 1", None, None),
    # NumPy
    "npy of 10^12 cells": ("d.npy", npy_that_promises("(1000000, 1000000)"), "7.28 TB, but 80 bytes", None, None),
    "npy of negative length": ("d.npy", npy_that_promises("(-2, -5)"), "header is wrong", None, None),
    "npy that is cut off": ("d.npy", npy(np.zeros((9, 9)))[:-8], "it is cut off", None, None),
    "npy with more behind it": ("d.npy", npy(np.zeros((9, 9))) * 2, "header is wrong", None, None),
    "npy with a damaged header": ("d.npy", b"\x93NUMPY\x01\x00\x05\x00hello", "damaged header", None, None),
    "pickled npy": ("d.npy", npy(np.array([{}, None], dtype=object), allow_pickle=True), "pickled", None, None),
    "npy of text": ("d.npy", npy(np.array(["a", "b"])), "which are not numbers", None, None),
    "npy of records": ("d.npy", npy(np.zeros(3, dtype=[("x", float)])), "which are not numbers", None, None),
    "npy of three axes": ("d.npy", npy(np.zeros((2, 2, 2))), "holds a 2 . 2 . 2 array", None, None),
    "npy asymmetric": ("d.npy", npy(np.array([[0, 1.0], [2, 0]])), "the other way round", 1, 2),
    "not an npy": ("d.npy", b"hello", "is not a NumPy array, though its name ends in .npy", None, None),
    "a pickle": ("d.npy", pickle.dumps([1, 2]), "is not a NumPy array", None, None),
    "npz of several arrays": ("d.npz", npz(a=np.zeros(3), b=np.zeros(3)), r"several arrays.*'a', 'b'", None, None),
    "npz of none": ("d.npz", npz(a=np.array(["x"])), "no array of numbers", None, None),
    "pickled npz": ("d.npz", npz(a=np.array([{}], dtype=object)), "the array 'a' holds Python objects", None, None),
    "npz with labels for others": (
        "d.npz",
        npz(D=np.zeros((3, 3)), labels=np.array(["a"])),
        "1 labels for 3",
        None,
        None,
    ),
    "npz with a damaged member": ("d.npz", damaged(HUNDRED, 60), "damaged", None, None),
    "npz that promises more": ("d.npz", zipped(D__npy=npy_that_promises("(10, 10)")), "takes 800 bytes", None, None),
    # others
    "not a Parquet file": ("d.parquet", b"hello, world", "is not a Parquet file, though", None, None),
    "not a workbook": ("d.xlsx", b"hello, world", "is not an Excel workbook, though", None, None),
    "no JSON": ("d.json", b'[{"a": 1},\n {"a": }]', "is not JSON", 2, 8),
    "JSON without a table": ("d.json", b'"hello"', "holds no table", None, None),
    "JSON of numbers": ("d.json", b"[1, 2, 3]", "holds no table", None, None),
    "JSON of unequal columns": ("d.json", b'{"a": [1], "b": [1, 2]}', "all of the same length", None, None),
    "JSON of unequal rows": ("d.json", b"[[0, 1], [1]]", "has not the 2 cells", 2, None),
    "JSON with lists in cells": ("d.json", b"[[0, [1]], [1, 0]]", "a list or a dict in a cell", 1, 2),
    "JSON with a truth value": ("d.json", b'[[0, "x"], [true, 0]]', "'x' is not a number", 1, 2),
    "JSON with text": ("d.json", b'[[0, "x"], [1, 0]]', "'x' is not a number", 1, 2),
    "JSON of great depth": ("d.json", b"[" * 100_000, "of a depth or size", None, None),
    "JSON that is not square": ("d.json", b"[[0, 1, 2, 3], [1, 0, 2, 3]]", "has 2 rows and 4 columns", None, None),
    "JSON in latin-1": ("d.json", '["é"]'.encode("latin-1"), "is not text in the encoding", None, None),
}


@pytest.mark.parametrize("kind", DISSIMILARITIES)
def test_a_wrong_file_of_dissimilarities_gets_one_sentence(kind, tmp_path, monkeypatch):
    name, content, sentence, row, column = DISSIMILARITIES[kind]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileProblem, match=sentence) as caught:
        read_dissimilarities(name)
    problem = caught.value
    assert problem.path == name
    assert (problem.row, problem.column) == (row, column)
    places = [f"{what} {at}" for what, at in (("row", row), ("column", column)) if at]
    assert str(problem).startswith(", ".join([name, *places]) + ": ")
    assert str(problem).endswith((".", "?"))
    assert len(str(problem).splitlines()) == 1
    assert len(str(problem)) < 400


def test_there_are_at_least_twenty_five_kinds():
    assert len(DISSIMILARITIES) >= 35


TABLES = {
    "ragged": ("t.csv", b"id,x,y\na,1,2\nb,1\n", "has 2 cells where 3 are expected", 3, None),
    "only a header": ("t.csv", b"id,x,y\n", "has a header and no rows", None, None),
    "only labels": ("t.csv", b"id\na\nb\n", "holds no features beside", None, None),
    "two columns of one name": ("t.csv", b"id,x,x\na,1,2\n", "two columns are named 'x' .columns 2 and 3.", 1, 3),
    "three axes": ("t.npy", npy(np.zeros((2, 2, 2))), "2 . 2 . 2 array", None, None),
    "labels for others": ("t.npz", npz(X=np.zeros((3, 3)), ids=np.array(["a"])), "1 labels for 3 rows", None, None),
    "nothing": ("t.csv", b"", "is empty", None, None),
    "two columns of one name in JSON": ("t.json", b'{"columns": ["a", "a"], "data": [[1, 2]]}', "two columns", None, 2),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_wrong_table_gets_one_sentence(kind, tmp_path, monkeypatch):
    name, content, sentence, row, column = TABLES[kind]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileProblem, match=sentence) as caught:
        read_table(name)
    assert (caught.value.path, caught.value.row, caught.value.column) == (name, row, column)


@pytest.mark.parametrize("read", [read_dissimilarities, read_table, read_data, lambda path: read_known(path, ["a"])])
def test_what_is_no_file_gets_one_sentence(read, tmp_path):
    with pytest.raises(FileProblem, match=r"nowhere\.csv: there is no such file"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(FileProblem, match="is a folder; give the name of a file in it"):
        read(tmp_path)
    with pytest.raises(FileProblem, match="cannot be read"):
        read("a\0b.csv")
    with pytest.raises(FileProblem, match="cannot be read"):
        read(tmp_path / ("x" * 500))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(FileProblem, match="is not a regular file"):
        read_dissimilarities(tmp_path / "pipe.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    file = tmp_path / "d.csv"
    file.write_text(SQUARE, encoding="utf-8")
    file.chmod(0)
    with pytest.raises(FileProblem, match="cannot be read"):
        read_dissimilarities(file)


# ---- bombs


def test_a_gzip_bomb_is_stopped_at_the_limit(tmp_path):
    file = tmp_path / "bomb.csv.gz"
    file.write_bytes(gzip.compress(b"0," * 10_000_000))
    assert file.stat().st_size < 100_000
    with pytest.raises(FileProblem, match="unpacks to more than 1 MB, which is not read unless max_expanded"):
        read_dissimilarities(file, max_expanded=2**20)


def test_the_limit_is_a_share_of_the_memory(tmp_path, monkeypatch):
    file = tmp_path / "bomb.csv.gz"
    file.write_bytes(gzip.compress(b"0," * 10_000_000))
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1024}
    monkeypatch.setattr(input_file.os, "sysconf", pages.__getitem__)
    monkeypatch.setattr(input_file, "_LIMITS", ())
    for read in (read_dissimilarities, read_table, lambda file: read_known(file, ["a"]), read_data):
        with pytest.raises(FileProblem, match="unpacks to more than 1 MB, which is not read unless max_expanded"):
            read(file)
    pages["SC_PHYS_PAGES"] = 2**22
    assert memory_limit() == 4 * 2**30
    (tmp_path / "limit").write_text("8388608\n", encoding="utf-8")
    (tmp_path / "none").write_text("max\n", encoding="utf-8")
    monkeypatch.setattr(input_file, "_LIMITS", (tmp_path / "none", tmp_path / "limit", tmp_path / "absent"))
    assert memory_limit() == 2 * 2**20
    monkeypatch.delattr(input_file.os, "sysconf")
    monkeypatch.setattr(input_file, "_LIMITS", ())
    assert memory_limit() == 4 * 2**30


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


class Counting(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Counting.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_many_columns_are_compared_once_each():
    names = [Counting(f"x{at}") for at in range(2000)]
    _require_distinct(None, names, None)
    assert Counting.compared < 10 * len(names)


def test_a_zip_bomb_is_refused_by_what_it_says_of_itself(tmp_path):
    file = tmp_path / "bomb.npz"
    file.write_bytes(npz(D=np.zeros((2000, 2000))))
    assert file.stat().st_size < 100_000
    with pytest.raises(FileProblem, match=r"unpacks to 30.5 MB from .* kB; more than 1 MB is not read"):
        read_dissimilarities(file, max_expanded=2**20)


def test_a_gzipped_npz_bomb_is_stopped_too(tmp_path):
    file = tmp_path / "bomb.npz.gz"
    file.write_bytes(gzip.compress(npz(D=np.zeros((3000, 3000)))))
    with pytest.raises(FileProblem, match="unpacks to"):
        read_dissimilarities(file, max_expanded=2**16)


def test_a_short_list_that_asks_for_a_huge_table_is_refused(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("".join(f"a{at},b{at},1\n" for at in range(5000)), encoding="utf-8")
    with pytest.raises(FileProblem, match="names 10,000 objects in 5,000 pairs, which would take 763 MB"):
        read_dissimilarities(file, max_expanded=2**28)


def test_memory_that_is_not_there_is_a_sentence_too(tmp_path, monkeypatch):
    def too_much(*args):
        raise MemoryError

    file = tmp_path / "d.csv"
    file.write_text(SQUARE, encoding="utf-8")
    monkeypatch.setattr("unmask.io._dissimilarities._read", too_much)
    monkeypatch.setattr("unmask.io._tables._raw", too_much)
    for read in (read_dissimilarities, read_table):
        with pytest.raises(FileProblem, match="larger than the memory there is"):
            read(file)


# ---- wishes that cannot be


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"shape": "round"}, "shape='round' is not one of 'auto', 'square'"),
        ({"delimiter": "x"}, "delimiter='x' is not one of"),
        ({"decimal": "x"}, "decimal='x' is not one of"),
        ({"delimiter": ",", "decimal": ","}, "cannot both hold"),
        ({"header": "yes"}, "header='yes' must be True, False"),
        ({"encoding": "klingon"}, "encoding='klingon' is not the name of an encoding"),
        ({"encoding": "rot13"}, "encoding='rot13' is not the name of an encoding"),
        ({"encoding": 8}, "encoding=8 must be a name"),
        ({"sheet": 1}, "sheet=1 must be a name"),
        ({"symmetrize": "max"}, "symmetrize='max' is not one of"),
        ({"max_expanded": 0}, "max_expanded=0 must be an integer of at least 1"),
        ({"shape": "lsmat"}, None),
    ],
)
def test_wishes_are_checked(options, sentence, tmp_path):
    file = tmp_path / "d.csv"
    file.write_text(SQUARE, encoding="utf-8")
    if sentence is None:
        assert read_dissimilarities(file, **options).detected[0] == "LSMat"
        return
    with pytest.raises(ValueError, match=sentence) as caught:
        read_dissimilarities(file, **options)
    assert not isinstance(caught.value, FileProblem)  # the file is not to blame


@pytest.mark.parametrize(
    ("shape", "content", "sentence"),
    [
        ("lsmat", "id,a,b\na,0,1\nb,1,0\n", "row 1, column 1: an LSMat file has labels .* not 'id'"),
        ("phylip", SQUARE, "row 1: a PHYLIP file begins with the number of objects, not with ',a,b,c'"),
        ("long", SQUARE, "row 2: has 4 cells where a list of pairs has three"),
        ("long", "i,j,d\n", "'d' is not a number"),
        ("condensed", "x\n", "'x' is not a number"),
    ],
)
def test_a_file_of_another_shape_than_asked_for(shape, content, sentence, tmp_path):
    file = tmp_path / "d.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(FileProblem, match=sentence):
        read_dissimilarities(file, shape=shape)


@pytest.mark.parametrize(
    ("shape", "content", "sentence"),
    [
        ("long", "i,j,d\n", "has a header and no pairs"),
        ("condensed", "d\n", "has a header and no numbers"),
        ("square", "a,b\n", "has a header and no rows"),
        ("lower", "9,9\n7,2,3\n8,2,3,4\n", "is no lower triangle"),
    ],
)
def test_a_header_with_nothing_fitting_below_it(shape, content, sentence, tmp_path):
    file = tmp_path / "d.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(FileProblem, match=sentence):
        read_dissimilarities(file, shape=shape, header=True)


def test_a_file_that_goes_away_while_it_is_read(tmp_path):
    source = InputFile(str(tmp_path / "gone.csv"), "text", packed=False, limit=1, size=1)
    with pytest.raises(FileProblem, match=r"cannot be read \(no such file"), source.binary():
        pass


def test_phylip_of_no_objects(tmp_path):
    file = tmp_path / "d.phy"
    file.write_text("0\n", encoding="utf-8")
    with pytest.raises(FileProblem, match="row 1: promises no objects"):
        read_dissimilarities(file, shape="phylip")


def test_a_problem_survives_pickling():
    problem = FileProblem("d.csv, row 2: is wrong.", "d.csv", 2, None, "is wrong.")
    again = pickle.loads(pickle.dumps(problem))
    assert str(again) == str(problem)
    assert (again.path, again.row, again.column, again.what) == ("d.csv", 2, None, "is wrong.")
    assert FileProblem("alone").what == "alone"
