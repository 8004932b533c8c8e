"""Studies as tasks, scorers and metrics of Inspect AI."""
