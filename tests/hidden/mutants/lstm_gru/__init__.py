"""Wrong answers to topic 04 that the hidden tests must notice, first attempts of beginners among them."""
