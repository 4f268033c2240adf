"""Published studies run again."""
