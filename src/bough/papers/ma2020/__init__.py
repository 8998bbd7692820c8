"""Ma & Blaschko 2020, Additive Tree-Structured Covariance Function for Conditional Parameter Spaces.

| equation or algorithm | function | what differs |
|---|---|---|
| definitions 1 to 3, the tree | ``bough.space.tree.Tree`` | also directed acyclic graphs |
| Algorithm 1 and eq. 5, the covariance | ``additive_tree.additive_tree`` | Matérn-5/2 unless ``kernel="se"``; offsets per vertex; variances learned under tight priors |
| Appendix A, tags of active vertices | ``bough.points.Points`` | two inactive points have no covariance |
| maximum likelihood | ``bough.gp.fit.fit_map`` | length-scales and variances have a prior with a common centre |
| eq. 9 and 10, Appendix B, blocks | ``blocks.independent_rows`` | from 250 rows on |
| Algorithm 2, vertex by vertex | ``separable_ucb.additive_ucb`` | bounds changes from anchors, as Σ_v σ_v does not shrink; ``bound="literal"`` as printed |
| Algorithm 2, the best path | ``parts.convex_tree_path``, ``parts.path_parts`` | dynamic programming on tangents where paths are too many to list |
| Algorithm 2, loops in parallel | ``separable_ucb.additive_ucb`` | one batch of arrays, one thread |
| β_t = 0.2 d log 2t | ``separable_ucb.beta`` | d is the dimension of a vertex |
| the released code's bound on every leaf | method ``add-tree`` | ``acquisition="lcb"`` with κ = 2, not 1 and 5 |
| Appendix D, other acquisitions | method ``add-tree`` | searches every path; ``tree`` has the two steps |
| Appendix E, interactions | ``additive_tree.additive_tree`` | ``products="pairs"`` or ``"paths"``; each product has its own length-scales |
| Appendix E, choice of terms | ``evidence.BestByEvidence`` | Schwarz's criterion; the paper leaves it open |
| sec. 5.1, the synthetic function | ``benchmarks.problems.jenatton.jenatton`` | |
| eq. 11, compression of a network | ``benchmarks.problems.compress.compress`` | a network of ours |
"""
