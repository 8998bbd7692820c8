"""How each peer is asked, in the peers' environment: nothing here imports bough or the other benchmarks.

Run as ``python -m adapters NAME`` (see ``__main__``) with the folder above on the path. An adapter is a
function ``(space, seed, trials)`` that returns a generator: it yields configs of exactly the active
parameters and is sent the value of each, or None if the evaluation failed. It may end early when it has
nothing new.
"""
