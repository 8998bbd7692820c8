"""Assael, Wang, Shahriari & de Freitas 2014, Heteroscedastic Treed Bayesian Optimisation.

| equation or algorithm | function | what differs |
|---|---|---|
| eq. 2, Matérn distance | ``bough.gp.kernels.stationary.Matern52`` | with the square root that is missing in print |
| eq. 5, splits | ``cart.best_split``, ``cart.grow`` | grown inside each activation signature |
| eq. 8 and 9, pooled pseudo-likelihood | ``pooling.pool`` | w_0 = 1 by default (the paper's 2 counts a leaf's data twice) |
| eq. 10, sampling the hyperparameters | ``pooled_density.sample_targets`` | the constant mean is integrated out; all leaves advance side by side |
| eq. 8, its maximum (ML-II) | ``type_two.most_likely_theta`` | inside the bounds of the hyperparameters |
| prediction in the leaves | ``treed_posterior.TreedPosterior`` | |
| input warping (Snoek et al. 2014) | ``warp.Warp`` | |
| EI on a Sobol grid of 20,000 points | ``bough.acquisition.maximise.sobol_grid`` | a finite space no larger than the grid is listed completely |
"""
