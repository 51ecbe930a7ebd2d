"""Replaying a study: the same numbers, or it is noticed."""

import subprocess
import sys
from dataclasses import replace

from unmask.discovery import Discovery
from unmask.discovery._tree import Tree

from .studies import KINDS


def test_replay_after_loading_in_another_process_gives_the_same_numbers(whole, tmp_path):
    paths = [str(whole.save(tmp_path / kind)) for kind in KINDS]
    assert whole.replay()["same"].all()
    code = (
        "from unmask.discovery import Discovery\n"
        f"for path in {paths!r}:\n"
        "    table = Discovery.load(path).replay()\n"
        "    print(table['same'].tolist(), table['difference'].max())"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[True, True, True] 0.0"] * 2


def test_replay_notices_numbers_that_are_not_those_of_the_study(whole):
    first, *later = whole.tree
    wrong = replace(first, embedding=first.embedding * (1 + 1e-3))
    changed = Discovery._of(whole.material, "", Tree((wrong, *later)), whole.here)
    table = changed.replay()
    assert table["same"].tolist() == [False, True, True]
    assert table["difference"].iloc[0] > 1e-6
    assert changed.replay(tol=0.1)["same"].all()
