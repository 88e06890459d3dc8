"""What compare.py compares, an operation a file, and who takes part."""
