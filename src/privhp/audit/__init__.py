"""Audits: privacy loss measured in many runs of a plan, against what the plan claims.

An audit can refute a guarantee, never prove it.
"""
