"""Jenatton, Archambeau, González & Seeger 2017, Bayesian Optimization with Tree-structured Dependencies.

| equation or algorithm | function | what differs |
|---|---|---|
| eq. 1, the model | ``semi_parametric.SemiParametric`` | one b = 0 on standardised values, and a random offset per leaf |
| Σ_c (not specified) | ``SemiParametric.features`` | diagonal; variances tied by depth, one for constants, one for features |
| eq. 3, likelihood by blocks | ``block_model.block_log_posterior`` | factorises B = I + Σ_c^½ A Σ_c^½ instead of Λ_c |
| eq. 4, one dense covariance | ``BlockModel.dense`` (method ``marginal``) | also used by ``tree`` below V observations: it is cheaper there |
| sec. 4.3, random Fourier features | method ``tree-nonlinear`` | |
| sec. 3, anchors and two steps | ``anchor_search.anchor_search`` | 64 anchors per path, then 1000 (not given in the paper) |
| eq. 5 and 6 maximised exactly | ``two_step.two_step`` | an option: ends in corners of shared variables |
| eq. 6, EI of a path | ``two_step.path_ei`` | sign of ξ corrected |
| table 1, c = 0 | ``independent.Independent`` | |
| the arc kernel (Swersky et al. 2014) | ``arc.Arc`` | only columns that can be inactive lie on an arc |
"""
