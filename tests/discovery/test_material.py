"""What a study is made of: tables in the order of the dissimilarities, copied, and refused where they cannot be."""

import numpy as np
import pandas as pd
import pytest

from unmask.discovery import Discovery

from .studies import FAST


def test_objects_without_labels_are_numbered(kinship):
    step = Discovery(kinship.dissimilarities.to_numpy(), known=kinship.known["gender"].to_numpy()).fit(1, **FAST)
    assert list(step.embedding.index) == list(range(14))
    assert step.known == ("known0",)


def test_tables_are_brought_into_the_order_of_the_dissimilarities(kinship):
    D, known = kinship.dissimilarities, kinship.known[["gender"]]
    straight = Discovery(D, known=known).fit(2, **FAST)
    shuffled = Discovery(D, known=known.iloc[::-1], table=kinship.known.sample(frac=1, random_state=0))
    np.testing.assert_array_equal(shuffled.fit(2, **FAST).embedding, straight.embedding)
    pd.testing.assert_frame_equal(shuffled.table, kinship.known, check_names=False)


def test_input_is_copied(kinship):
    D = kinship.dissimilarities.astype(float)
    study = Discovery(D, known=kinship.known)
    D.iloc[0, 1] = D.iloc[1, 0] = 1e6
    for table in (study.dissimilarities, study.known, study.table):
        table.iloc[:, :] = 0
    np.testing.assert_array_equal(study.dissimilarities, kinship.dissimilarities)
    assert study.known.iloc[0, 0] == kinship.known.iloc[0, 0]


def test_asymmetric_dissimilarities_are_refused(kinship):
    D = kinship.dissimilarities.astype(float)
    D.iloc[0, 1] += 4
    with pytest.raises(ValueError, match="not symmetric"):
        Discovery(D)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": "sammon"}, "weights='sammon'"),
        ({"weights": np.ones((3, 3))}, r"weights"),
        ({"known": np.zeros((3, 1))}, "known"),
        ({"table": np.zeros((2, 2, 2))}, "table"),
        ({"known": pd.DataFrame(np.eye(14)[:, :2], columns=["a", "a"])}, "known"),
        (
            {"known_types": {"age": "nominal"}},
            "known_types",
        ),
        ({"known_types": ["nominal"]}, r"known_types=\['nominal'\]"),
        ({"table": pd.DataFrame({"t": pd.date_range("2020", periods=14)})}, "table:"),
        ({"table": {"z": np.ones(14) * 1j}}, "table:"),
        ({"table": {"z": [object()] * 14}}, "table:"),
        (
            {"table": {"z": pd.Categorical([(1, object())] * 14)}},
            "table:",
        ),
        (
            {"table": pd.DataFrame(np.ones((14, 2)), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))},
            "table",
        ),
    ],
)
def test_tables_that_cannot_be_are_refused(kinship, arguments, message):
    with pytest.raises(ValueError, match=message):
        Discovery(kinship.dissimilarities.to_numpy(), **arguments)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([*range(13), None], "missing label"),
        ([object() for _ in range(14)], "a label"),
        (pd.MultiIndex.from_product([range(2), range(7)]), "several levels"),
    ],
)
def test_labels_that_cannot_be_written_are_refused(kinship, labels, message):
    with pytest.raises(ValueError, match=message):
        Discovery(pd.DataFrame(kinship.dissimilarities.to_numpy(), index=labels, columns=labels))


def test_columns_of_every_type_are_read():
    polars = pytest.importorskip("polars")
    D = 1.0 - np.eye(4)
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, 2, None, 4], dtype="Int64"),
            "truth": pd.array([True, None, False, True], dtype="boolean"),
            "numbers": pd.Series([1, None, 2.5, 3], dtype=object),
            "text": ["a", None, "", "b"],
            "small": np.array([1, 2, 3, 4], dtype=np.int8),
        }
    )
    table = Discovery(D, table=frame).table
    assert {name: str(kind) for name, kind in table.dtypes.items()} == {
        "whole": "float64",
        "truth": "object",
        "numbers": "float64",
        "text": "object",
        "small": "int64",
    }
    assert table["truth"].tolist() == [True, None, False, True]
    assert table["text"].tolist() == ["a", None, "", "b"]
    other = Discovery(D, table=polars.DataFrame({"x": [1, 2, 3, 4], "y": list("abca")})).table
    assert other["x"].tolist() == [1, 2, 3, 4]
    assert other["y"].tolist() == list("abca")
    series = Discovery(D, known=pd.Series([1.0, 2, 3, 4])).known
    assert list(series.columns) == ["known0"]
