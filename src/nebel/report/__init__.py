"""Reports: what an experiment found, as tables, charts and boards on one page."""
