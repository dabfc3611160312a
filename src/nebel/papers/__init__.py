"""Papers, computed again: one file (or a few of one stem) a paper, every table and figure beside what was published."""
