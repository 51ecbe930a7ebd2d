"""How the upper triangle of a table is cut into square blocks, and these are dealt to workers.

A worker gets and returns numbers only of the objects in its blocks. Blocks that lie near each other are dealt to the
same worker: with W workers each has about ``2 / sqrt(2 W)`` of the objects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import IntArray
from ..kernels import TILE

Block = tuple[int, int]  # numbers of the stretches of objects that are its rows and its columns, the lower first

# Blocks that every worker has at least, where there are so many: none then has more than a tenth more than another.
BLOCKS_EACH = 10
# A block takes at most this share of the memory that a worker has for each of its threads, and at most so many bytes:
# while it is read and compared with its mirror image there are several copies of it.
SHARE_OF_MEMORY = 1 / 16
MOST_BYTES = 2**28


def side_of_blocks(n: int, itemsize: int, workers: int, memory: float) -> int:
    """Return how many objects are the rows of a block: whole tiles of the passes.

    ``memory`` is what the smallest worker has for each of its threads, in bytes; infinite if there is no limit.
    """
    side = min(n / np.sqrt(2 * BLOCKS_EACH * workers), np.sqrt(min(SHARE_OF_MEMORY * memory, MOST_BYTES) / itemsize))
    return max(1, int(side) // TILE) * TILE


def blocks_of(n: int, side: int) -> list[Block]:
    """Return the blocks of the upper triangle in an order in which those that follow each other lie near each other."""
    count = -(-n // side)
    rows, columns = np.triu_indices(count)
    code = np.zeros(len(rows), dtype=np.int64)
    for bit in range(count.bit_length()):  # Morton's order: the bits of both numbers in turn
        code |= (rows >> bit & 1) << (2 * bit + 1) | (columns >> bit & 1) << (2 * bit)
    order = np.argsort(code)
    return list(zip(rows[order].tolist(), columns[order].tolist(), strict=True))


def deal(blocks: list[Block], capacities: list[int]) -> list[list[Block]]:
    """Return the blocks of each worker, by how much it can do; one on the diagonal is half the work."""
    work = np.cumsum([0.5 if rows == columns else 1.0 for rows, columns in blocks])
    ends = np.cumsum(capacities) / np.sum(capacities) * work[-1]
    middle = work - np.diff(work, prepend=0.0) / 2
    owner = np.minimum(np.searchsorted(ends, middle), len(capacities) - 1)
    return [[block for block, at in zip(blocks, owner, strict=True) if at == worker] for worker in range(len(ends))]


@dataclass(frozen=True)
class Share:
    """The blocks of one worker: parts of a table of the objects that occur in them."""

    n: int  # of the whole table, as is ``side``
    side: int
    blocks: tuple[Block, ...]

    @property
    def stretches(self) -> list[int]:
        """Numbers of the stretches of objects that occur; the last one of the table may be short, and comes last."""
        return sorted({stretch for block in self.blocks for stretch in block})

    @property
    def own_blocks(self) -> list[Block]:
        """The same blocks by the numbers that their stretches have among those that occur."""
        number = {stretch: at for at, stretch in enumerate(self.stretches)}
        return [(number[rows], number[columns]) for rows, columns in self.blocks]

    def objects(self) -> IntArray:
        """Return the numbers of the objects that occur, in the whole table."""
        return np.concatenate([np.arange(*stretch_ends(self.n, self.side, at)) for at in self.stretches])


def stretch_ends(n: int, side: int, stretch: int) -> tuple[int, int]:
    """Return the first object of a stretch, and the one after its last."""
    return stretch * side, min((stretch + 1) * side, n)


def rebalance(blocks: list[Block], homes: dict[Block, str], capacities: dict[str, int]) -> dict[Block, str]:
    """Return new homes where workers were lost or have come; as few blocks as possible move."""
    work = {block: 0.5 if block[0] == block[1] else 1.0 for block in blocks}
    due = {home: sum(work.values()) * share / sum(capacities.values()) for home, share in capacities.items()}
    new: dict[Block, str] = {}
    waiting = []
    for block in blocks:
        home = homes.get(block, "")
        if due.get(home, 0.0) >= work[block] / 2:
            new[block], due[home] = home, due[home] - work[block]
        else:
            waiting.append(block)
    for block in waiting:
        home = max(due, key=lambda address: due[address])
        new[block], due[home] = home, due[home] - work[block]
    return new
