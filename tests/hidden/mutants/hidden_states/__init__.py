"""Wrong answers to topic 14 that the hidden tests must notice, beyond the misconceptions they know by name."""
