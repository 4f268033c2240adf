"""From a study file to a plan: parse, validate, expand, order, refuse."""
