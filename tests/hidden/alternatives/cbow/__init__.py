"""Right answers to topic 02, written in other ways: each must get full marks."""
