"""Wrong answers to topic 10 that the hidden tests must notice, beyond the misconceptions they know by name."""
