"""Ways to find the point that a criterion values most; each returns it snapped, legal and scored."""
