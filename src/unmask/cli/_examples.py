"""Examples in the help of each command; all use the files that ``unmask datasets kinship`` writes."""

DATA = "kinship/dissimilarities.csv"
KNOWN = "--known kinship/known.csv"

EXAMPLES: dict[str, list[str]] = {
    "demo": ["unmask demo"],
    "fit": [
        f"unmask fit {DATA} {KNOWN} --columns gender,degree --out result",
        "unmask fit flowers.csv --metric gower --columns site --out result",
        "unmask fit correlations.csv --similarity correlation",
        "unmask fit judgements.csv --aggregate mean --rater person",
        "unmask fit table.zarr --scheduler tcp://host:8786 --checkpoint fit.npz",
    ],
    "isomap": [f"unmask isomap {DATA} {KNOWN} --columns gender --neighbors 5"],
    "scree": [f"unmask scree {DATA} {KNOWN} --columns gender --max-dim 4"],
    "compare": [f"unmask compare {DATA} {KNOWN} --columns gender --methods conditional-mds,mds"],
    "test": [f"unmask test {DATA} {KNOWN} --columns gender,degree --permutations 99"],
    "dbrda": [f"unmask dbrda {DATA} {KNOWN} --columns gender,degree"],
    "place": ["unmask place result new.csv --known new-known.csv"],
    "explore": [
        "unmask explore",
        f"unmask explore {DATA} --out study",
        "unmask explore study",
    ],
    "datasets": ["unmask datasets", "unmask datasets kinship"],
    "report": ["unmask report result"],
}
