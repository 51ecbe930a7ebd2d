"""Values in files and in code."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unmask import Cyclic, Nominal, Numeric, Ordinal, Spline
from unmask.discovery import Discovery
from unmask.discovery._values import as_code, decode, encode

from .studies import assert_same

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    labels=st.lists(text, min_size=4, max_size=4, unique=True),
    cells=st.lists(st.one_of(text, st.none()), min_size=4, max_size=4),
    numbers=st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=4, max_size=4),
    name=text,
)
def test_any_text_and_any_number_come_back(tmp_path, labels, cells, numbers, name):
    index = pd.Index(labels, dtype=object)
    table = pd.DataFrame({f"{name}1": cells, f"{name}2": numbers}, index=index)
    study = Discovery(pd.DataFrame(1.0 - np.eye(4), index=index, columns=index), table=table, title=name)
    loaded = Discovery.load(study.save(tmp_path / "study"))
    assert_same(study, loaded)
    assert loaded.table[f"{name}1"].tolist() == study.table[f"{name}1"].tolist()


def test_values_come_back_and_have_code(tmp_path):
    moment = pd.Timestamp("2020-02-03 04:05")
    for value in (
        *(None, True, 3, -0.5, "x", [1, [2]], (1,), (), {"a": 1}, {"$a": 1, 2: (3,)}, np.inf, 1e300),
        *(
            Cyclic(24.0),
            Ordinal(("a", "b")),
            Nominal(),
            Numeric(),
            Numeric(0.5, 9, True),
            Numeric(error=0.5),
            Spline(3),
            moment,
        ),
    ):
        written = json.loads(json.dumps(encode(value), allow_nan=False))
        assert decode(written) == value
        names = {kind.__name__: kind for kind in (Cyclic, Ordinal, Nominal, Numeric, Spline)}
        assert eval(as_code(value), {"pd": pd, **names}) == value
    assert np.isnan(decode(encode(np.nan)))
    assert type(decode(encode(np.int8(3)))) is int
    with pytest.raises(TypeError, match="cannot be written down"):
        encode({1, 2})
