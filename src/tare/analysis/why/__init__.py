"""What changed with an effect, and its share in the explanation."""
