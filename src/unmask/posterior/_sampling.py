"""Drawing from a posterior: NUTS by nutpie on the compiled pass."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from ..checking import require_package
from ..progress import Progress, Watch
from ._model import Model

STAGE = "posterior"
TUNING = 300
# At most 2^5 - 1 passes a draw. Deeper trees (10, with 90 passes on average) cost four times as much, and raised the
# effective draws of 30 objects only from 700 to 1,000 of 1,600.
DEPTH = 5
# How far from the fit, in standard deviations of the prior, chains begin.
SCATTER = 0.3
BETWEEN = 0.05  # seconds between two reports of progress


@dataclass(frozen=True)
class Chains:
    """Draws of x (chains x draws x parameters), and which of them came from a step that diverged."""

    x: Array
    diverging: Any
    finished: bool = True


def sample(
    model: Model, start: Array, *, draws: int, tuning: int, chains: int, cores: int, seed: int, watch: Watch
) -> Chains:
    """Return draws from a model's posterior; every chain begins near ``start``.

    Chains that are stopped end where they are, and all are cut to the shortest.
    """
    nutpie = require_package("nutpie", "a posterior", "posterior")
    counts = np.zeros(chains, dtype=int)  # draws of each chain, warm-up included; each thread has its own entry
    sampler = nutpie.sample(
        _compiled(model, start, counts),
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
        finished = _follow(sampler, counts, watch, chains * (tuning + draws))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of ArviZ, about chains that were stopped early
            trace = sampler.wait() if finished else sampler.abort()
    except BaseException:
        sampler.cancel()
        raise
    x = np.asarray(trace.posterior["x"], dtype=np.float64)
    whole = np.isfinite(x).all(axis=(0, 2))
    return Chains(x[:, whole], np.asarray(trace.sample_stats["diverging"])[:, whole], finished)


def _compiled(model: Model, start: Array, counts: IntArray) -> Any:
    """Return the model in nutpie's form; it counts the draws of each chain."""
    from nutpie.compiled_pyfunc import from_pyfunc

    def make_expand(_seed: Any, _other: Any, chain: int) -> Callable[..., dict[str, Array]]:
        def expand(x: Array, **_: Any) -> dict[str, Array]:
            counts[chain] += 1
            return {"x": x}

        return expand

    def initial(seed: int) -> Array:
        return start + SCATTER * np.random.default_rng(seed).standard_normal(model.size)

    shapes = [np.dtype(np.float64)], [(model.size,)], ["x"]
    return from_pyfunc(model.size, lambda: model, make_expand, *shapes, make_initial_point_fn=initial)


def _follow(sampler: Any, counts: IntArray, watch: Watch, total: int) -> bool:
    """Report how many draws of all chains are made until they end; return False if the callback stops them."""

    def has_finished() -> bool:
        try:
            return bool(sampler.is_finished)
        except TimeoutError:  # nutpie 0.16 raises it while sampling
            return False

    reported, stopped = 0, watch.begin(STAGE, 1)
    while not stopped and not has_finished():
        time.sleep(BETWEEN)
        done = min(int(counts.sum()), total)
        if reported < done < total:
            reported, stopped = done, watch.step(STAGE, done, np.nan, total)
    if not stopped:
        watch.step(STAGE, total, np.nan, total)
        watch.end(Progress(STAGE, total, start=1, n_starts=1, max_iter=total), True)
    return not stopped
