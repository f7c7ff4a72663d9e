"""Right answers to topic 11 that look nothing like the reference."""
