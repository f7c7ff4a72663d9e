"""Wrong answers to the exercises of topic 18 that no misconception knows by name."""
