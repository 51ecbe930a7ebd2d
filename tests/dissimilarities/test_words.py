"""WordDissimilarity: information worked by hand, a plain twin, word2vec on two topics, errors."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.pipeline import make_pipeline

from unmask import ConditionalMDS
from unmask.dissimilarities import WordDissimilarity

SEA = ["ship", "sail", "wave", "harbour", "anchor", "fish"]
KITCHEN = ["pot", "pan", "stove", "spoon", "flour", "oven"]


def random_text(rng, words="abcdefgh", documents=30):
    """Return documents of random lengths in which some words are rarer than others."""
    chance = np.arange(len(words), 0, -1.0) ** 2
    draw = [rng.choice(list(words), size=rng.integers(1, 25), p=chance / chance.sum()) for _ in range(documents)]
    return [" ".join(document) for document in draw]


def plain_information(text, window, min_count, smoothing):
    """Return the vocabulary and the positive information, word by word and pair by pair."""
    documents = [document.split() for document in text]
    counts = Counter(word for document in documents for word in document)
    words = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], w))
    pairs = Counter()
    for document in documents:
        for i, word in enumerate(document):
            for j in range(max(i - window, 0), min(i + window + 1, len(document))):
                if i != j and counts[word] >= min_count and counts[document[j]] >= min_count:
                    pairs[word, document[j]] += 1
    seen = {w: sum(pairs[w, c] for c in words) for w in words}
    total = sum(seen[c] ** smoothing for c in words)
    table = [
        [
            max(0.0, np.log(pairs[w, c] / seen[w] / (seen[c] ** smoothing / total))) if pairs[w, c] else 0.0
            for c in words
        ]
        for w in words
    ]
    return words, np.array(table)


def two_topics(rng, documents=400):
    """Return sentences of five words, each from one of two topics, and a few words that fit both."""
    both = ["and", "the", "with"]
    topics = [SEA, KITCHEN]
    return [" ".join(rng.choice(topics[k % 2] + both, size=5)) for k in range(documents)]


def test_information_worked_by_hand():
    # a b a c, one place: a meets b twice and c once, so that the rows sum to a 3, b 2, c 1. With the root of the
    # contexts' counts: p(b | a) = 2/3 against √2 / (√3 + √2 + 1), and so on; b and c never meet.
    total = np.sqrt(3) + np.sqrt(2) + 1
    to_a = np.log(total / np.sqrt(3))
    expected = np.array([[0, np.log(2 / 3 * total / np.sqrt(2)), np.log(1 / 3 * total)], [to_a, 0, 0], [to_a, 0, 0]])
    words, twin = plain_information(["a b a c"], 1, 1, 0.5)
    assert words == ["a", "b", "c"]
    np.testing.assert_allclose(twin, expected, rtol=1e-12, atol=0)
    # The information has rank 2: with USV' its decomposition, two columns hold all of USU'.
    vectors = WordDissimilarity(2, window=1, min_count=1, smoothing=0.5).fit(words, text="a b a c").vectors_.to_numpy()
    np.testing.assert_allclose(
        (vectors @ vectors.T) @ (vectors @ vectors.T), expected @ expected.T, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize(("window", "min_count", "smoothing"), [(1, 1, 1.0), (2, 5, 0.75), (7, 20, 0.0)])
def test_distances_agree_with_a_dense_decomposition(rng, metric, window, min_count, smoothing):
    text = random_text(rng, documents=60)
    words, information = plain_information(text, window, min_count, smoothing)
    U, S, _ = np.linalg.svd(information)
    vectors = U[:, :4] * np.sqrt(S[:4])
    options = {"window": window, "min_count": min_count, "smoothing": smoothing}
    fitted = WordDissimilarity(4, metric=metric, **options).fit(words, text=text)
    expected = cdist(vectors, vectors, metric)
    np.testing.assert_allclose(fitted.dissimilarities_, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(abs(fitted.vectors_), abs(vectors), rtol=1e-7, atol=1e-9)
    assert fitted.n_vocabulary_ == len(words)


def test_order_of_documents_and_words_changes_nothing(rng):
    text = two_topics(rng)
    fitted = WordDissimilarity(5).fit(SEA + KITCHEN, text=text)
    D = fitted.dissimilarities_
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diagonal(D), 0)
    turned = WordDissimilarity(5).fit_transform(KITCHEN[::-1] + SEA, text=text[::-1])
    order = list(range(11, 5, -1)) + list(range(6))
    np.testing.assert_allclose(turned, D[np.ix_(order, order)], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted.transform(SEA + KITCHEN), D, rtol=1e-9, atol=1e-12)
    assert fitted.transform(["and", "ship"]).shape == (2, 12)


def test_words_of_one_topic_are_near(rng):
    D = WordDissimilarity(5).fit(SEA + KITCHEN, text=two_topics(rng, 1000)).dissimilarities_
    same = np.kron(np.eye(2, dtype=bool), np.ones((6, 6), dtype=bool))
    assert D[same].max() < D[~same].min()


def test_one_string_is_one_document(rng):
    text = " ".join(two_topics(rng))
    one = WordDissimilarity(5).fit(SEA, text=text)
    np.testing.assert_array_equal(one.dissimilarities_, WordDissimilarity(5).fit(SEA, text=[text]).dissimilarities_)
    assert one.n_tokens_ == 400 * 5
    assert one.counts_["ship"] == text.split().count("ship")
    for form in (pd.Series([text], index=[7]), iter([text]), np.array([text])):
        np.testing.assert_array_equal(
            WordDissimilarity(5).fit_transform(np.array(SEA), text=form), one.dissimilarities_
        )


def test_capitals_apostrophes_and_a_tokenizer_of_ones_own():
    text = ["The king\u2019s son saw David's father; THE King saw it."] * 5
    fitted = WordDissimilarity(3).fit(["The", "king", "king\u2019s", "david's"], text=text)
    assert fitted.counts_.to_dict() == {"The": 10, "king": 5, "king\u2019s": 5, "david's": 5}
    split = WordDissimilarity(3, tokenizer=lambda document: document.split(";")[0].split()).fit(["saw"], text=text)
    assert split.n_tokens_ == 6 * 5


def test_labels_travel_and_text_is_routed(rng):
    words = pd.Series(SEA + KITCHEN, index=range(100, 112))
    text = two_topics(rng)
    vectors = WordDissimilarity(5).set_output(transform="pandas")
    D = vectors.fit_transform(words, text=text)
    assert list(D.index) == list(D.columns) == list(words)
    assert list(vectors.get_feature_names_out()) == list(words)
    assert list(vectors.transform(["the"]).index) == ["the"]
    known = np.log(vectors.counts_).rename("frequency")
    with config_context(enable_metadata_routing=True):
        stages = make_pipeline(vectors, ConditionalMDS(1, metric="precomputed", n_init=2, random_state=0))
        U = stages.set_output(transform="pandas").fit_transform(words, text=text, known=known.iloc[::-1])
    assert list(U.index) == list(words)
    expected = ConditionalMDS(1, metric="precomputed", n_init=2, random_state=0).fit_transform(D, known=known)
    np.testing.assert_array_equal(U.to_numpy(), expected)


def test_unknown_words_are_all_named(rng):
    text = [*two_topics(rng), "dragon fire", "dragon"]
    with pytest.raises(
        ValueError, match=r"3 of 5 words occur less .*: dragon \(2\), unicorn \(0\), phoenix \(0\); leave"
    ):
        WordDissimilarity(5).fit(["ship", "dragon", "pot", "unicorn", "phoenix"], text=text)
    fitted = WordDissimilarity(5).fit(["ship", "pot"], text=text)
    with pytest.raises(ValueError, match=r"1 of 2 words .* dragon \(2\)"):
        fitted.transform(["dragon", "wave"])


def test_a_word_without_any_context_of_its_own():
    text = ["a b", "b c", "c a", "d"] * 5
    with pytest.raises(ValueError, match="nothing distinguishes the contexts of 'd'"):
        WordDissimilarity(2).fit(["a", "d"], text=text)
    fitted = WordDissimilarity(2).fit(["a", "b"], text=text)
    with pytest.raises(ValueError, match="nothing distinguishes the contexts of 'd'"):
        fitted.transform(["d"])


@pytest.mark.parametrize("model", ["cbow", "skipgram"])
def test_word2vec_finds_topics_and_repeats_itself(rng, model):
    pytest.importorskip("gensim")
    text = two_topics(rng, 1000)
    options = {"model": model, "model_params": {"epochs": 20, "alpha": 0.1}, "window": 4, "random_state": 0}
    D = WordDissimilarity(8, **options).fit(SEA + KITCHEN, text=text).dissimilarities_
    same = np.kron(np.eye(2, dtype=bool), np.ones((6, 6), dtype=bool))
    assert D[same].max() < D[~same].min()
    np.testing.assert_array_equal(WordDissimilarity(8, **options).fit_transform(SEA + KITCHEN, text=text), D)
    other = WordDissimilarity(8, **{**options, "random_state": 1}).fit_transform(SEA + KITCHEN, text=text)
    assert not np.array_equal(other, D)


def test_word2vec_reads_a_long_text_to_its_end(rng):
    pytest.importorskip("gensim")
    # gensim cuts a document after 10,000 words; the topics come after that, each in long runs.
    runs = [" ".join(rng.choice(topic, size=1000)) for topic in [SEA, KITCHEN] * 5]
    text = " ".join(["filling words " * 6_000, *runs])
    options = {"epochs": 20, "alpha": 0.1, "sample": 0}  # every word of the filling counts
    fitted = WordDissimilarity(8, model="cbow", model_params=options, random_state=0).fit(SEA + KITCHEN, text=text)
    D = fitted.dissimilarities_
    same = np.kron(np.eye(2, dtype=bool), np.ones((6, 6), dtype=bool))
    assert D[same].max() < D[~same].min()


@pytest.mark.slow
def test_word2vec_does_not_depend_on_the_interpreter(rng):
    pytest.importorskip("gensim")
    code = (
        "from unmask.dissimilarities import WordDissimilarity as W;"
        "D = W(3, model='cbow', random_state=0).fit_transform(['a', 'b'], text=['a b c d', 'b d a c'] * 9);"
        "print(D.loc['a', 'b'])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def test_word2vec_without_gensim(monkeypatch, rng):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(ImportError, match=r"needs the package 'gensim', .* pip install 'unmask\[words\]'"):
        WordDissimilarity(3, model="cbow").fit(SEA, text=two_topics(rng))
