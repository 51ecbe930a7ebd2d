"""A line that shows how far a fit is."""

from __future__ import annotations

import math
import time
from typing import Any

from ._time_left import TimeLeft
from ._watching import Progress

# Seconds between two changes of the line.
BETWEEN = 0.1


class ProgressBar(TimeLeft):
    """Shows how far a fit is: the start, the iteration, the stress, and the time left.

    Passed as ``callback`` to ``fit``, alone or in a list with others. The line is on the standard error, and goes when
    the fit is over. The time left is that of the present stage: *about* so much if the stress goes on falling as it
    does until it falls by less than `tol`, or *at most* so much, if all of `max_iter` iterations are needed, where the
    fall does not tell yet.

    Parameters
    ----------
    file : file, optional
        Where to write; the standard error by default.

    Examples
    --------
    >>> import io
    >>> from unmask import ConditionalMDS, ProgressBar
    >>> from unmask.datasets import load_kinship
    >>> shown = io.StringIO()
    >>> mds = ConditionalMDS(metric="precomputed", n_init=1, random_state=0)
    >>> mds = mds.fit(load_kinship().dissimilarities, callback=ProgressBar(shown))
    >>> "start 1 of 1, iteration 0, stress" in shown.getvalue()
    True
    """

    def __init__(self, file: Any = None) -> None:
        super().__init__()
        self._file, self._width, self._shown = file, 0, -BETWEEN

    def begin(self, stage: str, n_starts: int) -> None:
        """Show a stage without iterations."""
        super().begin(stage, n_starts)
        if not n_starts:
            self._show(stage)

    def hear(self, progress: Progress) -> None:
        """Show an iteration."""
        super().hear(progress)
        if time.monotonic() - self._shown >= BETWEEN:
            left = self.left(progress)
            self._show(", ".join(filter(None, [f"{left.done:4.0%}  {position_of(progress)}", str(left)])))

    def close(self) -> None:
        """Take the line away."""
        if self._width:
            self._show("")
            self._write("\r")

    def _show(self, text: str) -> None:
        self._write(f"\r{text.ljust(self._width)}")
        self._width, self._shown = len(text), time.monotonic()

    def _write(self, text: str) -> None:
        import sys

        file = sys.stderr if self._file is None else self._file
        file.write(text)
        file.flush()


def position_of(progress: Progress) -> str:
    """Return in words where a fit is."""
    stage = "" if progress.stage == "search" else f"{progress.stage}, "
    name = "chain" if progress.kind == "chain" else "start"
    start = f"{name} {progress.start} of {progress.n_starts}, " if progress.n_starts else ""
    stress = "" if math.isnan(progress.stress) else f", stress {progress.stress:.6g}"
    return f"{stage}{start}iteration {progress.iteration}{stress}"
