"""Readers of replies that several studies share."""
