"""What decides whether a result can be trusted; every check gives one line and its details."""
