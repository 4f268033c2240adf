"""Imported trials: other tools' files become records of a run."""
