"""Entry point: ``python benchmarks/run.py [--quick] [--sizes …] [--cases …]`` or ``python -m benchmarks.run``."""

import sys
from pathlib import Path


def main() -> None:
    """Run the suite, whether started as a script or as a module."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from benchmarks.suite import main as run_suite

    run_suite()


if __name__ == "__main__":
    main()
