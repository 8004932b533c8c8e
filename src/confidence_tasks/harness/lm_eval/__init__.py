"""Tasks, request types and models of lm-evaluation-harness."""
