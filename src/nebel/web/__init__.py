"""The page: a server that tells each seat what it may know, and what the browser needs to show it."""
