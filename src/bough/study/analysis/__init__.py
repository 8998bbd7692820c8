"""What the results of a study say: the front, the branches, the configuration to use."""
