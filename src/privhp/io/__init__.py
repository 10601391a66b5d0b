"""Files and data frames: reading records, writing synthetic ones."""
