"""Thinking at the board: what a player does who has time to search before each move."""
