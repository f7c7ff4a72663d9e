"""Ways round a forbidden call are noticed in whatever cell they stand; what honest people write is left alone."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from course.exercise.watch import forbidden_in_source
from course.grading.authoring.source import build
from course.grading.course_folder import source_path
from course.grading.report.tampering import Sign, signs
from course.hidden import exercises
from course.judge.verdict import Verdict
from course.syllabus import OURS, Topic
from tests.hidden.answers import answers
from tests.original import ORIGINAL

FORBIDDEN = ("torch.softmax", "F.softmax", "nn.Softmax")
ROOT = Path(__file__).parents[3]
CHECK = 'check("softmax", softmax)'
IMPORTS = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F"


def noticed(answer: str, *others: str, forbidden=FORBIDDEN, kind: str = "passed") -> list[str]:
    """What is noticed about an answer with some cells of the student's own above it."""
    cells = [new_code_cell(IMPORTS), *map(new_code_cell, others), solution("softmax", answer), check("softmax", CHECK)]
    verdicts = {"softmax": Verdict("softmax", kind, 2, 2)}
    found = signs(
        "ada", new_notebook(cells=cells), {"softmax": CHECK}, frozenset({IMPORTS}), verdicts, {"softmax": forbidden}
    )
    return [f"{sign.exercise}: {sign.what}" if sign.exercise else sign.what for sign in found]


def solution(name: str, source: str) -> NotebookNode:
    return new_code_cell(source, metadata={"nbgrader": {"grade_id": f"{name}-solution", "solution": True}})


def check(name: str, source: str) -> NotebookNode:
    return new_code_cell(source, metadata={"nbgrader": {"grade_id": name, "locked": True, "grade": True}})


def softmax(line: str) -> str:
    return f"def softmax(x, dim):\n    return {line}"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("torch.ops.aten._softmax(x, dim, False)", "uses torch.ops.aten._softmax, which is private to torch"),
        ("torch.ops.aten.softmax(x, dim)", "uses torch.ops.aten.softmax, where calls are not watched"),
        ("torch._C._nn.softmax(x, dim)", "uses torch._C._nn.softmax, which is private to torch"),
        ("torch._VF.softmax(x, dim)", "uses torch._VF.softmax, which is private to torch"),
        ("getattr(torch, 'soft' + 'max')(x, dim)", "torch.softmax is forbidden here, and is called under"),
        ("getattr(F, 'xamtfos'[::-1])(x, dim)", "torch.nn.functional.softmax is forbidden here"),
        ("getattr(F, ''.join(['soft', 'max']))(x, dim)", "torch.nn.functional.softmax is forbidden here"),
        ("getattr(torch, f'soft{chr(109)}ax')(x, dim)", "chooses an attribute of torch at run time"),
        ("getattr(x, 'soft' + 'max')(dim)", "gets softmax, forbidden here, by a string"),
        ("torch.__dict__['soft' + 'max'](x, dim)", "uses torch.__dict__, which is private to torch"),
        ("vars(torch)['soft' + 'max'](x, dim)", "looks names up in vars(torch)"),
        ("F.torch.softmax(x, dim)", "torch.nn.functional.torch.softmax is forbidden here"),
        ("nn.modules.activation.Softmax(dim)(x)", "torch.nn.modules.activation.Softmax is forbidden here"),
        ("torch.jit.CompilationUnit('def f(x): return x').f(x)", "uses torch.jit.CompilationUnit, where"),
        ("eval('torch.softmax(x, dim)')", "runs a string as code: eval"),
        ("__import__('torch').softmax(x, dim)", "imports a module by a string: __import__"),
    ],
)  # fmt: skip
def test_a_detour_in_the_answer(line, what):
    (told,) = noticed(softmax(line))
    assert told.startswith(f"softmax: {what}")


@pytest.mark.parametrize(
    ("cell", "line", "what"),
    [
        (
            "import torch.nn.functional as G",
            "G.softmax(x, dim)",
            "torch.nn.functional.softmax is forbidden here, and is called under",
        ),
        ("G = torch.nn.functional\nmine = G.softmax", "mine(x, dim)", "called under another name"),
        ("from torch import softmax as mine", "mine(x, dim)", "torch.softmax is forbidden here, and is called under"),
        (
            "def mine(x, d):\n    return torch.softmax(x, d)",
            "mine(x, dim)",
            "the code that the answer calls uses it",
        ),
        (
            "@torch.jit.script\ndef mine(x, d: int):\n    return x.softmax(d)",
            "mine(x, dim)",
            "uses torch.jit.script",
        ),
        ("exec('mine = torch.softmax')", "mine(x, dim)", "runs a string as code: exec"),
        ("import importlib", "importlib.import_module('torch').softmax(x, dim)", "imports a module by a string"),
        ("%%time\nmine = torch._softmax", "mine(x, dim, False)", "uses torch._softmax"),
        (
            "get_ipython().run_cell('mine = torch.softmax')",
            "mine(x, dim)",
            "runs a string as code: get_ipython().run_cell",
        ),
    ],
)
def test_a_detour_by_another_cell(cell, line, what):
    assert any(what in told for told in noticed(softmax(line), cell))


def test_the_name_that_is_checked_may_be_bound_elsewhere():
    told = noticed("softmax = None", "pass", "softmax = lambda x, dim: torch._softmax(x, dim, False)")
    assert told == ["softmax: uses torch._softmax, which is private to torch"]


def test_a_name_that_nothing_binds_may_come_from_a_text():
    """Where all names are bound, what runs a text belongs to no exercise."""
    runs = "exec('mine = torch.softmax')"
    assert noticed(softmax("mine(x, dim)"), runs) == ["softmax: runs a string as code: exec"]
    assert noticed(softmax("x.exp()"), runs) == ["runs a string as code: exec"]


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        (softmax("x.exp() / x.exp().sum(dim, keepdim=True)"), "torch.allclose(softmax(x, -1), torch.softmax(x, -1))"),
        (softmax("x.exp() / x.exp().sum(dim, keepdim=True)"), "x = torch.softmax(torch.randn(3), 0)"),
        (softmax("getattr(x, 'exp')() / total(x, dim)"), "def total(x, d):\n    return x.exp().sum(d, keepdim=True)"),
        (softmax("getattr(mine, f'way_{dim}')(x)"), "class Mine:\n    pass\nmine = Mine()"),
        (softmax("F.relu(x)"), "model.eval()"),
        (softmax("compile(x)"), "def compile(x):\n    return x"),
        ("import re\n" + softmax("x if re.compile('a') else x"), "print(torch.__version__)"),
    ],
)
def test_what_is_no_detour(answer, cell):
    assert noticed(answer, cell) == []


def test_what_nothing_forbids_is_gone_round_by_nobody():
    assert noticed(softmax("torch._softmax(x, dim, False)"), forbidden=()) == []


def test_what_was_seen_at_grading_is_told_once():
    assert len(noticed(softmax("torch.softmax(x, dim)"), kind="forbidden")) == 1


@pytest.mark.parametrize("kind", ["alternatives", "mutants"])
@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.name)
def test_honest_answers_are_left_alone(topic: Topic, kind: str):
    """The first answer to each exercise in cells of one notebook, then the second; above them all that they use."""
    listed = {
        exercise.name: [answer for answer in answers(kind, topic, exercise.name) if honest(answer, exercise)]
        for exercise in exercises(topic)
    }
    used = "\n".join(
        path.read_text("utf-8") for path in sorted(Path(ROOT, "tests", "hidden", kind, topic.name).glob("*.py"))
    )
    for number in range(max(map(len, listed.values()), default=0)):
        chosen = {name: those[number] for name, those in listed.items() if number < len(those)}
        cells = [new_code_cell(used)]
        for name, answer in chosen.items():
            cells.append(solution(name, inspect.getsource(answer)))
            cells.append(check(name, f'check("{name}", {answer.__name__})'))
        assert noticed_in(new_notebook(cells=cells), topic) == []


def honest(answer, exercise) -> bool:
    """Whether it has a source of its own, in which the judge sees no forbidden call."""
    is_code = inspect.isfunction(answer) or inspect.isclass(answer)
    return is_code and not forbidden_in_source(inspect.getsource(answer), exercise.forbidden)


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.name)
def test_solutions_are_left_alone(topic: Topic):
    """Every cell of the solved notebook as if a student had written it, but one that sets up and one that loads."""
    assert noticed_in(build(ORIGINAL, source_path(ROOT, topic), topic), topic) == []


def noticed_in(nb: NotebookNode, topic: Topic) -> list[Sign]:
    """What is noticed in a notebook of which nothing was given out."""
    given = frozenset(
        cell.source for cell in nb.cells if "subprocess" in cell.source or "load_file(file)" in cell.source
    )
    forbidden = {exercise.name: exercise.forbidden for exercise in exercises(topic)}
    verdicts = {name: Verdict(name, "passed", 1, 1) for name in forbidden}
    return list(signs("ada", nb, {}, given, verdicts, forbidden))
