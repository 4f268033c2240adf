"""A published study run again: its findings beside the run's own effects, each with a verdict."""
