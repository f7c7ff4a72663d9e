"""Wrong answers to the exercises of topic 17 that no misconception knows by name."""
