"""Runs a plan: deployments and trials, one after another, journalled."""
