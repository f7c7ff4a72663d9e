"""Right answers to topic 05 that look nothing like the reference."""
