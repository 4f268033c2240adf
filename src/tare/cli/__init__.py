"""The tare command line."""
