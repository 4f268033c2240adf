"""Kills, stops and breaks running studies at random times, and checks what Tare promises."""
