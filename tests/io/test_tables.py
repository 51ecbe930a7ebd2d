"""Tables of features: labels, types, and joining to given objects."""

import gzip

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalMDS
from unmask.io import (
    FileProblem,
    read_data,
    read_known,
    read_table,
    write_table,
)

NO_LABELS = "rows numbered, since column"
PEOPLE = "name,age,town,height\nAda,36,London,1.65\nBo,41,,1.8\nCy,29,Oslo,NA\n"


def read(tmp_path, content, name="t.csv", **options):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(file, **options)


def test_labels_types_and_missing_cells(tmp_path):
    found = read(tmp_path, PEOPLE)
    assert list(found.table.index) == ["Ada", "Bo", "Cy"]
    assert list(found.table.columns) == ["age", "town", "height"]
    assert found.table["age"].dtype == np.int64
    assert found.table["height"].dtype == np.float64
    assert found.table["town"].isna().tolist() == [False, True, False]
    assert found.detected == (
        "comma-separated",
        "names in the first row",
        "decimal point",
        "labels in the first column",
        "3 \u00d7 3 table",
        "text in 'town'",
    )
    assert found.path == str(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("content", "labels", "columns", "said"),
    [
        ("x,y\n1,2\n3,4\n", [0, 1], ["x", "y"], "rows numbered"),
        ("1,2.5\n3,4.5\n", [0, 1], ["x1", "x2"], "rows numbered"),
        ("a,2.5\nb,4.5\n", ["a", "b"], ["x2"], "labels in the first column"),
        ("x,ID\n1,007\n3,008\n", ["007", "008"], ["x"], "labels in column 'ID'"),
        ("x,Sample_ID\n1,p\n3,q\n", ["p", "q"], ["x"], "labels in column 'Sample_ID'"),
        (",x,y\n10,1,2\n11,3,4\n", ["10", "11"], ["x", "y"], "labels in the first column"),
        (",0,1\n0,1,2\n1,3,4\n", ["0", "1"], ["0", "1"], "labels in the first column"),
        ("x y\np 1 2\nq 3 4\n", ["p", "q"], ["x", "y"], "labels in the first column"),
        ("# x,y\n1,2\n3,4\n", [0, 1], ["x", "y"], "rows numbered"),
        ("site,x\n5,1\n10,2\n", ["5", "10"], ["x"], "labels in the first column"),
        ("plot id,x\n05,1\n10,2\n", ["05", "10"], ["x"], "labels in the first column"),
        ("site,x\n5,1\n5,2\n", [0, 1], ["site", "x"], "rows numbered"),
        ("site,x\n5.5,1\n6.5,2\n", [0, 1], ["site", "x"], "rows numbered"),
        ("town,x\nOslo,1\nOslo,2\n", [0, 1], ["town", "x"], f"{NO_LABELS} 'town' has the label 'Oslo' twice in row 3"),
        ("name,x\nAda,1\n,2\n", [0, 1], ["name", "x"], f"{NO_LABELS} 'name' has an empty label in row 3"),
        ("name,2019,2020\nAda,1,2\nBo,3,4\n", ["Ada", "Bo"], ["2019", "2020"], "labels in the first column"),
        ("x\n1\n2\n", [0, 1], ["x"], "rows numbered"),
        ("flag,x\nTrue,1\nFalse,2\n", [0, 1], ["flag", "x"], "rows numbered"),
        ("x,y,\np,1,\nq,2,\n", ["p", "q"], ["y"], "labels in the first column"),
        ("who,x,\nAda,1,2\nBo,1,3\n", ["Ada", "Bo"], ["x", "x3"], "labels in the first column"),
    ],
)  # fmt: skip
def test_labels_and_names_are_found(tmp_path, content, labels, columns, said):
    found = read(tmp_path, content)
    assert list(found.table.index) == labels
    assert list(found.table.columns) == columns
    assert any(phrase.startswith(said) for phrase in found.detected)


def test_labels_can_be_said(tmp_path):
    content = "id,town,x\na,Oslo,1\nb,Bern,2\n"
    assert list(read(tmp_path, content, index="town").table.index) == ["Oslo", "Bern"]
    assert list(read(tmp_path, content, index=False).table.columns) == ["id", "town", "x"]
    assert list(read(tmp_path, content, header=False).table.columns) == ["x2", "x3"]
    with pytest.raises(FileProblem, match="has no column 'towm'; did you mean 'town'"):
        read(tmp_path, content, index="towm")
    with pytest.raises(FileProblem, match="row 3, column 2: column 'town' has the label 'Oslo' twice; give"):
        read(tmp_path, content.replace("Bern", "Oslo"), index="town")
    with pytest.raises(ValueError, match="index=3 must be the name of a column"):
        read(tmp_path, content, index=3)


def test_a_decimal_comma_and_a_header_that_can_be_said(tmp_path):
    found = read(tmp_path, "id;x;y\na;1,5;2\nb;2,5;3\n")
    assert found.table["x"].tolist() == [1.5, 2.5]
    assert "decimal comma" in found.detected
    assert read(tmp_path, "2019,2020\n1,2\n", header=True).table.columns.tolist() == ["2019", "2020"]


def test_a_column_that_is_text_far_down_is_said(tmp_path):
    rows = "".join(f"p{at},{at},{at}.5,{at % 2 == 0}\n" for at in range(2000))
    found = read(tmp_path, "id,n,x,even\n" + rows + "last,oops,1.5,True\n")
    assert found.table["n"].iloc[5] == "5"
    assert found.table["x"].dtype == np.float64
    assert found.table["even"].dtype == bool
    assert "column 'n' is text because of 'oops' in row 2002" in found.detected
    np.testing.assert_array_equal(found.table["x"].iloc[:2000], np.arange(2000) + 0.5)


def test_large_whole_numbers_and_digits_that_only_python_reads(tmp_path):
    found = read(tmp_path, "k,n\n1,9007199254740993\n2,5\n")
    assert found.table["n"].tolist() == [9007199254740993, 5]
    huge = read(tmp_path, "k,n\n1,123456789012345678901234567890\n2,\n")
    assert huge.table["n"].iloc[0] == 123456789012345678901234567890.0
    assert read(tmp_path, "k,n\n1,٣\n2,5\n").table["n"].tolist() == [3, 5]


@pytest.mark.parametrize("name", ["t.csv", "t.json"])
def test_long_whole_numbers_are_exact_as_labels_and_rounding_is_said(tmp_path, name):
    csv = "id,n\n9007199254740993,9007199254740995\n123456789012345678901,\n"
    json = '[{"id": 9007199254740993, "n": 9007199254740995}, {"id": 123456789012345678901, "n": null}]'
    found = read(tmp_path, csv if name == "t.csv" else json, name)
    assert list(found.table.index) == ["9007199254740993", "123456789012345678901"]
    assert found.table["n"].iloc[0] == 9007199254740996.0
    assert any("9007199254740995" in phrase and "code" in phrase for phrase in found.detected)


def test_arrays_are_tables_too(tmp_path, rng):
    X = rng.standard_normal((4, 2))
    np.save(tmp_path / "x.npy", X)
    found = read_table(tmp_path / "x.npy")
    np.testing.assert_array_equal(found.table.to_numpy(), X)
    assert list(found.table.columns) == ["x1", "x2"]
    np.save(tmp_path / "x.npy", X[:, 0])
    assert read_table(tmp_path / "x.npy").table.shape == (4, 1)
    np.savez(tmp_path / "x.npz", X=X, labels=np.array(list("abcd")))
    assert list(read_table(tmp_path / "x.npz").table.index) == list("abcd")


def test_gzip_and_json(tmp_path):
    found = read(tmp_path, gzip.compress(PEOPLE.encode()), "t.csv.gz")
    assert found.detected[0] == "gzip"
    assert list(found.table.index) == ["Ada", "Bo", "Cy"]
    records = '[{"name": "Ada", "age": 36, "town": "London"}, {"name": "Bo", "age": 41.5}]'
    found = read(tmp_path, records, "t.json")
    assert list(found.table.index) == ["Ada", "Bo"]
    assert found.table["age"].tolist() == [36, 41.5]
    assert found.table["town"].isna().tolist() == [False, True]
    rows = read(tmp_path, "[[1, 2], [3, 4]]", "t.json")
    assert list(rows.table.columns) == ["x1", "x2"]
    columns = read(
        tmp_path, '{"x": [1, null], "big": [1e400, 2], "huge": [123456789012345678901234567890, 1]}', "t.json"
    )
    assert columns.table["huge"].iloc[0] == 123456789012345678901234567890.0
    assert columns.table["big"].iloc[0] == np.inf
    none = read(tmp_path, '{"x": [null, null], "y": [1, 2]}', "t.json")
    assert none.table["x"].isna().all()
    split = read(tmp_path, '{"index": ["a", "b"], "columns": ["x"], "data": [[1], [2]]}', "t.json")
    assert list(split.table.index) == ["a", "b"]


def test_parquet_and_excel(tmp_path):
    pytest.importorskip("pyarrow")
    openpyxl = pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"name": ["Ada", "Bo"], "x": [1.5, np.nan], "n": [1, 2]})
    frame.to_parquet(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet")
    assert list(found.table.index) == ["Ada", "Bo"]
    assert found.table["n"].dtype == np.int64
    frame.set_index("n").to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").table.index) == [1, 2]
    assert list(read_table(tmp_path / "t.parquet", index="name").table.index) == ["Ada", "Bo"]
    book = openpyxl.Workbook()
    for row in (["name", "x", "day"], ["Ada", 1.5, pd.Timestamp("2020-01-02").to_pydatetime()], ["Bo", 2, None]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx")
    assert list(found.table.index) == ["Ada", "Bo"]
    assert found.table["x"].tolist() == [1.5, 2.0]
    assert found.table["day"].iloc[0] == "2020-01-02T00:00:00"


# ---- joining


def known(tmp_path, content, labels, **options):
    file = tmp_path / "known.csv"
    file.write_text(content, encoding="utf-8")
    return read_known(file, labels, **options)


def test_rows_are_joined_by_label_in_the_order_of_the_objects(tmp_path):
    found = known(tmp_path, PEOPLE, ["Cy", "Ada"], columns=["height", "age"])
    assert list(found.table.index) == ["Cy", "Ada"]
    assert list(found.table.columns) == ["height", "age"]
    assert found.table["age"].tolist() == [29, 36]
    assert found.detected[-2:] == ("joined by label", "1 row of other objects left out: 'Bo'")
    whole = known(tmp_path, PEOPLE, pd.Index(["Cy", "Bo", "Ada"], name="who"))
    assert whole.detected[-1] == "joined by label"
    assert whole.table.index.name == "who"


def test_numbers_join_to_the_same_numbers_as_text(tmp_path):
    content = "id,x\n2,5\n1,4\n10,6\n"
    found = known(tmp_path, content, pd.Index([1, 2, 10]))
    assert found.table["x"].tolist() == [4, 5, 6]
    assert found.table.index.tolist() == [1, 2, 10]


def test_without_labels_rows_are_taken_in_their_order_and_that_is_said(tmp_path):
    found = known(tmp_path, "x,y\n1,2\n3,4\n", ["a", "b"])
    assert found.table["x"].tolist() == [1, 3]
    assert list(found.table.index) == ["a", "b"]
    assert found.detected[-1] == "without labels to join by, rows taken in the order of the objects"
    numbered = known(tmp_path, PEOPLE, pd.RangeIndex(3))
    assert numbered.table["age"].tolist() == [36, 41, 29]
    assert numbered.detected[-1] == found.detected[-1]


@pytest.mark.parametrize(
    ("content", "labels", "options", "sentence"),
    [
        (PEOPLE, ["Ada", "Di"], {}, "has no row for 'Di'; add the rows"),
        (PEOPLE, ["Ada"], {"columns": ["ages"]}, "has no column 'ages'; did you mean 'age'"),
        (PEOPLE, ["Ada"], {"columns": ["zzz"]}, "has no column 'zzz'; it has 'age', 'town', 'height'"),
        (PEOPLE + "Ada,1,2,3\n", ["Ada"], {}, "column 'name' has the label 'Ada' twice in row 5"),
        ("x,y\n1,2\n3,4\n", ["a", "b", "c"], {}, "has 2 rows and no labels in common with the 3 objects"),
    ],
)
def test_what_cannot_be_joined_gets_one_sentence(tmp_path, content, labels, options, sentence):
    with pytest.raises(FileProblem, match=sentence):
        known(tmp_path, content, labels, **options)
    with pytest.raises(ValueError, match=r"columns='age' must be a list of names; for one column pass \['age'\]"):
        known(tmp_path, PEOPLE, ["Ada"], columns="age")


def test_what_is_read_can_be_known(kinship, tmp_path):
    file = write_table(kinship.known, tmp_path / "known.csv")
    found = read_known(file, kinship.dissimilarities.index, columns=["gender"])
    assert found.table["gender"].tolist() == kinship.known["gender"].tolist()
    assert list(found.table.index) == list(kinship.dissimilarities.index)
    mds = ConditionalMDS(2, metric="precomputed", n_init=1, random_state=0)
    assert mds.fit(kinship.dissimilarities, known=found.table).coef_.shape[0] == 1


def test_the_given_name_tells_the_kind_where_the_bytes_do_not(tmp_path):
    secret = tmp_path / "upload-17"
    secret.write_text('[{"name": "Ada", "age": 36}, {"name": "Bo", "age": 41}]', encoding="utf-8")
    read = read_table(secret, name="people.json")
    assert read.path == "people.json"
    assert read.table["age"].tolist() == [36, 41]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_text_with_a_number_behind_a_blank_does_not_divide_the_row(tmp_path, delimiter):
    rows = [["height", "weight", "kind"], *([f"{i}.5", f"{2 * i}.25", f"kind {i % 3}"] for i in range(12))]
    path = tmp_path / "kinds.csv"
    path.write_text("\n".join(delimiter.join(row) for row in rows), encoding="utf-8")
    table = read_data(path).table
    assert list(table) == ["height", "weight", "kind"]
    assert table["kind"].tolist() == [f"kind {i % 3}" for i in range(12)]


def test_a_table_of_counts_and_one_of_the_environment_join_by_numbered_sites(tmp_path):
    (tmp_path / "counts.csv").write_text("site,moss,fern\n5,1,2\n10,3,0\n15,2,2\n", encoding="utf-8")
    (tmp_path / "env.csv").write_text("site,depth\n15,0.3\n5,0.1\n10,0.2\n20,9.0\n", encoding="utf-8")
    counts = read_data(tmp_path / "counts.csv").table
    assert list(counts) == ["moss", "fern"]
    assert read_known(tmp_path / "env.csv", counts.index).table["depth"].tolist() == [0.1, 0.2, 0.3]
