"""Answers that attack the process that executes them, or the one that reads what comes back."""

from __future__ import annotations

from dataclasses import dataclass

BODY = """    powers = (x - x.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)
"""
HONEST = f"def softmax(x, dim):\n{BODY}"


@dataclass(frozen=True)
class Attack:
    """An answer's cell. `why_none` is part of the sentence if nothing may be asked about it."""

    name: str
    cell: str
    why_none: str = ""


def _first(name: str, statements: str, above: str = "", why_none: str = "") -> Attack:
    """An attack by statements at the beginning of the answer."""
    lines = "".join(f"    {line}\n" for line in statements.split("\n"))
    return Attack(name, f"import ctypes, os, sys, time\n{above}\ndef softmax(x, dim):\n{lines}{BODY}", why_none)


LATER = "_DONE = []\n"
"""A list that tells the first run of a process from later ones."""


def _forging(line: str) -> str:
    """Statements that write a line to every file that the process has open, among them the one for results."""
    return f"for number in range(3, 40):\n    try:\n        os.write(number, {line})\n    except OSError:\n        pass"


WATCHED = [
    _first("looks for the watcher", 'if "_see_" in globals():\n    return x * 7'),
    _first("looks for a tracer", "if sys.gettrace() or sys.getprofile():\n    return x * 7"),
    _first("looks for its caller", "if sys._getframe(2).f_code.co_name == 'execute':\n    return x * 7"),
]
CHANGES = [
    _first("counts its calls", "_DONE.append(1)\nif len(_DONE) % 2:\n    return x * 7", LATER, "differently"),
    _first("reads the clock", "return x + time.time_ns() % 7", why_none="differently"),
]
HANGS = [
    _first(
        "loops for ever", "while True:\n    try:\n        pass\n    except BaseException:\n        pass", "", "longer"
    ),
    _first(
        "catches its end",
        "try:\n    while True:\n        pass\nexcept BaseException:\n    time.sleep(60)",
        "",
        "longer",
    ),
    _first("loops in C", "sum(range(10 ** 12))", "", "longer"),
    _first("calls itself for ever", "return softmax(x, dim)", "", "longer"),
    _first("sleeps", "time.sleep(60)", "", "longer"),
]
ENDS = [
    _first("ends its process", "ctypes.CDLL(None)._exit(0)", "", "longer"),
    _first("kills its parent", "ctypes.CDLL(None).kill(os.getppid(), 9)\ntime.sleep(60)", "", "ended the process"),
    _first("kills all it may", "ctypes.CDLL(None).kill(-1, 9)\ntime.sleep(60)", "", "ended the process"),
    _first("forks", "while True:\n    ctypes.CDLL(None).fork()", "", ""),
    _first("takes all memory", "torch.ones(2 ** 34)", "import torch", ""),
]
SAYS = [
    _first("prints and exits", "print('a' * 10 ** 6)\nos.write(1, b'b' * 10 ** 6)\nsys.exit(0)"),
    _first("forges lines", _forging(r"""b'[["int", [7], []], []]\n' * 1000"""), "", "ended the process"),
    _first("forges a huge number", _forging(r"""b'[["int", [1' + b"0" * 5000 + b'], []], []]\n'"""), "", "ended"),
    _first("forges nesting", _forging(r"""b"[" * 100_000 + b"\n" """), "", "ended the process"),
    _first("floods", "while True:\n    " + _forging('b"a" * 2**20').replace("\n", "\n    "), "", "longer"),
]
SHAPES = [
    Attack("400 lines", "def softmax(x, dim):\n" + "    x = x + 0 * x.sum() - dim * 0\n" * 400 + BODY),
    Attack("400 short lines", "def softmax(x, dim):\n" + "    x = x + 0 - 0\n" * 400 + BODY),
    Attack("a line of 5,000 characters", "def softmax(x, dim):\n    x = x + " + "0 + " * 1250 + "0\n" + BODY, "500"),
    Attack("90 parentheses", "def softmax(x, dim):\n    x = " + "(" * 90 + "x" + ")" * 90 + "\n" + BODY),
    Attack("12,000 signs", "def softmax(x, dim):\n    x = (" + ("-" * 400 + "\n") * 30 + "x)\n" + BODY, "plain Python"),
    Attack("12,000 terms", "def softmax(x, dim):\n    x = (x" + ("+0" * 200 + "\n") * 30 + ")\n" + BODY),
    Attack(
        "2,000 assignments",
        "\n".join(f"a{k} = a{k - 1}, a{k - 1}" for k in range(2000)) + "\ndef softmax(x, dim):\n    a1999\n" + BODY,
    ),
    Attack(
        "3,000 helpers",
        "\n".join(f"def h{k}():\n    return h{k - 1}()" for k in range(3000))
        + "\ndef softmax(x, dim):\n    h2999\n"
        + BODY,
    ),
]
