"""Case 4: seconds against N for a whole run from one start with each package's own stopping rule, two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from ..data import dissimilarities
from ..measure import OURS, Results, clock, kindest_blas
from ..ours import fit
from ..peers import PYMDE, SKLEARN, opentsne_map, optional, quiet, sklearn_smacof, umap_map
from ..plan import Plan

CASE = "growth"
MANY = f"{OURS}, default number of starts"
TASK = "whole run, one start, p = 2"
PYMDE_UP_TO = 5000


def _sklearn(D: Any) -> None:
    from sklearn.manifold import smacof

    with quiet():
        smacof(D, n_components=2, random_state=0, normalized_stress=False)


def _pymde(pymde: Any, D: Any) -> None:
    """Time the problem ``preserve_distances`` poses, quadratic loss, with PyMDE's own stopping rule."""
    import numpy as np
    import torch

    torch.manual_seed(0)
    edges = np.column_stack(np.triu_indices(len(D), 1))
    delta = torch.tensor(D[edges[:, 0], edges[:, 1]], dtype=torch.float32)
    loss = pymde.losses.Quadratic(delta)
    pymde.MDE(len(D), 2, torch.tensor(edges), loss, constraint=pymde.Centered()).embed()


def contenders(results: Results) -> dict[str, Callable[[Any], object]]:
    """Return everybody who is installed."""
    found: dict[str, Callable[[Any], object]] = {
        OURS: lambda D: fit(D, 2, n_init=1),
        MANY: lambda D: fit(D, 2),
        SKLEARN: _sklearn,
    }
    optionals: tuple[tuple[str, str, Callable[[Any, Any], None]], ...] = (
        (PYMDE, "pymde", _pymde),
        ("UMAP", "umap", umap_map),
        ("openTSNE", "openTSNE", opentsne_map),
    )
    for who, module, call in optionals:
        package = optional(module, results)
        if package is not None:
            found[who] = partial(call, package)
    return found


def run(results: Results, plan: Plan) -> None:
    """Time everybody at every size, until the next one would take longer than the limit."""
    crew = contenders(results)
    small = dissimilarities(120)
    for call in crew.values():
        call(small)  # compilation is another case
    blas = {SKLEARN: kindest_blas(lambda: sklearn_smacof(small, small[:, :2].copy(), 20))}
    for n, following in zip(plan.solve_sizes, (*plan.solve_sizes[1:], 0), strict=True):
        D = dissimilarities(n)
        for who, call in list(crew.items()):
            if who == PYMDE and n > PYMDE_UP_TO:
                continue
            with threadpool_limits(blas.get(who), "blas"):
                timed = results.add(clock(partial(call, D)).named(CASE, TASK, who, n))
            if not who.startswith(OURS) and (timed.wall or 0.0) * (following / n) ** 2 > plan.growth_limit:
                results.note(f"growth: {who} took {timed.wall:.1f} s at N = {n} and was not run for more objects.")
                del crew[who]
