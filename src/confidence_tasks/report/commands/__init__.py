"""The commands that read trials."""
