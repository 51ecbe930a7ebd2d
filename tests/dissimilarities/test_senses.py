"""Analogies between words, and several vectors for one word."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from unmask.dissimilarities import WordDissimilarity, WordSenses
from unmask.dissimilarities._senses import context_vectors

RULES = ["a king rules he", "a queen rules she", "a man walks he", "a woman walks she"] * 5
# One spelling, two uses: by the river and with the money.
RIVER = [f"{thing} near the bank of the river" for thing in ("reeds", "boats", "ducks", "mud")] * 3
MONEY = [f"{thing} in the bank with much money" for thing in ("gold", "loans", "clerks", "notes")] * 3


@pytest.fixture(scope="module")
def rules():
    return WordDissimilarity(5, window=3).fit(["king", "queen"], text=RULES)


@pytest.fixture(scope="module")
def banks():
    return WordDissimilarity(6, window=5, min_count=2).fit(["bank"], text=RIVER + MONEY)


# ---- analogies


def test_analogies_are_found_by_adding_and_subtracting_unit_vectors(rules):
    found = rules.analogy("king", "queen", "man", n_words=3)
    every = WordDissimilarity(5, window=3).fit(sorted({word for line in RULES for word in line.split()}), text=RULES)
    vectors = every.vectors_.div(np.linalg.norm(every.vectors_, axis=1), axis=0)
    asked = vectors.loc["queen"] - vectors.loc["king"] + vectors.loc["man"]
    cosines = (vectors @ asked / np.linalg.norm(asked)).drop(["king", "queen", "man"]).sort_values(ascending=False)
    assert found.index[0] == cosines.index[0] == "woman"
    assert_allclose(found, cosines.iloc[:3], rtol=0, atol=1e-10)


def test_the_words_of_the_question_are_no_answer_and_all_others_are(rules):
    found = rules.analogy("king", "queen", "man", n_words=100)
    assert not {"king", "queen", "man"} & set(found.index)
    assert len(found) == rules.n_vocabulary_ - 3


def test_capitals_are_ignored_as_in_the_text(rules):
    assert rules.analogy("King", "QUEEN", "man").equals(rules.analogy("king", "queen", "man"))


def test_words_without_a_vector_are_named(rules):
    with pytest.raises(ValueError, match=r"'emperor' occurs 0 times in the text; .*min_count=5"):
        rules.analogy("king", "queen", "emperor")
    with pytest.raises(ValueError, match="3 is no word"):
        rules.analogy("king", "queen", 3)
    with pytest.raises(ValueError, match="n_words=0"):
        rules.analogy("king", "queen", "man", n_words=0)


# ---- senses


def test_two_uses_of_a_word_are_told_apart(banks):
    senses = banks.senses("bank", RIVER + MONEY[:-3])
    assert isinstance(senses, WordSenses)
    assert_array_equal(senses.occurrences, [0] * len(RIVER) + [1] * (len(MONEY) - 3))
    assert senses.counts.to_dict() == {"bank 1": len(RIVER), "bank 2": len(MONEY) - 3}
    assert "river" in senses.typical.loc["bank 1"].to_list()
    assert "money" in senses.typical.loc["bank 2"].to_list()
    assert_allclose(np.linalg.norm(senses.vectors, axis=1), 1.0)


def test_one_sense_is_the_mean_of_all_contexts(banks):
    senses = banks.senses("bank", RIVER + MONEY, n_senses=1, n_words=2)
    assert (senses.occurrences == 0).all()
    assert senses.typical.shape == (1, 2)


def test_an_occurrence_alone_has_no_sense(banks):
    senses = banks.senses("bank", ["bank", *RIVER, *MONEY, "xyzzy bank"])
    assert senses.occurrences[[0, -1]].tolist() == [-1, -1]
    assert senses.counts.sum() == len(RIVER) + len(MONEY)


def test_more_senses_than_contexts_are_refused(banks):
    with pytest.raises(ValueError, match="n_senses=2, but 'bank' has only 1 different contexts"):
        banks.senses("bank", RIVER[:1])
    with pytest.raises(ValueError, match="has only 0 different contexts"):
        banks.senses("bank", "no such word")
    with pytest.raises(ValueError, match="window=0"):
        banks.senses("bank", RIVER, window=0)


def test_contexts_are_weighted_sums_within_the_document():
    vectors, weights = np.diag([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0])
    words = np.array([0, 1, -1, 0, 2, 0])
    documents = np.array([0, 0, 0, 0, 0, 1])
    found = context_vectors(words, documents, 0, vectors, weights, window=2)
    # First: 1 beside it, then a rare word. Second: 1 two before, 2 after; the last is in a document of its own.
    assert_allclose(found, [[0, 20, 0], [0, 20, 300], [0, 0, 0]])
