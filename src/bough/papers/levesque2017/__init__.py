"""Lévesque, Durand, Gagné & Sabourin 2017, Bayesian Optimization for Conditional Hyperparameter Spaces.

| equation or algorithm | function | what differs |
|---|---|---|
| eq. 8, the conditional kernel | ``surrogates.conditional`` | compares activation signatures instead of walking conditions |
| Matérn and Laplace with imputation | ``surrogates.joint`` | a length-scale per column; a condition is a category, not an integer |
| Mondrian features | ``mondrian.Mondrian``, ``surrogates.mondrian`` | cuts are hashed, so no partition is stored |
| sec. 5, priors and slice sampling | ``surrogates._sampled`` | sample counts are not given in the paper: 10 by default |
| local search | ``bough.acquisition.maximise.local`` | columns that become active are drawn at random |
"""
