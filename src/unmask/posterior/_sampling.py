"""Drawing from a posterior: NUTS by nutpie on the compiled pass."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array
from ..checking import require_package
from ..progress import Progress, Watch
from ._model import Model

STAGE = "posterior"
TUNING = 300
# At most 2^5 - 1 passes a draw. Deeper trees (10, of 90 passes on average) cost four times as much, and 30 objects had
# no more effective draws for it that anybody would see: 1,000 instead of 700 of 1,600.
DEPTH = 5
# How far from the fit, in standard deviations of the prior, chains begin.
SCATTER = 0.3
# Passes that a draw takes, nearly always.
PASSES = 31
BETWEEN = 0.05  # seconds between two looks at how far the chains are


@dataclass(frozen=True)
class Chains:
    """Draws of x (chains x draws x parameters), and which of them came from a step that diverged."""

    x: Array
    diverging: Any
    finished: bool = True


class _Counts:
    """How many draws each chain has made, warm-up included."""

    def __init__(self, chains: int) -> None:
        self.done = np.zeros(chains, dtype=int)
        self._lock = threading.Lock()

    def add(self, chain: int) -> None:
        with self._lock:
            self.done[chain] += 1


def sample(
    model: Model, start: Array, *, draws: int, tuning: int, chains: int, cores: int, seed: int, watch: Watch
) -> Chains:
    """Return draws from a model's posterior; every chain begins near ``start``.

    Chains that are stopped end where they are, and all are cut to the shortest.
    """
    nutpie = require_package("nutpie", "a posterior", "posterior")
    counts = _Counts(chains)
    compiled = _compiled(model, start, counts)
    sampler = nutpie.sample(
        compiled,
        draws=draws,
        tune=tuning,
        chains=chains,
        cores=cores,
        seed=seed,
        maxdepth=DEPTH,
        progress_bar=False,
        save_warmup=False,
        blocking=False,
    )
    try:
        finished = _followed(sampler, counts, watch, tuning + draws)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of ArviZ, about chains that were stopped early
            trace = sampler.wait() if finished else sampler.abort()
    except BaseException:
        sampler.cancel()
        raise
    return _chains(trace, finished)


def _compiled(model: Model, start: Array, counts: _Counts) -> Any:
    from nutpie.compiled_pyfunc import from_pyfunc

    def make_expand(_seed: Any, _other: Any, chain: int) -> Callable[..., dict[str, Array]]:
        def expand(x: Array, **_: Any) -> dict[str, Array]:
            counts.add(chain)
            return {"x": x}

        return expand

    def initial(seed: int) -> Array:
        return start + SCATTER * np.random.default_rng(seed).standard_normal(model.size)

    return from_pyfunc(
        model.size,
        lambda: model,
        make_expand,
        [np.dtype(np.float64)],
        [(model.size,)],
        ["x"],
        make_initial_point_fn=initial,
    )


def _followed(sampler: Any, counts: _Counts, watch: Watch, total: int) -> bool:
    """Tell how far the chains are until they have come to their end; return False where they are to stop."""
    chains = len(counts.done)
    told = np.zeros(chains, dtype=int)
    if watch.begin(STAGE, chains):
        return False
    while not _has_finished(sampler):
        time.sleep(BETWEEN)
        for chain in np.flatnonzero(counts.done > told).tolist():
            told[chain] = done = min(int(counts.done[chain]), total)
            if watch.update(_progress(done, chain, chains, total)):
                return False
    for chain in range(chains):
        last = _progress(total, chain, chains, total)
        if told[chain] < total:  # an end is of something that was heard of
            watch.update(last)
        watch.end(last, True)
    return True


def _has_finished(sampler: Any) -> bool:
    try:
        return bool(sampler.is_finished)
    except TimeoutError:  # so nutpie 0.16 says that it has not
        return False


def _progress(iteration: int, chain: int, chains: int, total: int) -> Progress:
    return Progress(STAGE, iteration, start=chain + 1, n_starts=chains, kind="chain", max_iter=total)


def _chains(trace: Any, finished: bool) -> Chains:
    x = np.asarray(trace.posterior["x"], dtype=np.float64)
    whole = np.isfinite(x).all(axis=(0, 2))
    diverged = np.asarray(trace.sample_stats["diverging"])
    return Chains(x[:, whole], diverged[:, whole], finished)


def seconds_of_a_pass(model: Model, start: Array) -> float:
    """Return how long one evaluation takes, which is compiled first if it must be."""
    model(start)
    begun, number = time.perf_counter(), 0
    while number < 3 or time.perf_counter() - begun < 0.01:
        model(start)
        number += 1
    return (time.perf_counter() - begun) / number


def expected_seconds(model: Model, start: Array, *, iterations: int, chains: int, cores: int) -> float:
    """Return about how long sampling will take."""
    return seconds_of_a_pass(model, start) * PASSES * iterations * chains / max(min(cores, chains), 1)
