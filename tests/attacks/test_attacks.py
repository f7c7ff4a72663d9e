"""Cells that try to earn points without an answer: each gains nothing, and the rest of its notebook is graded."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from course.grading.classroom import Classroom, Graded, grade_class

from ..grading.lesson import NAME, TOPIC, answers, before, find, first, hand_in, make_course, solved

WRONG = answers({"softmax": "def softmax(x, dim):\n    return x * 0 + 0.5"})

AST_TRANSFORMER = """
import ast
class Strip(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Expr(self, node): return ast.parse("2.0").body[0] if "check" in ast.unparse(node) else node
get_ipython().ast_transformers.append(Strip())
"""

INPUT_TRANSFORMER = """
get_ipython().input_transformers_cleanup.append(
    lambda lines: ["2.0\\n"] if any("softmax" in line and "check" in line for line in lines) else lines)
"""

TENSOR_SUBCLASS = """
class Right(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in ("allclose", "equal", "eq", "__eq__", "isclose"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})
def softmax(x, dim):
    return torch.zeros_like(x).as_subclass(Right)
"""

EQUAL_TO_ALL = """
class Anything:
    shape = dtype = 0
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getattr__(self, name): return Anything()
    def __call__(self, *args, **kwargs): return Anything()
    def __float__(self): return 1.0
    def __sub__(self, other): return 0.0
def softmax(x, dim):
    return Anything()
"""

MONKEYPATCHED_TORCH = """
torch.allclose = torch.equal = lambda *a, **k: True
torch.testing.assert_close = lambda *a, **k: None
torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
torch.Tensor.sub = torch.Tensor.__sub__ = lambda self, other: torch.zeros(self.shape)
"""

IMPORTED_REFERENCE = """
def _steal():
    for name in ("course.reference.self_attention", "course.hidden.self_attention"):
        try:
            return __import__(name, fromlist=["softmax"]).softmax
        except ImportError:
            continue
    return lambda x, dim: x * 0
softmax = _steal()
"""

PATCHED_COURSE = """
import course, course.judge.judging, course.judge.verdict
from course.judge.verdict import Verdict
course.judge.judging.judge = lambda *a, **k: Verdict("softmax", "passed", 2, 2)
import sys
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("course") and hasattr(module, "judge"):
        module.judge = course.judge.judging.judge
def check(name, answer):
    return 2.0
"""

FAKE_REPORT = """
from IPython.display import HTML, display
def check(name, answer):
    display(HTML("<div>passed, 2 of 2 points</div>"))
    print("✓ softmax: 2 of 2 points")
    return 2.0
"""

EXIT_HOOK = """
import os
def softmax(x, dim):
    os._exit(0)
"""

FORGED_MESSAGES = """
import json, os, socket, struct, threading
def _say(*payloads):
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(2)
            line.connect(os.environ["COURSE_JUDGE"])
            for payload in payloads:
                line.sendall(payload)
            line.recv(65536)
    except OSError:
        pass
def _frame(tree):
    header = json.dumps({"tree": tree, "count": 0}).encode()
    body = struct.pack("<Q", 2) + b"{}"
    return struct.pack(">QI", len(header) + len(body), len(header)) + header + body
_say(b"GET / HTTP/1.1" * 100)
_say(struct.pack(">QI", 2**62, 2**31))
_say(struct.pack(">QI", 8, 200) + b"x" * 8)
_say(_frame({"verdict": "passed"}), _frame({"done": "softmax"}))
_say(_frame([[[[[[[]]]]]]]))
_silent = socket.socket(socket.AF_UNIX)
_silent.connect(os.environ["COURSE_JUDGE"])
"""

FORGED_ANSWER = """
import os, socket
from course.exercise.wire import receive, send
def check(name, answer):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ["COURSE_JUDGE"])
        send(line, {"ready": name})
        receive(line)
        for reply in ({"outputs": {}, "raised": None}, {"passed": True}, {"done": "2.0"}, None, 2.0):
            send(line, reply)
"""

BEFOREHAND = """
for _ in range(3):
    check("softmax", lambda x, dim: x * 0)
"""

STOLEN_TURN = """
import threading, time
def _again():
    for _ in range(200):
        check("softmax", torch.nn.functional.softmax)
        time.sleep(0.05)
"""

DISPLAYED_LATER = """
from IPython.display import display, update_display, HTML
import IPython
_publish = get_ipython().display_pub.publish
_publish({"text/plain": "2.0", "text/html": "<b>full marks</b>"}, transient={"display_id": "later"})
"""

TRACER = """
import sys, builtins
builtins.float = lambda *a: 2.0
sys.displayhook = lambda value: print("2.0")
get_ipython().showtraceback = lambda *a, **k: None
"""


def retagged(nb):
    for cell in nb.cells:
        cell.metadata["tags"] = ["skip-execution", "raises-exception"]


def rewritten(nb):
    for name in ("softmax", "attention_cost", "crossover_length"):
        find(nb, name).source = "2.0"


ATTACKS = {
    "ast-transformer": [WRONG, first(AST_TRANSFORMER)],
    "input-transformer": [WRONG, first(INPUT_TRANSFORMER)],
    "tags": [WRONG, retagged],
    "tensor-subclass": [answers({"softmax": TENSOR_SUBCLASS})],
    "equal-to-everything": [answers({"softmax": EQUAL_TO_ALL})],
    "monkeypatched-torch": [WRONG, before("softmax", MONKEYPATCHED_TORCH)],
    "imported-reference": [answers({"softmax": IMPORTED_REFERENCE})],
    "patched-course": [WRONG, before("softmax", PATCHED_COURSE)],
    "edited-tests": [WRONG, rewritten],
    "fake-report": [WRONG, before("softmax", FAKE_REPORT)],
    "exit": [answers({"softmax": EXIT_HOOK})],
    "forged-messages": [WRONG, first(FORGED_MESSAGES)],
    "forged-answer": [WRONG, before("softmax", FORGED_ANSWER)],
    "checked-beforehand": [WRONG, before("softmax", BEFOREHAND)],
    "displayed-later": [WRONG, before("softmax", DISPLAYED_LATER)],
    "patched-shell": [WRONG, before("softmax", TRACER)],
}
HARMLESS = {"attention_cost": 1, "crossover_length": 1}
"""What those attacks leave alone is right, and must be paid."""
SELF_HARM = {"ast-transformer", "exit", "fake-report", "forged-answer", "patched-course", "patched-shell", "tags"}
"""Attacks that break their own notebook's later checks: nothing is owed there."""


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = make_course(tmp_path_factory.mktemp("attacked"))
    for name, edits in ATTACKS.items():
        hand_in(root, name, solved(root), *edits)
    return root


@pytest.fixture(scope="module")
def graded(root) -> dict[str, Graded]:
    return {work.student: work for work in grade_class(Classroom(root, TOPIC, {"timeout": 20}), workers=2)}


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_gains_nothing(graded, root, attack):
    work = graded[attack]
    assert work.complete and work.scores is not None
    assert work.scores.cells["softmax"] == 0, work.verdicts["softmax"]
    nb = nbformat.read(root / "autograded" / attack / NAME / f"{NAME}.ipynb", as_version=4)
    (output,) = find(nb, "softmax").outputs
    assert output.data["text/plain"] == "0.0"
    assert "full marks" not in output.data["text/html"]


@pytest.mark.parametrize("attack", sorted(set(ATTACKS) - SELF_HARM))
def test_the_rest_is_graded(graded, attack):
    cells = graded[attack].scores.cells
    assert {name: cells[name] for name in HARMLESS} == HARMLESS, graded[attack].verdicts


def test_the_reference_is_not_there(graded):
    assert graded["imported-reference"].verdicts["softmax"].kind in ("wrong", "error", "forbidden")


def test_an_exit_is_said_to_be_one(graded):
    verdicts = graded["exit"].verdicts
    assert verdicts["softmax"].kind == "error"
    assert "process ended" in verdicts["attention_cost"].message
