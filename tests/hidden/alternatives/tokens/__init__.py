"""Right answers to topic 13 that look nothing like the reference."""
