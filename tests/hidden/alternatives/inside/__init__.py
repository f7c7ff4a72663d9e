"""Right answers to the exercises of topic 20 that look nothing like the reference."""
