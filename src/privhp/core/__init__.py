"""Integers, budgets and bytes that all other packages share."""
