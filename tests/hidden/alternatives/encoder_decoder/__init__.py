"""Right answers that look different from the reference: all must get full marks."""
