"""Right answers to topic 01 that look nothing like the reference."""
