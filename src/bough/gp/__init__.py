"""Gaussian processes: kernels, likelihood, fit and posterior. They know points, not spaces."""
