"""Meta-information: how much of the uncertainty about correctness confidence removes."""
