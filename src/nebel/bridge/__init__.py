"""To and from OpenSpiel and PettingZoo."""
