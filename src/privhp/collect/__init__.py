"""Confidential code: records, noise and counts, up to the release."""
