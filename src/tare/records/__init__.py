"""The records of trials: the files of a run, their models, and how they are read."""
