"""Wrong answers to the exercises of topic 20 that no misconception knows by name."""
