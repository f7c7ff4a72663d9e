"""Wrong answers to topic 08 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART: dict[str, str] = {}
"""Catalogue rows of this topic that our signatures cannot express, and why: none."""
