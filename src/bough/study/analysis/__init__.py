"""Conclusions from the results of a study: the front, the branches, the configuration to use."""
