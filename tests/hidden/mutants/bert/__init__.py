"""Wrong answers to the exercises of topic 16."""
