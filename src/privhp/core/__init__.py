"""Cells and budgets: what everything else is counted in."""
