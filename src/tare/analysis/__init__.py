"""From records to effects, verdicts and validity; never touches a machine."""
