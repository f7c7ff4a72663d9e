"""Right answers to the exercises of topic 18 that look nothing like the reference."""
