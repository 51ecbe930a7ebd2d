"""What sets a group apart: numbers of scipy, the level of the tests, and which column comes first."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from unmask import Cyclic, Ordinal
from unmask.discovery import Discovery, _contrast
from unmask.discovery._contrast import Comparison, Groups, make_trait


def compared(values, inside, kind=None):
    return Comparison(make_trait(pd.Series(values, name="x"), kind), np.asarray(inside))


def p_value(*given):
    return compared(*given).p_value(Groups())


# ---- against scipy


@pytest.mark.parametrize("ties", [False, True])
def test_numbers_are_compared_as_by_kruskal_and_wallis(ties):
    rng = np.random.default_rng(0)
    x, inside = rng.normal(size=80), np.arange(80) < 30
    x[inside] += 0.7
    x = np.round(x) if ties else x
    expected = stats.kruskal(x[inside], x[~inside])
    found = compared(x, inside)
    assert found.statistic == pytest.approx(expected.statistic)
    assert p_value(x, inside) == pytest.approx(expected.pvalue)
    assert found.strength == pytest.approx(abs(stats.spearmanr(x, inside).statistic))


def test_few_numbers_have_the_exact_p_value_of_mann_and_whitney():
    rng = np.random.default_rng(1)
    for k in (3, 5, 9):
        x, inside = rng.normal(size=12), np.arange(12) < k
        expected = stats.mannwhitneyu(x[inside], x[~inside], method="exact").pvalue
        assert p_value(x, inside) == pytest.approx(expected)


def test_few_levels_have_the_p_value_of_all_groups():
    x, inside = np.array(list("aaaabbbbccd")), np.isin(np.arange(11), [0, 1, 2, 8, 9])

    def chi_square(member):
        counts = [[np.sum((x == level) & (member == side)) for level in "abcd"] for side in (True, False)]
        return stats.chi2_contingency(counts, correction=False).statistic

    groups = [np.isin(np.arange(11), group) for group in itertools.combinations(range(11), 5)]
    expected = np.mean([chi_square(group) >= chi_square(inside) - 1e-9 for group in groups])
    assert p_value(x, inside) == pytest.approx(expected)


def test_two_levels_have_the_p_value_of_fisher():
    x, inside = np.array(list("a" * 7 + "b" * 7)), np.isin(np.arange(14), [0, 1, 2, 3, 4, 5, 8])
    table = pd.crosstab(x, inside)
    assert p_value(x, inside) == pytest.approx(stats.fisher_exact(table).pvalue)


def test_many_levels_are_compared_as_by_pearson():
    rng = np.random.default_rng(4)
    x, inside = rng.choice(list("abc"), 400), rng.random(400) < 0.4
    expected = stats.chi2_contingency(pd.crosstab(x, inside), correction=False)
    assert compared(x, inside).statistic == pytest.approx(expected.statistic * 399 / 400)
    assert p_value(x, inside) == pytest.approx(stats.chi2.sf(expected.statistic * 399 / 400, 2))


def test_angles_are_compared_around_the_circle():
    """Just before and just after midnight is no difference; morning and evening are one, with the same median."""
    inside = np.arange(40) < 20
    rng = np.random.default_rng(5)
    hours = rng.normal(0, 2, 40) % 24
    assert p_value(hours, inside, Cyclic(24)) > 0.05
    spread = np.where(inside, rng.normal(0, 1, 40), rng.normal(12, 1, 40)) % 24
    assert p_value(spread, inside, Cyclic(24)) < 1e-6
    ranks = stats.rankdata(spread) * 2 * np.pi / 40
    wheeler = 2 * sum(np.cos(ranks[s]).sum() ** 2 + np.sin(ranks[s]).sum() ** 2 for s in (inside, ~inside)) / 20
    assert compared(spread, inside, Cyclic(24)).statistic == pytest.approx(wheeler * 39 / 40)


def test_levels_in_order_are_compared_by_their_ranks():
    sizes, inside = np.array(list("smlsmlssml")), np.arange(10) < 4
    expected = compared(pd.Series(sizes).map({"s": 0, "m": 1, "l": 2}).to_numpy(), inside)
    assert compared(sizes, inside, Ordinal(("s", "m", "l"))).statistic == pytest.approx(expected.statistic)
    ordered = pd.Categorical(sizes, ["s", "m", "l"], ordered=True)
    assert compared(ordered, inside).statistic == pytest.approx(expected.statistic)


def test_rare_levels_among_many_objects_are_joined():
    rng = np.random.default_rng(6)
    inside = rng.random(5000) < 0.3
    x = rng.choice([f"level {i}" for i in range(45)], 5000, p=np.r_[0.5, 0.4, np.full(43, 0.1 / 43)])
    frequent = pd.Series(x).value_counts() * inside.mean() >= 5
    assert not frequent.all()
    expected = np.where(frequent[x].to_numpy(), x, "other")
    found = stats.chi2_contingency(pd.crosstab(expected, inside), correction=False).pvalue
    assert p_value(x, inside) == pytest.approx(found, rel=0.02)


# ---- the level


@pytest.mark.parametrize(("n", "k"), [(14, 7), (40, 4), (120, 50)])
def test_a_random_group_is_set_apart_in_one_of_twenty_studies(n, k, monkeypatch):
    monkeypatch.setattr(_contrast, "RANDOM_GROUPS", 499)
    rng, false = np.random.default_rng(7), 0
    trials = 60
    for _ in range(trials):
        table = pd.DataFrame(
            {
                "number": rng.normal(size=n),
                "skew": np.exp(2 * rng.normal(size=n)),
                "count": rng.poisson(1, n),
                "level": rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05]),
                "rare": rng.random(n) < 0.1,
            }
        )
        study = Discovery(1.0 - np.eye(n), table=table)
        false += study.contrast(rng.choice(n, k, replace=False))["p_value"].min() < 0.05
    assert false <= stats.binom.ppf(0.999, trials, 0.05)


# ---- the table


def test_what_sets_the_women_apart_is_gender(study, kinship):
    women = ["Aunt", "Daughter", "Granddaughter", "Grandmother", "Mother", "Niece", "Sister"]
    study.adopt("degree", column="degree")
    table = study.contrast(women)
    assert table["column"].tolist()[0] == "gender"
    assert table.loc[0, "strength"] == pytest.approx(1)
    assert table.loc[0, "p_value"] == pytest.approx(4 * 2 / 3432)  # of four columns
    assert table.loc[0, ["group", "other"]].tolist() == ["2", "1"]
    assert dict(zip(table["column"], table["where"], strict=True))["degree"] == "known"
    assert sorted(table["column"]) == sorted(kinship.known.columns)
    adopted = study.adopt(**table.loc[0, "arguments"])
    assert adopted.name == "gender"
    assert study.contrast(women).loc[0, "arguments"] == {}  # it is known


def test_two_groups_are_compared_with_each_other_alone(study):
    table = study.contrast(["Mother", "Father"], ["Son", "Daughter"]).set_index("column")
    assert table.loc["generation", "group"] == "-1"
    assert table.loc["generation", "other"] == "1"
    assert table.loc["gender", "p_value"] == 1
    assert table.loc["degree", "note"] == "not tested: all objects are the same"


def test_levels_are_told_by_the_one_that_tells_most(kinship):
    named = kinship.known.assign(gender=kinship.known["gender"].map({1: "man", 2: "woman"}), words=kinship.known.index)
    study = Discovery(kinship.dissimilarities, table=named)
    table = study.contrast(["Aunt", "Mother", "Sister", "Son"]).set_index("column")
    assert table.loc["gender", "type"] == "nominal"
    assert {table.loc["gender", "group"], table.loc["gender", "other"]} <= {
        "man: 1 of 4",
        "man: 6 of 10",
        "woman: 3 of 4",
        "woman: 4 of 10",
    }


def test_missing_cells_and_text_are_said(kinship):
    gaps = kinship.known["degree"].astype(float).where(kinship.known.index != "Aunt")
    study = Discovery(kinship.dissimilarities, table=pd.DataFrame({"gaps": gaps, "same": 1}))
    table = study.contrast(["Aunt"]).set_index("column")
    assert table.loc["gaps", "note"] == "not tested: one side has no values"
    assert table.loc["same", "note"] == "not tested: all objects are the same"
    many = Discovery(1.0 - np.eye(60), table=[f"name {i}" for i in range(60)])
    assert many.contrast([1, 2]).loc[0, "note"] == "not tested: more than 50 different values"


@pytest.mark.parametrize(
    ("group", "other", "message"),
    [
        ([], None, "group has no objects"),
        ("Aunt", None, "group='Aunt' must be a list of labels"),
        (["Cousin"], None, "group names 'Cousin', which are not among the objects"),
        (["Aunt"], ["Aunt", "Son"], "other has 'Aunt', which is in group too"),
    ],
)
def test_groups_that_cannot_be_compared(study, group, other, message):
    with pytest.raises(ValueError, match=message):
        study.contrast(group, other)
    with pytest.raises(ValueError, match="none is left to compare it with"):
        study.contrast(list(study.material.objects))


def test_wine_is_told_apart_by_ward_and_by_its_columns():
    """The second story of the workbench: three groups on the first map are the three cultivars, nearly."""
    features, cultivar = load_wine(return_X_y=True, as_frame=True)
    study = Discovery((features - features.mean()) / features.std(), table=features, metric="euclidean")
    study.fit(2, n_init=2)
    groups = study.adopt("cultivar", groups=3)
    assert adjusted_rand_score(cultivar, groups.values) == pytest.approx(0.91, abs=0.02)
    first = groups.values.index[groups.values == "group 1"]
    table = study.contrast(first)
    assert (table["p_value"].head(10) < 1e-3).all()
    assert table.loc[0, "column"] == "cultivar"
