"""Strategies: each turns the history of a study into the next point to try."""
