"""What the estimators share that follow several starts: how these are made, and what came of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..checking import Dissimilarities, require_choice, require_integer, require_number, warn_user
from ..kernels import Workers
from ..problem import KnownFeatures
from ..solvers import (
    RULES,
    Attempt,
    Callback,
    Objective,
    Reason,
    Solution,
    Start,
    attempt_all,
    automatic_number,
    best_of,
    given_start,
    make_starts,
    warned_of_interruption,
)
from ._base import ConditionalMap
from ._given_start import check_start, require_init

INITS = ("auto", "closed-form", "random")


class SearchingMap(ConditionalMap):
    """Base of the estimators that follow several starts and keep the best."""

    init: Any
    n_init: Any
    max_iter: int
    tol: float
    random_state: Any
    verbose: int

    # What is minimised, as attributes and messages call it, and how it is printed while it falls.
    _QUANTITY = "stress"
    _PRINTED = "normalised stress {:.9g}"
    # At most so many starts with n_init="auto".
    _MOST_STARTS = 128

    def _check_search(self) -> None:
        require_integer("verbose", self.verbose, 0)
        require_integer("max_iter", self.max_iter, 1)
        require_number("tol", self.tol, 0.0)
        require_init(self.init, INITS)
        if isinstance(self.n_init, str):
            require_choice("n_init", self.n_init, ("auto",))
        else:
            require_integer("n_init", self.n_init, 1)
        single = isinstance(self.init, tuple) or self.init == "closed-form"
        if single and self.n_init not in ("auto", 1):
            raise ValueError(
                f"n_init={self.n_init!r} asks for several starts but init gives a single one; "
                "use init='auto' or n_init=1."
            )

    def _starts(self, objective: Objective, known: KnownFeatures, checked: Dissimilarities) -> list[Start]:
        if isinstance(self.init, tuple):
            U0, B0 = check_start(self.init, objective.structure, known, checked.labels)
            return [given_start(objective, known, U0, B0)]
        number = min(self._MOST_STARTS, automatic_number(checked.n)) if self.n_init == "auto" else int(self.n_init)
        number = 1 if self.init == "closed-form" else number
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        return list(make_starts(self._stress_of(objective), known, self.init, number, rng))

    def _stress_of(self, objective: Objective) -> Objective:
        """Return the objective by which starts are made: that of the stress, whatever is minimised."""
        return objective

    def _attempt(
        self, objective: Objective, starts: list[Start], workers: Workers, rule: str = "lbfgs"
    ) -> list[Attempt]:
        return attempt_all(
            objective,
            starts,
            RULES[rule](objective),
            workers,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            callback=self._callback,
            tell=self._print_start if self.verbose else None,
        )

    @property
    def _callback(self) -> Callback | None:
        return self._print_iteration if self.verbose > 1 else None

    def _print_start(self, line: str) -> None:
        print(line)

    def _print_iteration(self, iteration: int, value: float) -> None:
        print(f"iteration {iteration}: {self._PRINTED.format(value)}")

    def _report_search(self, best: Solution, attempts: list[Attempt], unit: float = 1.0) -> None:
        """Set what tells about the search; ``unit`` is what a value of the objective counts in the quantity."""
        import pandas as pd

        quantity = self._QUANTITY
        setattr(self, f"{quantity}_path_", np.asarray(best.path) * unit)
        self.n_iter_, self.converged_, self.stop_reason_ = best.n_iter, best.converged, self._in_words(best.reason)
        lowest = best_of(attempts)
        rows = [
            (kind, s.value * unit, s.n_iter, s.passes, s.converged, self._in_words(s.reason), s is lowest)
            for kind, s in attempts
        ]
        self.starts_ = pd.DataFrame(rows, columns=["kind", quantity, "n_iter", "passes", "converged", "reason", "best"])
        if not warned_of_interruption(attempts, best) and not self.converged_:
            warn_user(
                f"the best of {len(attempts)} starts stopped after {self.n_iter_} iterations because "
                f"{self.stop_reason_}, before the {quantity} settled (at {getattr(self, f'{quantity}_'):.6g}); "
                f"give it more than max_iter={self.max_iter}, or be content with a larger tol than {self.tol:g}.",
                ConvergenceWarning,
            )

    def _in_words(self, reason: Reason) -> str:
        return str(reason.value).replace("stress", self._QUANTITY)
