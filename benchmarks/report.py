"""Writing what was found: RESULTS.md (ratios), results.json (raw numbers)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from .measure import OURS, Measurement, Results, as_rows
from .plan import Plan
from .targets import missed, quotient, verdicts

HEADINGS = {
    "pass": "One pass over all pairs, k = 7",
    "threads": "One thread and all",
    "solve": "To the best stress anybody found + 1e-6, from default starts",
    "memory": "Peak memory above the dissimilarity matrix, as a share of it",
    "growth": "Whole run (see growth.png); UMAP and openTSNE minimise something else than stress",
    "first": "Import and first call",
    "closed": "Closed form",
    "weights": "General weights",
    "restarts": "Many starts, few objects",
    "limit": "Distance from the machine's limit",
    "spectral": "Unfolding and DRILL; scikit-learn's rows are other methods",
    "stages": "Before and after a fit",
}
HOW = """Times are the smallest of several repeats (imports and first fits: the median of new processes). `CPU` is
processor time of all threads. A ratio above 1 means that unmask is faster; `≥` marks a contender that
was stopped by the time limit, or had come to the end of another minimum, before it reached the goal. An iteration of
scikit-learn is the difference of two runs of different length. Peers that use BLAS get one thread of it or all,
whichever is faster here. Times of unmask to a stress are of whole fits: checking the input, closed-form start,
iterations, report."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _seconds(value: float | None, *, bound: bool = False, quoted: bool = False) -> str:
    if value is None:
        return "-"
    shown = f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"
    return f"{'≥ ' * bound}{shown}{' (quoted)' * quoted}"


def _ratio(top: float | None, bottom: float | None, *, bound: bool) -> str:
    ratio = quotient(top, bottom)
    return "-" if ratio is None else f"{'≥ ' * bound}{ratio:.3g}"


def _row(m: Measurement, ours: Measurement | None) -> list[str]:
    base_wall, base_cpu = (ours.wall, ours.cpu) if ours else (None, None)
    extra = "" if m.value is None else f"{m.value:.3g}"
    return [
        m.task,
        str(m.n or "-"),
        m.who,
        _seconds(m.wall, bound=m.bound),
        _seconds(m.cpu, bound=m.bound, quoted=m.quoted),
        _ratio(m.wall, base_wall, bound=m.bound) if m is not ours else "1",
        _ratio(m.cpu, base_cpu, bound=m.bound) if m is not ours else "1",
        extra,
        m.note,
    ]


def _section(case: str, measurements: list[Measurement], results: Results) -> str:
    unit = {"memory": "share of the matrix", "solve": "passes", "weights": "passes", "spectral": "iterations"}.get(
        case, "value"
    )
    header = ["task", "N", "who", "wall", "CPU", "wall / unmask", "CPU / unmask", unit, "remark"]
    rows = [_row(m, results.find(case, m.task, OURS, m.n)) for m in measurements]
    filled = [i for i in range(len(header)) if any(row[i] not in ("", "-") for row in rows)]
    body = table([header[i] for i in filled], ([row[i] for i in filled] for row in rows))
    return f"## {HEADINGS.get(case, case)}\n\n{body}\n"


def markdown(results: Results, plan: Plan, about: dict[str, Any]) -> str:
    """Return the whole report."""
    judged = verdicts(results, plan)
    misses = missed(judged, about["others"])
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    head = [
        "# How fast, compared with what",
        f"Measured on {about['date']} at commit {about['commit'] or 'unknown'} by `python benchmarks/run.py"
        f"{about['options']}` ({about['minutes']:.0f} min).",
        f"{about['processor']}; {about['threads']} threads. Other processes used {about['others']:.0%} of the cores "
        f"meanwhile{' — **the machine was busy**: prefer the CPU column' * (about['others'] > 0.1)}.",
        f"Versions: {versions}.",
        HOW,
        "## Targets",
        table(["target", "goal", "measured", "by CPU time", "reached"], judged),
        *(["### Missed, and why", "\n".join(misses)] if misses else []),
    ]
    notes = ["## Remarks", "\n".join(f"- {note}" for note in results.notes)] if results.notes else []
    ordered = sorted(results.measurements, key=lambda m: list(HEADINGS).index(m.case))
    sections = [_section(case, list(group), results) for case, group in groupby(ordered, key=lambda m: m.case)]
    return "\n\n".join([*head, *notes, *sections]).rstrip() + "\n"


def write(results: Results, plan: Plan, about: dict[str, Any], folder: Path) -> None:
    """Write the report and the raw numbers."""
    (folder / "RESULTS.md").write_text(markdown(results, plan, about), encoding="utf-8")
    raw = {**about, "notes": results.notes, "measurements": as_rows(results)}
    (folder / "results.json").write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")
