"""What every room stands on: rules, games, states, trees, recall and randomness."""
