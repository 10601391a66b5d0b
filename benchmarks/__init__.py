"""Measurements: speed as ratios to anchors in one run, accuracy with its spread."""
