"""Dissimilarities between words, from the words around them in a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state
from sklearn.utils.extmath import svd_flip

from .._typing import Array
from ..checking import quote, require_package
from ..kernels import OneBlasThread
from ._base import DissimilarityTransformer

WORD = re.compile(r"\w+(?:['\u2019]\w+)*")  # letters and digits, with apostrophes (straight or curly) inside
LONGEST = 10_000  # gensim silently ignores the words of a document after this many


@dataclass(eq=False, repr=False, kw_only=True)
class WordDissimilarity(DissimilarityTransformer):
    """Compare words of a text by the words around them.

    Every word of the text gets a vector that describes the words around it, and words are as far apart as their
    vectors. Vectors also depend on how often a word occurs: to condition on that, take the logarithm of ``counts_``.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors.
    model : {"ppmi", "cbow", "skipgram"}, default="ppmi"
        ``"ppmi"``: singular vectors of the positive pointwise mutual information between words and context words.
        ``"cbow"`` and ``"skipgram"``: word2vec with negative sampling, by gensim (``pip install 'unmask[words]'``).
    window : int, default=2
        Number of places before and after a word that belong to its context: few show its use, many its topic.
    min_count : int, default=5
        Words that occur less often than this are rare: neither objects nor contexts.
    smoothing : float, default=0.75
        Power of the contexts' counts, or of the negative samples' for word2vec. Below 1, rare contexts count less.
    metric : {"cosine", "euclidean"}, default="cosine"
        Distance between vectors.
    tokenizer : callable, optional
        Splits lower-case text into words: by default runs of letters and digits, with apostrophes inside.
    model_params : dict, optional
        Further arguments of gensim's ``Word2Vec``, such as ``{"epochs": 10}``.
    random_state : int, RandomState or None, default=None
        Seed of word2vec; ``"ppmi"`` has no randomness.

    Attributes
    ----------
    counts_, vectors_ : Series of length n_words, DataFrame of shape (n_words, n_components)
        How often each word occurs in the text, and the words' vectors.
    n_tokens_, n_vocabulary_ : int
        Length of the text in words, and the number of different words that are not rare.

    References
    ----------
    O. Levy, Y. Goldberg and I. Dagan, "Improving distributional similarity with lessons from word embeddings", 2015.

    Examples
    --------
    >>> from unmask.dissimilarities import WordDissimilarity
    >>> text = ["the cat drinks milk", "the dog drinks water", "a car needs petrol", "a van needs petrol"] * 5
    >>> D = WordDissimilarity(n_components=4).fit_transform(["cat", "dog", "car", "van"], text=text)
    >>> bool(D.loc["cat", "dog"] < D.loc["cat", "car"])
    True
    """

    __metadata_request__fit = {"text": True}

    n_components: int = field(default=100, kw_only=False)
    model: str = "ppmi"
    window: int = 2
    min_count: int = 5
    smoothing: float = 0.75
    metric: str = "cosine"
    tokenizer: Callable[[str], Iterable[str]] | None = None
    model_params: dict[str, Any] | None = None
    random_state: Any = None

    _RULES = {
        "n_components": 1,
        "model": ("ppmi", "cbow", "skipgram"),
        "window": 1,
        "min_count": 1,
        "smoothing": 0.0,
        "metric": ("cosine", "euclidean"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags

    def fit(self, X: Any, y: Any = None, *, text: Any = None) -> WordDissimilarity:
        """Learn vectors from the text and compare the words.

        Parameters
        ----------
        X, y
            The words to compare, each once; `y` is ignored.
        text : str or iterable of str
            One string, or sentences, verses or documents; contexts do not reach from one into the next.
        """
        self._check_parameters()
        if self.model_params and self.model == "ppmi":
            raise ValueError(f"model_params={self.model_params!r} has no meaning with model='ppmi'; leave it out.")
        documents = self._read_text([text] if isinstance(text, str) else text)
        words = self._labels = self._read_words(X)
        self._vectors = self._information_vectors(documents) if self.model == "ppmi" else self._word2vec(documents)
        self.counts_ = words.map(lambda word: self._counts[word.lower()]).to_series(words, "count")
        self.vectors_ = self._vectors_of(words)
        D = self._new(X)[0]
        np.fill_diagonal(D, 0.0)
        self.dissimilarities_ = (D + D.T) / 2
        return self

    def _new(self, X: Any) -> tuple[Array, Any]:
        vectors = self._vectors_of(self._read_words(X))
        # Rounding takes some cosines above 1.
        return np.maximum(cdist(vectors, self.vectors_, self.metric), 0.0), vectors.index

    def _read_text(self, text: Any) -> list[list[str]]:
        """Return the words of each document; number the frequent words, most frequent first."""
        documents = [list((self.tokenizer or WORD.findall)(part.lower())) for part in _strings("text", text)]
        self._counts = Counter(word for document in documents for word in document)
        frequent = [(-count, word) for word, count in self._counts.items() if count >= self.min_count]
        self._code = {word: code for code, (_, word) in enumerate(sorted(frequent))}
        self.n_tokens_, self.n_vocabulary_ = self._counts.total(), len(frequent)
        if self.n_components >= self.n_vocabulary_:
            often = f"the number of words that occur at least min_count={self.min_count} times"
            raise ValueError(f"n_components={self.n_components} must be below {self.n_vocabulary_}, {often}; lower it.")
        return documents

    def _read_words(self, X: Any) -> Any:
        import pandas as pd

        words = pd.Index(_strings("X", X), dtype=object)
        forms = words.str.lower()
        if forms.has_duplicates:
            raise ValueError(f"X has words more than once: {quote(words[forms.duplicated(keep=False)])}.")
        rare = [f"{word} ({self._counts[word.lower()]})" for word in words[~forms.isin(self._code)]]
        if rare:
            few = f"{len(rare)} of {len(words)} words occur less than min_count={self.min_count} times in the text"
            raise ValueError(f"{few}: {', '.join(rare)}; leave them out, or lower min_count.")
        return words

    def _information_vectors(self, documents: list[list[str]]) -> Array:
        """Return U sqrt(S) of the decomposition USV' of the information: words and contexts share S evenly."""
        code = np.array([self._code.get(word, -1) for document in documents for word in document])
        part = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
        counts = sp.csr_array((self.n_vocabulary_, self.n_vocabulary_))
        for distance in range(1, self.window + 1):
            first, second = code[:-distance], code[distance:]
            near = (part[:-distance] == part[distance:]) & (first >= 0) & (second >= 0)
            pairs = sp.coo_array((np.ones(near.sum()), (first[near], second[near])), shape=counts.shape)
            counts = counts + pairs.tocsr()
        information = sp.coo_array(counts + counts.T)  # max(0, log p(word, context) / (p(word) p(context)))
        (word, context), smoothed = information.coords, information.sum(axis=0) ** self.smoothing
        chance = information.sum(axis=1)[word] * (smoothed / smoothed.sum())[context]
        information.data = np.maximum(np.log(information.data / chance), 0.0)
        information.eliminate_zeros()
        # A fixed random start: from a constant vector the search could miss what is exactly orthogonal to it.
        start = np.random.default_rng(0).standard_normal(information.shape[0])
        with OneBlasThread():
            U, S, V = svds(information, k=int(self.n_components), v0=start)
        vectors = svd_flip(U, V)[0] * np.sqrt(np.maximum(S, 0.0))
        # A word without any positive information gets the vector 0, not one made of rounding errors.
        return np.where(information.sum(axis=1)[:, None] > 0, vectors, 0.0)[:, ::-1]

    def _word2vec(self, documents: list[list[str]]) -> Array:
        """Train on one thread, from a seed: with several, the result would vary."""
        gensim = require_package("gensim.models", "model='cbow' and model='skipgram'", "words")
        pieces = [words[at : at + LONGEST] for words in documents for at in range(0, len(words), LONGEST)]
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        options = {"window": self.window, "sg": int(self.model == "skipgram"), "ns_exponent": self.smoothing}
        options |= {"vector_size": self.n_components, "min_count": self.min_count, "seed": seed, "workers": 1}
        model = gensim.Word2Vec(pieces, **options, **(self.model_params or {}))
        return np.asarray(model.wv[list(self._code)], dtype=np.float64)

    def _vectors_of(self, words: Any) -> Any:
        import pandas as pd

        vectors = pd.DataFrame(self._vectors[[self._code[word.lower()] for word in words]], index=words)
        empty = ~vectors.any(axis=1).to_numpy()
        if empty.any():
            alike = f"nothing distinguishes the contexts of {quote(words[empty])} from those of any word"
            raise ValueError(f"{alike}; leave them out, or pass more text or a larger window.")
        return vectors


def _strings(name: str, values: Any) -> list[str]:
    found = [] if isinstance(values, str | type(None)) or hasattr(values, "columns") else list(values)
    if not found or not all(isinstance(value, str) for value in found):
        raise ValueError(f"{name} must be a list or a column of strings, and not empty.")
    return [str(value) for value in found]
