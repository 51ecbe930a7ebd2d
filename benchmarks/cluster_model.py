"""What a pass costs on a cluster: a model fitted to runs with one and two workers, and a simulation of a hundred.

The model has four terms, in seconds, for N objects, k columns, W workers of T threads and a network of B bytes/s:

- computing: ``pair * N^2 / 2 / (W T)``;
- sending coordinates down a tree in which eight workers take them from the same one: ``levels * 8 * 8 N k / B``;
- adding up at the client: every worker returns the gradient of the objects that occur in its blocks, about
  ``2 N / sqrt(2 W)``, so ``W * 8 k * 2 N / sqrt(2 W) / B``;
- tasks: ``task`` for each of about 1.1 W of them, which the scheduler handles one after another, and ``trip``.

``pair``, ``task`` and ``trip`` come from ``benchmarks/dask_passes.json``. The simulation lets workers be late by chance
and loses some, whose blocks others then read again; the client takes one result after another. Run
``python -m benchmarks.cluster_model``; it takes a few seconds.
"""

from __future__ import annotations

import heapq
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmask.cluster._share import Share, blocks_of, deal

RESULTS = Path(__file__).with_name("dask_passes.json")
FAN = 8
NUMBER = 8  # bytes


@dataclass(frozen=True)
class Costs:
    """Seconds for a pair and thread, for a task at the scheduler, and there and back."""

    pair: float
    task: float
    trip: float


@dataclass(frozen=True)
class Cluster:
    """Workers, and what connects them."""

    workers: int
    threads: int
    network: float = 1.25e9  # bytes a second of one machine: 10 Gbit/s
    storage: float = 0.5e9  # bytes a second that one worker reads
    late: float = 0.1  # standard deviation of the logarithm of how long a task takes
    very_late: float = 0.01  # share of tasks that take three times as long
    days_between_losses: float = 30.0  # of one worker
    noticed: float = 5.0  # seconds until a lost worker is noticed and its task begins elsewhere


def fitted_costs() -> Costs:
    """Fit the costs to the runs: least squares, none below 0."""
    from scipy.optimize import nnls

    runs = json.loads(RESULTS.read_text(encoding="utf-8"))["runs"]
    pairs = np.array([run["n"] * (run["n"] - 1) / 2 for run in runs])
    # Processor time: of the workers for pairs and a task each, of client and scheduler for tasks and the trip.
    A = np.column_stack([pairs, [run["workers"] for run in runs]])
    pair, _ = nnls(A / pairs[:, None] ** 0.5, np.array([run["cpu_workers"] for run in runs]) / 1e3 / pairs**0.5)[0]
    tasks = np.column_stack([[2.0 + run["workers"] for run in runs], np.ones(len(runs))])
    task, trip = nnls(tasks, np.array([run["cpu_client"] for run in runs]) / 1e3)[0]
    return Costs(float(pair), float(task), float(trip))


def terms(costs: Costs, cluster: Cluster, n: float, k: int) -> dict[str, float]:
    """Return the seconds of a pass by what they are spent on."""
    W = cluster.workers
    levels = 1 if W <= FAN else 1 + int(np.ceil(np.log(W / FAN) / np.log(FAN)))
    back = min(1.0, 2 / np.sqrt(2 * W)) * n * k * NUMBER
    return {
        "computing": costs.pair * n * n / 2 / (W * cluster.threads),
        "sending": levels * min(FAN, W) * n * k * NUMBER / cluster.network,
        "adding up": W * back / cluster.network,
        "tasks": costs.task * (W + W / FAN + 1) + costs.trip,
    }


def stochastic_terms(cluster: Cluster, n: float, k: int, columns: int, iterations: int) -> dict[str, float]:
    """Return the minutes of a fit against random references, and the memory that it needs in GB.

    An object costs 63 us of one thread in a whole fit (``make bench-scale``); in every iteration its coordinates go out
    and its gradient and two sums come back.
    """
    moved = n * NUMBER * (2 * k + 2)
    return {
        "computing": n * 63e-6 / (cluster.workers * cluster.threads) / 60,
        "moving": iterations * moved / cluster.network / 60,
        "GB of a worker": 4 * columns * n / 1e9,
        "GB of the client": (4 * columns + 6 * NUMBER * k) * n / 1e9,
    }


# ---- the simulation


def simulate(costs: Costs, cluster: Cluster, n: int, k: int, passes: int, seed: int = 0) -> np.ndarray:
    """Return how long each of some passes takes."""
    rng = np.random.default_rng(seed)
    side = max(320, int(n / np.sqrt(20 * cluster.workers)) // 320 * 320)
    shares = [Share(n, side, tuple(own)) for own in deal(blocks_of(n, side), [1] * cluster.workers)]
    work = np.array([sum(0.5 if a == b else 1.0 for a, b in share.blocks) for share in shares]) * float(side) ** 2
    back = np.array([len(share.stretches) * side for share in shares]) * float(k) * NUMBER
    held = np.array([len(share.blocks) for share in shares]) * float(side) ** 2 * 4
    plan = terms(costs, cluster, n, k)
    per_second = 1 / (cluster.days_between_losses * 86_400)
    times = []
    for _ in range(passes):
        slow = rng.lognormal(sigma=cluster.late, size=len(work))
        slow[rng.uniform(size=len(work)) < cluster.very_late] *= 3
        ready = plan["sending"] + costs.task * np.arange(len(work)) + costs.pair * work * slow / cluster.threads
        lost = rng.uniform(size=len(work)) < 1 - np.exp(-per_second * ready)
        # Others read the blocks of a lost worker, all at once, and one of them does its work again.
        again = cluster.noticed + held / (cluster.storage * cluster.workers) + ready
        ready = np.where(lost, ready + again, ready)
        times.append(costs.trip + _received(ready, back, cluster.network))
    return np.array(times)


def _received(ready: np.ndarray, sizes: np.ndarray, network: float) -> float:
    """Return when the client has got everything: it takes one result after another, the first that is ready first."""
    now, queue = 0.0, list(zip(ready.tolist(), sizes.tolist(), strict=True))
    heapq.heapify(queue)
    while queue:
        there, size = heapq.heappop(queue)
        now = max(now, there) + size / network
    return now


def describe(name: str, times: np.ndarray) -> None:
    """Print a line about simulated passes."""
    low, high, worst = np.percentile(times, [50, 95, 100])
    print(
        f"  {name:<44} median {low:6.2f} s, 95% {high:6.2f} s, worst {worst:6.1f} s, "
        f"all {len(times)} {times.sum() / 60:5.1f} min"
    )


def main() -> None:
    """Print the model and the simulation."""
    costs = fitted_costs()
    print(
        f"a pair {1e9 * costs.pair:.2f} ns, a task {1e3 * costs.task:.1f} ms, there and back {1e3 * costs.trip:.1f} ms"
    )
    for n, workers, threads in ((10**5, 4, 8), (10**6, 32, 16), (10**6, 100, 8), (10**6, 400, 8)):
        found = terms(costs, Cluster(workers, threads), n, 9)
        parts = ", ".join(f"{what} {seconds:.2f}" for what, seconds in found.items())
        print(
            f"{n:>9,} objects on {workers:>3} workers of {threads:>2} threads: "
            f"{sum(found.values()):6.2f} s a pass: {parts}"
        )
    base = Cluster(100, 8)
    print(f"reading 4 TB once, both halves: {4e12 / (base.workers * base.storage):.0f} s on 100 workers")
    for n in (10**7, 10**8):
        found = stochastic_terms(base, n, 9, 20, 100)
        said = ", ".join(f"{what} {amount:.1f}" for what, amount in found.items())
        print(f"{n:>11,} objects, stochastic, 100 iterations, minutes on 100 workers: {said}")
    print("simulated: a million objects, 9 columns, 100 workers of 8 threads, 10 Gbit/s")
    cases = {
        "as it is": base,
        "no worker is ever late": replace(base, late=0.0, very_late=0.0),
        "one task in twenty takes three times as long": replace(base, very_late=0.05),
        "a network of 1 Gbit/s": replace(base, network=1.25e8),
        "a worker is lost once a day": replace(base, days_between_losses=1.0),
        "a worker is lost once an hour": replace(base, days_between_losses=1 / 24),
    }
    for name, cluster in cases.items():
        describe(name, simulate(costs, cluster, 10**6, 9, 200))


if __name__ == "__main__":
    main()
