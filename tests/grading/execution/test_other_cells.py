"""What one cell does to its kernel costs no other cell's answer its points, and is told where it does."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import nbformat
import pytest
import safetensors.torch
import torch
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from course.data.cache import cache_folder
from course.exercise.settings import NOTES
from course.grading.course_files.cells import notebook_bytes
from course.grading.execution.execute import execute
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.sandbox.spec import MEGABYTE, Allowance
from course.judge.verdict import HOW_LARGE, Verdict
from course.notebook.while_graded import ON_THE_CPU

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kernels are confined on Linux only")

IMPORTS = "import os\nimport torch\nfrom torch import nn\nfrom course import check, fit, hint, predict"
SOFTMAX = "def softmax(x, dim):\n    powers = (x - x.amax(dim, True)).exp()\n    return powers / powers.sum(dim, True)"
CROSSOVER = "def crossover_length(d):\n    return 2.0 * d"
READER = """class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(10, 3), nn.Linear(3, 2)

    def forward(self, ids, lengths):
        return self.head(self.table(ids).mean(1))"""
TRAIN = "def train(model, batches):\n    raise AssertionError('weights were handed in')"
FIT = 'record = fit("rnn_task", Reader, train)'
SHAPES = {"table.weight": (10, 3), "head.weight": (2, 3), "head.bias": (2,)}
WEIGHTS = {
    "checkpoints/rnn_task.safetensors": safetensors.torch.save({name: torch.ones(at) for name, at in SHAPES.items()})
}
ANSWERS = {"softmax": "softmax", "crossover_length": "crossover_length", "rnn_task": "record.model"}
POINTS = {"softmax": 2.0, "crossover_length": 1.0, "rnn_task": 5.0}


def marked(source: str, name: str, grade: bool) -> NotebookNode:
    """A graded cell, or one with an answer."""
    about = {"grade_id": name if grade else f"{name}-solution", "grade": grade, "solution": not grade}
    return new_code_cell(source, metadata={"nbgrader": {**about, "points": POINTS[name], "schema_version": 3}})


def check_of(name: str) -> NotebookNode:
    return marked(f'check("{name}", {ANSWERS[name]})', name, grade=True)


class Graded:
    """What came of a notebook: its verdicts by exercise, and what its cells say, by their sources."""

    def __init__(self, cells: list[Any], limits: Limits | None, files: dict[str, bytes]) -> None:
        made = [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nb = new_notebook(cells=made, metadata={"kernelspec": kernel})
        task = Task("n", notebook_bytes(nb), files, limits=limits or Limits(60.0))
        self.outcome = Outcome.from_bytes(execute(task.to_bytes()))
        assert not self.outcome.fault, self.outcome.fault
        self.verdicts: dict[str, Verdict] = {verdict.exercise: verdict for verdict in self.outcome.verdicts}
        self.cells = nbformat.reads(self.outcome.notebook.decode(), as_version=4).cells

    def scores(self) -> dict[str, float]:
        return {name: verdict.score for name, verdict in self.verdicts.items()}

    def printed(self, source: str) -> str:
        """What a cell with that source printed; of an error, its name."""
        (cell,) = (cell for cell in self.cells if cell.source == source)
        return "".join(output.get("text") or output.get("ename", "") for output in cell.outputs)


def graded(
    *second: Any,
    softmax: str = SOFTMAX,
    crossover: str = CROSSOVER,
    reader: str = READER,
    fits: str = FIT,
    limits: Limits | None = None,
    files: dict[str, bytes] | None = None,
) -> Graded:
    """Grade two exercises and a task with weights that were handed in, with these cells below the imports."""
    exercises = [marked(softmax, "softmax", False), check_of("softmax")]
    exercises += [marked(crossover, "crossover_length", False), check_of("crossover_length")]
    task = [reader, marked(TRAIN, "rnn_task", False), fits, check_of("rnn_task")]
    return Graded([IMPORTS, *second, *exercises, *task], limits, WEIGHTS | (files or {}))


@cache
def usual() -> dict[str, float]:
    """The points without any further cell."""
    found = graded()
    assert found.outcome.origins == {"rnn_task": "handed in"} and found.scores()["softmax"] == 2
    return found.scores()


def assert_nothing_is_lost(found: Graded) -> None:
    assert found.scores() == usual()
    assert found.outcome.origins == {"rnn_task": "handed in"}


OPEN = 'opened = torch.device("cuda")\nopened.__enter__()'


@pytest.mark.parametrize(
    "source",
    [
        'torch.set_default_device("cuda")',
        'torch.set_default_device("cuda:0")',
        'torch.set_default_device("mps")',
        'torch.set_default_device(torch.device("xpu", 1))',
        OPEN,
        f'torch.set_default_device("cuda")\n{OPEN}',
        'torch.set_default_device("cuda")\npredict("scores_without_scaling")',
    ],
)
def test_a_default_device_that_the_grader_lacks_costs_nothing(source):
    later = "print(torch.ones(2).sum().item())"
    found = graded(source, later)
    assert_nothing_is_lost(found)
    assert all(verdict.notes == (NOTES["device"],) for verdict in found.verdicts.values())
    assert found.printed(source).endswith(f"{ON_THE_CPU}\n") and found.printed(later) == "2.0\n"


def test_a_default_device_that_a_cell_with_a_training_sets_or_opens_is_put_aside_there():
    for opening in ('torch.set_default_device("cuda")\n{}', 'with torch.device("cuda:1"):\n    {}'):
        source = opening.format(FIT)
        found = graded(fits=source)
        assert_nothing_is_lost(found)
        assert "`fit` uses the CPU" in str([cell.outputs for cell in found.cells if cell.source == source])


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_a_default_type_of_numbers_costs_nothing_and_is_no_matter_of_devices(dtype):
    fits = f"{FIT}\nprint(torch.get_default_dtype())"
    found = graded(f"torch.set_default_dtype(torch.{dtype})", fits=fits)
    assert found.scores()["softmax"] == 2 and found.printed(fits) == f"torch.{dtype}\n"
    assert not any(verdict.notes for verdict in found.verdicts.values())


@pytest.mark.parametrize(
    "source",
    [
        "os.environ.clear()",
        "os.environ = {'MINE': '1'}",
        "from unittest import mock\nmock.patch.dict(os.environ, {'MINE': '1'}, clear=True).start()",
        "del os.environ['COURSE_JUDGE'], os.environ['NBGRADER_EXECUTION']",
        "for name in os.environ: os.unsetenv(name)",
        "os.environ.update(COURSE_JUDGE='/nowhere', COURSE_FIT_POLICY='retrain', COURSE_NUMBER='7')",
        "import sys\nsys.modules.pop('course')\nos.environ.pop('COURSE_JUDGE')\nfrom course import check",
    ],
)
def test_a_kernel_needs_nothing_of_its_environment_once_it_has_begun(source):
    where = "from course.data.cache import cache_folder\nprint(cache_folder())"
    found = graded(source, where)
    assert_nothing_is_lost(found)
    assert found.printed(where) == f"{cache_folder()}\n"


GONE = "import tempfile\nfolder = tempfile.mkdtemp()\nos.chdir(folder)\nos.rmdir(folder)"


@pytest.mark.parametrize("source", ['os.chdir("..")', "%cd ~", 'os.chdir("/")', GONE, "os.mkdir('own')\n%cd own"])
def test_files_are_looked_for_beside_the_notebook_whatever_folder_a_cell_changes_to(source):
    found = graded(source)
    assert_nothing_is_lost(found)
    assert_nothing_is_lost(graded(fits=f"{source}\n{FIT}"))


def test_a_cell_begins_beside_the_notebook_or_in_a_folder_of_its_own():
    """What a student reads was handed in beside the notebook; who changes to a folder there stays in it."""
    reads = "print(open('given.txt').read())"
    found = graded('os.chdir("..")', reads, files={"given.txt": b"given"})
    assert found.printed(reads) == "given\n"
    found = graded('os.chdir("own")', reads, files={"own/given.txt": b"own"})
    assert found.printed(reads) == "own\n"


def test_a_retrained_model_is_written_beside_the_notebook():
    """Not where a cell went: there it would be lost, and nobody would know where the weights are from."""
    away = 'os.chdir("..")\nos.remove("work/checkpoints/rnn_task.safetensors")\ntrain = lambda model, batches: None\n'
    found = graded(fits=away + FIT)
    assert "checkpoints/rnn_task.safetensors" in found.outcome.files
    assert found.outcome.origins == {"rnn_task": "replaced"}


def test_compiled_answers_are_examined_as_they_were_written_and_that_is_said():
    found = graded(
        softmax=f"{SOFTMAX}\n\nsoftmax = torch.compile(softmax)",
        crossover=f"@torch.compile(dynamic=True)\n{CROSSOVER}",
        fits='record = fit("rnn_task", lambda: torch.compile(Reader()), train)\nrecord.model.compile()',
    )
    assert_nothing_is_lost(found)
    assert [found.verdicts[name].notes for name in ANSWERS] == [(NOTES["compiled"],)] * 3


def test_what_a_compiled_answer_uses_or_compiles_itself_is_not_compiled_either():
    named = SOFTMAX.replace("def softmax", "def weights")
    compiled = "weights = torch.compile(weights)"
    found = graded(
        "torch.compile(torch.sin)",
        softmax=f"{named}\n\n{compiled}\n\ndef softmax(x, dim):\n    return weights(x, dim)",
        crossover="def crossover_length(d):\n    return torch.compile(lambda: 2.0 * d)()",
        fits='record = fit("rnn_task", Reader, train)\nrecord.model.head = torch.compile(record.model.head)',
    )
    assert_nothing_is_lost(found)
    assert [found.verdicts[name].notes for name in ("crossover_length", "rnn_task")] == [(NOTES["compiled"],)] * 2


def test_a_scripted_answer_raises_its_own_errors():
    """TorchScript turns each error into one of its own, where an exercise asks for a ValueError."""
    found = graded(softmax=SOFTMAX.replace("dim)", "dim: int)", 1) + "\n\nsoftmax = torch.jit.script(softmax)")
    assert_nothing_is_lost(found)
    assert found.verdicts["softmax"].notes == (NOTES["compiled"],)


USES = "\n\nown = softmax\ndef softmax(x, dim):\n    return own(SCALE * x, dim)"
STOPPED = "stopped with ZeroDivisionError: division by zero."


def test_a_given_cell_that_failed_is_quoted_where_an_answer_needs_what_it_makes():
    found = graded("SCALE = 1 / 0", softmax=SOFTMAX + USES)
    softmax = found.verdicts["softmax"]
    assert softmax.kind == "error" and softmax.score == 0
    assert softmax.notes == (f"`SCALE` is missing because cell 2 ('SCALE = 1 / 0') {STOPPED}",)
    assert found.verdicts["crossover_length"].notes == ()


@pytest.mark.parametrize(
    ("cells", "quoted"),
    [
        (["1 / 0\nfrom math import tau as SCALE"], "cell 2 ('1 / 0')"),
        (["wide = 1 / 0", "SCALE = wide + 1"], "cell 2 ('wide = 1 / 0')"),
        (["wide = 1 / 0", "SCALE = wide + 1", "other = wide"], "cell 2 ('wide = 1 / 0')"),
        (["SCALE = 1.0", "del SCALE\nSCALE = 1 / 0"], "cell 3 ('del SCALE')"),
    ],
)
def test_the_cell_where_it_begins_is_quoted(cells, quoted):
    found = graded(*cells, softmax=SOFTMAX + USES)
    assert found.verdicts["softmax"].notes == (f"`SCALE` is missing because {quoted} {STOPPED}",)


def test_an_answers_own_cell_that_needs_what_a_given_cell_makes():
    found = graded("SCALE = 1 / 0", softmax=f"ROOT = SCALE**0.5\n{SOFTMAX}")
    assert found.verdicts["softmax"].message.endswith("stopped with NameError: name 'SCALE' is not defined")
    assert found.verdicts["softmax"].notes == (f"`SCALE` is missing because cell 2 ('SCALE = 1 / 0') {STOPPED}",)


def test_a_model_that_could_not_be_made_is_no_missing_answer():
    found = graded(reader=READER.replace("        super", "        self.scale = 1 / 0\n        super"))
    task = found.verdicts["rnn_task"]
    assert task.kind == "error" and task.score == 0
    assert task.notes == (f"`record` is missing because cell 8 ({FIT!r}) {STOPPED}",)


def test_neither_an_unwritten_answer_nor_a_test_is_quoted():
    hidden = new_code_cell("SCALE = 1 / 0", metadata={"nbgrader": {"grade": True, "grade_id": "own", "points": 1}})
    found = graded(hidden, softmax=SOFTMAX + USES, fits=f"raise NotImplementedError()\n{FIT}")
    assert found.verdicts["softmax"].notes == found.verdicts["rnn_task"].notes == ()
    assert found.verdicts["rnn_task"].kind == "missing"


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("fit = torch.tensor(1.0)\nhint = predict = rubric = 3", "Tensor int"),
        ("def fit(x, y): return x", "function function"),
        ("del fit, hint, predict, check", "NoneType NoneType"),
    ],
)
def test_a_name_of_the_courses_is_lent_to_the_cells_that_call_it(source, kept):
    calls = 'hint("softmax")\npredict("scores_without_scaling")\nrubric("self_attention_question")'
    after = "print(type(globals().get('fit')).__name__, type(globals().get('hint')).__name__)"
    found = graded(source, calls, after)
    assert_nothing_is_lost(found)
    assert found.printed(calls) == "", "pages, and no error"
    assert found.printed(after) == f"{kept}\n"


def test_what_a_cell_itself_gives_to_a_lent_name_stays():
    changes = 'hint("softmax")\nhint = 5'
    found = graded(changes, "print(hint)")
    assert found.printed("print(hint)") == "5\n"


ROOMY = Limits(60.0, allowance=Allowance(memory=1000 * MEGABYTE))
NEEDY = f"{SOFTMAX}\n\nown = softmax\ndef softmax(x, dim):\n    return (bytearray(500 * 2**20), own(x, dim))[1]"


@pytest.mark.parametrize(
    "hog",
    ["hog = bytearray(b'1') * (700 * 2**20)", "hog = torch.empty(700, 2**20, dtype=torch.uint8)"],
)
def test_a_cell_that_keeps_the_memory_full_is_named(hog):
    found = graded("small = bytearray(10 * 2**20)", hog, softmax=NEEDY, limits=ROOMY)
    softmax = found.verdicts["softmax"]
    assert softmax.kind == "memory" and HOW_LARGE not in str(softmax)
    (note,) = softmax.notes
    assert note.startswith(f"The notebook may use 1000 MB of memory, and cell 3 ({hog!r}) keeps 7")
    assert found.verdicts["crossover_length"].score == 1 and not found.verdicts["crossover_length"].notes


def test_an_answer_that_needs_too_much_by_itself_hears_of_itself():
    found = graded("small = bytearray(10 * 2**20)", softmax=NEEDY.replace("500", "1500"), limits=ROOMY)
    softmax = found.verdicts["softmax"]
    assert softmax.kind == "memory" and HOW_LARGE in softmax.message and not softmax.notes


def test_a_cell_that_keeps_the_memory_full_is_named_where_the_kernel_is_ended():
    """What processes share counts for the notebook, and nothing keeps one from asking for it."""
    shared = "import mmap\nhog = mmap.mmap(-1, {0} * 2**20)\nhog.write(bytes({0} * 2**20))"
    limits = Limits(60.0, allowance=Allowance(memory=800 * MEGABYTE))
    taking = f"{CROSSOVER}\nimport mmap, time\nmore = mmap.mmap(-1, 900 * 2**20)\n"
    taking += "for part in range(900): more[part * 2**20] = 1; more.write(bytes(2**20))\ntime.sleep(5)"
    found = graded(shared.format(420), crossover=taking, limits=limits)
    task = found.verdicts["rnn_task"]
    assert task.kind == "missing" and "are allowed in cell 5" in task.message
    (note,) = task.notes
    assert note.startswith("The notebook may use 800 MB of memory, and cell 2 ('import mmap') keeps 4")
