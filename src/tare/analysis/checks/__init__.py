"""What decides whether a result can be trusted; all of them are listed in `all_checks.py`."""
