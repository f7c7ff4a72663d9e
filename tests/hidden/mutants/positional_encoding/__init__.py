"""Wrong answers to topic 08 that the hidden tests must notice, beyond the misconceptions they know by name."""
