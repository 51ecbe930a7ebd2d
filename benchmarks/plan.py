"""What to run: sizes and limits of a full and of a quick run."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Plan:
    """Sizes and limits; ``main`` is the N that targets name."""

    sizes: tuple[int, ...] = (1000, 2000, 5000, 10000)
    solve_sizes: tuple[int, ...] = (500, 1000, 2000, 5000, 10000)
    main: int = 5000
    repeats: int = 7
    limit: float = 40.0  # seconds for one peer to reach the goal: scikit-learn takes half of it at the main size
    long_limit: float = 120.0  # the same where a target needs it: two dimensions at the main size
    growth_limit: float = 20.0  # a peer that would take longer at the next N (by the square) is not run there
    processes: int = 5


QUICK = Plan(
    (500, 1000), (250, 500, 1000), main=1000, repeats=3, limit=3.0, long_limit=3.0, growth_limit=3.0, processes=1
)


def with_sizes(plan: Plan, sizes: tuple[int, ...]) -> Plan:
    """Return the plan for other sizes; the main one is 5000 where it is among them, else the largest."""
    main = 5000 if 5000 in sizes else max(sizes)
    return replace(plan, sizes=sizes, solve_sizes=sizes, main=main)
