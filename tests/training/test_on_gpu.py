"""What `make gpu` prints, from outcomes made up here: there is a GPU on few machines."""

from __future__ import annotations

import json

import pytest
import safetensors.torch
import torch
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course.grading.course_files.cells import notebook_bytes
from course.grading.execution.task import Outcome
from course.judge.verdict import Verdict
from course.syllabus import OURS
from tests.original import find_topic

from . import on_gpu

FACTS = {"device": "cuda", "seconds": 7.94, "examples": 120_000, "asked": 120_000}


def outcome(score: float, *cells, **more) -> Outcome:
    weights = safetensors.torch.save({"w": torch.ones(1)}, metadata={"record": json.dumps(FACTS)})
    files = {"checkpoints/self_attention_task.safetensors": weights}
    verdict = Verdict("self_attention_task", "partial" if score < 5 else "passed", score, 5, "half of the lists")
    return Outcome(notebook_bytes(new_notebook(cells=list(cells))), (verdict,), files, 26.4, **more)


def row(there: Outcome, here: Outcome | None) -> tuple[str, ...]:
    (only,) = on_gpu.Run(find_topic("self_attention"), there, here).rows()
    return only


def test_a_row_says_how_long_it_took_what_it_scored_and_that_nothing_broke():
    told = ("self_attention_task", "cuda", "7.9", "120,000 of 120,000", "26", "5 of 5", "5 of 5", "nothing")
    assert row(outcome(5), outcome(5)) == told


def test_a_row_says_what_broke():
    failed = new_code_cell("1 / 0", outputs=[new_output("error", ename="ZeroDivisionError", evalue="by zero")])
    broke = row(outcome(2.5, failed, unfinished={"self_attention_task": "The clock."}), outcome(5))[-1]
    assert broke == (
        "cell 1: ZeroDivisionError: by zero; self_attention_task on the GPU: half of the lists; The clock."
    )
    assert row(Outcome(b"", fault="no kernel"), None)[-1] == "no kernel"


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has an accelerator")
def test_without_a_gpu_it_says_so(capsys):
    assert on_gpu.main([]) == 1
    assert "There is no GPU here" in capsys.readouterr().out


def test_each_topic_that_trains_has_its_turn():
    trains = {topic.name for topic in OURS if any(item.budget for item in topic.items)}
    assert trains == {*on_gpu.ORDER} and len(trains) == len(on_gpu.ORDER)
