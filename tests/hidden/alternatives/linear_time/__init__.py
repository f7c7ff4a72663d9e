"""Right answers to the exercises of topic 17 that look nothing like the reference."""
