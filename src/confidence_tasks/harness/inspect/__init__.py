"""Tasks, solvers, scorers, metrics and models of Inspect AI."""
