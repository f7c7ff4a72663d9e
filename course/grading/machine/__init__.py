"""The machine that grades: its memory and cores, its faults, its signals, and `course doctor`."""
