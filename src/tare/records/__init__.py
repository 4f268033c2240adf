"""What trials leave behind: the files of a run, their models, and how they are read."""
