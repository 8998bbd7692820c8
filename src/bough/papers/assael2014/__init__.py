"""Assael, Wang, Shahriari & de Freitas 2014, Heteroscedastic Treed Bayesian Optimisation.

| equation or algorithm | function | what differs |
|---|---|---|
| eq. 2, Matérn distance | ``bough.gp.kernels.stationary.Matern52`` | with the square root that is missing in print |
| eq. 3 and 4, prediction in the leaves | ``treed_posterior.TreedPosterior`` | |
| EI | ``bough.acquisition.functions.log_ei`` | its logarithm, averaged over samples |
| eq. 5, splits at data points | ``cart.best_split``, ``cart.grow`` | grown inside each activation signature |
| sec. 3.1, entropy in place of variance | not built | the paper found no gain and left it out |
| sec. 3.3, at least 5 per leaf | ``cart.grow`` | the shared point counts |
| eq. 8 and 9, pooled pseudo-likelihood | ``pooling.pool`` | w_0 = 1 by default (the paper's 2 counts a leaf's data twice): ``leaf_weight`` |
| eq. 8, its maximum (ML-II) | ``type_two.most_likely_theta`` | inside the bounds of the hyperparameters |
| eq. 10, sampling the hyperparameters | ``pooled_density.sample_targets`` | 10 samples (not given); the mean is integrated out; all leaves advance side by side; little noise in leaves |
| sec. 3.3, other models in the leaves | ``treed.LEAF_KERNELS``, ``warp.Warp`` | three covariances, each with or without warping |
| input warping (Snoek et al. 2013) | ``warp.Warp`` | |
| EI on a Sobol grid of 20,000 points | ``bough.acquisition.maximise.sample.best_of_sobol`` | a finite space no larger than the grid is listed completely |
| BO and BO Warp | method ``gp``, method ``gp-warp`` | ``samples=10, candidates=20_000`` is the printed form |
| the six problems | ``benchmarks.problems.uneven.uneven`` | Walker Lake and Babbitt in place of Agromet and Brenda Mines |
"""
