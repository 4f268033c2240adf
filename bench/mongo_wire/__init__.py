"""Our own protocol code beside official drivers, over MongoDB's protocol."""
