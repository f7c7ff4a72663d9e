"""The answers: a module a topic, written to be read."""
