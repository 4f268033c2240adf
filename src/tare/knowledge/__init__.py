"""Published effects with their conditions and sources, and the user's own."""
