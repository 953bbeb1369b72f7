"""Measures ramify beside its peers, one question a file: `python -m bench [--quick] [NAME …]`."""
