"""A class is graded: who is looked at, what is executed, what is saved and shown."""
