"""Build notebooks from an instructor's sources."""
