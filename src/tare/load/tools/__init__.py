"""Other load generators as the load client: what they are told, and what they tell."""
