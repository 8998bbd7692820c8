"""Ma & Blaschko 2020, Additive Tree-Structured Covariance Function for Conditional Parameter Spaces.

| equation or algorithm | function | what differs |
|---|---|---|
| Algorithm 1 and eq. 5, the covariance | ``additive_tree.additive_tree`` | offsets per vertex; variances learned under tight priors |
| eq. 10 and Appendix B, blocks | ``blocks.independent_rows`` | from 250 rows on |
| Appendix E, interactions | ``additive_tree(..., products="pairs")`` | each product has its own length-scales; ``evidence`` chooses |
| Algorithm 2, vertex by vertex | ``separable_ucb.additive_ucb`` | bounds changes from anchors, as Σ_v σ_v does not shrink; ``anchored=False`` as printed |
| Algorithm 2, the best path | ``parts.convex_tree_path``, ``path_parts`` | dynamic programming on tangents where paths are too many to list |
| β_t | ``separable_ucb.beta`` | |
"""
