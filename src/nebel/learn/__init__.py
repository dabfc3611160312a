"""Learning with networks."""
