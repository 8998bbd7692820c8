# %% [markdown]
# # Choose and tune a scikit-learn pipeline
#
# Which scaler, which classifier, which of its parameters: one search over all of it. A parameter exists only under the
# option that needs it. This notebook needs `pip install 'bough-opt[plot,sklearn]'`; it takes a minute.

# %%
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

import bough
from bough.integrations.sklearn import BoughSearchCV

inputs, labels = load_digits(return_X_y=True)
inputs, held_out, labels, held_out_labels = train_test_split(
    inputs, labels, train_size=500, test_size=500, random_state=0
)
inputs.shape

# %% [markdown]
# ## The space
#
# A `Choice` is a switch: what stands inside an option exists only there. The tree shows it.

# %%
space = bough.Space(
    {
        "scale": bough.Categorical(["none", "minmax", "standard"]),
        "model": bough.Choice(
            {
                "logistic": {"C": bough.Float(1e-4, 1e2, log=True)},
                "neighbours": {"n_neighbors": bough.Int(1, 30, log=True)},
                "svm": {"C": bough.Float(1e-2, 1e3, log=True), "gamma": bough.Float(1e-5, 1, log=True)},
                "trees": {"max_depth": bough.Int(2, 30), "max_features": bough.Float(0.05, 1)},
            }
        ),
    }
)
space

# %% [markdown]
# ## The search
#
# `BoughSearchCV` is used like `RandomizedSearchCV`. Options stand for objects: `choices` says which.

# %%
search = BoughSearchCV(
    Pipeline([("scale", "passthrough"), ("model", SVC())]),
    space,
    trials=30,
    cv=3,
    random_state=0,
    choices={
        "scale": {"none": "passthrough", "minmax": MinMaxScaler(), "standard": StandardScaler()},
        "model": {
            "logistic": LogisticRegression(max_iter=1000, tol=0.01),
            "neighbours": KNeighborsClassifier(),
            "svm": SVC(),
            "trees": ExtraTreesClassifier(50, random_state=0),
        },
    },
)
search.fit(inputs, labels)
print(f"cross-validated accuracy {search.best_score_:.3f}")
print(f"accuracy on 500 other digits {search.score(held_out, held_out_labels):.3f}")
search.best_params_

# %% [markdown]
# ## What was found
#
# `search.study_` is the study behind the search: the branches, their best results, every trial.

# %%
search.study_

# %%
bough.plot.tree(search.study_)

# %% [markdown]
# How the best accuracy grew, with a colour per branch:

# %%
bough.plot.history(search.study_)

# %% [markdown]
# And why was the last trial tried?

# %%
print(search.study_.explain(search.study_.trials[-1])["reason"])
