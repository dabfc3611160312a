"""What only Geister has: its competition, beliefs about colours, endgames."""
