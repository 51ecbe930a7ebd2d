"""Adopting and forgetting features."""

import numpy as np
import pandas as pd
import pytest

from unmask import Cyclic
from unmask.discovery import Adoption, Discovery, Forgetting

from .studies import FAST, assert_same


def test_adopted_features_are_known_to_later_steps_and_to_no_earlier_one(fitted):
    before = fitted.step.model_copy(deep=True)
    fitted.adopt("gender", column="gender", why="men above, women below")
    step = fitted.fit(2, **FAST)
    assert step.known == ("gender",)
    assert fitted.steps[0].known == ()
    pd.testing.assert_frame_equal(fitted.steps[0].embedding, before.embedding)
    assert fitted.known.columns.tolist() == ["gender"]
    (_, adoption, _) = fitted.actions
    assert isinstance(adoption, Adoption)
    assert adoption.step == 1
    assert adoption.source == {"column": "gender"}


def test_values_are_aligned_by_label(study, kinship):
    degree = kinship.known["degree"]
    study.adopt("series", degree.sample(frac=1, random_state=1))
    study.adopt("dict", dict(degree.sample(frac=1, random_state=2)))
    study.adopt("list", list(degree))
    study.adopt("array", degree.to_numpy())
    assert all(study.known[name].tolist() == degree.tolist() for name in ("series", "dict", "list", "array"))


def test_ordered_categories_are_ordinal(study, kinship):
    degree = kinship.known["degree"]
    study.adopt("grades", pd.Series(pd.Categorical(degree, ordered=True), index=degree.index)[::-1])
    assert study.known["grades"].tolist() == degree.tolist()
    assert study.known["grades"].dtype.ordered
    assert list(study.fit(0, **FAST).coef.columns) == ["grades[>=2]", "grades[>=3]"]


def test_groups_are_listed_or_found(fitted, kinship):
    women = kinship.known.index[kinship.known["gender"] == 2]
    listed = fitted.adopt("sex", groups={"women": women})
    assert listed.values[women].unique().tolist() == ["women"]
    assert listed.values.drop(women).unique().tolist() == ["other"]
    assert listed.kind == "nominal"
    found = fitted.adopt("two", groups=2)
    assert found.values.iloc[0] == "group 1"
    assert set(found.values) == {"group 1", "group 2"}
    assert fitted.fit(2, **FAST).known == ("sex", "two")


def test_a_direction_is_projected_on(fitted):
    U = fitted.embedding
    by_label = fitted.adopt("labels", along=("Aunt", "Brother"))
    unit = (U.loc["Brother"] - U.loc["Aunt"]) / np.linalg.norm(U.loc["Brother"] - U.loc["Aunt"])
    by_hand = [(U.loc[label] - U.loc["Aunt"]) @ unit for label in U.index]
    np.testing.assert_allclose(by_label.values, by_hand, rtol=1e-12, atol=1e-12)
    assert abs(by_label.values["Aunt"]) < 1e-12
    points = fitted.adopt("points", along=(np.array([1.0, 0.0]), [1.0, 2.0]))
    np.testing.assert_allclose(points.values, U["axis2"], rtol=1e-12, atol=1e-12)
    axis = fitted.adopt("axis", from_axis=1)
    np.testing.assert_array_equal(axis.values, U["axis2"])
    assert points.source == {"along": [[1.0, 0.0], [1.0, 2.0]]}


def test_an_adopted_axis_leaves_the_map(kinship):
    study = Discovery(kinship.dissimilarities)
    study.fit(2)
    study.adopt("first", from_axis=0)
    step = study.fit(2)
    assert abs(np.corrcoef(step.embedding["axis1"], study.known["first"])[0, 1]) < 0.2
    assert step.stress < study.steps[0].stress


def test_a_label_that_is_a_tuple_is_a_label(kinship):
    labels = pd.Index([(i, "x") for i in range(14)], tupleize_cols=False)
    study = Discovery(pd.DataFrame(kinship.dissimilarities.to_numpy(), index=labels, columns=labels))
    study.fit(2, **FAST)
    found = study.adopt("line", along=((0, "x"), (1, "x")))
    assert abs(found.values.iloc[0]) < 1e-12


def test_angles_are_around_the_circle(rng):
    angle = np.sort(rng.uniform(0, 360, 40))
    X = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    study = Discovery(np.linalg.norm(X[:, None] - X, axis=2))
    study.fit(2, **FAST)
    found = study.adopt("hour", along="circle")
    assert found.kind == Cyclic(360)
    turned = np.radians(found.values.to_numpy())
    # up to where the circle begins and which way round, the angles are those of the truth
    fits = [np.abs(np.mean(np.exp(1j * (sign * turned - np.radians(angle))))) for sign in (1, -1)]
    assert max(fits) > 0.9999
    study.adopt("way", along="arc")
    assert study.known["way"].min() == 0.0
    study.fit(0, **FAST)
    assert study.step.stress < 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "adopt"),
        ({"values": [1], "column": "x"}, "values and column"),
        ({"column": "age"}, "column='age'"),
        ({"values": [1, 2]}, "values"),
        ({"values": 3}, "values=3"),
        ({"values": "abc"}, "values='abc'"),
        ({"values": np.eye(14)}, "values"),
        ({"values": pd.DataFrame(np.eye(14))}, "values"),
        ({"values": {"Aunt": 1}}, "values"),
        ({"values": {"Nobody": 1}}, "values"),
        ({"values": [1] * 14}, "'x'"),
        ({"values": list("ab") * 7, "kind": "ordinal"}, "ordinal"),
        ({"values": list("ab") * 7, "kind": "spiral"}, "spiral"),
        ({"values": list(range(14)), "kind": object()}, "kind="),
        ({"values": pd.Series(range(14))}, "values"),
        ({"groups": 1}, "groups=1"),
        ({"groups": 14}, "groups=14"),
        ({"groups": "two"}, "groups='two'"),
        ({"groups": {"a": ["Aunt"], "b": ["Aunt"]}}, "groups"),
        ({"groups": {"a": ["Ant"]}}, r"groups\['a'\]"),
        ({"along": ("Aunt", "Aunt")}, r'along=\["Aunt",'),
        ({"along": ("Aunt", "Ant")}, "along"),
        ({"along": ("Aunt", (1.0, 2.0, 3.0))}, r"along"),
        ({"along": "Aunt"}, "along='Aunt'"),
        ({"from_axis": 2}, "from_axis=2"),
        ({"from_axis": -1}, "from_axis=-1"),
    ],
)
def test_adoptions_that_cannot_be_are_refused_and_nothing_changes(fitted, arguments, message):
    with pytest.raises(ValueError, match=message):
        fitted.adopt("x", **arguments)
    assert len(fitted.actions) == 1


@pytest.mark.parametrize("name", ["", "  ", 3, None])
def test_a_feature_needs_a_name(study, name):
    with pytest.raises(ValueError, match="must be text"):
        study.adopt(name, column="gender")


def test_a_name_is_used_once(kinship):
    study = Discovery(kinship.dissimilarities, known=kinship.known[["gender"]], table=kinship.known)
    study.adopt("degree", column="degree")
    for name in ("gender", "degree"):
        with pytest.raises(ValueError, match=f"name='{name}' is taken by a feature that is known"):
            study.adopt(name, column="generation")


def test_a_forgotten_name_is_free_again(kinship, tmp_path):
    study = Discovery(kinship.dissimilarities, known=kinship.known[["gender"]], table=kinship.known)
    study.fit(2, **FAST)
    for column in ("degree", "generation"):
        study.forget("gender")
        study.adopt("gender", column=column)
        study.fit(2, **FAST)
    assert study.known["gender"].tolist() == kinship.known["generation"].tolist()
    first, second, third = study.steps
    for step, column in ((first, "gender"), (second, "degree"), (third, "generation")):
        assert study.known_of(step)["gender"].tolist() == kinship.known[column].tolist()
    loaded = Discovery.load(study.save(tmp_path / "study"))
    assert_same(study, loaded)
    assert loaded.replay()["same"].all()


@pytest.mark.parametrize("way", [{"along": ("Aunt", "Son")}, {"from_axis": 0}, {"groups": 2}])
def test_what_refers_to_a_map_needs_one(study, way):
    with pytest.raises(ValueError, match="refers to a map but nothing has been fitted"):
        study.adopt("x", **way)
    study.adopt("gender", column="gender")
    study.fit(0, **FAST)
    with pytest.raises(ValueError, match="the last one has no dimensions"):
        study.adopt("x", **way)


def test_a_circle_needs_a_plane(study):
    study.fit(1, **FAST)
    with pytest.raises(ValueError, match="along='circle' needs a map of two dimensions"):
        study.adopt("x", along="circle")


def test_a_feature_is_put_aside(kinship):
    study = Discovery(
        kinship.dissimilarities, known=kinship.known[["gender", "degree"]], known_types={"degree": "ordinal"}
    )
    study.fit(2, **FAST)
    record = study.forget("degree", why="not sure")
    assert isinstance(record, Forgetting)
    assert study.known_types == {}
    assert study.fit(2, **FAST).known == ("gender",)
    assert study.history["adopted"].tolist() == ["-degree", ""]
    with pytest.raises(ValueError, match="name='degree' is not known now; known are 'gender'"):
        study.forget("degree")
