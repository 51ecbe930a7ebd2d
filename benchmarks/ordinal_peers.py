"""The ordinal and spline levels beside their peers: ``python -m benchmarks.ordinal_peers`` (needs R with vegan).

monoMDS is given 60 random starts and the treatment of ties that is compared: ``weakties = FALSE`` is secondary. For the
spline level, the stress with the five knots of this package beside that with six, as many as smacof has by default.
"""

from __future__ import annotations

import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np

from unmask import ConditionalMDS
from unmask.datasets import load_kinship
from unmask.problem import _levels

R = """
suppressMessages(library(vegan)); set.seed(1); data(dune); data(varespec); data(mite); data(sipoo)
kinship <- as.dist(as.matrix(read.csv("kinship.csv", header = FALSE)))
present <- function(x) vegdist(x, "jaccard", binary = TRUE)
sets <- list(kinship = kinship, dune = vegdist(dune, "bray"), dune_present = present(dune),
             varespec_present = present(varespec), mite_present = present(mite), sipoo_present = present(sipoo),
             eurodist = round(eurodist / 500))
for (n in names(sets)) {
  write.table(as.matrix(sets[[n]]), paste0(n, ".csv"), sep = ",", row.names = FALSE, col.names = FALSE)
  for (weak in c(TRUE, FALSE)) cat(n, weak, min(sapply(1:60, function(i) {
    y <- matrix(runif(2 * attr(sets[[n]], "Size")), ncol = 2)
    monoMDS(sets[[n]], y, k = 2, weakties = weak, maxit = 500, sfgrmin = 1e-9, sratmax = 1 - 1e-7, smin = 1e-7)$stress
  }))^2, "\\n")
}
"""


def stress(D: np.ndarray, **options: str) -> float:
    """Return the stress of a default fit in two dimensions."""
    return ConditionalMDS(metric="precomputed", random_state=0, **options).fit(D).stress_


def main() -> None:
    """Print a line for each set."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder) / "kinship.csv", load_kinship().dissimilarities.to_numpy(), delimiter=",")
        done = subprocess.run(["Rscript", "-e", R], cwd=folder, check=True, capture_output=True, text=True)
        found = {(name, weak): float(value) for name, weak, value in map(str.split, done.stdout.splitlines())}
        for name in dict.fromkeys(name for name, _ in found):
            D = np.loadtxt(Path(folder) / f"{name}.csv", delimiter=",")
            primary, secondary = (stress(D, level="ordinal", ties=ties) for ties in ("primary", "secondary"))
            splines = []
            for _levels.SPLINE_KNOTS in (6, 5):
                splines.append(stress(D, level="spline"))
            print(
                f"{name}: primary {primary:.5f} (monoMDS {found[name, 'TRUE']:.5f}), "
                f"secondary {secondary:.5f} (monoMDS {found[name, 'FALSE']:.5f}), "
                f"spline with 5 knots {splines[1]:.5f} (with 6 {splines[0]:.5f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
