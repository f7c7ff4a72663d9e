"""`fit` trains within its budget, repeats itself, and never loses a model or zeroes a forgotten file."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import re

import pytest
import safetensors.torch
import torch
from torch import nn

from course import check, fit
from course.notebook.curve import picture
from course.notebook.machine import compute_on_one_thread
from course.notebook.stopwatch import Stopwatch
from course.notebook.training import TrainFirst
from course.notebook.unfinished import LITTLE_KNOWN, unfinished
from course.syllabus import Budget

TASK = "rnn_task"
BUDGET = Budget(cpu=640, gpu=6400, seconds=20)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COURSE_DEVICE", "cpu")
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr("course.notebook.training.budget_of", lambda name: BUDGET)
    monkeypatch.setattr("course.data.stream", stream, raising=False)
    return tmp_path


def stream(name, generator):
    for _ in itertools.count():
        x = torch.randn(32, 3, generator=generator)
        yield x, x.sum(1)


def build():
    return nn.Linear(3, 1)


def descent(lr):
    """A loop of gradient descent in steps of that size."""

    def train(model, batches):
        optimizer = torch.optim.SGD(model.parameters(), lr)
        for x, y in batches:
            loss = ((model(x)[:, 0] - y) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            batches.log(loss)

    return train


train, leaps = descent(0.1), descent(1e20)


def refuse(model, batches):
    raise AssertionError("a checkpoint was there: nothing should be trained")


def weights(record):
    return torch.cat([p.detach().flatten() for p in record.model.parameters()])


def test_the_budget_is_spent_and_the_record_tells(capsys):
    record = fit(TASK, build, train)
    assert record.examples == BUDGET.cpu
    assert len(record.losses) == 20 and record.losses[-1] < record.losses[0]
    assert (record.source, record.device) == ("trained", "cpu")
    assert not record.model.training
    assert f"{TASK}: trained, 640 examples" in capsys.readouterr().out
    fit(TASK, build, train, variant="other")
    assert f"{TASK}, other: trained" in capsys.readouterr().out


def test_the_loop_is_told_how_many_batches_there_are():
    told = []

    def train(model, batches):
        told.append(len(batches))
        told.append(sum(1 for _ in batches))

    fit(TASK, build, train)
    assert told == [20, 20]


def test_a_rerun_repeats_itself_and_two_folders_differ(tmp_path, monkeypatch):
    first, second = fit(TASK, build, train), fit(TASK, build, train)
    assert torch.equal(weights(first), weights(second))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert not torch.equal(weights(first), weights(fit(TASK, build, train)))


class Described(nn.Module):
    """A model that keeps a sentence in its state, and learns how wide its input is when it first sees one."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LazyLinear(1)

    def forward(self, x):
        return self.layer(x)

    def get_extra_state(self):
        return "a line"

    def set_extra_state(self, state):
        assert state == "a line"


def test_models_that_are_made_late_or_keep_more_than_tensors_are_trained_and_loaded(monkeypatch):
    trained = fit(TASK, Described, train)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    loaded = fit(TASK, Described, refuse)
    assert torch.equal(weights(trained), weights(loaded))
    assert torch.equal(trained.model(torch.ones(2, 3)), loaded.model(torch.ones(2, 3)))


def test_a_model_that_was_never_called_is_trained_for_nothing_and_nothing_more(monkeypatch, capsys):
    fit(TASK, Described, lambda model, batches: None)
    assert "Nothing was trained" in capsys.readouterr().out
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert fit(TASK, Described, train).source == "trained"


def test_grading_loads_the_checkpoint(monkeypatch):
    trained = fit(TASK, build, train)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    loaded = fit(TASK, build, refuse)
    assert torch.equal(weights(trained), weights(loaded))
    assert (loaded.source, loaded.examples, loaded.losses) == ("checkpoint", trained.examples, trained.losses)


SPOILED = ["[]", "[" * 100_000, "{", "null", '"a"', "{}"] + [
    json.dumps({fact: what})
    for fact in ("losses", "examples", "seconds", "device")
    for what in (None, "many", [None], ["x"], {"a": 1}, 10**400, float("inf"), float("nan"))
]


@pytest.mark.parametrize("written", SPOILED)
def test_weights_whose_record_was_spoiled_are_loaded_all_the_same(written, tmp_path, monkeypatch):
    trained = fit(TASK, build, train)
    path = tmp_path / "checkpoints" / f"{TASK}.safetensors"
    safetensors.torch.save_file(trained.model.state_dict(), path, metadata={"record": written})
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    loaded = fit(TASK, build, refuse)
    assert loaded.source == "checkpoint" and torch.equal(weights(trained), weights(loaded))
    assert loaded.in_words()


def test_the_retrain_policy_trains(monkeypatch):
    fit(TASK, build, train)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("COURSE_FIT_POLICY", "retrain")
    assert fit(TASK, build, train).source == "trained"


def broken_files(path):
    yield "missing", lambda: path.unlink()
    yield "noise", lambda: path.write_bytes(os.urandom(100))
    yield "empty", lambda: path.write_bytes(b"")
    yield "pickle", lambda: path.write_bytes(pickle.dumps({"weight": [1]}))
    yield "other model", lambda: safetensors.torch.save_file({"a": torch.ones(1)}, path)
    yield "other shape", lambda: safetensors.torch.save_file({"weight": torch.ones(2, 3), "bias": torch.ones(1)}, path)


def test_whatever_is_wrong_with_the_checkpoint_the_model_is_trained_anew(tmp_path, monkeypatch, capsys):
    fit(TASK, build, train)
    path = tmp_path / "checkpoints" / f"{TASK}.safetensors"
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    for _, spoil in broken_files(path):
        spoil()
        assert fit(TASK, build, train).source == "trained"
        assert "is trained again" in capsys.readouterr().out
        assert fit(TASK, build, refuse).source == "checkpoint"


def test_validate_loads_or_says_train_first(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(TrainFirst, match="is not trained yet"):
        fit(TASK, build, refuse)
    monkeypatch.delenv("NBGRADER_EXECUTION")
    fit(TASK, build, train)
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert fit(TASK, build, refuse).source == "checkpoint"


def test_a_folder_that_cannot_be_written_loses_nothing(monkeypatch, capsys):
    def deny(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("course.notebook.checkpoint.write_atomically", deny)
    monkeypatch.setattr("course.files.write_atomically", deny)
    first, second = fit(TASK, build, train), fit(TASK, build, train)
    assert torch.equal(weights(first), weights(second))
    assert "could not be written" in capsys.readouterr().out


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_a_cpu_trains_with_one_thread_and_gives_the_others_back(two_threads):
    seen = []
    fit(TASK, build, lambda model, batches: seen.append(torch.get_num_threads()))
    assert (seen, torch.get_num_threads()) == ([1], 2)


class Clocks:
    """Stand-ins for processor time and the clock on the wall: each look at them takes so many seconds."""

    def __init__(self, work, wall):
        self.steps, self.now = {"work": work, "wall": wall}, {"work": 0.0, "wall": 0.0}

    def _look(self, which):
        self.now[which] += self.steps[which]
        return self.now[which]

    def process_time(self):
        return self._look("work")

    def monotonic(self):
        return self._look("wall")


@pytest.mark.parametrize(
    ("clocks", "examples", "words"),
    [
        (Clocks(work=0.5, wall=2.5), 640, ""),  # five processes share a core: the clock runs five times as fast
        (Clocks(work=2.0, wall=2.0), 288, "reached its limit of processor time after 288 of 640 examples"),
        (Clocks(work=0.0, wall=10.0), 288, "reached its limit on the clock after 288 of 640 examples"),
    ],
    ids=["busy machine", "slow machine", "loop that sleeps"],
)
def test_seconds_are_of_work_and_whatever_ends_a_training_says_so(clocks, examples, words, monkeypatch, capsys):
    monkeypatch.setattr("course.notebook.stopwatch.time", clocks)
    record = fit(TASK, build, train)
    said = capsys.readouterr().out
    assert record.examples == examples
    assert bool(record.stopped_by) == bool(words) and words in said
    check(TASK, record.model)
    advice = capsys.readouterr().out
    assert words in advice and (LITTLE_KNOWN in advice) == bool(words)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_a_gpu_trains_with_its_own_budget_and_its_weights_are_loaded_without_it(monkeypatch):
    monkeypatch.delenv("COURSE_DEVICE")
    record = fit(TASK, build, train)
    assert (record.device, record.examples, record.stopped_by) == ("cuda", BUDGET.gpu, "")
    assert record.losses[-1] < record.losses[0]
    assert all(parameter.is_cuda for parameter in record.model.parameters())
    again = fit(TASK, build, train)
    torch.testing.assert_close(weights(again), weights(record))
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert torch.equal(weights(fit(TASK, build, refuse)), weights(again).cpu())


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_a_gpu_is_timed_by_the_clock(kind, monkeypatch):
    monkeypatch.setattr("course.notebook.stopwatch.time", Clocks(work=1000.0, wall=40.0))
    watch = Stopwatch(BUDGET, torch.device(kind))
    assert [watch.stopped_by() for _ in range(3)] == ["", "", "clock"]


@pytest.mark.parametrize(
    "spoiled", [{"asked": "many"}, {"examples": None}, {"seconds": float("nan")}, {"stopped_by": 3}]
)
def test_a_record_that_was_spoiled_says_nothing_of_a_clock(spoiled):
    facts = {"stopped_by": "clock", "examples": 10, "asked": 20, "seconds": 30.0}
    assert unfinished(facts) and not unfinished({**facts, **spoiled})


def test_what_is_no_model_is_refused_in_a_sentence():
    for model in (lambda: 3, 3, None):
        with pytest.raises(TypeError, match=r"nn\.Module"):
            fit(TASK, model, train)


def test_what_is_no_loop_and_what_names_no_file_are_refused_in_a_sentence(here):
    with pytest.raises(TypeError, match=r"a function train\(model, batches\), but got a NoneType"):
        fit(TASK, build, None)
    for variant in ("../../elsewhere", "rate 0.1/0.2", "/", 8, 0):
        with pytest.raises(ValueError, match="part of a file's name"):
            fit(TASK, build, train, variant=variant)
    assert not list(here.iterdir())


def test_a_task_that_does_not_exist(monkeypatch):
    monkeypatch.undo()
    with pytest.raises(KeyError, match=r"^no exercise is called"):
        fit("no_task", build, train)


def takes_no_batch(model, batches):
    pass


def takes_no_step(model, batches):
    for x, y in batches:
        loss = ((model(x)[:, 0] - y) ** 2).mean()
        loss.backward()
        batches.log(loss)


def steps_another_model(model, batches):
    train(build(), batches)


def leaps_unlogged(model, batches):
    for _ in batches:
        with torch.no_grad():
            model.weight.fill_(torch.inf)


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        (takes_no_batch, "Nothing was trained"),
        (takes_no_step, "No parameter has moved"),
        (steps_another_model, "No parameter has moved"),
        (leaps, "Loss 2 of 20 is inf"),
        (leaps_unlogged, "no longer finite numbers"),
    ],
)
def test_a_training_that_came_to_nothing_says_so(loop, words, capsys):
    assert fit(TASK, build, loop).source == "trained"
    assert words in capsys.readouterr().out


def test_what_it_says_is_a_sentence_of_the_page_and_no_line_of_a_terminal(monkeypatch):
    shown = []
    monkeypatch.setattr("course.notebook.display.show", lambda html, text: shown.append((html, text)))
    fit(TASK, build, takes_no_batch)
    ((html, text),) = shown
    assert html.startswith("<div") and ">train</code> took no batch" in html and "`train` took no batch" in text


def test_a_training_that_came_to_something_says_no_more_than_its_record(capsys):
    record = fit(TASK, build, train)
    assert capsys.readouterr().out == f"{record.in_words()}\n"


def descends_unlogged(model, batches):
    batches.log = lambda loss: None
    train(model, batches)


@pytest.mark.parametrize(
    ("variant", "execution", "times"), [("", "", 1), ("rival", "", 0), ("", "autograde", 0)], ids=str
)
def test_a_training_that_logs_no_loss_is_told_once(variant, execution, times, monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    fit(TASK, build, descends_unlogged, variant=variant)
    assert capsys.readouterr().out.count("No loss was logged, so there is no curve.") == times


@pytest.mark.parametrize("execution", ["", "autograde"])
def test_a_default_device_that_this_machine_lacks_is_put_aside_for_a_training(execution, monkeypatch, capsys):
    if execution:
        monkeypatch.setenv("NBGRADER_EXECUTION", execution)
    with torch.device("cuda:99"):
        record = fit(TASK, build, train)
        assert str(torch.get_default_device()) == "cuda:99"
    assert record.losses[-1] < record.losses[0]
    assert (
        "This machine lacks the default device that the notebook sets, so `fit` uses the CPU."
        in capsys.readouterr().out
    )


class Parts(nn.Module):
    """A model of which a part may be compiled."""

    def __init__(self, compiled):
        super().__init__()
        self.layer = torch.compile(nn.Linear(3, 1)) if compiled else nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x)


def test_weights_are_the_same_compiled_or_not(monkeypatch):
    torch.compiler.set_stance("force_eager")
    try:
        record = fit(TASK, lambda: torch.compile(Parts(compiled=True)), train)
    finally:
        torch.compiler.set_stance("default")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    for build in (lambda: Parts(compiled=False), lambda: torch.compile(Parts(compiled=False))):
        again = fit(TASK, build, refuse)
        assert torch.equal(weights(again), weights(record)) and again.source == "checkpoint"


def test_nothing_is_compiled_while_a_notebook_is_graded(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", lambda *_, **__: pytest.fail("it was compiled"))
    built = torch.compile(build())
    assert fit(TASK, lambda: built, train).source == "trained"
    assert fit(TASK, lambda: torch.compile(build()), train, variant="again").source == "trained"


def test_a_notebook_computes_on_one_thread_unless_its_machine_says_otherwise(two_threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    compute_on_one_thread()
    assert torch.get_num_threads() == 2  # no notebook
    monkeypatch.setattr("course.notebook.machine.in_notebook", lambda: True)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    compute_on_one_thread()
    assert torch.get_num_threads() == 2
    monkeypatch.delenv("OMP_NUM_THREADS")
    compute_on_one_thread()
    assert torch.get_num_threads() == 1


def test_the_picture_holds_for_any_losses():
    for losses in ([], [1.0], [1.0, float("nan"), 2.0], [3.0] * 500, [float("inf")] * 3):
        assert picture("a<b", 0.5, losses).startswith("<div")
    assert "a&lt;b" in picture("a<b", 0.5, [])


def test_no_room_is_kept_for_a_curve_that_has_no_losses():
    assert "<svg" in picture("f", 1.0, [2.0, 1.0])
    assert "<svg" not in picture("f", 1.0, [float("nan")] * 500) + picture("f", 1.0, [])


def test_a_small_loss_has_room_beside_the_curve():
    """Six pixels a character, and the number ends four left of the curve."""
    drawn = picture("f", 1.0, [2.0, 0.000154])
    end = float(re.search(r'<text x="(\d+)" y="\d+"[^>]*>0.000154<', drawn)[1])
    assert end >= 6 * len("0.000154")


def test_on_colab_it_says_that_the_checkpoint_does_not_stay(monkeypatch, capsys):
    fit(TASK, build, train)
    assert "Colab" not in capsys.readouterr().out
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release-colab")
    fit(TASK, build, train)
    said = capsys.readouterr().out
    assert f"Colab deletes {TASK}.safetensors with this machine. Download it from the Files pane" in said
    fit(TASK, build, train, variant="other")
    assert "Colab" not in capsys.readouterr().out, "a model to compare with is not handed in"
