"""Signal detection: type 1, meta-d', thresholds, unequal variance."""
