"""Wrong answers to the exercises of topic 19 that no misconception knows by name."""
