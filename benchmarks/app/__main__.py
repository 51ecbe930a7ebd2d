"""Run all measurements of the workbench, print them, and write them to benchmarks/app.json."""

import json
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .frames import measure_frames, measure_lasso
from .loop import Ratio, measure_gesture, measure_map, measure_preview

RESULTS = Path(__file__).parents[1] / "app.json"


def main() -> None:
    """Measure; with the argument ``server`` only what needs no browser."""
    found: dict[str, Any] = {"date": datetime.now(UTC).date().isoformat(), "load_before": os.getloadavg()[0]}
    kinship = measure_map()
    print(f"kinship by way of a warm worker: {_told(kinship)} of the bare fit (goal 1.5)")
    gesture = measure_gesture()
    print(
        f"gesture to values: {gesture.asked} message sent, {gesture.heard} heard, in {1000 * gesture.cost.wall:.1f} ms "
        f"({1000 * gesture.cost.cpu:.1f} of the processor)"
    )
    preview = measure_preview()
    print(
        f"live preview of a fit of {preview.ratio.ours.wall:.1f} s ({preview.ratio.ours.cpu:.1f} of the processor): at "
        f"least {preview.maps} maps (goal 3); {_told(preview.ratio)} of one unwatched (goal 1.1)"
    )
    found |= {"kinship": asdict(kinship), "gesture": asdict(gesture), "preview": asdict(preview)}
    if "server" not in sys.argv[1:]:
        found |= _in_browser()
    found["load_after"] = os.getloadavg()[0]
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _told(ratio: Ratio) -> str:
    return f"{ratio.cpu:.2f} × the processor time, {ratio.wall:.2f} × the time"  # noqa: RUF001


def _in_browser() -> dict[str, Any]:
    frames = measure_frames()
    print("100,000 points drawn by the processor, frames per second (median of rounds)")
    print(f"  map {frames.ours:.1f}, bare WebGL2 {frames.webgl:.1f}: {frames.ratio:.1f} times as many (goal 1.5)")
    lasso = measure_lasso()
    print(f"lasso to selection {lasso.seconds:.3f} s: {lasso.frames:.1f} frames of {lasso.frame:.3f} s (goal 3)")
    return {"frames": asdict(frames), "lasso": {**asdict(lasso), "frames": lasso.frames}}


if __name__ == "__main__":
    main()
