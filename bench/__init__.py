"""Measurements of Tare itself: whether its statistics hold, and how fast its analysis is."""
