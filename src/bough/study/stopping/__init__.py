"""Spending less on bad trials: rules over learning curves, fidelities, races over instances."""
