"""What a fit has done so far, so that it can be put down and taken up again."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array

FORMAT = 2
# Sums over many pairs depend a little on the number of threads and on the machine.
SAME = 1e-6


class RunKey(NamedTuple):
    """Which search it is: the number and the name of its stage, and the number of its start."""

    number: int
    stage: str
    start: int


@dataclass(frozen=True)
class Run:
    """Where one search from one start is: everything that the loop needs to take the next step as if it had gone on."""

    theta: Array
    path: tuple[float, ...]  # normalised objective after 0, 1, 2 … iterations
    passes: int
    small: int = 0  # small decreases in a row
    reason: str = ""  # why it came to its end; empty while it runs
    rule: Mapping[str, Array] = field(default_factory=dict)  # what the rule remembers

    @property
    def n_iter(self) -> int:
        return len(self.path) - 1


class Journal:
    """The searches of a fit, finished or under way, in the order in which they were begun.

    A fit does the same again if it draws the same numbers. So a journal that was kept is replayed: a search that had
    come to its end is not made again, one that was under way goes on, and all others follow as they would have.
    """

    def __init__(
        self, name: str = "", about: list[dict[str, Any]] | None = None, seeds: list[int] | None = None
    ) -> None:
        self.name = name
        self.runs: dict[RunKey, Run] = {}
        self._about, self._seeds = about or [], seeds or []
        self._described = self._drawn = self._stage = 0

    # ---- while a fit runs

    def describe(self, about: dict[str, Any]) -> None:
        """Say which problem it is; raise if the journal is of another one, and name what differs."""
        if self._described < len(self._about):
            _require_same(self._about[self._described], about, self.name)
        else:
            self._about.append(about)
        self._described += 1

    def seed(self, draw: Callable[[], int]) -> int:
        """Return a drawn number: the one that was drawn before, if the fit is taken up again."""
        if self._drawn == len(self._seeds):
            self._seeds.append(int(draw()))
        self._drawn += 1
        return self._seeds[self._drawn - 1]

    def turn(self) -> None:
        """Begin a stage."""
        self._stage += 1

    def key(self, stage: str, start: int) -> RunKey:
        return RunKey(self._stage, stage, start)

    def note(self, key: RunKey, run: Run) -> None:
        """Take down where a search is."""
        self.runs[key] = run

    def find(self, key: RunKey, is_over: Callable[[Run], bool]) -> Run | None:
        """Return a search that was begun before. If it goes on, what came after it is no longer true."""
        run = self.runs.get(key)
        if run is None or not is_over(run):
            for later in [other for other in list(self.runs) if other.number > key.number]:
                self.runs.pop(later, None)
        return run

    # ---- as arrays

    def arrays(self) -> dict[str, Array]:
        """Return all of it as arrays of numbers and text, as a file ``.npz`` holds them."""
        runs = sorted(self.runs.items())
        kept: dict[str, Array] = {}
        for at, (_, run) in enumerate(runs):
            kept |= {f"theta{at}": run.theta, f"path{at}": np.array(run.path)}
            kept |= {f"rule{at}_{name}": values for name, values in run.rule.items()}
        rows = [[*key, run.passes, run.small, run.reason] for key, run in runs]
        head = {"unmask_checkpoint": FORMAT, "about": self._about, "seeds": self._seeds, "runs": rows}
        return {"head": np.array(json.dumps(head)), **kept}

    @classmethod
    def read(cls, source: str | PathLike[str] | Mapping[str, Any]) -> Journal:
        """Return the journal that a file, or a table of arrays, holds."""
        if isinstance(source, Mapping):
            return cls._of(dict(source), "resume_from")
        name = f"resume_from={str(source)!r}"
        return cls._of(_read_arrays(source, name), name)

    @classmethod
    def _of(cls, arrays: dict[str, Array], name: str) -> Journal:
        try:
            head = json.loads(str(arrays["head"]))
            if head["unmask_checkpoint"] != FORMAT:
                raise ValueError(head["unmask_checkpoint"])
            journal = cls(name, head["about"], head["seeds"])
            for at, (number, stage, start, passes, small, reason) in enumerate(head["runs"]):
                prefix = f"rule{at}_"
                rule = {key.removeprefix(prefix): value for key, value in arrays.items() if key.startswith(prefix)}
                path = tuple(arrays[f"path{at}"].tolist())
                run = Run(arrays[f"theta{at}"], path, passes, small, reason, rule)
                journal.runs[RunKey(number, stage, start)] = run
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{name} holds no checkpoint of this version; pass what unmask.Checkpoint wrote."
            ) from None
        return journal


def _read_arrays(path: str | PathLike[str], name: str) -> dict[str, Array]:
    try:
        with Path(path).open("rb") as file, np.lib.npyio.NpzFile(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except FileNotFoundError:
        raise ValueError(f"{name}: there is no such file; without resume_from the fit begins anew.") from None
    except (OSError, EOFError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} cannot be read ({error}); pass a file that unmask.Checkpoint wrote.") from None


def _require_same(before: dict[str, Any], now: dict[str, Any], name: str) -> None:
    for what in dict.fromkeys([*before, *now]):
        then, today = before.get(what), now.get(what)
        if not _is_same(then, today):
            checksum = isinstance(then, list) and any(isinstance(part, float) for part in then)
            said = "" if checksum else f" (it was {_short(then)} and is {_short(today)})"
            raise ValueError(
                f"{name} is a checkpoint of another fit: {what} differs{said}; pass what that fit was given, "
                "or leave resume_from out to begin anew."
            )


def _is_same(then: Any, now: Any) -> bool:
    if isinstance(then, float) and isinstance(now, float):
        return bool(np.isclose(then, now, rtol=SAME, atol=0.0, equal_nan=True))
    if isinstance(then, list) and isinstance(now, list):
        return len(then) == len(now) and all(map(_is_same, then, now))
    return bool(then == now)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
