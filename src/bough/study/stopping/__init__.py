"""Spends less on bad trials: rules on learning curves, fidelities, races over instances."""
