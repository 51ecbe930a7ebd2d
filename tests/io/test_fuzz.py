"""Whatever bytes a file holds, reading it gives a result or a FileProblem and nothing else."""

import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from unmask.io import DissimilarityFile, FileProblem, TableFile, read_data, read_dissimilarities, read_known, read_table

SUFFIXES = [".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".xlsx", ".json", ".phy", ".csv.gz", ".npy.gz", ""]
READERS = [read_dissimilarities, read_table, read_data, lambda path: read_known(path, ["a", "b"])]
FUZZ = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def tried(content: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        path.write_bytes(content)
        for read in READERS:
            found = result_of(read, path)
            if isinstance(found, FileProblem):
                assert str(found).startswith(str(path))
                assert "\n" not in str(found)
            elif isinstance(found, DissimilarityFile):
                check(found)
            else:
                assert isinstance(found, TableFile | ImportError)


def result_of(read, path):
    try:
        return read(path)
    except (FileProblem, ImportError) as problem:  # the optional packages need not be there
        return problem


def check(found: DissimilarityFile) -> None:
    D = found.dissimilarities.to_numpy()
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diagonal(D), 0)
    assert np.all((D >= 0) | np.isnan(D))
    assert np.isfinite(D[~np.isnan(D)]).all()


@FUZZ
@given(content=st.binary(max_size=300), suffix=st.sampled_from(SUFFIXES))
@example(content=b"\x93NUMPY", suffix=".npy")
@example(content=b"PK\x03\x04", suffix=".npz")
@example(content=b"PAR1PAR1", suffix=".parquet")
@example(content=b"\x1f\x8b", suffix=".csv.gz")
@example(content=b"\xff\xfe\x00\xd8", suffix=".csv")
@example(content=b"#", suffix=".csv")
@example(content=b'"', suffix=".csv")
def test_any_bytes(content, suffix):
    tried(content, suffix)


CELLS = st.sampled_from(
    [
        "",
        "0",
        "1",
        "2",
        "1.5",
        "1,5",
        "-1",
        "a",
        "b",
        "c",
        "a b",
        '"',
        '"a"',
        '"a,b"',
        "NA",
        "nan",
        "inf",
        "=1",
        "'=1",
        "#",
    ]
)


@FUZZ
@given(
    rows=st.lists(st.lists(CELLS, max_size=5), max_size=6),
    delimiter=st.sampled_from([",", ";", "\t", " ", "|", ", "]),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    packed=st.booleans(),
)
def test_anything_that_looks_like_a_table(rows, delimiter, end, packed):
    content = end.join(delimiter.join(row) for row in rows).encode()
    tried(gzip.compress(content) if packed else content, ".csv")


@FUZZ
@given(
    lines=st.lists(st.lists(st.sampled_from(["0", "1", "2", "3", "a", "bb", "0.5", "x1"]), max_size=5), max_size=5),
    count=st.integers(0, 5),
)
def test_anything_that_looks_like_phylip(lines, count):
    tried("\n".join([str(count), *(" ".join(line) for line in lines)]).encode(), ".phy")


def stored(save, *arrays) -> bytes:
    file = io.BytesIO()
    save(file, *arrays)
    return file.getvalue()


WHOLE = {
    ".npy": stored(np.save, np.arange(9.0).reshape(3, 3)),
    ".npz": stored(np.savez_compressed, np.arange(9.0).reshape(3, 3)),
    ".json": b'[{"id": "a", "x": 1.5, "y": "b"}, {"id": "b", "x": null, "y": "c"}]',
    ".csv.gz": gzip.compress(b",a,b\na,0,1\nb,1,0\n"),
}


def with_optional(whole: dict[str, bytes]) -> dict[str, bytes]:
    try:
        import openpyxl
        import pandas as pd
        import pyarrow  # noqa: F401
    except ImportError:
        return whole
    book, workbook = io.BytesIO(), openpyxl.Workbook()
    for row in (["", "a", "b"], ["a", 0, 1], ["b", 1, 0]):
        workbook.active.append(row)
    workbook.save(book)
    parquet = io.BytesIO()
    pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}).to_parquet(parquet)
    return {**whole, ".xlsx": book.getvalue(), ".parquet": parquet.getvalue()}


@pytest.mark.parametrize("suffix", sorted(with_optional(WHOLE)))
def test_a_file_with_some_bytes_changed_or_cut_off(suffix):
    whole = with_optional(WHOLE)[suffix]

    @FUZZ
    @given(
        changes=st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=4),
        end=st.integers(1, len(whole)),
        cut=st.booleans(),
    )
    def fuzz(changes, end, cut):
        content = bytearray(whole)
        for at, value in changes:
            content[at] = value
        tried(bytes(content[:end] if cut else content), suffix)

    fuzz()
