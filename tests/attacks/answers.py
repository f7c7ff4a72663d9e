"""Answers that are none: four in a notebook, one an exercise of the lesson, each with what it brings along.

Every one earns nothing, and its verdict says why.
"""

from __future__ import annotations

from typing import NamedTuple

WRONG = {
    "softmax": "def softmax(x, dim):\n    return x * 0 + 0.5",
    "attention_cost": "def attention_cost(n, d):\n    return {}",
    "crossover_length": "def crossover_length(d):\n    return -1.0",
    "attention_for_one": "def attention_for_one(query, keys, values):\n    return values[0] * 0",
}
EXERCISES = tuple(WRONG)


class Trick(NamedTuple):
    """An answer that is wrong, or a wrong one (`source` empty) with a cell `before` its check."""

    name: str
    aim: str
    source: str = ""
    before: str = ""


FORGING = """import json, os, socket, struct
import course.notebook.checking as checking
from course.exercise.values import encode
from course.exercise.wire import pack, receive, send
if "honest" not in globals():
    honest = check
EMPTY = struct.pack("<Q", 2) + b"{}"
RECORDING = {"outputs": {}, "raised": None, "mutated": [], "watched": [], "seconds": 0.0}
def framed(header, body=EMPTY):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">QI", len(header) + len(body), len(header)) + header + body
def tensors(facts, data=b""):
    facts = json.dumps(facts).encode()
    return struct.pack("<Q", len(facts)) + facts + data
def out(tree):
    recording = encode(RECORDING)[0]
    return [recording[0], [[key, ["dict", [[["str", "out"], tree]]] if key == ["str", "outputs"] else value]
        for key, value in recording[1]]]
def forged(*payloads):
    def check(name, answer):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(os.environ["COURSE_JUDGE"])
            send(line, {"ready": name})
            try:
                for payload in payloads:
                    receive(line)
                    line.sendall(payload)
                line.settimeout(5)
                while line.recv(65536): pass
            except (OSError, ValueError) as error:
                print("the judge hung up:", error)
    return check
"""


def _forged(name: str, payloads: str) -> Trick:
    return Trick(name, "the judge", before=f"{FORGING}checking.check = check = forged({payloads})")


def _tensor(facts: str, data: str = "b''", tree: str = "['tensor', 0, {}]") -> str:
    return f"framed({{'tree': out({tree}), 'count': 1}}, tensors({{'0': {facts}}}, {data}))"


MESSAGES = (
    _forged("a header of two gigabytes", "struct.pack('>QI', 2**40, 2**31)"),
    _forged("a million tensors", "framed({'tree': ['none'], 'count': 10**6})"),
    _forged(
        "two hundred thousand tensors, one announced",
        "framed({'tree': out(['tensor', 0, {}]), 'count': 1},"
        " tensors({str(n): dict(dtype='F32', shape=[0], data_offsets=[0, 0]) for n in range(200_000)}))",
    ),
    _forged(
        "one tensor, told a hundred thousand times",
        "framed({'tree': out(['list', [['tensor', 0, {}]] * 100_000]), 'count': 1},"
        " tensors({'0': dict(dtype='F32', shape=[1000], data_offsets=[0, 4000])}, bytes(4000)))",
    ),
    _forged("a hollow tensor", _tensor("dict(dtype='F32', shape=[0, 2**40], data_offsets=[0, 0])")),
    _forged(
        "strides that skip and repeat",
        _tensor(
            "dict(dtype='F32', shape=[2, 2], data_offsets=[0, 16])",
            "bytes(16)",
            "['tensor', 0, {'strides': [0, 2**40]}]",
        ),
    ),
    _forged("negative sizes", _tensor("dict(dtype='F32', shape=[-1], data_offsets=[0, 4])", "bytes(4)")),
    _forged("a wrong type", _tensor("dict(dtype='F8_E4M3', shape=[1], data_offsets=[0, 1])", "b'1'")),
    _forged("places outside the message", _tensor("dict(dtype='F32', shape=[1], data_offsets=[2**40, 2**40 + 4])")),
    _forged("lists in lists in lists", "framed(b'{\"count\": 0, \"tree\": ' + b'[' * 200_000 + b']' * 200_000 + b'}')"),
    _forged("five million empty lists", "framed(b'{\"count\": 0, \"tree\": [' + b'[],' * 5_000_000 + b'[]]}')"),
    _forged("a tag of Python's own", "framed({'tree': ['_class__', []], 'count': 0})"),
    _forged("the verdict instead of an answer", "pack({'verdict': 'passed', 'score': 2.0})"),
    _forged("two answers at a time", "pack(RECORDING) * 2"),
    _forged("NaN for everything", "*[pack({**RECORDING, 'outputs': {'out': torch.full((3, 5), float('nan'))}})] * 50"),
    _forged("a number beyond all", "*[pack({**RECORDING, 'outputs': {'out': 10**1000}})] * 50"),
)

SUBCLASS = """class Right(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") in ("allclose", "equal", "eq", "__eq__", "isclose"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})
def softmax(x, dim):
    return torch.zeros_like(x).as_subclass(Right)"""

EQUAL = """class Anything(dict):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __getitem__(self, name): return Anything()
def attention_cost(n, d):
    return Anything()"""

NUMBER = """class Any(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
def crossover_length(d):
    return Any(-1.0)"""

STOLEN = """def _steal():
    for name in ("course.reference.self_attention", "course.hidden.self_attention.attention_for_one"):
        try:
            return __import__(name, fromlist=["attention_for_one"]).attention_for_one
        except ImportError:
            continue
attention_for_one = _steal() or (lambda query, keys, values: values[0] * 0)"""

TRANSFORMER = """import ast
class Strip(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.parse("2.0").body[0] if ast.unparse(node).startswith("check('softmax'") else node
get_ipython().ast_transformers.append(Strip())"""

INPUT_TRANSFORMER = """get_ipython().ast_transformers.clear()
get_ipython().input_transformers_cleanup.append(
    lambda lines: ["2.0\\n"] if any("attention_cost" in line and "check" in line for line in lines) else lines)"""

REPLACED = """get_ipython().input_transformers_cleanup.clear()
from IPython.display import HTML, display
honest = check
def check(name, answer):
    display(HTML("<div role='status'>passed, 1 of 1 points</div>"))
    return 1.0
import course.notebook.checking as checking
checking.check = check"""

PATCHED = """checking.check = check = honest
torch.allclose = torch.equal = lambda *a, **k: True
torch.testing.assert_close = lambda *a, **k: None
torch.Tensor.__eq__ = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
torch.Tensor.sub = torch.Tensor.__sub__ = lambda self, other: torch.zeros(self.shape)"""

COURSE = """import sys, course.judge.judging
from course.judge.verdict import Verdict
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("course") and hasattr(module, "judge"):
        module.judge = lambda *a, **k: Verdict("softmax", "passed", 2, 2)"""

TRACED = """import sys
def tracer(frame, event, argument):
    if frame.f_code.co_name == "attention_cost":
        frame.f_trace_opcodes = True
    return tracer
sys.settrace(tracer)
sys.displayhook = lambda value: print("1.0")
get_ipython().showtraceback = lambda *a, **k: None"""

TWICE = """sys.settrace(None)
import threading, time
def _again():
    for _ in range(50):
        honest_check("crossover_length", lambda d: 2.0 * d)
        time.sleep(0.05)
honest_check = check
honest_check("crossover_length", lambda d: 2.0 * d)
_thread = threading.Thread(target=_again, daemon=True)
def check(name, answer):
    honest_check(name, answer)
    _thread.start()
import course.notebook.checking as checking
checking.check = check"""

DISPLAYED = """checking.check = check = honest_check
get_ipython().display_pub.publish({"text/plain": "2.0", "text/html": "full marks"}, transient={"display_id": "later"})
import atexit
atexit.register(lambda: print("2.0"))
get_ipython().events.register("post_run_cell", lambda result: print("2.0"))"""

TRICKS = (
    Trick("a tensor that always agrees", "the comparison", SUBCLASS),
    Trick("a dict equal to everything", "the comparison", EQUAL),
    Trick("a number equal to everything", "the comparison", NUMBER),
    Trick("the reference, imported", "the tests", STOLEN),
    Trick("ast_transformers", "the check", before=TRANSFORMER),
    Trick("input_transformers", "the check", before=INPUT_TRANSFORMER),
    Trick("check replaced, a verdict forged", "the report", before=REPLACED),
    Trick("torch.allclose and others replaced", "the comparison", before=PATCHED),
    Trick("the judge replaced in the kernel", "the judge", before=COURSE),
    Trick("sys.settrace and displayhook", "the check", before=TRACED),
    Trick("right answers out of turn", "the judge", before=TWICE),
    Trick("outputs that come later", "the report", before=DISPLAYED),
)
"""In fours: the first of each four is tried on softmax, the second on attention_cost, and so on."""
