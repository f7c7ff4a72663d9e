"""Right answers to the exercises of topic 21 that look nothing like the reference."""
