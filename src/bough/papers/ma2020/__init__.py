"""Ma & Blaschko 2020, Additive Tree-Structured Covariance Function for Conditional Parameter Spaces.

| equation or algorithm | function | what differs |
|---|---|---|
| Algorithm 1 and eq. 5, the covariance | ``additive_tree.additive_tree`` | offsets per vertex; variances learned under tight priors |
| Appendix E, interactions | ``additive_tree(..., products="joint")`` | one joint term per activation signature |
| Algorithm 2, vertex by vertex | ``separable_ucb.additive_ucb`` | bounds changes from anchors: Σ_v σ_v of the paper does not shrink |
| Algorithm 2, the best path | ``parts.convex_tree_path``, ``path_parts`` | dynamic programming on tangents where paths are too many to list |
| β_t | ``separable_ucb.beta`` | |
"""
