"""The command line: one sentence and a non-zero exit for bad input, never a traceback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from course import cli
from course.course import Course
from course.grading.classroom import grade_command
from course.grading.machine import shutdown
from course.grading.self_study import grade_one as alone
from course.syllabus import OURS, Topic

ROOT = Path(__file__).parents[1]


def test_list_names_every_topic(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [topic.folder for topic in OURS]


@pytest.mark.parametrize("name", ["03_rnn", "rnn", "3", "03"])
def test_list_shows_a_topic_by_any_of_its_names(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("03_rnn") and "rnn_cell" in out and "self_attention" not in out


def test_topics_are_graded_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def grade_topic(course: Course, topic: Topic, **options: Any) -> int:
        print(topic.folder, options["students"], options["workers"])
        return int(topic.number == 3)

    monkeypatch.setattr(grade_command, "grade_topic", grade_topic)
    assert cli.main(["grade", "6", "rnn", "--student", "ada", "--workers", "2"]) == 1
    assert capsys.readouterr().out == "03_rnn ['ada'] 2\n\n06_self_attention ['ada'] 2\n"


def test_notebooks_are_graded_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    graded: list[tuple[Path, str]] = []
    monkeypatch.setattr(alone, "grade_one", lambda course, path, policy: graded.append((path, policy)) or 0)
    assert cli.main(["grade", "b.ipynb", "a.ipynb", "--retrain"]) == 0
    assert graded == [(Path("b.ipynb"), "retrain"), (Path("a.ipynb"), "retrain")]


def test_list_does_not_wait_for_torch() -> None:
    code = "import sys; from course.cli import main; main(['list']); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["list", "nope"], r"course list: no topic is called 'nope'. The topics are 01_markov_ngrams"),
        (["release", "nope"], r"course release: no topic is called 'nope'"),
        (["lint", "3", "nope"], r"course lint: no topic is called 'nope'"),
        (["list", "3_rnn"], r"course list: no topic is called '3_rnn'. Did you mean '03_rnn'\?"),
        (
            ["grade", str(Path(__file__).parent)],
            r"course grade: .*tests is a folder. Name a topic, or a file that ends",
        ),
        (
            ["grade", "3", "my.ipynb"],
            r"course grade: topics and notebooks cannot be graded together. Name topics to grade",
        ),
        (["submit", __file__], r"course submit: .*test_cli.py is no notebook. Name a topic, or a file that ends"),
        (["source", "nope.ipynb"], r"course source: nope.ipynb is not a notebook"),
    ],
)
def test_bad_input_gets_one_sentence(argv: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.match(says, captured.err) and captured.err.count("\n") == 1


def test_what_cannot_be_read_gets_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder.ipynb").mkdir()
    assert cli.main(["grade", str(tmp_path / "folder.ipynb")]) == 2
    assert re.fullmatch(r"course grade: .*folder\.ipynb: Is a directory\n", capsys.readouterr().err)


def test_what_is_not_installed_is_told_with_a_line_for_every_shell() -> None:
    """Windows' own takes no single quotes."""
    code = "import sys; sys.modules['nbformat'] = None; from course.cli import main; sys.exit(main(['submit', '3']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    told = 'course submit: this needs nbformat, which is not installed. Run pip install "sequence-course[grading]"\n'
    assert (done.returncode, done.stderr) == (2, told)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("attempts", ["ada", "03_rnn"]),
        ("requests", ["03_rnn"]),
        ("demo", []),
        ("export", ["csv", "03_rnn"]),
        ("grade", ["03_rnn"]),
        ("release", ["03_rnn"]),
        ("report", ["03_rnn"]),
    ],
)
def test_windows_is_sent_to_where_grading_is_possible(
    command: str, arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert cli.main([command, *arguments]) == 2
    told = "Windows runs the notebooks, but not this command. Run it in WSL, the Linux inside Windows"
    assert capsys.readouterr().err == f"course {command}: {told}\n"


def test_a_file_that_knows_no_tick_gets_a_question_mark() -> None:
    command = [sys.executable, "-c", "from course import cli; cli.main(['list']); print('✓')"]
    here = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=ROOT, env=here, capture_output=True, check=True)
    assert done.stdout.endswith(b"?\n")


def test_closed_streams_are_no_matter() -> None:
    code = "import sys; from course.cli import main; main(['list']); "
    code += "sys.exit(sys.stderr.isatty() or open('README.md').fileno() < 3)"
    subprocess.run(f'"{sys.executable}" -c "{code}" <&- >&- 2>&-', shell=True, check=True, cwd=ROOT)


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind")
def test_a_terminal_that_is_closed_ends_a_command_as_ctrl_c_does() -> None:
    """Even where something is said while it tidies up: nobody hears it."""
    code = """
import sys, time
from course import cli

def work(_):
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        print("tidied up", file=sys.stderr, flush=True)

cli.COMMANDS["list"] = work, cli.COMMANDS["list"][1]
sys.exit(cli.main(["list"]))
"""
    import pty

    child, terminal = pty.fork()
    if not child:
        os.chdir(ROOT)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may have been started by nohup
        os.execv(sys.executable, [sys.executable, "-c", code])
    assert b"begun" in os.read(terminal, 100)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 129


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind")
def test_a_terminal_may_be_gone_before_the_signal_that_says_so(monkeypatch) -> None:
    import pty

    master, terminal = pty.openpty()
    monkeypatch.setattr(shutdown, "terminals", [])

    def writes(_: object) -> int:
        shutdown.terminals[:] = [terminal]
        os.close(master)
        os.write(terminal, b"nobody reads this")
        return 0

    monkeypatch.setitem(cli.COMMANDS, "list", (writes, cli.COMMANDS["list"][1]))
    before = [signal.getsignal(number) for number in cli.ENDING]
    try:
        assert cli.main(["list"]) == 129
        assert os.write(terminal, b"nor this") == 8
    finally:
        os.close(terminal)
        for number, handler in zip(cli.ENDING, before, strict=True):
            signal.signal(number, handler)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is full")
def test_output_that_cannot_be_written_is_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "course", "list"]
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("course list: no space is left") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["seq [26]", "what?"])
def test_a_folder_nbgrader_gets_lost_in_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name / "solutions").mkdir(parents=True)
    (tmp_path / name / "nbgrader_config.py").touch()
    monkeypatch.chdir(tmp_path / name)
    assert cli.main(["lint"]) == 2
    assert "Rename the folder" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["release"], ["lint"], ["wheel"]])
def test_outside_a_course_it_says_so(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(argv) == 2
    assert "is not inside a course" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["nope"],
        ["list", "--nope"],
        ["cache", "--prune", "-1"],
        ["cache", "--prune", "nan"],
        ["grade", "3", "--workers", "0"],
        ["grade", "3", "--timeout", "-1"],
    ],
)
def test_misspelt_commands_show_the_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(argv)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("usage: course")


def test_only_what_is_missing_is_called_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["new"])
    assert capsys.readouterr().err.endswith("required: DIR\n")


def test_every_command_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    commands = re.findall(r"^    (\w+)(.*)$", capsys.readouterr().out, re.M)
    assert {"list", "release", "lint", "source", "wheel"} <= {name for name, _ in commands}


def test_a_closed_pipe_is_no_error() -> None:
    listing = subprocess.Popen(
        [sys.executable, "-m", "course", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    assert listing.stdout is not None and listing.stderr is not None
    listing.stdout.close()
    assert b"Traceback" not in listing.stderr.read()
    listing.wait()
