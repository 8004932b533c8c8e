"""The same studies as lm-evaluation-harness tasks."""
