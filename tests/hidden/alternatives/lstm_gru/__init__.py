"""Right answers to topic 04 that look nothing like the reference."""
