"""Write kinship.json, the maps that the page on fixed data shows: run it from the root of the repository."""

import json
from pathlib import Path

import numpy as np

from unmask import ConditionalMDS
from unmask.datasets import load_kinship
from unmask.discovery import Discovery
from unmask.inspection import scree
from unmask.problem.leak import leak_in_words


def fit(study, n_components):
    """Return a map and what is said about it."""
    step = study.fit(n_components, n_init=8)
    leaks = {
        name: None if np.isnan(getattr(step, name)) else getattr(step, name)
        for name in ("leak", "leak_reference", "free_leak")
    }
    importance = (
        []
        if not step.known
        else [{"name": name, "standardized": float(value)} for name, value in step.importance["standardized"].items()]
    )
    return {
        "points": np.round(step.embedding.to_numpy(), 5).tolist(),
        "stress_per_point": np.round(step.stress_per_point.to_numpy(), 6).tolist(),
        "fit": {
            "number": step.number,
            "title": step.title,
            "n_components": step.n_components,
            "estimator": step.estimator,
            "stress": step.stress,
            "shown_stress": step.stress_in_words,
            **leaks,
            "leak_in_words": leak_in_words(step.leak, step.leak_reference),
            "adjusted": step.adjusted,
            "converged": step.converged,
            "finished": step.finished,
            "seconds": 0.1,
            "known": list(step.known),
            "warnings": list(step.warnings),
            "importance": importance,
        },
    }


kin = load_kinship()
study = Discovery(kin.dissimilarities, table=kin.known, title="kinship")
plain, deep = fit(study, 2), fit(study, 3)
study.undo()
study.undo()
study.adopt("gender", column="gender")
given = fit(study, 2)
curve = scree(ConditionalMDS(metric="precomputed", random_state=0), kin.dissimilarities, max_components=5)
columns = {
    name: {
        "levels": sorted(map(str, column.unique())),
        "values": [sorted(map(str, column.unique())).index(str(value)) for value in column],
    }
    for name, column in kin.known.items()
}
written = {
    "labels": list(kin.dissimilarities.index),
    "columns": columns,
    "plain": plain,
    "deep": deep,
    "given": given,
    "dissimilarities": kin.dissimilarities.to_numpy().tolist(),
    "scree": np.round(curve["stress"].to_numpy(), 5).tolist(),
    "elbow": int(curve.attrs["elbow"]),
}
Path(__file__).with_name("kinship.json").write_text(
    json.dumps(written, indent=None, separators=(",", ":")) + "\n", encoding="utf-8"
)
