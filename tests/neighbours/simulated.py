"""Objects of several groups, measured in batches that shift them."""

import numpy as np


def batches(n=600, seed=0, shift=6.0, own=3.0, columns=12, groups=5, batches=3):
    """Return features, groups and batches; every batch shifts all objects, and every group by a vector of its own."""
    rng = np.random.default_rng(seed)
    group, batch = rng.integers(groups, size=n), rng.integers(batches, size=n)
    centres = 3.0 * rng.normal(size=(groups, columns))
    moves = rng.normal(size=(batches, columns))
    moves *= shift / np.linalg.norm(moves, axis=1, keepdims=True)
    of_group = rng.normal(size=(batches, groups, columns))
    of_group *= own / np.linalg.norm(of_group, axis=2, keepdims=True)
    X = centres[group] + moves[batch] + of_group[batch, group] + rng.normal(size=(n, columns))
    return X, group, batch


def told(places, labels, among=None, k=10):
    """Return how often most of the k nearest others (of other levels of ``among``) have an object's label."""
    squared = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    squared[np.eye(len(places), dtype=bool) if among is None else among[:, None] == among[None]] = np.inf
    nearest = labels[np.argsort(squared, axis=1)[:, :k]]
    counts = (nearest[:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    return float(np.mean(counts.argmax(axis=1) == labels))
