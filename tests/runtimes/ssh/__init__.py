"""Tests of tare.runtimes.ssh."""
