"""Who beats whom: agents, matches between them, ratings."""
