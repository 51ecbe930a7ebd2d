"""Checkpoints: a file from which an interrupted fit continues."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._typing import Array
from ._watching import Listener, Progress

FORMAT = 5


class SavedStart(NamedTuple):
    """The parameters that a start has reached, and why it ended (empty while it is under way)."""

    kind: str
    theta: Array
    path: tuple[float, ...]  # normalised objective
    passes: int = 0
    reason: str = ""


@dataclass(frozen=True)
class SavedFit:
    """All that is needed to continue a fit with the same data."""

    init: str
    about: dict[str, Any] = field(default_factory=dict)  # must be the same in the fit that continues it
    # By the number of dimensions, of which an adjusted map may need more than shown, and the number of the start.
    starts: dict[tuple[int, int], SavedStart] = field(default_factory=dict)

    def including(self, dimensions: int, number: int, start: SavedStart) -> SavedFit:
        """Return the fit with a start under way, unless its search has finished starts.

        With finished starts, one under way is made again, so that the continued fit comes to the same numbers.
        """
        finished = any(key[0] == dimensions and other.reason for key, other in self.starts.items())
        return replace(self, starts=self.starts | ({} if finished else {(dimensions, number): start}))

    def require_same(self, about: dict[str, Any], name: str) -> None:
        """Raise if this is a checkpoint of a fit with other data or options, and name the first difference."""
        for key in dict.fromkeys([*self.about, *about]):
            if (then := self.about.get(key)) != (now := about.get(key)):
                raise ValueError(
                    f"{name} is a checkpoint of another fit: {key} was {then} and is {now}; pass the same data and "
                    "options, or begin anew."
                )

    def write(self, path: str | PathLike[str]) -> None:
        """Write the file in one step: at no time is there half a file."""
        starts = [[*key, start._replace(theta=None)] for key, start in self.starts.items()]  # type: ignore[arg-type]
        head = json.dumps({"unmask_checkpoint": FORMAT, "init": self.init, "about": self.about, "starts": starts})
        thetas: dict[str, Any] = {f"theta{number}": start.theta for number, start in enumerate(self.starts.values())}
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{os.getpid()}-{target.name}")
        try:
            with draft.open("wb") as file:
                np.savez(file, head=np.array(head), **thetas)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> SavedFit:
        """Return the fit in a file; nothing in the file is run."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as content:
                head = json.loads(str(content["head"]))
                if head["unmask_checkpoint"] != FORMAT:
                    raise ValueError(f"its format is {head['unmask_checkpoint']!r}")
                starts = {}
                for number, (dimensions, start, (kind, _, values, *end)) in enumerate(head["starts"]):
                    theta = np.asarray(content[f"theta{number}"], dtype=np.float64)
                    starts[dimensions, start] = SavedStart(kind, theta, tuple(values), *end)
            return cls(head["init"], head["about"], starts)
        except (OSError, EOFError, AttributeError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"init={str(path)!r} is not a checkpoint of this version ({error}); pass a file that unmask.Checkpoint "
                "wrote."
            ) from None


class Checkpoint(Listener):
    """Saves a fit in a file while it runs, so that it can continue after a crash or Ctrl-C.

    Passed as ``callback`` to ``fit``, alone or in a list with others. An estimator with ``init=path`` and the same data
    and options continues the fit: finished starts are not made again, the others follow, and the map is adjusted as in
    an uninterrupted fit. Only `n_init`, `max_iter`, `solver`, `n_jobs` and `verbose` may change; without a
    `random_state` the seed in the file is used. The file does not hold the data.

    Parameters
    ----------
    path : str or path
        The file to write, usually ``.npz``. An existing file is replaced.
    every : int, default=50
        Iterations between two writes. The file is also written when the fit ends or fails.

    Notes
    -----
    While no start has finished, the last map is saved and the fit continues from there; later a start under way is made
    again. The stochastic solver saves its last map and continues with new references.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from unmask import Checkpoint, ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> kin, file = load_kinship(), Path(tempfile.mkdtemp()) / "fit.npz"
    >>> mds = ConditionalMDS(metric="precomputed", n_init=4, random_state=0)
    >>> mds = mds.fit(kin.dissimilarities, callback=Checkpoint(file))
    >>> again = ConditionalMDS(metric="precomputed", n_init=4, random_state=0, init=file)
    >>> again = again.fit(kin.dissimilarities)
    >>> bool((again.embedding_ == mds.embedding_).all())
    True
    """

    silent = True

    def __init__(self, path: str | PathLike[str], every: int = 50) -> None:
        if not Path(path).absolute().parent.is_dir():
            raise ValueError(f"path={str(path)!r}: there is no such folder; make it first.")
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ValueError(f"every={every!r} must be an integer of at least 1.")
        self.path, self.every = path, every
        self._iterations = 0
        self._save: Callable[[], SavedFit] | None = None

    def update(self, progress: Progress) -> None:
        self._save = progress._save or self._save
        if progress._save is not None and progress.iteration:
            self._iterations += 1
            if self._iterations % self.every == 0:
                self.write()

    def end(self, progress: Progress, converged: bool) -> None:  # noqa: ARG002
        self._save = progress._save or self._save  # it may be a finished start of the file that is continued

    def write(self) -> None:
        """Write the file now."""
        if self._save is not None:
            self._save().write(self.path)

    def close(self) -> None:
        self.write()
        self._save = None
