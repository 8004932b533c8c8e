"""Calibration: errors over bins, proper scores, reliability curves, recalibration."""
