"""The commands of ``confidence-tasks`` on logs, one a file."""
