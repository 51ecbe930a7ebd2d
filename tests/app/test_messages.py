"""Messages survive the way to the page."""

import math

import msgpack
import numpy as np
import pandas as pd
import pytest

from unmask.app._messages import decode, encode

KINDS = {1: "<f4", 2: "<f8", 3: "<i4"}


def read(frame):
    """Read a message as the page does (web/tests/messages.test.ts)."""
    arrays = lambda kind, data: np.frombuffer(data, KINDS[kind])  # noqa: E731
    return msgpack.unpackb(frame, ext_hook=arrays, unicode_errors="surrogatepass", strict_map_key=False)


def test_arrays_and_bytes_travel_as_they_are():
    points = np.arange(6.0).reshape(3, 2)
    found = read(encode({"id": 1, "points": points, "deep": [{"codes": np.array([1, 2])}], "picture": b"\x89PNG"}))
    assert found["points"].dtype == np.float32
    np.testing.assert_array_equal(found["points"].reshape(3, 2), points)
    np.testing.assert_array_equal(found["deep"][0]["codes"], [1, 2])
    assert found["picture"] == b"\x89PNG"


@pytest.mark.parametrize("value", ["Tante für alle", "\ud83d", None, True, -3, 2**40, 0.1, [1, "a"], {"1": 2}])
def test_plain_values_are_what_they_were(value):
    assert read(encode({"value": value})) == {"value": value}


@pytest.mark.parametrize("value", [float("nan"), np.float64("nan"), np.float32("nan"), pd.NA, pd.NaT, None])
def test_what_is_missing_stays_missing(value):
    found = read(encode({"value": value}))["value"]
    assert found is None or math.isnan(found)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (pd.Timestamp("2024-01-02"), "2024-01-02 00:00:00"),
        ((1, 2), [1, 2]),
    ],
)
def test_values_of_tables_are_plain(value, plain):
    assert read(encode({"value": value})) == {"value": plain}


@pytest.mark.parametrize("text", ["[1, 2]", "{", "", b"\xff\xfe", "3"])
def test_what_is_no_message_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - of json or our own
        decode(text)


def test_whole_numbers_that_four_bytes_do_not_hold_stay_what_they_are():
    dates = np.array([20240315.0, np.nan, 1.0])
    np.testing.assert_array_equal(read(encode({"values": dates}))["values"], dates)
