"""The package's face: names that are imported when they are asked for."""

import importlib

import pytest

import unmask


def test_every_public_name_can_be_had():
    for name in unmask.__all__:
        assert getattr(unmask, name) is not None


def test_a_name_is_the_object_of_its_room():
    for home, names in unmask._HOMES.items():
        room = importlib.import_module(home, "unmask")
        for name in names:
            assert getattr(unmask, name) is getattr(room, name)
    assert set(unmask._HOME) | {"__version__"} == set(unmask.__all__)


def test_names_are_listed_before_they_are_imported():
    assert set(unmask.__all__) <= set(dir(unmask))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = unmask.nonsense
