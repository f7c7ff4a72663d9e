"""Run the command line as `python -m course ...`, the same as `course ...`."""

import sys

from course.cli import main

sys.exit(main())
