"""Right answers to topic 09 that look nothing like the reference."""
