"""Messages of the library in the words of the command line: options instead of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

# What the library calls by the names of its parameters.
OPTIONS = {
    "n_components": "--dim",
    "max_components": "--max-dim",
    "random_state": "--seed",
    "n_neighbors": "--neighbors",
    "n_landmarks": "--landmarks",
    "n_jobs": "--jobs",
    "n_init": "--n-init",
    "max_iter": "--max-iter",
    "known_types": "--types",
    "n_permutations": "--permutations",
}
# Words that mean an option only where a value follows.
VALUED = {
    name: f"--{name}"
    for name in (
        *(
            "encoding",
            "delimiter",
            "decimal",
            "sheet",
            "level",
            "coef",
            "ties",
            "weights",
            "solver",
        ),
        *("symmetrize", "similarity", "aggregate", "rater"),
    )
}
VALUED |= {"init": "--resume", "shape": "--form"}  # --shape is of the marks on a picture
PHRASES = {
    "pass its encoding, for example encoding='latin-1'": "say --encoding latin-1, or whatever it is",
    "pass its encoding": "say which with --encoding",
    "pass encoding='utf-16-le' or 'utf-16-be'": "say --encoding utf-16-le or --encoding utf-16-be",
    "ConditionalMDS with solver='stochastic' and a metric by its name, ConditionalIsomap with n_landmarks": (
        "unmask fit --solver stochastic, unmask isomap --landmarks 100"
    ),
    "index=False": "--index none",
    "use weights=None (or an array in fit)": "leave --weights out",
    "columns=": "--columns ",
    "methods=": "--methods ",
    "rater=…": "--rater COLUMN",
    "known_imputed_": "the missing cells below",
    "Numeric(lower=…)": "numeric:lower=0",
    "Numeric(log=True)": "numeric:log",
    "adjust=True": "--adjust yes",
    "adjust=False": "--adjust no",
    "set orthogonal=False": "leave --orthogonal out",
    "orthogonal=True": "--orthogonal",
    "declare a feature Spline or another type": "say --types NAME=spline or another type",
    "pass occurrences (numbers, or 'margins')": "correct the diagonal",
    " unless max_expanded allows it": "",
    " (free_embedding_)": "",
    ", or pass format=": "",
    "similarity_to_dissimilarity(S, 'correlation'), or ": "",
    "similarity='correlation' when a file is read,": "--similarity correlation",
    "pass (D + D.T) / 2, the mean of the two": "average the two with --symmetrize mean",
    "pass (S + S.T) / 2": "average the two with --symmetrize mean",
    "are made by a transformer, metric=Geodesic() of unmask.dissimilarities": "are taken by unmask isomap",
    ", or a function of two rows": "",
    "give what Discovery.save wrote": "give what fit or isomap saved",
    "the folder or zip file that Discovery.save wrote": "a folder that fit or isomap wrote with --out",
    " (ConditionalMDS estimates them: known_imputed_)": " (fit estimates them)",
}
_CHOICE = re.compile(
    rf"(?:\bpass )?(?<![\w'\"./-])({'|'.join([*OPTIONS, *VALUED])})=(['\"]?)((?<=['\"])[\w.,:;|-]+|-?\d[\d.e+-]*)\2"
)
_NAME = re.compile(rf"(?<![\w'\"./-])({'|'.join(OPTIONS)})(?![\w'\"./])")


def did_you_mean(name: str, there: Iterable[object]) -> str:
    """Return a question with the most similar of the names; nothing if none is similar."""
    names = {str(known).casefold(): str(known) for known in there}
    similar = get_close_matches(str(name).casefold(), names, n=1)
    return f" (did you mean {names[similar[0]]!r}?)" if similar else ""


def in_our_words(text: str) -> str:
    """Return a message of the library in the words of the command line."""
    for theirs, ours in PHRASES.items():
        text = text.replace(theirs, ours)
    text = _CHOICE.sub(lambda match: f"{(OPTIONS | VALUED)[match[1]]} {match[3]}", text)
    return _NAME.sub(lambda match: OPTIONS[match[1]], text)
