"""Resampling, intervals and tests whose unit is the question."""
