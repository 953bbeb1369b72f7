"""The tables of truth, and their loader."""
