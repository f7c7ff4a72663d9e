"""Wrong answers to the exercises of topic 21 that no misconception knows by name."""
