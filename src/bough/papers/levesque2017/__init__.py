"""Lévesque, Durand, Gagné & Sabourin 2017, Bayesian Optimization for Conditional Hyperparameter Spaces.

| equation or algorithm | function | what differs |
|---|---|---|
| Algorithm 1, eq. 3 and 4 | ``bough.strategies.model_based.ModelBased`` | minimisation throughout |
| imputation of inactive values | ``bough.gp.kernels.conditional.Imputed`` | an inactive category is one more option: it has no middle |
| eq. 5, squared exponential (fig. 2-3) | ``benchmarks.covariances`` | |
| eq. 6-7, local search | ``bough.acquisition.maximise.local.local_search`` | ``fixed_step`` as printed, else SMAC's steps; columns that become active are drawn at random |
| eq. 8, the conditional kernel | ``surrogates.conditional`` | compares activation signatures instead of walking conditions |
| eq. 9-10, blocks | ``surrogates.same_signature_rows``, ``bough.gp.block_solver`` | from 250 rows on; below, one dense factorisation is as fast |
| eq. 11, Laplace, and Matérn | ``surrogates.joint`` | a length-scale per column; a condition is a category, not an integer |
| Mondrian features | ``mondrian.Mondrian``, ``surrogates.mondrian`` | 50 trees; cuts are hashed, so no partition is stored |
| sec. 5, priors and slice sampling | ``sampled.SampledGP`` | 10 samples (not given); new ones when data have grown by 5 % |
| the best of 1000 samples | ``bough.acquisition.maximise.sample.best_of_samples`` | |
| GP-matern-noimpute, CMA | method ``matern-noimpute``, method ``cma`` | CMA restarts when it has converged |
| Spearmint | method ``gp`` | ``samples=10, candidates=20_000`` |
| the space of classifiers | ``benchmarks.problems.cash.cash_space`` | support vector machines stop early; see the page of the benchmark |
"""
