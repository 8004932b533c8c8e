"""Adapters that run a study as tasks of Inspect AI and lm-eval."""
