"""Right answers to topic 03 that look nothing like the reference."""
