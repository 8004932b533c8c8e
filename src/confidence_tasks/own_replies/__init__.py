"""Answers of anybody, in any table, as trials of the study ``benchmark``."""
