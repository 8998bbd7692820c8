"""Other optimisers, each in a process of its own with packages of its own (``make bench-peers``)."""

from benchmarks.peers.client import PEERS, peer_python, run_peer

__all__ = ["PEERS", "peer_python", "run_peer"]
