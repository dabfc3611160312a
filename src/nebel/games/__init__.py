"""The built-in games: one file holds a game's rules, notation and picture."""
