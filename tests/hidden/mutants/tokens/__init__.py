"""Wrong answers to topic 13 that no misconception knows by name."""
