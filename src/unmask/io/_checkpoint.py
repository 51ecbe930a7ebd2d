"""Keeping a fit in a file while it runs."""

from __future__ import annotations

from os import PathLike

import numpy as np

from ..checking import require_integer
from ..progress import Listener, Progress
from ._atomic import atomic_path


class Checkpoint(Listener):
    """Keeps a fit in a file while it runs, so that it can go on after a crash, a power cut or Ctrl-C.

    Passed as ``callback`` to ``fit``, alone or in a list with others. The file holds where every start is, what has
    come of those that are finished, and what tells the fit from another one. ``fit(…, resume_from=path)`` with the same
    parameters and data goes on from there and comes to the map of the uninterrupted fit; only `max_iter`, `n_init`,
    `n_jobs` and `verbose` may differ. The dissimilarities are not in it.

    Parameters
    ----------
    path : str or path
        The file to write, by custom ``.npz``. An earlier one is replaced, in one step: at no time is there half a file.
    every : int, default=50
        Iterations, of all starts together, between two times of writing. It is also written when a start ends before
        it has converged, and when the fit breaks off by an error.

    See Also
    --------
    Progress.state : The same as arrays, for whoever keeps them elsewhere.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from unmask import Checkpoint, ConditionalMDS
    >>> from unmask.datasets import load_kinship
    >>> kin, file = load_kinship(), Path(tempfile.mkdtemp()) / "fit.npz"
    >>> mds = ConditionalMDS(metric="precomputed", n_init=4, random_state=0)
    >>> mds = mds.fit(kin.dissimilarities, callback=Checkpoint(file, every=10))
    >>> again = ConditionalMDS(metric="precomputed", n_init=4, random_state=0)
    >>> again = again.fit(kin.dissimilarities, resume_from=file)  # as if the first had been interrupted
    >>> bool((again.embedding_ == mds.embedding_).all())
    True
    """

    silent = True

    def __init__(self, path: str | PathLike[str], every: int = 50) -> None:
        self.path, self.every = path, require_integer("every", every, 1)
        self._iterations = 0
        self._unwritten: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        self.hear(progress)

    def hear(self, progress: Progress) -> None:
        """Write the file if it is time to."""
        self._unwritten = progress
        if progress.iteration:
            self._iterations += 1
            if self._iterations % self.every == 0:
                self._write(progress)

    def end(self, progress: Progress, converged: bool) -> None:
        """Write the file if a start was interrupted, or lacked iterations."""
        self._unwritten = None
        if not converged:
            self._write(progress)

    def close(self) -> None:
        """Write the file if the fit broke off in the middle of a start."""
        if self._unwritten is not None and self._unwritten.iteration:
            self._write(self._unwritten)

    def _write(self, progress: Progress) -> None:
        self._unwritten = None
        if progress.can_be_kept:
            with atomic_path(self.path) as draft, draft.open("wb") as file:
                np.savez(file, **progress.state())  # type: ignore[arg-type]
