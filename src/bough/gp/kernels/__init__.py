"""Covariance functions: values that return a matrix and the pullback of its gradients."""
