"""Wrong answers to the exercises of topic 15 that no misconception knows by name."""
