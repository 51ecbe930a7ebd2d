"""Dissimilarities between words, from the words around them in a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, IntArray
from ..checking import (
    MapWarning,
    is_pandas,
    quote,
    require_choice,
    require_flag,
    require_integer,
    require_number,
    require_package,
    warn_user,
)
from ..kernels import OneBlasThread
from ._base import DTYPES, DissimilarityTransformer

if TYPE_CHECKING:
    import pandas as pd

WORD = re.compile(r"\w+(?:['\u2019]\w+)*")  # letters and digits, with apostrophes (straight or curly) inside
# gensim silently ignores the words of a document after this many.
LONGEST = 10_000
MAX_NAMED = 20


# ---- the text


@dataclass(frozen=True)
class Corpus:
    """A text: its documents as lists of words, and the words that are frequent enough, most frequent first."""

    documents: list[list[str]]
    counts: Counter[str]
    vocabulary: dict[str, int]

    @property
    def positions(self) -> tuple[IntArray, IntArray]:
        """The code of the word at each place of the text (-1 if it is rare) and that of its document."""
        lengths = [len(document) for document in self.documents]
        codes = (self.vocabulary.get(word, -1) for document in self.documents for word in document)
        words = np.fromiter(codes, dtype=np.int64, count=sum(lengths))
        return words, np.repeat(np.arange(len(lengths)), lengths)


def _read_corpus(documents: Iterable[Any], tokenizer: Callable[[str], Iterable[str]] | None, min_count: int) -> Corpus:
    split = WORD.findall if tokenizer is None else tokenizer
    words = [list(split(document)) for document in documents]
    counts = Counter(word for document in words for word in document)
    frequent = sorted((word for word, count in counts.items() if count >= min_count), key=lambda w: (-counts[w], w))
    return Corpus(words, counts, {word: code for code, word in enumerate(frequent)})


# ---- vectors of words: ``fit`` returns one row per word of the vocabulary


@dataclass(frozen=True)
class PointwiseInformation:
    """Positive pointwise mutual information of words and context words, reduced by a singular value decomposition."""

    window: int
    smoothing: float

    def fit(self, corpus: Corpus, n_components: int) -> Array:
        """Return U sqrt(S) of the decomposition USV': words and contexts share the singular values evenly."""
        information = positive_information(cooccurrences(corpus, self.window), self.smoothing)
        # A fixed random start: from a constant vector the search could miss what is exactly orthogonal to it.
        start = np.random.default_rng(0).standard_normal(information.shape[0])
        with OneBlasThread():
            U, S, _ = svds(information, k=n_components, v0=start)
        vectors = (U * np.sqrt(np.maximum(S, 0.0)))[:, ::-1]
        # A word without any positive information gets the vector 0, not one made of rounding errors.
        vectors[np.diff(information.indptr) == 0] = 0.0
        signs = np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(n_components)])
        return np.asarray(vectors * np.where(signs == 0, 1.0, signs))


def cooccurrences(corpus: Corpus, window: int) -> sp.csr_array:
    """Count how often each word stands within `window` places of each other one, in the same document."""
    words, documents = corpus.positions
    n = len(corpus.vocabulary)
    total = sp.csr_array((n, n), dtype=np.float64)
    for distance in range(1, window + 1):
        first, second = words[:-distance], words[distance:]
        together = (documents[:-distance] == documents[distance:]) & (first >= 0) & (second >= 0)
        ones = np.ones(np.count_nonzero(together))
        total = total + sp.coo_array((ones, (first[together], second[together])), shape=(n, n)).tocsr()
    return (total + total.T).tocsr()


def positive_information(counts: sp.csr_array, smoothing: float) -> sp.csr_array:
    """Return max(0, log p(word, context) / (p(word) p(context))).

    The probability of a context is proportional to its count to the power `smoothing`, which makes rare contexts more
    probable, and therefore less surprising, than they were.
    """
    pairs = counts.tocoo()
    row = counts.sum(axis=1)
    context = counts.sum(axis=0) ** smoothing
    information = np.log(pairs.data / row[pairs.row] * (context.sum() / context[pairs.col]))
    positive = information > 0
    kept = (information[positive], (pairs.row[positive], pairs.col[positive]))
    return sp.coo_array(kept, shape=counts.shape).tocsr()


@dataclass(frozen=True)
class Word2Vec:
    """gensim's word2vec with negative sampling."""

    skipgram: bool
    window: int
    smoothing: float
    seed: int
    options: dict[str, Any]

    def fit(self, corpus: Corpus, n_components: int) -> Array:
        """Train on one thread, from a seed: with several the order of updates, and so the result, would vary."""
        gensim = require_package("gensim.models", "model='cbow' and model='skipgram'", "words")
        pieces = [words[at : at + LONGEST] for words in corpus.documents for at in range(0, len(words), LONGEST)]
        model = gensim.Word2Vec(
            pieces,
            vector_size=n_components,
            window=self.window,
            sg=int(self.skipgram),
            ns_exponent=self.smoothing,
            min_count=min(corpus.counts[word] for word in corpus.vocabulary),  # the same words as ours
            seed=self.seed,
            workers=1,
            **self.options,
        )
        rows = [model.wv.key_to_index[word] for word in corpus.vocabulary]
        return np.asarray(model.wv.vectors[rows], dtype=np.float64)


# Arguments of gensim that the transformer's own parameters set.
SET_OTHERWISE = {
    "vector_size": "n_components",
    "window": "window",
    "sg": "model",
    "ns_exponent": "smoothing",
    "min_count": "min_count",
    "seed": "random_state",
    "sentences": "text",
}
MODELS = ("ppmi", "cbow", "skipgram")
# scipy's names for metrics whose parameters are computed from all vectors.
LEARNING = ("seuclidean", "se", "s", "mahalanobis", "mahal", "mi")


@dataclass(eq=False, repr=False, kw_only=True)
class WordDissimilarity(DissimilarityTransformer):
    """Compare words of a text by the words around them.

    Words that occur among the same words mean similar things. Every word of the text gets a vector that describes its
    contexts; the dissimilarity of two words is a distance between their vectors. How often a word occurs leaves a mark
    on the vectors too, and can be conditioned out: ``counts_`` has the numbers, and their logarithm is a natural known
    feature.

    The words are the objects, so they are what `fit` takes as X; the text is passed beside them as ``text=``, and
    travels through a pipeline by metadata routing.

    Time grows with the length of the text times `window`, and for ``"ppmi"`` with the number of different pairs of
    words that occur together times `n_components`; memory with these pairs. The Bible (790,000 words) takes a few
    seconds.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors.
    model : {"ppmi", "cbow", "skipgram"}, default="ppmi"
        Where the vectors come from. ``"ppmi"``: a singular value decomposition of the positive pointwise mutual
        information between words and context words. ``"cbow"`` and ``"skipgram"``: word2vec with negative sampling
        by gensim, if it is installed (``pip install 'unmask[words]'``).
    window : int, default=2
        Up to how many places before and after a word its context reaches. A small window tells the use of words
        in a sentence, a large one their topic. Rare words are no context but keep their places (with ``"ppmi"``;
        gensim closes the gap).
    min_count : int, default=5
        Words that occur less often than this are rare: neither objects nor contexts.
    smoothing : float, default=0.75
        Power of the contexts' counts; of the negative samples' for word2vec. 1 takes them as they are; less keeps rare
        contexts from dominating.
    metric : str or callable, default="cosine"
        Distance between vectors, as in :func:`scipy.spatial.distance.cdist`.
    lowercase : bool, default=True
        Take no notice of capitals, in the text as in the words.
    tokenizer : callable, optional
        Splits a string into words. By default a word is a run of letters and digits, with apostrophes inside.
    on_unknown : {"error", "drop"}, default="error"
        What to do with words that do not occur in the text at least `min_count` times: raise an error that names
        them, or leave them out with a warning.
    model_params : dict, optional
        Further arguments of gensim's ``Word2Vec``, such as ``{"epochs": 10}``.
    random_state : int, RandomState or None, default=None
        Seed of word2vec; ``"ppmi"`` has no randomness.
    dtype : {"float64", "float32"}, default="float64"
        Type of the result.

    Attributes
    ----------
    dissimilarities_ : ndarray of shape (n_words, n_words)
        The dissimilarities.
    counts_ : Series of length n_words
        How often each word occurs in the text.
    vectors_ : DataFrame of shape (n_words, n_components)
        The words' vectors.
    unknown_ : Series
        Words left out by ``on_unknown="drop"`` in the fit, with how often they occur.
    n_tokens_ : int
        Length of the text in words.
    n_vocabulary_ : int
        Number of different words that occur at least `min_count` times.

    References
    ----------
    O. Levy, Y. Goldberg and I. Dagan, "Improving distributional similarity with lessons learned from word embeddings",
    Transactions of the Association for Computational Linguistics 3, 2015.

    Examples
    --------
    >>> from unmask.dissimilarities import WordDissimilarity
    >>> text = ["the cat drinks milk", "the dog drinks water", "a car needs petrol", "a van needs petrol"] * 5
    >>> words = WordDissimilarity(n_components=4)
    >>> D = words.fit_transform(["cat", "dog", "car", "van"], text=text)
    >>> bool(D.loc["cat", "dog"] < D.loc["cat", "car"]), words.counts_["cat"].item()
    (True, 5)
    """

    __metadata_request__fit = {"text": True}

    n_components: int = field(default=100, kw_only=False)
    model: str = "ppmi"
    window: int = 2
    min_count: int = 5
    smoothing: float = 0.75
    metric: Any = "cosine"
    lowercase: bool = True
    tokenizer: Callable[[str], Iterable[str]] | None = None
    on_unknown: str = "error"
    model_params: dict[str, Any] | None = None
    random_state: Any = None
    dtype: str = "float64"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any = None, *, text: Any = None) -> WordDissimilarity:
        """Learn vectors from the text and compare those of the words.

        Parameters
        ----------
        X : sequence of str
            The words to compare: a list, an array, an Index or a Series.
        y : ignored
            Present by convention.
        text : str or iterable of str
            The text, as one string or as sentences, verses or documents; contexts do not reach from one into the
            next.

        Returns
        -------
        self : WordDissimilarity
        """
        self._check_parameters()
        words = self._read_words(X)
        corpus = self._read_text(text)
        self._counts, self._vocabulary = corpus.counts, corpus.vocabulary
        self.n_tokens_, self.n_vocabulary_ = corpus.counts.total(), len(corpus.vocabulary)
        words, self.unknown_ = self._known_words(words)
        self._vectors = self._make_vectors().fit(corpus, int(self.n_components))
        self._report(words)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, text: Any = None) -> Array:
        """Return the dissimilarities between words, (n_words, n_words), with the words as labels; see :meth:`fit`."""
        return self._labelled(self.fit(X, text=text).dissimilarities_, self._labels)

    def transform(self, X: Any) -> Array:
        """Return the dissimilarities of other words of the same text to the fitted ones.

        Parameters
        ----------
        X : sequence of str

        Returns
        -------
        ndarray or DataFrame of shape (n_new, n_words)
            With ``on_unknown="drop"`` there may be fewer rows than words.
        """
        check_is_fitted(self)
        words, _ = self._known_words(self._read_words(X))
        D = cdist(self._vectors_of(words), self.vectors_.to_numpy(), metric=self.metric)
        return self._labelled(np.maximum(D, 0.0).astype(self.dtype), _index(words))

    # ---- reading input

    def _check_parameters(self) -> None:
        require_integer("n_components", self.n_components, 1)
        require_choice("model", self.model, MODELS)
        require_integer("window", self.window, 1)
        require_integer("min_count", self.min_count, 1)
        require_number("smoothing", self.smoothing, 0.0)
        require_flag("lowercase", self.lowercase)
        require_choice("on_unknown", self.on_unknown, ("error", "drop"))
        require_choice("dtype", self.dtype, DTYPES)
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise ValueError(f"tokenizer={self.tokenizer!r} must be None or a function from a string to its words.")
        if isinstance(self.metric, str) and self.metric in LEARNING:
            raise ValueError(
                f"metric={self.metric!r} takes variances from the words compared, so that other words would be "
                "compared otherwise; use metric='cosine' or metric='euclidean'."
            )
        if self.model_params and self.model == "ppmi":
            raise ValueError(f"model_params={self.model_params!r} means nothing with model='ppmi'; leave it out.")
        for name in self.model_params or {}:
            if name in SET_OTHERWISE:
                raise ValueError(f"model_params has {name!r}; set it by {SET_OTHERWISE[name]} instead.")

    def _read_words(self, X: Any) -> list[str]:
        """Return the words, each of which must be text and occur once."""
        if isinstance(X, str):
            raise ValueError(f"X={X!r} is one string; pass a list of words.")
        if hasattr(X, "columns"):
            raise ValueError(f"X is a table with the columns {quote(X.columns)}; pass one column of words.")
        values = np.asarray(list(X), dtype=object)
        if values.ndim != 1 or not len(values):
            raise ValueError(f"X has shape {values.shape} but must be a list of words.")
        for at, word in enumerate(values):
            if not isinstance(word, str):
                raise ValueError(f"X has {word!r} at position {at}; every object must be a word (str).")
        words = [str(word) for word in values]
        seen = Counter(self._form(word) for word in words)
        repeated = [word for word in words if seen[self._form(word)] > 1]
        if repeated:
            raise ValueError(f"X has words more than once: {quote(repeated)}; pass each word once.")
        return words

    def _form(self, word: str) -> str:
        """Return a word as it is looked up in the text."""
        return word.lower() if self.lowercase else word

    def _documents(self, text: Any) -> list[str]:
        """Return the documents of a text, each of which must be a string."""
        if text is None:
            raise ValueError("text is needed to see the words' contexts; pass fit(words, text=…).")
        if hasattr(text, "columns"):
            raise ValueError(f"text is a table with the columns {quote(text.columns)}; pass one column of text.")
        documents = [text] if isinstance(text, str) else list(text.to_list() if is_pandas(text) else text)
        for at, document in enumerate(documents):
            if not isinstance(document, str):
                raise ValueError(
                    f"text has {document!r:.60} at position {at}; it must be a string or a sequence of strings."
                )
        return [self._form(document) for document in documents]

    def _read_text(self, text: Any) -> Corpus:
        corpus = _read_corpus(self._documents(text), self.tokenizer, int(self.min_count))
        # The decomposition finds fewer singular vectors than there are words.
        most = len(corpus.vocabulary) - (self.model == "ppmi")
        if most < self.n_components:
            raise ValueError(
                f"n_components={self.n_components}, but only {len(corpus.vocabulary)} words occur in the text at least "
                f"min_count={self.min_count} times; choose at most {max(most, 0)}, or pass more text."
            )
        return corpus

    def _known_words(self, words: list[str]) -> tuple[list[str], pd.Series]:
        """Return the words of the vocabulary, and the others with their counts; raise or warn if there are any."""
        import pandas as pd

        unknown = [word for word in words if self._form(word) not in self._vocabulary]
        counts = [self._counts[self._form(word)] for word in unknown]
        listed = pd.Series(counts, index=_index(unknown), name="count", dtype=np.int64)
        if not unknown:
            return words, listed
        message = f"{len(unknown)} of {len(words)} words {self._describe(listed)}"
        if self.on_unknown == "error":
            raise ValueError(f"{message}; leave them out, lower min_count, or pass on_unknown='drop'.")
        kept = [word for word in words if self._form(word) in self._vocabulary]
        if not kept:
            raise ValueError(f"{message}; no word is left.")
        warn_user(f"{message}; they were left out.", MapWarning)
        return kept, listed

    def _describe(self, unknown: pd.Series) -> str:
        """Return which words are not in the text, and which are too rare, with how often they occur."""
        absent = [repr(str(word)) for word in unknown.index[unknown == 0]]
        rare = [f"{str(word)!r} ({count})" for word, count in unknown[unknown > 0].items()]
        parts = [f"do not occur in the text ({_shorten(absent)})"] if absent else []
        parts += [f"occur less than min_count={self.min_count} times ({_shorten(rare)})"] if rare else []
        return " or ".join(parts)

    # ---- the work

    def _make_vectors(self) -> PointwiseInformation | Word2Vec:
        window, smoothing = int(self.window), float(self.smoothing)
        if self.model == "ppmi":
            return PointwiseInformation(window, smoothing)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return Word2Vec(self.model == "skipgram", window, smoothing, seed, dict(self.model_params or {}))

    def _vectors_of(self, words: list[str]) -> Array:
        vectors = self._vectors[[self._vocabulary[self._form(word)] for word in words]]
        alone = [word for word, vector in zip(words, vectors, strict=True) if not vector.any()]
        if alone:
            raise ValueError(
                f"nothing distinguishes the contexts of {quote(alone)} from those of any word; leave them out, "
                "or pass more text or a larger window."
            )
        return np.asarray(vectors)

    def _report(self, words: list[str]) -> None:
        import pandas as pd

        self._labels = _index(words)
        counts = [self._counts[self._form(word)] for word in words]
        self.counts_ = pd.Series(counts, index=self._labels, name="count")
        vectors = self._vectors_of(words)
        self.vectors_ = pd.DataFrame(vectors, index=self._labels)
        D = np.maximum(cdist(vectors, vectors, metric=self.metric), 0.0)  # rounding takes some cosines beyond 1
        np.fill_diagonal(D, 0.0)
        self.dissimilarities_ = ((D + D.T) / 2).astype(self.dtype)


def _index(words: list[str]) -> pd.Index:
    import pandas as pd

    return pd.Index(words, dtype=object)


def _shorten(names: list[str]) -> str:
    listed = ", ".join(names[:MAX_NAMED])
    return listed + (f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else "")
