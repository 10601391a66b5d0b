"""Plans: all that is fixed before the data."""
