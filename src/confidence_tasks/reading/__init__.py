"""Readers of replies, shared by several studies."""
