"""Tare's own code for MongoDB's protocol, compared with official drivers."""
