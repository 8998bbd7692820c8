"""From posteriors to the next point: what a point is worth, and where it is worth most."""
