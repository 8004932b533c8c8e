"""A study as tasks of each harness."""
