"""check, hint, progress: what a student sees, where it is kept, and what cannot be shown."""

from __future__ import annotations

import json
import sys

import pytest
import torch

import course
from course.exercise.key import key_of
from course.exercise.settings import NOTES
from course.judge.report import html, text
from course.judge.verdict import CaseResult, Verdict
from course.notebook import find_key
from course.notebook.checking import CheckFailed
from course.notebook.folder import read_progress
from course.notebook.training import Record
from course.reference.markov_ngrams import NGramModel
from course.reference.positional_encoding import LearnedPositions
from tests.judge.sample import cell, sample
from tests.original import find


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_JUDGE", raising=False)
    for module in ("checking", "hints"):
        monkeypatch.setattr(f"course.notebook.{module}.key", lambda name: key_of(sample, public_only=True))
    return tmp_path


def test_a_right_answer_passes_and_hidden_checks_are_announced(capsys):
    course.check("rnn_cell", cell)
    assert "the public check passes" in capsys.readouterr().out


def test_a_wrong_answer_meets_the_hint(capsys):
    course.check("rnn_cell", lambda x, W, b: torch.tanh(x @ W.T))
    out = capsys.readouterr().out
    assert "What comes out for x = 0?" in out and "These are the public checks" in out


def test_progress_is_kept_beside_the_notebook(here, capsys):
    course.check("rnn_cell", cell)
    assert json.loads((here / ".course" / "progress.json").read_text())["rnn_cell"]["kind"] == "passed"
    course.progress()
    out = capsys.readouterr().out
    assert "Recurrent networks" in out and "✓ rnn_cell" in out and "○ bptt" in out


def test_progress_is_of_the_notebook_where_several_share_a_folder(monkeypatch, capsys):
    """As on a mounted Drive: the notes are of topic 3, and this kernel has topic 6's functions."""
    course.check("rnn_cell", cell)
    for name in ("softmax", "scaled_dot_product_attention"):
        monkeypatch.setattr(sys.modules["__main__"], name, cell, raising=False)
    capsys.readouterr()
    course.progress()
    assert "Self-attention" in capsys.readouterr().out


def test_progress_says_nothing_while_a_notebook_is_graded(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    course.progress()
    assert capsys.readouterr().out == ""


def test_progress_of_a_named_topic(capsys):
    course.progress("06_self_attention")
    assert "softmax" in capsys.readouterr().out
    with pytest.raises(KeyError, match=r"^no topic is called 'chess'"):
        course.progress("chess")


def test_hints_climb_and_begin_again(capsys):
    for expected in ("Hint 1 of 2", "Hint 2 of 2", "Hint 1 of 2"):
        course.hint("rnn_cell")
        assert expected in capsys.readouterr().out


def test_the_last_hint_alone_says_how_to_see_a_solution(capsys):
    course.hint("rnn_cell")
    assert "course solution" not in capsys.readouterr().out
    course.hint("rnn_cell")
    assert "In a terminal, `course solution rnn_cell` shows a solution" in capsys.readouterr().out


def test_a_read_only_folder_is_fine(monkeypatch, capsys):
    def deny(*_):
        raise PermissionError

    monkeypatch.setattr("course.files.write_atomically", deny)
    course.hint("rnn_cell")
    course.hint("rnn_cell")
    course.check("rnn_cell", cell)
    assert "Hint 2 of 2" in capsys.readouterr().out


def test_what_can_no_longer_be_written_is_remembered_all_the_same(monkeypatch, capsys):
    course.hint("rnn_cell")

    def deny(*_):
        raise PermissionError

    monkeypatch.setattr("course.files.write_atomically", deny)
    course.hint("rnn_cell")
    course.hint("rnn_cell")
    told = capsys.readouterr().out
    assert told.index("Hint 1 of 2") < told.index("Hint 2 of 2") < told.rindex("Hint 1 of 2")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no folder that somebody works in")
def test_a_folder_that_was_deleted_meanwhile_is_fine(here, monkeypatch, capsys):
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    course.hint("rnn_cell")
    course.hint("rnn_cell")
    course.check("rnn_cell", cell)
    course.progress()
    told = capsys.readouterr().out
    assert "Hint 2 of 2" in told and "✓ rnn_cell" in told


@pytest.fixture
def unusual():
    """A notebook that computes in float64 and on another device, unless it is told otherwise."""
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)


@pytest.mark.parametrize("name", ["MultiHeadAttention", "rope", "mlm_corrupt"])
def test_answers_are_examined_alike_whatever_torchs_defaults_are(name, here, monkeypatch, unusual, capsys):
    monkeypatch.undo()
    monkeypatch.chdir(here)
    find_key.cached_key.cache_clear()
    course.check(name, find(name).reference)
    assert f"✓ {name}" in capsys.readouterr().out
    assert (torch.get_default_dtype(), torch.get_default_device().type) == (torch.float64, "meta")


@pytest.fixture(params=["mtia", "cuda:99"])
def lacking(request):
    """A default device that no machine has."""
    torch.set_default_device(request.param)
    yield request.param
    torch.set_default_device(None)


def check_rope(here, monkeypatch, capsys) -> str:
    """What a check with a key that is made anew says."""
    monkeypatch.undo()
    monkeypatch.chdir(here)
    find_key.cached_key.cache_clear()
    course.check("rope", find("rope").reference)
    return capsys.readouterr().out


def test_a_default_device_that_this_machine_lacks_is_put_aside_for_a_check_and_said(lacking, here, monkeypatch, capsys):
    said = check_rope(here, monkeypatch, capsys)
    assert "✓ rope" in said and NOTES["device"] in said
    with pytest.raises(Exception, match=r"MTIA|CUDA|NVIDIA"):  # it is the notebook's again
        torch.empty(0)


def test_a_context_of_such_a_device_is_open_again_afterwards(here, monkeypatch, capsys):
    with torch.device("cuda:99"):
        assert NOTES["device"] in check_rope(here, monkeypatch, capsys)
        assert str(torch.get_default_device()) == "cuda:99"
    assert NOTES["device"] not in check_rope(here, monkeypatch, capsys)


@pytest.mark.parametrize(
    "wrap", [torch.compile, torch.compile(fullgraph=True), lambda made: torch.compile(torch.compile(made))]
)
def test_a_compiled_answer_is_checked_as_it_was_written(wrap, monkeypatch, capsys):
    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", lambda *_, **__: pytest.fail("it was compiled"))
    course.check("rnn_cell", wrap(cell))
    said = capsys.readouterr().out
    assert "✓ rnn_cell" in said and NOTES["compiled"] in said


def test_a_spoiled_progress_file_is_no_obstacle(here):
    (here / ".course").mkdir()
    (here / ".course" / "progress.json").write_text("{not json")
    course.check("rnn_cell", cell)
    assert read_progress()["rnn_cell"]["kind"] == "passed"


def test_validate_raises_with_the_report(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    course.check("rnn_cell", cell)
    with pytest.raises(CheckFailed, match="range of your values"):
        course.check("rnn_cell", lambda x, W, b: x @ W.T + b)


def test_a_slip_in_the_call_is_no_wrong_answer():
    record = Record("rnn_task", torch.nn.Linear(2, 2), [], 0, 0.0, "cpu", "trained")
    with pytest.raises(TypeError, match=r"the model in it, record\.model"):
        course.check("rnn_task", record)
    for answer in (None, "rnn_cell", 3, torch.ones(2, 5)):
        with pytest.raises(TypeError, match="the function or class itself, but got"):
            course.check("rnn_cell", answer)


def test_an_object_where_a_class_is_asked_for_is_a_slip_too(here, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(here)
    for name, made in (("NGramModel", NGramModel(3, 5, 0.1)), ("LearnedPositions", LearnedPositions(3, 5))):
        with pytest.raises(TypeError, match=rf"takes the class itself, {name}, but got an object of it, {name}\(…\)"):
            course.check(name, made)
    course.check("LearnedPositions", lambda *sizes: LearnedPositions(*sizes))  # whatever makes one


def test_a_misspelt_name_is_met_with_the_near_ones(monkeypatch):
    monkeypatch.undo()
    with pytest.raises(KeyError, match="Did you mean 'rnn_cell'"):
        course.check("rnn_cel", cell)
    with pytest.raises(KeyError, match="graded by a person"):
        course.check("rnn_question", cell)
    for name in (cell, ["rnn_cell"], None):
        with pytest.raises(TypeError, match="an exercise's name in quotes"):
            course.check(name, "rnn_cell")
        with pytest.raises(TypeError, match="an exercise's name in quotes"):
            course.hint(name)


NASTY = Verdict(
    "rnn_cell",
    "partial",
    1.0,
    2.0,
    "raised E: <script>alert(1)</script>",
    hint="see `a < b`",
    cases=(
        CaseResult("one", False, True, 1.0, "raised E: <script>alert(1)</script> `x`"),
        CaseResult("two", True, True),
    ),
)


def test_reports_escape_what_came_from_students():
    shown = html(NASTY)
    assert "<script>" not in shown and "&lt;script&gt;" in shown
    assert "a &lt; b</code>" in shown


@pytest.mark.parametrize(
    "kind", ["passed", "partial", "wrong", "error", "time", "memory", "forbidden", "missing", "not-graded"]
)
@pytest.mark.parametrize("public", [True, False])
def test_every_verdict_has_a_report(kind, public):
    verdict = Verdict("rnn_cell", kind, 0.0, 2.0, "because")
    assert "rnn_cell" in text(verdict, public=public)
    assert "NOT ISOLATED" in html(verdict, public=public, note="NOT ISOLATED")


def test_the_front_door_offers_everything():
    assert set(course.__all__) <= set(dir(course))
    with pytest.raises(AttributeError):
        course.nothing  # noqa: B018


def test_seed_repeats():
    assert course.seed() == course.seed()
    course.seed(3)
    first = torch.rand(2)
    course.seed(3)
    assert torch.equal(first, torch.rand(2))
    for number in ("a", 1.5):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            course.seed(number)


def test_the_device_can_be_chosen(monkeypatch):
    monkeypatch.setenv("COURSE_DEVICE", "meta")
    assert course.device().type == "meta"
    monkeypatch.setenv("COURSE_DEVICE", "")
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert course.device().type == "cpu"
