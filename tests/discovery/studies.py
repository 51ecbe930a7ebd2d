"""Options of quick fits, and looking into studies that were saved."""

import json

import pandas as pd

FAST = {"n_init": 4}
KINDS = ["folder", "study.zip"]


def assert_same(one, other):
    assert one.title == other.title
    assert one.here == other.here
    assert [action.text for action in one.tree] == [action.text for action in other.tree]
    assert one.known_types == other.known_types
    for name in ("dissimilarities", "known", "table", "history"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name), check_exact=True)
    assert (one.material.weights is None) == (other.material.weights is None)
    if one.material.weights is not None:
        pd.testing.assert_frame_equal(one.material.weights, other.material.weights, check_exact=True)
    assert [type(action) for action in one.actions] == [type(action) for action in other.actions]
    for mine, theirs in zip(one.tree, other.tree, strict=True):
        assert mine.text == theirs.text
        for field, value in vars(mine).items():
            found = getattr(theirs, field)
            if isinstance(value, pd.DataFrame):
                pd.testing.assert_frame_equal(value, found, check_exact=True, check_index_type=value.size > 0)
            elif isinstance(value, pd.Series):
                pd.testing.assert_series_equal(value, found, check_exact=True)
            else:
                assert value == found or value != value  # NaN


def edit(folder, change):
    file = folder / "study.json"
    study = json.loads(file.read_text(encoding="utf-8"))
    change(study)
    file.write_text(json.dumps(study), encoding="utf-8")


def places(tree, path=()):
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield (*path, key)
        if isinstance(value, dict | list) and value:
            # of a list the first entry stands for all
            yield from places(value if isinstance(value, dict) else value[:2], (*path, key))
