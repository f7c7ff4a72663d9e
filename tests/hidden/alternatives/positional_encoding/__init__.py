"""Right answers to topic 08 that look nothing like the reference."""
