"""Logs of both harnesses and plain files, read into one table of trials for each task and model."""
