"""Figures: what they show, how each panel is drawn, and SVG for pages and papers."""
