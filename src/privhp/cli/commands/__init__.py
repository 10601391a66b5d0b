"""What each command does: a file for each, imported when it is run."""
