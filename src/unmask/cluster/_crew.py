"""The workers of a cluster, each with its share of a table: dealing it out, and the passes over it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Array
from ..kernels import TILE, Rule
from ._asking import FAN, Asking, Worker, numbers
from ._client import ClusterError
from ._held import Looked, load_block, look_at_block, run_pass
from ._readers import Reader
from ._share import Block, Share, blocks_of, deal, rebalance, side_of_blocks, stretch_ends

# Seconds between two looks at which workers there are.
BETWEEN_LOOKS = 5.0
# More than this share of the workers' memory is not filled: beyond it Dask begins to write to disk.
FILLED = 0.6
SETTING = "unmask.block-size"  # of dask's configuration


class Crew(Asking):
    """The workers of a cluster and the blocks that they hold as futures.

    Every block has a home, and every worker gets one task a pass, with all of its blocks. When a worker is lost, Dask
    reads its blocks again elsewhere; after that pass they are dealt to those who are there.
    """

    def __init__(self, client: Any, reader: Reader) -> None:
        super().__init__(client)
        self.reader, self.n = reader, reader.n
        workers = self.workers()
        self.side = self._side(workers)
        self.blocks = blocks_of(self.n, self.side)
        self._require_room(workers)
        self._futures: dict[Block, Any] = {}
        self._homes: dict[Block, str] = {}
        groups = deal(self.blocks, [worker.threads for worker in workers])
        self._settle({b: w.address for w, group in zip(workers, groups, strict=True) for b in group}, workers)

    # ---- who has what

    def _side(self, workers: list[Worker]) -> int:
        import dask

        asked = dask.config.get(SETTING, None)
        if asked is None:
            memory = min(worker.memory / worker.threads for worker in workers)
            return side_of_blocks(self.n, self.reader.dtype.itemsize, len(workers), memory)
        if not isinstance(asked, int) or asked <= 0 or asked % TILE:
            raise ValueError(
                f"dask's setting {SETTING} is {asked!r} and must be a multiple of {TILE}, the size of a tile."
            )
        return asked

    def _require_room(self, workers: list[Worker]) -> None:
        """Raise where the workers together cannot hold the blocks."""
        needed, there = float(len(self.blocks)) * self._bytes(self.side), sum(worker.memory for worker in workers)
        if needed > FILLED * there:
            number = int(np.ceil(needed / FILLED / there * len(workers)))
            raise ClusterError(
                f"the blocks of {self.n:,} objects take {needed / 1e9:.3g} GB, and {len(workers)} workers have "
                f"{there / 1e9:.3g} GB of memory, of which {FILLED:.0%} may be filled; {number} workers of this size "
                f"would hold them. Or {self.reader.instead}."
            )

    def _bytes(self, side: int) -> float:
        return float(min(side, self.n)) ** 2 * self.reader.dtype.itemsize

    def _settle(self, homes: dict[Block, str], workers: list[Worker]) -> None:
        """Load the blocks that have no home yet, or a new one."""
        self._capacities = {worker.address: worker.threads for worker in workers}
        for home in self._capacities:
            moved = [block for block, where in homes.items() if where == home and self._homes.get(block) != home]
            self._futures |= zip(moved, self._of_blocks("block", home, moved), strict=True)
        self._homes, self._looked_at = homes, time.monotonic()

    def _of_blocks(self, name: str, home: str, blocks: list[Block]) -> list[Any]:
        """Return futures on a worker: the blocks that it is to hold or, by the name "look", a look at each."""
        from dask.delayed import delayed

        tasks = []
        for block in blocks:
            rows, columns = (stretch_ends(self.n, self.side, at) for at in block)
            function: Any = load_block
            part: Any = self.reader.part(self, rows, columns)
            others: Any = rows, columns, self.reader.dtype
            if name == "look":
                mirror = None if self.reader.symmetric else self.reader.part(self, columns, rows)
                function, part, others = look_at_block, self._futures[block], (mirror, rows, columns)
            key = f"unmask-{name}-{block[0]}-{block[1]}-{next(numbers)}-{self.token}"
            tasks.append(delayed(function, pure=False)(part, *others, dask_key_name=key))
        return list(self.client.compute(tasks, workers=[home], allow_other_workers=True))

    def shares(self) -> list[tuple[str, Share, list[Any]]]:
        """Return every worker that has blocks, and these."""
        own: dict[str, list[Block]] = {home: [] for home in self._capacities}
        for block in self.blocks:
            own[self._homes[block]].append(block)
        return [
            (home, Share(self.n, self.side, tuple(some)), [self._futures[block] for block in some])
            for home, some in own.items()
            if some
        ]

    def _keep_even(self, *, disturbed: bool) -> None:
        """Deal blocks of lost workers to others, and some to those that have come, if it is time to look."""
        if not disturbed and time.monotonic() - self._looked_at < BETWEEN_LOOKS:
            return
        workers, self._looked_at = self.workers(), time.monotonic()
        capacities = {worker.address: worker.threads for worker in workers}
        if capacities != self._capacities:
            self._settle(rebalance(self.blocks, self._homes, capacities), workers)

    def _anew(self) -> None:
        """Load every block again: some were lost together with what they could have been made of."""
        workers = self.workers()
        homes = rebalance(self.blocks, self._homes, {worker.address: worker.threads for worker in workers})
        self._homes, self._futures = {}, {}
        self._settle(homes, workers)

    # ---- passes

    def sums(self, name: str, rule: Rule, table: Array, width: int, *arguments: Any) -> tuple[float, Array]:
        """Return the stress and the sums of each object over all blocks: one task for each worker, added in order."""

        def ask() -> tuple[float, Array]:
            shares = self.shares()
            sent = self.send(table, [home for home, *_ in shares])
            tasks = {
                home: (run_pass, name, share, blocks, rule, sent[at // FAN], arguments)
                for at, (home, share, blocks) in enumerate(shares)
            }
            stress, each, disturbed = 0.0, np.zeros((self.n, width)), False
            for (home, share, _), (worker, (value, own)) in zip(shares, self.run(name, tasks), strict=True):
                disturbed |= worker != home
                stress += value
                each[share.objects()] += own
            self._keep_even(disturbed=disturbed)
            return stress, each

        return self.stubbornly(ask, self._anew)

    def every(self, name: str, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return ``function(threads, share, blocks, *arguments)`` of each worker."""

        def ask() -> list[Any]:
            tasks = {home: (function, share, blocks, *arguments) for home, share, blocks in self.shares()}
            return [value for _, value in self.run(name, tasks)]

        return self.stubbornly(ask, self._anew)

    def looks(self) -> list[Looked]:
        """Return a look at every block and its mirror image."""

        def ask() -> list[Looked]:
            shares = self.shares()
            futures = [self._of_blocks("look", home, list(share.blocks)) for home, share, _ in shares]
            return self.gather([look for some in futures for look in some], {home for home, *_ in shares})

        return self.stubbornly(ask, self._anew)

    def more_room(self) -> str:
        """Return what to do about a worker without enough memory: which blocks would fit."""
        side = self.side // 2 // TILE * TILE
        smaller = f"blocks of {side:,} would fit: dask.config.set({{{SETTING!r}: {side}}})"
        return (
            f"it had blocks of {self.side:,} objects ({self._bytes(self.side) / 1e6:,.1f} MB each); "
            f"{smaller if side else 'there are no smaller ones, so that it needs more memory'}. If all blocks of a "
            "worker together are too many, add workers"
        )
