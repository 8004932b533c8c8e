"""Intervals stated for a number: coverage, width, Winkler score, conformal adjustment."""
