"""Figures and tables from finished artefacts."""
