"""The tree of a study: going about in it, branches, leaving an action out."""

import pickle

import pandas as pd
import pytest

from unmask.discovery import Adoption, Discovery, Step

from .studies import FAST, assert_same


@pytest.fixture
def grown(fitted):
    """1 fit, 2 gender, 3 fit, 4 degree, 5 fit."""
    for name in ("gender", "degree"):
        fitted.adopt(name, column=name)
        fitted.fit(2, **FAST)
    return fitted


def ids(study):
    return [action.id for action in study.actions]


def test_actions_have_ids_and_parents(grown):
    assert [(action.id, action.parent) for action in grown.tree] == [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]
    assert grown.here == 5
    assert grown.actions == grown.tree


def test_a_study_is_a_path_of_the_tree(grown):
    assert grown.go(1) == "now after: fit 1 in 2 dimensions, nothing known"
    grown.adopt("degree", column="degree")
    other = grown.fit(2, **FAST)
    assert (other.number, other.known) == (2, ("degree",))
    assert ids(grown) == [1, 6, 7]
    assert grown.step is other
    assert grown.go(5).endswith("given gender, degree")
    assert ids(grown) == [1, 2, 3, 4, 5]
    assert list(grown.known) == ["gender", "degree"]
    assert [step.number for step in grown.steps] == [1, 2, 3]
    assert grown.go(0) == "now at the beginning"
    assert grown.actions == ()
    assert len(grown.tree) == 7
    for wrong in (8, -1, "1"):
        with pytest.raises(ValueError, match="id="):
            grown.go(wrong)


def test_known_of_any_step_is_what_it_was_given(grown):
    third = grown.step
    grown.go(0)
    assert list(grown.known_of(third)) == ["gender", "degree"]
    assert grown.known_of(grown.tree[0]) is None


def test_undo_and_redo_lose_nothing(grown):
    for _ in range(5):
        grown.undo()
    assert ids(grown) == []
    with pytest.raises(ValueError, match="there is nothing to undo"):
        grown.undo()
    assert grown.redo() == "redone: fit 1 in 2 dimensions, nothing known"
    assert grown.redo() == "redone: adoption of 'gender' (column 'gender' of the table)"
    for _ in range(3):
        grown.redo()
    assert ids(grown) == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="there is nothing to redo"):
        grown.redo()


def test_redo_takes_the_branch_that_was_seen_last(grown, tmp_path):
    grown.go(3)
    grown.adopt("generation", column="generation")  # 6
    grown.undo()
    grown.redo()
    assert ids(grown)[-1] == 6
    grown.go(5)
    grown.go(3)
    grown.redo()
    assert ids(grown)[-1] == 4
    grown.undo()
    loaded = Discovery.load(grown.save(tmp_path / "study"))
    loaded.redo()  # what was seen is not saved: the newest
    assert ids(loaded)[-1] == 6


def test_a_branch_shares_the_material_and_what_was_done(grown):
    branch = grown.branch()
    assert branch.title == "kinship (branch)"
    assert grown.branch("other").title == "other"
    assert branch.material is grown.material
    assert all(mine is theirs for mine, theirs in zip(grown.tree, branch.tree, strict=True))
    branch.undo()
    branch.adopt("generation", column="generation")
    assert ids(grown) == [1, 2, 3, 4, 5]
    assert ids(branch) == [1, 2, 3, 4, 6]
    assert len(grown.tree) == 5
    branch.go(5)  # what is here is there too
    assert list(branch.known) == ["gender", "degree"]


def test_what_a_study_hands_out_is_a_copy(grown, kinship):
    for name in ("dissimilarities", "table", "known", "features", "embedding"):
        table = getattr(grown, name)
        before = table.copy()
        table.iloc[:, :] = 0
        pd.testing.assert_frame_equal(getattr(grown, name), before)
    step = grown.step
    for table in (grown.material.dissimilarities, step.embedding, step.coef, step.importance, step.stress_per_point):
        with pytest.raises(ValueError, match="read-only"):
            table.iloc[0] = -1
        with pytest.raises(ValueError, match="read-only"):
            table.to_numpy()[0] = -1
    assert (grown.dissimilarities == kinship.dissimilarities).all(axis=None)


def test_the_whole_tree_is_saved(grown, tmp_path):
    grown.go(1)
    grown.adopt("degree", column="generation")  # another feature of the same name, elsewhere in the tree
    grown.fit(1, **FAST)
    grown.go(3)
    for path in (tmp_path / "study", tmp_path / "study.zip"):
        loaded = Discovery.load(grown.save(path))
        assert_same(grown, loaded)
        for end in (5, 7):
            loaded.go(end)
            grown.go(end)
            assert loaded.replay()["same"].all()
            assert loaded.to_script() == grown.to_script()
            pd.testing.assert_frame_equal(loaded.known, grown.known)
        grown.go(3)


# ---- without an action


def test_without_an_action_the_rest_is_done_again(grown):
    said = grown.without(2)
    assert said == "left out: adoption of 'gender' (column 'gender' of the table)"
    assert ids(grown) == [1, 6, 7, 8]
    assert grown.known.columns.tolist() == ["degree"]
    refit, adopted, last = grown.actions[1:]
    assert isinstance(adopted, Adoption)
    assert (refit.known, last.known) == ((), ("degree",))
    alone = Discovery(grown.dissimilarities, table=grown.table)
    alone.adopt("degree", column="degree")
    assert last.stress == alone.fit(2, **FAST).stress
    grown.go(5)
    assert grown.step.known == ("gender", "degree")


def test_what_was_read_off_a_map_is_read_off_the_new_one(grown):
    grown.adopt("line", along=("Brother", "Grandfather"))
    grown.without(4)
    line, step = grown.actions[-1], grown.step
    assert step.known == ("gender",)
    places = step.embedding.loc[["Brother", "Grandfather"]].to_numpy()
    assert line.values["Brother"] == pytest.approx(0, abs=1e-9)
    assert line.values["Grandfather"] == pytest.approx(((places[1] - places[0]) ** 2).sum() ** 0.5)


def test_what_was_done_to_a_feature_goes_with_it(grown):
    grown.amend("gender", rename="sex")
    grown.forget("sex")
    grown.adopt("sex", column="generation")
    said = grown.without(2)
    assert said.count(";") == 2
    assert grown.known.columns.tolist() == ["degree", "sex"]


def test_a_fit_can_be_left_out(grown):
    grown.without(3)
    assert [type(action) for action in grown.actions] == [Step, Adoption, Adoption, Step]
    assert grown.step.number == 2


def test_what_cannot_be_done_without_it_leaves_the_study_as_it_was(grown):
    grown.go(0)
    grown.fit(2, **FAST)
    grown.adopt("axis", from_axis=0)
    before = grown.tree
    with pytest.raises(ValueError, match="refers to a map but nothing has been fitted"):
        grown.without(6)
    assert grown.tree == before
    assert ids(grown) == [6, 7]
    with pytest.raises(ValueError, match="id=2 is not on the way to here"):
        grown.without(2)


def test_what_a_branch_did_elsewhere_is_taken_over(grown):
    grown.go(3)
    since, branch = len(grown.tree), pickle.loads(pickle.dumps(grown.branch()))
    branch.adopt("line", from_axis=0)
    last = branch.fit(1, **FAST)
    grown.adopt("other", from_axis=1)  # meanwhile
    assert grown.take_over(branch, since) == 8
    assert [(action.id, action.parent) for action in grown.tree[since:]] == [(6, 3), (7, 3), (8, 7)]
    assert grown.here == 6, "people stay where they are"
    grown.go(8)
    assert grown.step.embedding.equals(last.embedding)
    assert list(grown.known) == ["gender", "line"]


def test_what_is_ahead_is_what_redo_does(grown):
    assert grown.ahead is None
    grown.undo()
    assert grown.ahead is grown.tree[4]
