"""A term with 300 students, collected from Canvas and Moodle, graded, exported, and imported there again.

`python -m tests.term_of_300` makes the class, runs the commands an instructor types, reads the exports as Canvas and
Moodle read them, and compares each number with `gradebook.db` and with the course's rules. `--students 12` makes a
small class, and `--write` keeps the figures in `results.json`. The modules are:

- `people.py`: the students, and by which names and ids Canvas, Moodle and the course know them.
- `work.py`: who hands in what and when, and the points that follow.
- `canvas.py` and `moodle.py`: what each platform gives out, and how its import reads what it is given.
- `__main__.py`: the run, and the comparison.
- `online.py`: the same through the platforms' interfaces, with `python -m tests.term_of_300.online`.
"""
