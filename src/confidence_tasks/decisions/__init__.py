"""From trials to decisions: which answers may be accepted, and what a stated confidence means."""
