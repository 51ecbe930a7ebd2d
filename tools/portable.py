"""Run the quick tests as other kinds of processors would compute, in a random order: `make test-portable`."""

import os
import subprocess
import sys

from llvmlite.binding import get_host_cpu_features

# AVX-512 is what SkylakeX needs: where the processor lacks it, OpenBLAS would be killed by an illegal instruction.
NEEDS = {"OPENBLAS_CORETYPE=SkylakeX": "avx512f", "OPENBLAS_CORETYPE=Haswell": "avx2", "OPENBLAS_CORETYPE=Zen": "avx2"}
TESTS = ["-m", "pytest", "-n", "auto", "--dist", "worksteal", "-m", "not slow", "-p", "randomly"]


def main(kinds):
    """Run the tests once for each kind and return 1 if any run failed; kinds that cannot run here are named."""
    here = {name for name, there in get_host_cpu_features().items() if there}
    outcomes = {}
    for kind in kinds:
        if kind in NEEDS and NEEDS[kind] not in here:
            outcomes[kind] = f"skipped: this processor has no {NEEDS[kind]}"
            continue
        name, value = kind.split("=")
        done = subprocess.run([sys.executable, *TESTS], env={**os.environ, name: value}, check=False)
        outcomes[kind] = "passed" if done.returncode == 0 else "failed"
    print("\n".join(f"{kind}: {outcome}" for kind, outcome in outcomes.items()))
    return int("failed" in outcomes.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
