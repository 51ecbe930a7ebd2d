"""Discovery: the loop itself - fits, adoptions, taking back, branches, history, pictures."""

import os
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from tests.helpers import with_missing
from unmask import (
    ConditionalClassicalMDS,
    ConditionalIsomap,
    ConditionalMDS,
    Cyclic,
    MissingDissimilarityWarning,
    Ordinal,
)
from unmask.discovery import Adoption, Discovery, Forgetting, Step, UnfinishedMapWarning

FAST = {"n_init": 4}


@pytest.fixture
def study(kinship):
    return Discovery(kinship.dissimilarities, table=kinship.known, title="kinship")


@pytest.fixture
def fitted(study):
    study.fit(2, **FAST)
    return study


# ---- fits


@pytest.mark.parametrize(
    ("name", "estimator"),
    [("mds", ConditionalMDS), ("isomap", ConditionalIsomap), ("classical", ConditionalClassicalMDS)],
)
def test_a_step_has_the_numbers_of_the_estimator(kinship, name, estimator):
    known = kinship.known[["gender", "degree"]]
    params = {} if name == "classical" else {"random_state": 3, "n_init": 5}
    step = Discovery(kinship.dissimilarities, known=known).fit(2, estimator=name, **params)
    mds = estimator(n_components=2, metric="precomputed", **params).fit(kinship.dissimilarities, known=known)
    np.testing.assert_array_equal(step.embedding, mds.embedding_)
    assert list(step.embedding.index) == list(kinship.dissimilarities.index)
    assert list(step.embedding.columns) == ["axis1", "axis2"]
    pd.testing.assert_frame_equal(step.coef, mds.coef_)
    pd.testing.assert_frame_equal(step.importance, mds.importance_)
    np.testing.assert_array_equal(step.stress_per_point, mds.stress_per_point_)
    assert (step.stress, step.leak) == (mds.stress_, mds.leak_)
    assert step.known == ("gender", "degree")
    assert step.params == {"n_components": 2, "adjust": False, **params}
    assert step.converged
    assert step.finished
    assert step.seconds > 0
    assert {"python", "unmask", "numpy"} <= set(step.versions)


def test_the_seed_is_0_unless_another_is_given(study):
    assert study.fit(2, **FAST).params["random_state"] == 0
    again = study.fit(2, **FAST)
    np.testing.assert_array_equal(again.embedding, study.steps[0].embedding)


def test_a_step_cannot_be_changed(fitted):
    with pytest.raises(AttributeError):
        fitted.step.stress = 0.0


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


def test_types_and_weights_reach_the_fit(kinship):
    D, known = kinship.dissimilarities, kinship.known[["degree"]]
    W = np.random.default_rng(0).uniform(0.5, 2, D.shape)
    W = pd.DataFrame(W + W.T, index=D.index, columns=D.columns)
    study = Discovery(D, known=known, known_types={"degree": Ordinal()}, weights=W.iloc[::-1, ::-1])
    mds = ConditionalMDS(metric="precomputed", known_types={"degree": "ordinal"}, random_state=0, **FAST)
    mds.fit(D, known=known, weights=W)
    np.testing.assert_array_equal(study.fit(2, **FAST).embedding, mds.embedding_)
    np.testing.assert_array_equal(study.weights, W)
    assert study.known_types == {"degree": Ordinal()}
    with pytest.raises(ValueError, match="estimator='classical' takes no weights but the study has some"):
        study.fit(estimator="classical")


def test_types_may_be_declared_for_one_fit(kinship):
    study = Discovery(kinship.dissimilarities, known=kinship.known[["degree"]])
    step = study.fit(2, known_types={"degree": "nominal"}, **FAST)
    assert step.known_types == {"degree": "nominal"}
    assert step.coef.shape == (2, 2)  # three levels
    assert study.fit(2, **FAST).coef.shape == (1, 1)


def test_asymmetric_dissimilarities_are_averaged_on_request(kinship):
    D = kinship.dissimilarities.astype(float)
    D.iloc[0, 1] += 4
    with pytest.raises(ValueError, match="not symmetric"):
        Discovery(D)
    assert Discovery(D, symmetrize="mean").dissimilarities.iloc[1, 0] == kinship.dissimilarities.iloc[0, 1] + 2


def test_warnings_are_kept_and_given(kinship, rng):
    D = with_missing(rng, kinship.dissimilarities.to_numpy(dtype=float), 0.1)
    study = Discovery(D)
    with pytest.warns(MissingDissimilarityWarning):
        step = study.fit(1, **FAST)
    assert step.warnings[0].startswith("MissingDissimilarityWarning: ")
    assert step.warnings[0].endswith("they are treated as missing (weight 0).")
    with pytest.warns(ConvergenceWarning), pytest.warns(MissingDissimilarityWarning):
        step = study.fit(1, max_iter=1, n_init=1)
    assert not step.converged
    assert step.finished
    assert study.history["warnings"].tolist() == [1, 2]


@pytest.mark.filterwarnings("error")
def test_where_warnings_are_errors_the_study_stays_as_it_was(study):
    with pytest.raises(ConvergenceWarning):
        study.fit(2, max_iter=1, n_init=1)
    assert study.actions == ()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"random_state": np.random.RandomState(0)},
            "random_state=RandomState.* is a RandomState, which cannot be wri",
        ),
        ({"random_state": None}, "random_state=None must be an integer of at least 0"),
        ({"init": (np.zeros((14, 2)), None)}, r"init=\(array.* is a tuple, which cannot be written into a study"),
        ({"metric": "euclidean"}, "metric='euclidean' is not a parameter of a step: the study holds dissimilarities"),
        ({"symmetrize": "mean"}, "symmetrize='mean' is not a parameter of a step: pass it to Discovery"),
        ({"n_inits": 3}, "fit has no parameter 'n_inits' with estimator='mds'; it has adjust, coef, init, "),
        (
            {"estimator": "classical", "random_state": 0},
            "fit has no parameter 'random_state' with estimator='classical'",
        ),
        ({"estimator": "umap"}, "estimator='umap' is not one of 'mds', 'isomap', 'classical'"),
        ({"n_components": -1}, "n_components=-1 must be an integer of at least 0"),
        ({"level": "nominal"}, "level='nominal' is not one of"),
    ],
)
def test_parameters_that_cannot_be_are_refused_and_nothing_is_added(study, params, message):
    with pytest.raises(ValueError, match=message):
        study.fit(**params)
    assert study.actions == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": "sammon"}, "weights='sammon' is a scheme, which belongs to a fit"),
        ({"weights": np.ones((3, 3))}, r"weights has shape \(3, 3\) but there are 14 objects"),
        ({"known": np.zeros((3, 1))}, "known has 3 rows but there are 14 objects"),
        ({"table": np.zeros((2, 2, 2))}, "table has 3 dimensions"),
        ({"known": pd.DataFrame(np.eye(14)[:, :2], columns=["a", "a"])}, "known has duplicate column names: 'a'"),
        (
            {"known_types": {"age": "nominal"}},
            "known_types names 'age', which is not a known column; the columns are n",
        ),
        ({"known_types": ["nominal"]}, r"known_types=\['nominal'\] must be a dictionary"),
        ({"symmetrize": True}, "symmetrize=True is not one of"),
        ({"table": pd.DataFrame({"t": pd.date_range("2020", periods=14)})}, "table: column 't' holds dates or times"),
        ({"table": {"z": np.ones(14) * 1j}}, "table: column 'z' holds complex numbers"),
        ({"table": {"z": [object()] * 14}}, "table: a cell of column 'z'=<object .* cannot be written into a study"),
        (
            {"table": {"z": pd.Categorical([(1, object())] * 14)}},
            "table: a category of 'z'=.* is a tuple, which cannot",
        ),
        (
            {"table": pd.DataFrame(np.ones((14, 2)), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))},
            "table has 2 rows of column names",
        ),
    ],
)
def test_tables_that_cannot_be_are_refused(kinship, arguments, message):
    with pytest.raises(ValueError, match=message):
        Discovery(kinship.dissimilarities.to_numpy(), **arguments)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([*range(13), None], "a missing label"),
        ([object() for _ in range(14)], "a label of dissimilarities=<object"),
        (pd.MultiIndex.from_product([range(2), range(7)]), "labels of several levels"),
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


# ---- adopting


def test_adopted_features_are_known_to_later_steps_and_to_no_earlier_one(fitted):
    before = fitted.step.copy()
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
        ({}, "adopt takes exactly one of values, along, from_axis, column, groups; none was given"),
        ({"values": [1], "column": "x"}, "values and column were given"),
        ({"column": "age"}, "column='age' is not in the table of the study; it has 'gender', 'degree'"),
        ({"values": [1, 2]}, "values has 2 entries but there are 14 objects"),
        ({"values": 3}, "values=3 must be a Series"),
        ({"values": "abc"}, "values='abc' must be a Series"),
        ({"values": np.eye(14)}, "values has 2 dimensions"),
        ({"values": pd.DataFrame(np.eye(14))}, "values is a table of 14 columns"),
        ({"values": {"Aunt": 1}}, "values says nothing about 'Brother', 'Daughter'"),
        ({"values": {"Nobody": 1}}, "values names 'Nobody', which are not among the objects"),
        ({"values": [1] * 14}, "'x' is the same for all objects"),
        ({"values": list("ab") * 7, "kind": "ordinal"}, "declared ordinal but holds text"),
        ({"values": list("ab") * 7, "kind": "spiral"}, "is declared 'spiral', which is none of"),
        ({"values": list(range(14)), "kind": object()}, "kind=<object.* cannot be written"),
        ({"values": pd.Series(range(14))}, "values and the dissimilarities disagree on labels"),
        ({"groups": 1}, "groups=1 must be an integer of at least 2"),
        ({"groups": 14}, "groups=14 but there are 14 objects"),
        ({"groups": "two"}, "groups='two' must be a number of groups to find on the map, or a dictionary"),
        ({"groups": {"a": ["Aunt"], "b": ["Aunt"]}}, "groups has 'Aunt' in two groups"),
        ({"groups": {"a": ["Ant"]}}, r"groups\['a'\] names 'Ant', which are not among the objects"),
        ({"along": ("Aunt", "Aunt")}, r'along=\["Aunt", "Aunt"\] begins and ends in the same place'),
        ({"along": ("Aunt", "Ant")}, 'along names "Ant", which is neither the label of an object'),
        ({"along": ("Aunt", (1.0, 2.0, 3.0))}, r"along names \(1.0, 2.0, 3.0\), which is neither .* \(2 numbers\)"),
        ({"along": "Aunt"}, "along='Aunt' must be"),
        ({"from_axis": 2}, "from_axis=2 but the map has 2 axes, counted from 0"),
        ({"from_axis": -1}, "from_axis=-1 must be an integer of at least 0"),
    ],
)
def test_adoptions_that_cannot_be_are_refused_and_nothing_changes(fitted, arguments, message):
    with pytest.raises(ValueError, match=message):
        fitted.adopt("x", **arguments)
    assert len(fitted.actions) == 1


@pytest.mark.parametrize("name", ["", "  ", 3, None])
def test_a_feature_needs_a_name(study, name):
    with pytest.raises(ValueError, match="must be text; say what was recognised"):
        study.adopt(name, column="gender")


def test_a_name_is_used_once(kinship):
    study = Discovery(kinship.dissimilarities, known=kinship.known[["gender"]], table=kinship.known)
    study.adopt("degree", column="degree")
    for name in ("gender", "degree"):
        with pytest.raises(ValueError, match=f"name='{name}' is taken by a feature of this study"):
            study.adopt(name, column="generation")


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
    with pytest.raises(ValueError, match="name='degree' is taken"):
        study.adopt("degree", list(range(14)))


# ---- taking back, branching, history


def test_undo_takes_back_one_action_and_says_which(fitted, kinship):
    fitted.adopt("gender", column="gender")
    fitted.fit(2, **FAST)
    fitted.forget("gender")
    assert fitted.undo() == "undone: putting aside of 'gender'"
    assert fitted.undo() == "undone: fit 2 in 2 dimensions, given gender"
    assert fitted.undo() == "undone: adoption of 'gender' (column 'gender' of the table)"
    fitted.adopt("gender", kinship.known["gender"], kind="nominal")
    assert fitted.undo() == "undone: adoption of 'gender' (given values)"
    for way, said in (
        ({"groups": 3}, "3 groups on map 1"),
        ({"groups": {"a": ["Aunt"]}}, "given groups"),
        ({"from_axis": 0}, "axis 1 of map 1"),
        ({"along": ("Aunt", "Son")}, 'along "Aunt" to "Son" on map 1'),
        ({"along": "circle"}, "along the circle on map 1"),
    ):
        fitted.adopt("x", **way)
        assert fitted.undo() == f"undone: adoption of 'x' ({said})"
    assert fitted.undo() == "undone: fit 1 in 2 dimensions, nothing known"
    with pytest.raises(ValueError, match="there is nothing to undo"):
        fitted.undo()


def test_a_branch_shares_nothing_that_can_change(kinship):
    study = Discovery(
        kinship.dissimilarities, kinship.known[["degree"]], kinship.known, weights=np.ones((14, 14)), title="a"
    )
    study.fit(2, **FAST)
    study.adopt("gender", column="gender")
    study.forget("degree")
    branch = study.branch()
    assert branch.title == "a (branch)"
    assert study.branch("other").title == "other"
    step = branch.step
    for table in (
        step.embedding,
        step.coef,
        step.importance,
        branch._material.dissimilarities,
        branch._material.weights,
    ):
        table.iloc[:, :] = -1.0
    step.stress_per_point.iloc[:] = -1.0
    step.params["n_components"] = step.versions["python"] = -1
    branch.actions[1].values.iloc[:] = 0
    branch._material.known.iloc[:, :] = branch._material.table.iloc[:, :] = 0
    assert study.step.embedding.to_numpy().min() < -1
    assert (study.step.coef.to_numpy() > 0).all()
    assert (study.step.stress_per_point > 0).all()
    assert study.step.params["n_components"] == 2
    assert study.step.versions["python"] != -1
    assert (study.known["gender"] > 0).all()
    assert (study.dissimilarities.to_numpy() >= 0).all()
    assert (study.weights.to_numpy() == 1).all()
    assert (study._material.known["degree"] > 0).all()
    branch.undo()
    assert len(study.actions) == 3
    assert study.known.columns.tolist() == ["gender"]


def test_history_says_what_was_given_found_and_adopted(study, kinship):
    study.adopt("gender", column="gender", why="everybody knows")
    study.fit(2, **FAST)
    study.adopt("degree", column="degree", why="left to right")
    study.adopt("third", kinship.known["generation"])
    study.fit(1, **FAST)
    history = study.history
    assert history.index.tolist() == [0, 1, 2]
    assert history["adopted"].tolist() == ["gender", "degree, third", ""]
    assert history["why"].tolist() == ["everybody knows", "left to right", ""]
    assert history["known"].tolist() == ["", "gender", "gender, degree, third"]
    assert history["n_components"].tolist()[1:] == [2, 1]
    assert history["stress"].tolist()[1:] == [step.stress for step in study.steps]
    assert history["leak"].tolist()[1:] == [step.leak for step in study.steps]
    assert history["importance_degree"].isna().tolist() == [True, True, False]
    assert history.loc[2, "importance_gender"] == study.step.importance.loc["gender", "standardized"]


def test_an_empty_study_has_an_empty_history(study):
    assert study.history.shape[0] == 0
    with pytest.raises(ValueError, match="nothing has been fitted in this study"):
        _ = study.embedding


def test_text_and_page_tell_the_study_and_escape_labels(fitted):
    fitted.adopt("<script>alert(1)</script>", column="gender", why="a & b")
    fitted.forget("<script>alert(1)</script>")
    text = repr(fitted)
    assert text.startswith("Discovery 'kinship': 14 objects, a table of 4 columns; known now: nothing")
    assert "step 1: mds, 2 dimensions, nothing known: stress 0.0713, leak 0.00" in text
    page = fitted._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
    assert repr(Discovery(1 - np.eye(3))) == "Discovery: 3 objects; known now: nothing"
    assert "<table" not in Discovery(1 - np.eye(3))._repr_html_()


# ---- pictures


def test_pictures_show_the_last_two_maps(fitted, kinship):
    figure = Figure()
    assert fitted.plot(ax=figure.add_subplot()).get_title(loc="left") == "nothing known"
    fitted.adopt("gender", column="gender")
    fitted.fit(2, **FAST)
    fitted.adopt("degree", column="degree")
    fitted.fit(2, **FAST)
    axes = fitted.plot(color="generation")
    assert [ax.get_title(loc="left") for ax in axes] == ["given gender", "given gender, degree"]
    axes = fitted.plot(steps=(1, 3), color=kinship.known["gender"])
    assert [ax.get_title(loc="left") for ax in axes] == ["nothing known", "given gender, degree"]
    pyplot.close("all")
    with pytest.raises(ValueError, match=r"steps=\(0, 3\) must be two numbers of steps, from 1 to 3"):
        fitted.plot(steps=(0, 3))
    with pytest.raises(ValueError, match="color='age' is neither a known feature nor a column"):
        fitted.plot(color="age")


# ---- interrupting


def slow_study(n=60):
    X = np.random.default_rng(0).normal(size=(n, 8))
    return Discovery(np.linalg.norm(X[:, None] - X, axis=2))


def test_a_callback_hears_of_every_iteration_and_may_stop(capsys):
    study, heard = slow_study(), []
    step = study.fit(2, callback=heard.append, n_init=1, verbose=2)
    assert step.finished
    assert [progress.iteration for progress in heard] == list(range(len(heard)))
    assert capsys.readouterr().out.count("normalised stress") == len(heard) + 1  # and one about the start
    with pytest.warns(UnfinishedMapWarning, match="the fit of step 2 was interrupted; its map is unfinished"):
        stopped = study.fit(2, callback=lambda progress: progress.iteration == 3, n_init=2)
    assert not stopped.finished
    assert not stopped.converged
    assert stopped.embedding.shape == (60, 2)
    assert stopped.stress > step.stress
    assert not any("ConvergenceWarning" in said for said in stopped.warnings)
    assert study.history["finished"].tolist() == [True, False]
    assert "unfinished" in repr(study)
    assert study.replay()["note"].tolist() == ["", "was interrupted"]
    assert study.replay()["same"].tolist() == [True, False]
    assert "# This fit was interrupted" in study.to_script()


@pytest.fixture
def heard():
    """Let Ctrl-C be heard: in a process that was started in the background it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_keeps_the_map_and_the_handler():
    study = slow_study()

    def press(progress):
        if progress.iteration == 2:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.warns(UnfinishedMapWarning):
        step = study.fit(2, callback=press, n_init=3)
    assert not step.finished
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("heard")
def test_a_second_ctrl_c_ends_the_fit_and_leaves_the_study_as_it_was():
    study = slow_study()

    def press(progress):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        study.fit(2, callback=press, n_init=3)
    assert study.actions == ()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_of_ones_own_stays_in_place():
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append("own"))
    try:
        step = slow_study().fit(
            2, callback=lambda progress: progress.iteration == 2 and os.kill(os.getpid(), signal.SIGINT), n_init=1
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert step.finished
    assert calls == ["own"]


def test_fits_run_in_other_threads_too():
    study, found = slow_study(), []
    thread = threading.Thread(target=lambda: found.append(study.fit(1, n_init=1)))
    thread.start()
    thread.join()
    assert isinstance(found[0], Step)
