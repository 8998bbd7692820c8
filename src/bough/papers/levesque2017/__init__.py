"""Lévesque, Durand, Gagné & Sabourin 2017, Bayesian Optimization for Conditional Hyperparameter Spaces.

| equation or algorithm | function | what differs |
|---|---|---|
| eq. 8, the conditional kernel | ``surrogates.conditional`` | compares activation signatures instead of walking conditions |
| Matérn and Laplace with imputation | ``surrogates.joint`` | a length-scale per column; a condition is a category, not an integer |
| Mondrian features | ``mondrian.Mondrian``, ``surrogates.mondrian`` | cuts are hashed, so no partition is stored |
| eq. 9-10, blocks | ``bough.gp.block_solver`` | from 250 rows on; below, one dense factorisation is as fast |
| sec. 5, priors and slice sampling | ``sampled.SampledGP`` | sample counts are not given in the paper: 10 by default |
| eq. 6-7, local search | ``bough.acquisition.maximise.local`` | ``fixed_step`` as printed, else SMAC's steps; columns that become active are drawn at random |
"""
