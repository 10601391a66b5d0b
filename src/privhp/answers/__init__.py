"""Public code: everything computed from a release."""
