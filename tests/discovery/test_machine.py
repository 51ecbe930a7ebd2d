"""Any sequence of fits, adoptions, corrections, undoing, moving about, saving and loading, against a simple model."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from unmask.discovery import Discovery

from .studies import assert_same

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
N = 7
X = np.random.default_rng(0).normal(size=(N, 3))
TABLE = pd.DataFrame({"a": X[:, 0], "b": list("xyxyxyz"), "c": X[:, 1] * X[:, 2]})
NAMES = st.sampled_from(["a", "b", "c", "=d"])
WHY = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


class Study(RuleBasedStateMachine):
    """The model: for each action its parent and the names that are known after it."""

    def __init__(self):
        super().__init__()
        self.study = Discovery(np.linalg.norm(X[:, None] - X, axis=2), table=TABLE, title="machine")
        self.known, self.parents, self.here = [[]], [None], 0
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "study"

    def teardown(self):
        self.folder.cleanup()

    def done(self, names):
        self.known.append(names)
        self.parents.append(self.here)
        self.here = len(self.known) - 1

    @rule(p=st.integers(1, 2))
    def fit(self, p):
        step = self.study.fit(p, estimator="classical")
        assert list(step.known) == self.known[self.here]
        self.done(self.known[self.here])

    @rule(name=NAMES, column=st.sampled_from(list(TABLE)), why=WHY)
    def adopt(self, name, column, why):
        if name not in self.known[self.here]:
            self.study.adopt(name, column=column, why=why)
            self.done([*self.known[self.here], name])

    @precondition(lambda self: self.known[self.here])
    @rule(data=st.data(), rename=NAMES)
    def amend(self, data, rename):
        names = self.known[self.here]
        name = data.draw(st.sampled_from(names))
        if rename not in names:
            self.study.amend(name, rename=rename)
            self.done([rename if own == name else own for own in names])

    @precondition(lambda self: self.known[self.here])
    @rule(data=st.data())
    def forget(self, data):
        name = data.draw(st.sampled_from(self.known[self.here]))
        self.study.forget(name)
        self.done([own for own in self.known[self.here] if own != name])

    @precondition(lambda self: self.here)
    @rule()
    def undo(self):
        self.study.undo()
        self.here = self.parents[self.here]

    @precondition(lambda self: self.here)
    @rule()
    def undo_and_redo(self):
        self.study.undo()
        self.study.redo()

    @rule(data=st.data())
    def go(self, data):
        self.here = data.draw(st.integers(0, len(self.known) - 1))
        self.study.go(self.here)

    @rule()
    def work_on_a_branch(self):
        since, branch = len(self.study.tree), self.study.branch()
        branch.fit(1, estimator="classical")
        self.study.fit(2, estimator="classical")
        assert self.study.take_over(branch, since) == since + 2
        self.known += [self.known[self.here]] * 2
        self.parents += [self.here] * 2
        self.here = since + 1

    @rule(kind=st.sampled_from(["study", "study.zip"]))
    def save_and_load(self, kind):
        path = self.path.with_name(kind)
        self.study.save(path)
        loaded = Discovery.load(path)
        assert_same(self.study, loaded)
        assert (loaded.uuid, loaded.revision) == (self.study.uuid, self.study.revision)
        self.study = loaded

    @invariant()
    def agrees(self):
        assert self.study.here == self.here
        assert list(self.study.known) == self.known[self.here]
        assert [action.parent for action in self.study.tree] == self.parents[1:]


TestStudy = Study.TestCase
TestStudy.settings = settings(max_examples=12, stateful_step_count=15, deadline=None)
