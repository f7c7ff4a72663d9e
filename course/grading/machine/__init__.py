"""Know the grading machine: its memory and cores, its faults, its signals, and `course doctor`."""
