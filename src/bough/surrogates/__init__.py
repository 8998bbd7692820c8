"""Surrogates: one paper, one file. Each learns from points and targets and returns posteriors."""
