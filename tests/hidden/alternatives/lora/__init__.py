"""Right answers to topic 12 that look nothing like the reference."""
