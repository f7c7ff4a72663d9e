"""What `fit` remembers of the code a model was trained with."""

from __future__ import annotations

import subprocess
import sys

from course.notebook.provenance import code_of, digests

CELL = """# a comment
class Net:
    \"\"\"A network.\"\"\"
    def forward(self, x):
        return x

def train(model, batches):
    for batch in batches:
        pass
"""

SESSION = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
cell = shell.user_ns["cell"] = {CELL!r}
shell.run_cell(cell)
shell.run_cell("build = lambda: Net()")
shell.run_cell("from torch.nn import Linear; from course.notebook.provenance import code_of, digests")
shell.run_cell("print(code_of([train, Net, build, Linear, print, None]) == digests(cell))")
"""


def test_layout_and_comments_do_not_count_and_code_does() -> None:
    assert set(digests(CELL)) == {"Net", "train"}
    assert digests(CELL) == digests(CELL.replace("        pass", "        pass  # nothing").replace("# a", "#"))
    changed = digests(CELL.replace("return x", "return -x"))
    assert changed["Net"] != digests(CELL)["Net"] and changed["train"] == digests(CELL)["train"]


FORMATTED = r"""
def train(model, x):
    for step in range(3):
        print(f"step {step:>{len('abc')}}: {x['loss']!r:.3f} it's \"so\" {x}\n")
"""


def test_a_digest_is_the_same_with_every_python() -> None:
    assert digests(FORMATTED) == {"train": "aa4d2bf92630ed01"}  # as 3.11, 3.12 and 3.13 have it
    assert digests(FORMATTED) != digests(FORMATTED.replace("!r", "!s")) != digests(FORMATTED.replace(".3f", ".2f"))


def test_what_is_nested_too_deeply_has_none() -> None:
    assert digests("def f():\n    return " + " + ".join(["0"] * 5000)) == {}


def test_magics_are_passed_over_and_broken_code_has_none() -> None:
    assert set(digests("%time\n!ls\ndef f(): pass")) == {"f"}
    assert digests("def f(:") == {}


def test_what_a_notebook_defines_is_found_and_nothing_else() -> None:
    ran = subprocess.run([sys.executable, "-c", SESSION], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "True", ran.stdout + ran.stderr


def test_the_librarys_own_code_is_not_noted() -> None:
    assert code_of([digests, int, None]) == {}
