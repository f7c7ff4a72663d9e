"""Right answers to the exercises of topic 19 that look nothing like the references."""
