"""Other load generators as the load client: their input and their output."""
