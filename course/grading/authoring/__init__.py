"""Make notebooks of what an instructor writes."""
