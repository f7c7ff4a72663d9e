"""Right answers to topic 07 that look nothing like the reference."""
