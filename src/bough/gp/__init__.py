"""Gaussian processes over ``Points``: kernels, hyperparameters, solvers, inference, posteriors."""
