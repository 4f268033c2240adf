"""Runs units on hosts that SSH reaches: as processes, or in containers of the hosts' engines."""
