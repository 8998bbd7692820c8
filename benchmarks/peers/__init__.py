"""Other optimisers, each in a separate process with separate packages (``make bench-peers``).

Rules: each peer gets the conditional space in the form that suits it best, keeps its defaults, and has the
same budget and seed as our methods; inactive parameters are not passed to the function. ``adapters/`` has a
file per library, which describes how it gets a space and how it learns that an evaluation failed.
"""

from benchmarks.peers.client import PEERS, peer_python, run_peer

__all__ = ["PEERS", "peer_python", "run_peer"]
