"""Right answers to the exercises of topic 15 that look nothing like the reference."""
