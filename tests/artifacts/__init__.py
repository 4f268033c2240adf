"""Tests of tare.artifacts."""
