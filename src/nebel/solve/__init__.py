"""Exact and sampled tabular solving."""
