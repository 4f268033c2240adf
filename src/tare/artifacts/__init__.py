"""Same bits: one locked, checksummed tree of the database's files, and the images made from it."""
