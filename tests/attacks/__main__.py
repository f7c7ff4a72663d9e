"""`python -m tests.attacks`: the table of attacks on this machine."""

import sys

from .suite import main

if __name__ == "__main__":
    sys.exit(main())
