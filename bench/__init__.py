"""Measurements of Tare itself: are its statistics correct, and how fast is its analysis?"""
