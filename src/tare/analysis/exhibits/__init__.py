"""Figures and tables that a study asks for, as data, after the papers that first printed them."""
