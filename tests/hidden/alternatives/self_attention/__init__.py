"""Right answers to topic 06 that look nothing like the reference."""
