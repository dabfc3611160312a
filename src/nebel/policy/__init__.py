"""Strategies as values: tables, files, and how to look at them."""
