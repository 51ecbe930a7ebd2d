"""Messages survive the way to the page and back."""

import json

import numpy as np
import pandas as pd
import pytest

from unmask.app._messages import decode, encode, join, split


def test_arrays_and_bytes_travel_beside_the_text():
    points = np.arange(6.0).reshape(3, 2)
    frame = encode({"id": 1, "points": points, "deep": [{"codes": np.array([1, 2])}], "picture": b"\x89PNG"})
    assert isinstance(frame, bytes)
    assert len(frame) % 8 == 0
    found = decode(frame)
    np.testing.assert_array_equal(found["points"], points)
    assert found["points"].dtype == np.float32
    np.testing.assert_array_equal(found["deep"][0]["codes"], [1, 2])
    assert found["picture"] == b"\x89PNG"


def test_a_message_without_arrays_is_text():
    assert json.loads(encode({"id": 1, "ok": True, "text": "Tante für alle"})) == {
        "id": 1,
        "ok": True,
        "text": "Tante für alle",
    }


@pytest.mark.parametrize("beside", [None, b"bytes"])
def test_text_that_is_half_a_character_can_be_sent(beside):
    frame = encode({"text": "\ud83d", "beside": beside})
    assert isinstance(frame, bytes) or frame.encode()
    assert decode(frame)["text"] == "\ud83d"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("nan"), pd.NA, pd.NaT, None])
def test_what_is_missing_or_not_finite_is_null(value):
    assert decode(encode({"value": value})) == {"value": None}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (pd.Timestamp("2024-01-02"), "2024-01-02 00:00:00"),
    ],
)
def test_values_of_tables_are_plain(value, plain):
    assert decode(encode({"value": value})) == {"value": plain}


def test_splitting_and_joining_serve_transports_that_have_buffers():
    data, buffers = split({"points": np.eye(2)})
    assert data == {"points": {"buffer": 0, "type": "f4", "shape": [2, 2]}}
    np.testing.assert_array_equal(join(data, buffers)["points"], np.eye(2))


def frame_of(data, rest=b""):
    text = json.dumps(data).encode()
    return len(text).to_bytes(4, "little") + text + rest


@pytest.mark.parametrize(
    "frame",
    [
        "[1, 2]",
        "{",
        b"\xff\xff\xff\xff{}",
        frame_of({"buffers": [100]}, b"short"),
        frame_of({"buffers": [-8]}),
        frame_of({"buffers": [8], "x": {"buffer": 3, "type": "f4", "shape": [2]}}, bytes(8)),
        frame_of({"buffers": [8], "x": {"buffer": 0, "type": "object", "shape": [2]}}, bytes(8)),
        frame_of({"buffers": [8], "x": {"buffer": 0, "type": "f4", "shape": [7]}}, bytes(8)),
    ],
)
def test_what_is_no_message_is_refused(frame):
    with pytest.raises(ValueError):  # noqa: PT011 - of json or our own
        decode(frame)


def test_whole_numbers_that_four_bytes_do_not_hold_stay_what_they_are():
    dates = np.array([20240315.0, np.nan, 1.0])
    np.testing.assert_array_equal(decode(encode({"values": dates}))["values"], dates)
