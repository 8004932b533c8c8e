"""The report: findings as one self-contained page."""
