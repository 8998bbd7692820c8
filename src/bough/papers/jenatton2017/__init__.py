"""Jenatton, Archambeau, González & Seeger 2017, Bayesian Optimization with Tree-structured Dependencies.

| equation or algorithm | function | what differs |
|---|---|---|
| eq. 1, the model | ``semi_parametric.SemiParametric`` | one b = 0 on standardised values, and a random offset per leaf |
| Σ_c (diagonal; its values are not given) | ``semi_parametric.SemiParametric.features`` | variances tied by depth, learned under priors |
| sec. 2.4, linear r_v | ``features.Linear``, ``features.OneHot`` | a number enters as 2r − 1, beside a constant |
| eq. 2, posterior by blocks | ``structured.LowRank`` | factorises B = I + Σ_c^½ A Σ_c^½ instead of Λ_c |
| eq. 3, likelihood by blocks | ``block_model.block_log_posterior`` | plus priors; fitted again when data have grown by 5 % |
| eq. 4, one dense covariance | ``block_model.BlockModel.dense``, method ``marginal`` | also used by ``tree`` below V observations: it is cheaper there |
| eq. 5, EI | ``bough.acquisition.functions.log_ei`` | its logarithm; sign of ξ corrected; under noise y_min is a posterior mean |
| eq. 6, EI of a path | ``two_step.path_ei`` | the same |
| sec. 3, anchors and two steps | ``anchor_search.anchor_search`` | Halton, not Sobol; 64 of 1000 anchors rank a path (no number is given); ``search="refined"`` refines the leaf |
| sec. 3.1, several top-ranked leaves | option ``keep`` | named as future work |
| eq. 5 and 6 maximised exactly | ``two_step.two_step`` | an option: ends in corners of shared variables |
| table 1, c = 0 | ``independent.Independent`` | hyperparameters per path |
| table 1, O(V³ + Σ n_p³) | ``structured.LowRank`` | at most 2,000 observations, option ``working_set`` |
| sec. 4, one random candidate per path | ``bough.strategies.initial.InitialDesign`` | ``initial="paths"``; the default is from the middle half of ranges |
| sec. 4.1 and supplement, functions | ``benchmarks.problems.jenatton.jenatton`` | the supplement's are not printed: ours are invented |
| sec. 4.2, the MLP, three topologies | ``benchmarks.problems.mlp.mlp_space`` | a network in NumPy, 60 epochs, 24 of 45 data sets |
| sec. 4.3, random Fourier features | ``features.Fourier``, method ``tree-nonlinear`` | 16 frequencies per node (no number is given) |
| sec. 5, context kernel | ``bough.strategies.fidelity_history.history_with_fidelity`` | the fidelity is a column of the model |
| sec. 5, cost-normalised (p, β) | ``bough.strategies.fidelity_gain.next_evaluation`` | an index instead: the printed quotient always takes the lowest β |
| sec. 5, Hyperband's triplets | ``bough.Study.add`` | results at any fidelity may be added |
| the arc kernel (Swersky et al. 2014) | ``arc.Arc`` | only columns that can be inactive lie on an arc |
"""
