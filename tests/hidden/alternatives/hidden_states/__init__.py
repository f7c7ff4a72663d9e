"""Right answers to topic 14 that look nothing like the reference."""
