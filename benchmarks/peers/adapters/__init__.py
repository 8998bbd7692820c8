"""The interface to each peer, run in the peers' environment: it imports neither bough nor the benchmarks.

Run as ``python -m adapters NAME`` (see ``__main__``) with the folder above on the path. An adapter is a
function ``(space, seed, trials)`` that returns a generator: it yields configs of exactly the active
parameters and is sent the value of each, or None if the evaluation failed. It may end early if it has no
new config.
"""
