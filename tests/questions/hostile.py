"""Answers that attack the process that executes them, or the one that reads what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

BODY = """    powers = (x - x.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)
"""


@dataclass(frozen=True)
class Attack:
    """The cell of an answer, and a part of the sentence that says why nothing is asked, or nothing for questions."""

    name: str
    cell: str
    why_none: str = ""


def _begins(name: str, statements: str, why_none: str = "", above: str = "") -> Attack:
    """An answer that is right except for the statements at its beginning."""
    lines = "".join(f"    {line}\n" for line in statements.split("\n"))
    return Attack(name, f"import ctypes, os, sys, time\n{above}\ndef softmax(x, dim):\n{lines}{BODY}", why_none)


def _writes(line: str) -> str:
    """Statements that write to every file that the process has open, among them the one for results."""
    return f"for number in range(3, 40):\n    try:\n        os.write(number, {line})\n    except OSError:\n        pass"


OTHER = "differently"
LATE, ENDED, LONG = "longer than a question", "ended the process", "too long"
LAST_WORDS = "try:\n    while True:\n        pass\nexcept BaseException:\n    time.sleep(60)"

ODD = [
    _begins("looks for the watcher", 'if "_see_" in globals():\n    return x * 7'),
    _begins("looks for a tracer", "if sys.gettrace() or sys.getprofile():\n    return x * 7"),
    _begins("looks for its caller", "if sys._getframe(2).f_code.co_name == 'execute':\n    return x * 7"),
    _begins("patches torch", "torch.Tensor.tolist = lambda tensor: [7.0]", ENDED),
    _begins("patches the runner", "sys.modules['course.questions.outcomes'].same = lambda a, b: True"),
    _begins("prints", "print('a' * 10 ** 6)\nos.write(1, b'b' * 10 ** 6)"),
    _begins("reads the clock", "return x + time.time_ns() % 1_000_003", OTHER),
    _begins("counts", "COUNTED.append(0)\nreturn x + len(COUNTED)", OTHER, "COUNTED = []"),
    _begins("exits", "sys.exit(0)", "does not run on its own"),
    _begins("takes all memory", "torch.ones(2 ** 36)", "does not run on its own"),
]
HANGING = [
    _begins("loops for ever", "while True:\n    try:\n        pass\n    except BaseException:\n        pass", LATE),
    _begins("outlives its end", LAST_WORDS, LATE),
    _begins("loops in C", "sum(range(10 ** 12))", LATE),
    _begins("calls itself for ever", "return softmax(x, dim)", LATE),
    _begins("sleeps", "time.sleep(60)", LATE),
    _begins("forks", "while True:\n    ctypes.CDLL(None).fork()", LATE),
    _begins("sends without end", "while True:\n" + indent(_writes('b"a" * 2**20'), "    "), LATE),
]
ENDING = [
    _begins("ends its process", "ctypes.CDLL(None)._exit(0)", LATE),
    _begins("kills its parent", "ctypes.CDLL(None).kill(os.getppid(), 9)\ntime.sleep(60)", ENDED),
    _begins("kills all it may", "ctypes.CDLL(None).kill(-1, 9)\ntime.sleep(60)", ENDED),
    _begins("forges results", _writes(r"""b'[["int", [7], []], []]\n' * 1000"""), ENDED),
    _begins("forges a huge number", _writes(r"""b'[["int", [1' + b"0" * 5000 + b'], []], []]\n'"""), ENDED),
    _begins("forges nesting", _writes(r"""b"[" * 100_000 + b"\n" """), ENDED),
]
NAMES = "\n".join(f"a{k} = a{k - 1}, b{k - 1}\nb{k} = b{k - 1}, a{k - 1}" for k in range(1, 90))
"""Assignments of which each needs the two before it, so that a reader without a memory takes 2**89 steps."""

LARGE = [
    Attack("400 lines", "def softmax(x, dim):\n" + "    x = x + 0 * x.sum() - dim * 0\n" * 400 + BODY, LONG),
    Attack("a long line", "def softmax(x, dim):\n    x = x + " + "0 + " * 1250 + "0\n" + BODY, "500 characters"),
    Attack("90 parentheses", "def softmax(x, dim):\n    x = " + "(" * 90 + "x" + ")" * 90 + "\n" + BODY),
    Attack("signs", "def softmax(x, dim):\n    x = (" + ("-" * 400 + "\n") * 30 + "x)\n" + BODY, "not written"),
    Attack("names", f"a0 = b0 = 1\n{NAMES}\ndef softmax(x, dim):\n    x = x + 0 * (a89 is b89)\n{BODY}"),
]
