"""Sources: files and pipes read in batches."""
