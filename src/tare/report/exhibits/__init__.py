"""Figures and tables that a study asks for, drawn from data without knowing what they mean."""
