"""Drives a cluster with tare-load: specifications, clients, warm-up."""
