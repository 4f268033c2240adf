"""Trials that were measured elsewhere: other tools' files become records of a run."""
