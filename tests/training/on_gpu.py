"""`make gpu`: what trains on this machine's GPU, how long it takes, what it scores, and what breaks.

The tests marked `gpu` come first, then the solved notebooks in order of importance. Each is executed as grading
executes it, with an accelerator and the budget of one, and judged by its hidden tests; its weights are then graded
once more without the GPU, as a class's are. Nothing begins after the given time, and what is done is printed as it
comes. The torch that is here is taken as it is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from nbformat import NotebookNode

from course.grading.course_files.cells import notebook_bytes, read_notebook
from course.grading.course_files.course_folder import source_path
from course.grading.execution.execute import execute
from course.grading.execution.limits import own_limits
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.release.source import build
from course.syllabus import Topic
from tests.original import ORIGINAL, find_topic

ROOT = Path(__file__).parents[2]
ORDER = (
    "encoder_decoder",
    "gpt",
    "bahdanau_attention",
    "masking",
    "rnn",
    "vit_patches",
    "self_attention",
    "multi_head_attention",
    "lstm_gru",
    "positional_encoding",
    "cbow",
    "tokens",
    "lora",
    "hidden_states",
    "bert",
    "linear_time",
    "assistant",
    "cost",
    "inside",
    "reasoning",
)
"""Topics with a training task; the first three are what a session of a few minutes should see."""

HEADER = ("task", "device", "train s", "examples", "notebook s", "score", "on the CPU", "what broke")
SECONDS_BETWEEN = 20.0
"""Less time left than this, and no further notebook begins."""


@dataclass(frozen=True)
class Run:
    """One notebook executed on the GPU, and graded by its weights without it."""

    topic: Topic
    there: Outcome
    here: Outcome | None

    def rows(self) -> Iterator[tuple[str, ...]]:
        """A row for each training task; one for the notebook where nothing could be executed."""
        if self.there.fault:
            yield (self.topic.folder, "-", "-", "-", "-", "-", "-", self.there.fault)
            return
        for item in (item for item in self.topic.items if item.budget):
            facts = _facts(self.there, item.name)
            yield (
                item.name,
                str(facts.get("device", "-")),
                f"{facts.get('seconds', 0.0):.1f}",
                f"{facts.get('examples', 0):,} of {facts.get('asked', 0):,}",
                f"{self.there.seconds:.0f}",
                _score(self.there, item.name),
                _score(self.here, item.name) if self.here else "-",
                "; ".join(self.broken()) or "nothing",
            )

    def broken(self) -> list[str]:
        """Cells that raised, exercises that lost points, and trainings that a clock ended."""
        found = [
            f"cell {number}: {output['ename']}: {output['evalue'][:200]}"
            for number, cell in enumerate(read_notebook(self.there.notebook).cells, start=1)
            for output in cell.get("outputs", ())
            if output["output_type"] == "error"
        ]
        for where, outcome in (("on the GPU", self.there), ("without it", self.here)):
            lost = [one for one in (outcome.verdicts if outcome else ()) if one.score < one.points]
            found += [f"{one.exercise} {where}: {one.message or one.misconception}"[:300] for one in lost]
        if self.here and self.here.fault:
            found.append(f"without the GPU: {self.here.fault}")
        return [*found, *self.there.unfinished.values()]


def _facts(outcome: Outcome, task: str) -> dict[str, object]:
    """What `fit` noted in the checkpoint that the notebook wrote; nothing where it wrote none."""
    content = outcome.files.get(f"checkpoints/{task}.safetensors", b"")
    size = int.from_bytes(content[:8], "little")
    about = json.loads(content[8 : 8 + size] or b"{}").get("__metadata__", {})
    return dict(json.loads(about.get("record", "{}")))


def _score(outcome: Outcome | None, task: str) -> str:
    found = [verdict for verdict in outcome.verdicts if verdict.exercise == task] if outcome else []
    return f"{found[0].score:g} of {found[0].points:g}" if found else "-"


def _execute(topic: Topic, nb: NotebookNode, seconds: float, **task: object) -> Outcome:
    limits = own_limits(ORIGINAL, nb, Limits(60.0, notebook=seconds, call=60.0))
    return Outcome.from_bytes(execute(Task(topic.folder, notebook_bytes(nb), seed=1, limits=limits, **task).to_bytes()))


def run_topic(topic: Topic, seconds: float, gpu: bool = True) -> Run:
    """Execute the solved notebook of a topic on the GPU, then grade what it trained without one."""
    nb = build(ORIGINAL, source_path(ROOT, topic), topic)
    there = _execute(topic, nb, seconds, policy="retrain", gpu=gpu)
    if there.fault:
        return Run(topic, there, None)
    return Run(topic, there, _execute(topic, nb, seconds, files=there.files))


def table(rows: list[tuple[str, ...]]) -> str:
    """The rows as a table in Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in (HEADER, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(HEADER), *lines[1:]])


def machine() -> str:
    """What it was run on."""
    name = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "no GPU"
    return f"{name}, torch {torch.__version__}, Python {sys.version.split()[0]}"


def main(arguments: list[str]) -> int:
    """Run what fits into the minutes given; the status is 1 without a GPU, or where something broke."""
    parser = argparse.ArgumentParser(prog="make gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu.md")
    parser.add_argument("--topics", nargs="*", default=ORDER)
    parser.add_argument("--no-tests", action="store_true", help="leave out the tests marked gpu")
    options = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        print(f"There is no GPU here that torch {torch.__version__} can use: nothing was run.")
        return 1
    ends = time.monotonic() + 60 * options.minutes
    print(machine(), flush=True)
    failed = False if options.no_tests else _tests(60 * options.minutes)
    rows: list[tuple[str, ...]] = []
    for name in options.topics:
        left = ends - time.monotonic()
        if left < SECONDS_BETWEEN:
            print(f"no time is left for {name} and those after it", flush=True)
            break
        for row in run_topic(find_topic(name), left).rows():
            print(*row, sep=" | ", flush=True)
            rows.append(row)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(f"{machine()}\n\n{table(rows)}\n", encoding="utf-8")
    print(f"\n{table(rows)}\n\n{options.out}")
    return int(failed or any(row[-1] != "nothing" for row in rows))


def _tests(seconds: float) -> bool:
    """Run the tests that need a GPU; true where one fails."""
    marked = [
        str(path) for path in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.gpu" in path.read_text("utf-8")
    ]
    command = [sys.executable, "-m", "pytest", "-m", "gpu", "-q", "-p", "no:cacheprovider", *marked]
    try:
        return bool(subprocess.run(command, cwd=ROOT, timeout=seconds / 3).returncode)
    except subprocess.TimeoutExpired:
        print(f"the tests marked gpu took more than {seconds / 3:.0f} s", flush=True)
        return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
