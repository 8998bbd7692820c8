"""Other optimisers, each in a separate process with separate packages (``make bench-peers``).

Rules: each peer gets the conditional space in its own best form, keeps its own defaults, and has the same
budget and seed as our methods; inactive parameters are no part of what is evaluated. ``adapters/`` has a file
per library, which says in what form it gets a space and how it is told that an evaluation failed.
"""

from benchmarks.peers.client import PEERS, peer_python, run_peer

__all__ = ["PEERS", "peer_python", "run_peer"]
