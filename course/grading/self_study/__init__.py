"""For somebody who learns alone: one notebook graded, one solution shown."""
