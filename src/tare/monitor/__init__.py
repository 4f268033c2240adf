"""Watches machines and units with tare-probe."""
