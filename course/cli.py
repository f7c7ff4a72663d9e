"""Define the command line: `course ...`, the same as `python -m course ...`.

There is one function for each command. It reads the arguments and calls the module of `course.grading` that does the
work. That module is imported in the function, so that `course list` does not wait for torch.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from course.course import find_course, is_course
from course.files import share_with_group
from course.grading.course_files.course_folder import demand_course
from course.grading.machine.faults import Fault, advice_for
from course.grading.machine.shutdown import ENDING, Terminated, end_politely, ended
from course.outline import FINAL, SETTINGS, Faulty
from course.problem import Problem

if TYPE_CHECKING:
    from course.course import Course
    from course.syllabus import Topic

T = TypeVar("T")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 done with complaints, 2 impossible as requested."""
    arguments = _parser().parse_args(argv)
    _see_to_streams()
    _say_what_takes_long(arguments.command)
    end_politely()
    goes_on = arguments.command in ("fetch", "grade", "send")
    resume = ". What is done is kept, and the next run goes on from here" if goes_on else ""
    try:
        return _status(arguments, resume)
    except KeyboardInterrupt as stop:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)  # the process is ending, and Python resets other handlers
        _tell(f"course {arguments.command}: stopped{resume}")
        return 128 + (stop.number if isinstance(stop, Terminated) else signal.SIGINT)


def _status(arguments: argparse.Namespace, resume: str) -> int:
    """Run the command. Print an error as a sentence, with `resume` if the next run can continue."""
    run: Run = arguments.run
    try:
        _demand_posix(arguments.command)
        if arguments.command != "doctor":  # which reports a faulty course.toml among other findings
            arguments.course = find_course()
            if is_course(arguments.course.root):
                share_with_group(arguments.course.root)
        status = run(arguments)
        sys.stdout.flush()
        return status
    except (Problem, Faulty) as problem:
        goes_on = resume if isinstance(problem, Fault) else ""
        _tell(f"course {arguments.command}: {problem}{goes_on}")
        return 2
    except ModuleNotFoundError as missing:
        if (missing.name or "course").split(".")[0] == "course":
            if find_spec("course.hidden") is not None:
                raise
            _tell(f"course {arguments.command}: this is the student edition, which {_lacks(arguments.command)}")
            return 2
        extra = "lms" if (missing.name or "").split(".")[0] in ("canvasapi", "httpx", "keyring") else "grading"
        what = f'{missing.name}, which is not installed. Run pip install "sequence-course[{extra}]"'  # quotes for cmd
        _tell(f"course {arguments.command}: this needs {what}")
        return 2
    except BrokenPipeError:
        _say_no_more()
        return 141
    except Exception as error:
        if end := ended(error):
            raise end from error
        if fault := advice_for(error):
            _say_no_more()
            _tell(f"course {arguments.command}: {fault}{resume}")
            return 2
        if not isinstance(error, OSError):
            raise
        where = f"{error.filename}: " if error.filename else ""  # such as a folder in place of a file
        _tell(f"course {arguments.command}: {where}{error.strerror or error}")
        return 2


POSIX_ONLY = frozenset(
    {"attempts", "demo", "export", "fetch", "grade", "release", "report", "requests", "send", "viva"}
)
"""Commands that need what Windows lacks, in their own code or in the grading that they use."""


def _demand_posix(command: str) -> None:
    """Refuse commands that do not run on Windows. In the student edition they fail later, with a message about it.

    Raises:
        Problem: this is Windows, and the command is one of `POSIX_ONLY`.
    """
    if sys.platform == "win32" and command in POSIX_ONLY and find_spec("course.hidden") is not None:
        raise Problem("Windows runs the notebooks, but not this command. Run it in WSL, the Linux inside Windows")


def _lacks(command: str) -> str:
    """Return why the student edition lacks a command, and what to do instead."""
    from course.syllabus import SOURCE

    whole = f"The whole course is at {SOURCE}"
    lacking = {
        "grade": "holds no hidden tests. `check` runs the public ones",
        "solution": f"holds no solutions. {whole}",
    }
    return lacking.get(command, f"cannot do that. {whole}")


def _see_to_streams() -> None:
    """Open /dev/null for standard streams that the caller has closed, so that no later file takes their descriptors.

    A terminal, or a file on Windows, whose encoding lacks ✓ gets a question mark.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    logging.getLogger("tornado.application").addHandler(logging.NullHandler())  # nbgrader logs here what it also raises


def _say_what_takes_long(command: str) -> None:
    """Write the package's log of its progress to standard error, with the command as a prefix."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.INFO)
    handler.setFormatter(logging.Formatter(f"course {command}: %(message)s"))
    logger = logging.getLogger("course")
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)


def _log_into(file: Path) -> None:
    """Append the package's log to `file`, with the name of each module, for operators.

    Raises:
        OSError: the file cannot be written.
    """
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(name)s: %(message)s"))
    logger = logging.getLogger("course")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)


def _tell(sentence: str) -> None:
    """Print a sentence on standard error, and ignore a closed stream."""
    with contextlib.suppress(OSError, ValueError):
        print(sentence, file=sys.stderr, flush=True)


def _say_no_more() -> None:
    """Discard the buffer of standard output if it cannot be written, because its reader is gone or the disk is full."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def new(arguments: argparse.Namespace) -> int:
    """Start a course of your own, with your choice of topics, points, due dates and late penalties."""
    from course.grading.course_files.catalogue import topics_called
    from course.grading.release.new_course import begin

    print(
        begin(
            arguments.course,
            arguments.folder,
            topics_called(arguments.course, arguments.topics),
            project=arguments.project,
            assistants=arguments.assistants,
        )
    )
    return 0


def start(arguments: argparse.Namespace) -> int:
    """Copy the notebooks into a folder of your own, and open their map in JupyterLab."""
    from course.grading.course_files.catalogue import counted
    from course.grading.machine.start import copy_notebooks, open_map, usual_folder

    folder = arguments.folder or usual_folder(arguments.course)
    copied, kept = copy_notebooks(arguments.course, folder)
    stays = f", and {counted(kept, 'notebook')} that you had" if kept else ""
    print(f"{counted(copied, 'new notebook')}{stays} in {folder.resolve()}", flush=True)
    if arguments.copy_only:
        return 0
    return open_map(folder, ["--no-browser"] if arguments.no_browser else [])


def progress(arguments: argparse.Namespace) -> int:
    """Show how far you are: what passes, what `course grade` gave, and what comes next on your path."""
    from course.grading.machine.show_progress import choose, describe, find_home

    course = arguments.course
    home = find_home(course, arguments.folder)
    if arguments.path is not None:
        choose(course, arguments.path, home)
    if arguments.page is not None:
        from course.grading.report.study_page import write_page

        print(write_page(course, home, arguments.page))
        return 0
    print("\n".join(describe(course, home)))
    return 0


def list_topics(arguments: argparse.Namespace) -> int:
    """Print the topics, with their exercises when one is named."""
    from course.grading.course_files.catalogue import describe, overview, topics_called
    from course.study_paths import PRESETS

    course = arguments.course
    topics = topics_called(course, arguments.topics)
    if arguments.topics and not PRESETS.keys() & {*arguments.topics}:
        print("\n\n".join(describe(topic, course.root, _uses(course, topic)) for topic in topics))
    else:
        print(overview(topics, course.root))
    if find_spec("course.hidden") is not None:
        _say_what_is_older(course, topics, "list")
    return 0


def _uses(course: Course, topic: Topic) -> dict[str, str]:
    """Return the cells that use each exercise, for an instructor who may drop it. Students do not see this."""
    if find_spec("course.hidden") is None:
        return {}
    from course.grading.release.class_text import uses
    from course.grading.release.source import current

    notebook = current(course, topic)
    return {item.name: uses(notebook.cells, item.name) for item in topic.items} if notebook else {}


def _say_what_is_older(course: Course, topics: Sequence[Topic], command: str) -> None:
    """Print which of an instructor's sources are older than the original ones."""
    from course.grading.release.new_course import older_than_ours

    for note in () if course.is_original else older_than_ours(course.root, topics):
        print(f"course {command}: {note}", file=sys.stderr)


def release(arguments: argparse.Namespace) -> int:
    """Build the student notebooks, register them in the gradebook, and pack what a course of your own hands out."""
    from course.grading.release.make_release import release

    course, topics = _course(arguments), _topics(arguments, arguments.topics)
    for path in release(course, topics, force=arguments.force):
        print(path)
    if not course.is_original:
        from course.grading.release.handout import hand_out
        from course.grading.release.new_course import note_copied

        for path in hand_out(course):
            print(path)
        _say_what_is_older(course, topics, "release")
        note_copied(course.root, topics)
    return _complain(course, [topic for topic in topics if topic.own])


def grade(arguments: argparse.Namespace) -> int:
    """Grade a class's submissions of topics into the gradebook, or a notebook for yourself."""
    from course.grading.classroom.grade_command import grade_stale, grade_topic
    from course.grading.self_study.grade_one import demand_class, grade_one

    if arguments.log:
        _log_into(arguments.log)
    policy = "retrain" if arguments.retrain else "checkpoint"
    if not arguments.what and not arguments.stale:
        raise Problem("nothing was named to grade. Name a topic, such as 03_rnn, or a notebook, such as my.ipynb")
    notebooks = [Path(what) for what in arguments.what if what.endswith(".ipynb")]
    if notebooks and len(notebooks) < len(arguments.what):
        raise Problem(
            "topics and notebooks cannot be graded together. Name topics to grade a class, or "
            "notebooks to grade your own"
        )
    if notebooks and arguments.feedback:
        raise Problem("a page of feedback belongs to a class. Leave --feedback out to grade your own notebook")
    if notebooks:
        return _all(notebooks, lambda notebook: grade_one(arguments.course, notebook, policy))
    chosen = {"timeout": arguments.timeout, "require_sandbox": arguments.require_sandbox, "gpu": arguments.gpu}
    settings = {"policy": policy, **{name: value for name, value in chosen.items() if value}}
    topics = _topics(arguments, arguments.what)
    demand_class(arguments.course, topics)
    options = {name: getattr(arguments, name) for name in ("workers", "scheduler", "force", "spot_check", "feedback")}
    graded = {"students": arguments.student, "settings": settings, **options}
    if arguments.stale:
        return grade_stale(_course(arguments), topics, **graded)
    return _all(topics, lambda topic: grade_topic(_course(arguments), topic, **graded))


def report(arguments: argparse.Namespace) -> int:
    """Write one page about a class's results in a topic, one student's checks, or the whole term."""
    from course.grading.report import write_report, write_student_reports, write_term_report

    course, to, names = _course(arguments), arguments.to, arguments.names
    topics = _topics(arguments, [arguments.topic]) if arguments.topic else []
    if arguments.student and names is not None:
        raise Problem("a page about one student names that student. Leave --names and --no-names out")
    if arguments.student:
        for path in write_student_reports(course, topics, arguments.student, to):
            print(path)
    elif topics:
        print(write_report(course, topics[0], to, names=names is not False))
    else:
        path, notes = write_term_report(course, to, names=names is True)
        print(path)
        _note("report", notes)
    return 0


def viva(arguments: argparse.Namespace) -> int:
    """Make sheets with questions about each student's own code, to answer on paper, or mark the answers."""
    from course.grading.viva.viva_command import make_sheets, mark_answers

    course, topic = _course(arguments), _topics(arguments, [arguments.topic])[0]
    if arguments.answers is None:
        most = arguments.questions or 4
        return make_sheets(course, topic, seed=arguments.seed, most=most, only=arguments.only)
    if arguments.questions or arguments.only:
        raise Problem("the answers are to sheets that are made already. Leave --questions and --only out")
    return mark_answers(course, topic, arguments.answers, seed=arguments.seed)


def attempts(arguments: argparse.Namespace) -> int:
    """List what a student handed in for a topic, earlier attempts included, or grade an earlier one in its place."""
    from course.grading.classroom.attempts import grade_attempt, list_attempts

    topic = _topics(arguments, [arguments.topic])[0]
    if arguments.grade is None:
        return list_attempts(_course(arguments), topic, arguments.student)
    return grade_attempt(_course(arguments), topic, arguments.student, arguments.grade)


def requests(arguments: argparse.Namespace) -> int:
    """List regrade requests with answer, verdict and points beside them, take more from a file, or decide one."""
    from course.grading.classroom.regrade import decide_request, list_requests, take_requests

    course, topic = _course(arguments), _topics(arguments, [arguments.topic])[0]
    if arguments.decide is not None:
        return decide_request(course, topic, arguments.decide, arguments.because or "", arguments.points)
    if arguments.because is not None or arguments.points is not None:
        raise Problem("--because and --points belong to a decision. Add --decide and the request's number")
    if arguments.read:
        return take_requests(course, topic, arguments.read)
    return list_requests(course, topic, decided=arguments.all)


def take(arguments: argparse.Namespace) -> int:
    """Make a file the submission of a student that counts, such as one that a collection only listed."""
    from course.grading.classroom.take import take

    topic = _topics(arguments, [arguments.topic])[0] if arguments.topic else None
    print("\n".join(take(_course(arguments), arguments.student, arguments.file, topic, arguments.came)))
    return 0


def solution(arguments: argparse.Namespace) -> int:
    """Show an exercise's reference with a commentary, once you have tried."""
    from course.grading.self_study.show_solution import show

    return show(arguments.course, arguments.exercise, asked=arguments.yes)


def export(arguments: argparse.Namespace) -> int:
    """Write grades or feedback for another platform, or an autograder that runs this course's judge on Gradescope."""
    from course.grading.export import export_grades
    from course.grading.export.gradescope import write_autograder

    if _asks_for_final(arguments):
        return _export_final(arguments)
    topics = _topics(arguments, arguments.topics)
    if arguments.feedback:
        return _export_feedback(arguments, topics)
    if arguments.into and arguments.platform not in ("canvas", "moodle"):
        raise Problem("only canvas and moodle have files to fill in. Leave --into out")
    for option, given in (("--visibility", arguments.visibility), ("--without-sandbox", arguments.without_sandbox)):
        if given and arguments.platform != "gradescope":
            raise Problem(f"only Gradescope knows {option}. Leave it out")
    if arguments.platform == "gradescope":
        if arguments.to and len(topics) > 1:
            raise Problem("--to names one file. Export one topic at a time")
        visibility, sandbox = arguments.visibility or "visible", not arguments.without_sandbox
        options: dict[str, Any] = {"visibility": visibility, "require_sandbox": sandbox}
        for topic in topics:
            print(write_autograder(_course(arguments), topic, arguments.to, **options))
        return 0
    path, notes = export_grades(_course(arguments), arguments.platform, topics, arguments.to, arguments.into)
    print(path)
    _note("export", notes)
    return 0


def _asks_for_final(arguments: argparse.Namespace) -> bool:
    """Return whether `final` is among the topics, and no topic is called so."""
    return FINAL in arguments.topics and arguments.course.topic_in(FINAL) is None


def _export_final(arguments: argparse.Namespace) -> int:
    """Write the final grades of the class."""
    from course.grading.export.final_grades import export_final

    if arguments.topics != [FINAL] or arguments.platform == "gradescope" or arguments.feedback:
        raise Problem("the final grade is exported alone, to csv, canvas or moodle. Name nothing else beside it")
    if arguments.into and arguments.platform == "csv":
        raise Problem("only canvas and moodle have files to fill in. Leave --into out")
    path, notes = export_final(_course(arguments), arguments.platform, arguments.to, arguments.into)
    print(path)
    _note("export", notes)
    return 0


def _export_feedback(arguments: argparse.Namespace, topics: Sequence[Topic]) -> int:
    """Write a zip of feedback for each topic."""
    from course.grading.export.feedback import PLATFORMS, export_feedback

    if arguments.platform not in PLATFORMS:
        raise Problem("only canvas and moodle take a zip of feedback. Leave --feedback out")
    if arguments.into or arguments.visibility or arguments.without_sandbox:
        raise Problem("a zip of feedback needs no other option than --to. Leave the others out")
    if arguments.to and len(topics) > 1:
        raise Problem("--to names one file. Export one topic at a time")
    for topic in topics:
        path, notes = export_feedback(_course(arguments), arguments.platform, topic, arguments.to)
        print(path)
        _note("export", notes)
    return 0


def roster(arguments: argparse.Namespace) -> int:
    """Add a class list to the gradebook, from Canvas or Moodle, or from a table that these or you made."""
    from course.grading.classroom.roster import Table, update_roster
    from course.grading.lms.connect import PLATFORMS

    course, file = _course(arguments), arguments.file
    if str(file) in PLATFORMS:
        from course.grading.lms.people import take_roster

        told, notes = take_roster(course, str(file), arguments.id)
    else:
        told, notes, _ = update_roster(course.root, Table.read(file), arguments.id)
    print("\n".join(told))
    _note("roster", notes)
    return 0


def fetch(arguments: argparse.Namespace) -> int:
    """Fetch what was handed in on Canvas or Moodle, all attempts, and collect it as a download."""
    from course.grading.lms.fetch import fetch

    def bring(topic: Topic) -> int:
        status, told = fetch(_course(arguments), arguments.platform, topic)
        print("\n".join(told))
        return status

    return _all(_topics(arguments, arguments.topics), bring)


def send(arguments: argparse.Namespace) -> int:
    """Send grades, comments and feedback to Canvas or Moodle, after a table of what will change there."""
    from course.grading.classroom.final_grades import AS_TOPIC
    from course.grading.lms.send import send

    asks_for_final = _asks_for_final(arguments)
    if asks_for_final and arguments.topics != [FINAL]:
        raise Problem("the final grade is sent alone. Name nothing else beside it")
    options = {"dry_run": arguments.dry_run, "replace": arguments.replace_changed, "only": arguments.student}

    def give(topic: Topic) -> int:
        status, notes = send(_course(arguments), arguments.platform, topic, print, **options)
        _note("send", notes)
        return status

    return _all([AS_TOPIC] if asks_for_final else _topics(arguments, arguments.topics), give)


def _note(command: str, notes: Sequence[str]) -> None:
    """Print notes for the instructor on standard error."""
    for note in notes:
        print(f"course {command}: {note}", file=sys.stderr)


def cache(arguments: argparse.Namespace) -> int:
    """Show the results kept from earlier gradings, or remove those not used for some days."""
    from course.grading.course_files.catalogue import counted
    from course.grading.execution.result_store import Store, table
    from course.grading.nbgrader_bridge.configure import RESULTS

    store = Store(_course(arguments).root / RESULTS)
    if arguments.prune is not None:
        gone = store.prune(arguments.prune)
        print(f"{counted(len(gone), 'result')} removed, {sum(kept.size for kept in gone) / 1e6:.1f} MB")
    print(f"{table(store.results())}\n{store.folder}")
    return 0


def demo(arguments: argparse.Namespace) -> int:
    """Make up a class, grade it, and show its score table and feedback."""
    from course.grading.demo.run_demo import run

    return run(arguments.course, _topics(arguments, [arguments.topic])[0], arguments.folder, arguments.workers)


def lint(arguments: argparse.Namespace) -> int:
    """Check the notebooks for faults, and print one line for each."""
    return _complain(_course(arguments), _topics(arguments, arguments.topics))


def _complain(course: Course, topics: Sequence[Topic]) -> int:
    """Print the faults in the notebooks of `topics`. Return 1 if there are any, else 0."""
    from course.grading.release.lint import lint_topic

    if not topics:
        return 0
    complaints = [complaint for topic in topics for complaint in lint_topic(course, topic)]
    for complaint in complaints:
        print(complaint)
    count = f"{len(complaints) or 'no'} complaint{'s' * (len(complaints) != 1)}"
    print(f"{len(topics)} notebook{'s' * (len(topics) != 1)} read, {count}")
    return 1 if complaints else 0


def upgrade(arguments: argparse.Namespace) -> int:
    """List what is newer in our repository than in your course, show it, or take it without losing your edits."""
    from course.grading.release.upgrade import upgrade

    return upgrade(_course(arguments), arguments.names, diff=arguments.diff, takes=arguments.take)


def source(arguments: argparse.Namespace) -> int:
    """Save edits made in a notebook of solutions/ in its .py source."""
    from course.grading.release.source import update_source

    written = update_source(arguments.notebook)
    for path in (written.source, *written.pictures):
        print(path)
    for note in written.notes:
        print(f"course source: {note}", file=sys.stderr)
    return 0


def wheel(arguments: argparse.Namespace) -> int:
    """Build the student wheel, with answer keys instead of references and hidden tests."""
    from course.grading.release.wheel import build_wheel

    print(build_wheel(_course(arguments), arguments.folder))
    return 0


def doctor(arguments: argparse.Namespace) -> int:
    """Check this machine, and say what is fine, what is wrong and what to do."""
    from course.grading.machine.doctor import diagnose

    return diagnose(arguments.folder)


def submit(arguments: argparse.Namespace) -> int:
    """Pack a notebook, its checkpoints and the files it needs into a zip to hand in, and say what is missing."""
    from course.grading.intake.submit import hand_in

    options = {"blank": arguments.blank, "variants": arguments.variants}
    return hand_in(arguments.course, arguments.what, arguments.student, arguments.folder, **options)


def _course(arguments: argparse.Namespace) -> Course:
    """Return the course that the command is run in.

    Raises:
        Problem: the working folder is not inside a course.
    """
    course: Course = arguments.course
    demand_course(course)
    return course


def _topics(arguments: argparse.Namespace, names: Sequence[str]) -> list[Topic]:
    """Return the topics called `names`, in the course's order, or all topics without names."""
    from course.grading.course_files.catalogue import topic_called

    course: Course = arguments.course
    wanted = {topic_called(course, name) for name in names}
    return [topic for topic in course.topics if not names or topic in wanted]


def _all(things: Sequence[T], work: Callable[[T], int]) -> int:
    """Process one thing after the other, with blank lines between their output. Return the worst status."""
    worst = 0
    for place, thing in enumerate(things):
        if place:
            print()
        worst = max(worst, work(thing))
    return worst


def _count(text: str) -> int:
    """Parse a whole number, 1 or more."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def _days(text: str) -> float:
    """Parse a number of days, 0 or more."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days of 0 or more")
    return number


def _time(text: str) -> datetime:
    """Parse a time with its zone, such as `2027-01-31 23:40+01:00`."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = datetime.min
    if time.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time with its zone, such as '2027-01-31 23:40+01:00'")
    return time


def _share(text: str) -> float:
    """Parse a share of a class, such as `5%` or `0.05`."""
    try:
        number = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        number = 0.0
    if not 0.0 < number <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share of a class. Write 5% or 0.05, at most 100%")
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="course", description="Release, check and grade the notebooks.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (run, declare) in COMMANDS.items():
        added = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
        added.set_defaults(run=run)
        declare(added)
    return parser


def _starting(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="DIR", help="folder for the course (created if missing)")
    _with_presets(command)
    command.add_argument("--project", action="store_true", help="add a capstone that you grade by hand, project")
    may = "what AI assistants may do for students (default: tutor, which helps and writes no answers)"
    command.add_argument("--assistants", choices=SETTINGS["assistants"], default="tutor", help=may)


def _starting_alone(command: argparse.ArgumentParser) -> None:
    which = "this one or the one above if it has the notebooks, or else sequence-models"
    where = f"folder for the notebooks (default: {which}; created if missing, and nothing in it is replaced)"
    command.add_argument("folder", type=Path, nargs="?", metavar="DIR", help=where)
    command.add_argument("--no-browser", action="store_true", help="print JupyterLab's address and open no browser")
    command.add_argument("--copy-only", action="store_true", help="copy the notebooks, and do not open JupyterLab")


def _looking_at_oneself(command: argparse.ArgumentParser) -> None:
    where = "folder with your notebooks (default: this one, the one above, or the only one in it)"
    command.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="DIR", help=where)
    names = "language, vision, efficiency or large-models"
    chosen = f'choose a path for six weeks, {names}, and remember it ("": choose none)'
    command.add_argument("--path", metavar="NAME", help=chosen)
    page = "write a page to show instead: what you did, with which results, and when"
    command.add_argument("--page", type=Path, metavar="FILE", help=page)


def _with_presets(command: argparse.ArgumentParser) -> None:
    presets = "volume-one, volume-two, volume-three, language, vision, efficiency or large-models"
    help = f"a topic, such as 03_rnn, rnn or 3, or {presets} (default: all)"
    command.add_argument("topics", nargs="*", default=[], metavar="TOPIC", help=help)


def _with_topics(command: argparse.ArgumentParser) -> None:
    help = "a topic, such as 03_rnn, rnn or 3 (default: all)"
    command.add_argument("topics", nargs="*", default=[], metavar="TOPIC", help=help)


def _releasing(command: argparse.ArgumentParser) -> None:
    _with_topics(command)
    command.add_argument(
        "--force", action="store_true", help="replace notebooks that contain work, and questions that have answers"
    )


def _grading(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "what",
        nargs="*",
        default=[],
        metavar="TOPIC|NOTEBOOK",
        help="a topic, such as 03_rnn, or a notebook, such as my.ipynb",
    )
    add("--student", action="append", default=[], help="grade only this student (repeat for several)")
    add("--force", action="store_true", help="grade again what was graded before")
    add("--stale", action="store_true", help="grade again only what was judged with other tests than the current ones")
    add("--feedback", action="store_true", help="write the page of feedback of each student graded")
    add("--retrain", action="store_true", help="train models again instead of loading checkpoints")
    comparing = "train the models of this share of the class again, and compare"
    add("--spot-check", type=_share, default=0.0, metavar="5%", help=comparing)
    _with_workers(command)
    add("--scheduler", metavar="ADDRESS", help="execute on the Dask cluster at an address such as tcp://10.0.0.1:8786")
    add("--require-sandbox", action="store_true", help="refuse to grade without a sandbox")
    add("--gpu", action="store_true", help="give notebooks an accelerator, and stop if there is none")
    add("--timeout", type=_count, metavar="SECONDS", help="time limit of a cell (default: 30)")
    add("--log", type=Path, metavar="FILE", help="append what was executed, retried and saved, and why, to this file")


def _with_workers(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--workers", type=_count, help="number of worker processes (default: one for each core, if memory allows)"
    )


def _reporting(command: argparse.ArgumentParser) -> None:
    which = "a topic, such as 03_rnn, rnn or 3 (default: the whole term, or with --student all that are graded)"
    command.add_argument("topic", nargs="?", metavar="TOPIC", help=which)
    command.add_argument("--student", metavar="STUDENT", help="report every check of this student's work instead")
    command.add_argument("--to", type=Path, metavar="FILE", help="file to write (default: a file in reports/)")
    named = "whether to name students (default: in the report on a topic, and not in that on the term)"
    command.add_argument("--names", action=argparse.BooleanOptionalAction, help=named)


def _asking_in_person(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("topic", metavar="TOPIC", help="a topic, such as 03_rnn, rnn or 3")
    add("--questions", type=int, choices=range(3, 7), help="questions on a sheet, from 3 to 6 (default: 4)")
    again = "draw other questions, for a second chance, with a number of your choice (default: 1)"
    add("--seed", type=_count, default=1, metavar="NUMBER", help=again)
    add("--only", action="append", default=[], metavar="STUDENT", help="a sheet for this student (repeat for several)")
    add("--answers", type=Path, metavar="FILE", help="mark the answers in a table with the columns student,1,2,3,4")


def _looking_back(command: argparse.ArgumentParser) -> None:
    command.add_argument("student", metavar="STUDENT", help="a student, by the name of the folder in submitted/")
    command.add_argument("topic", metavar="TOPIC", help="a topic, such as 03_rnn, rnn or 3")
    command.add_argument("--grade", type=_count, metavar="NUMBER", help="grade this attempt of the list, and count it")


def _asked_again(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("topic", metavar="TOPIC", help="a topic, such as 03_rnn, rnn or 3")
    add("--all", action="store_true", help="list decided requests, too")
    add("--read", type=Path, metavar="FILE", help="take the requests in a text file, such as a mail that you saved")
    add("--decide", type=_count, metavar="NUMBER", help="decide the request with this number of the list")
    add("--because", metavar="REASON", help="the reason for the decision, which the student reads")
    add("--points", type=float, metavar="POINTS", help="points for the exercise from now on (default: they stay)")


def _solving(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "exercise", metavar="EXERCISE", help="an exercise, such as rnn_cell (`course list rnn` names them)"
    )
    command.add_argument("--yes", action="store_true", help="do not ask whether you have tried")


OR_FINAL = "a topic, such as 03_rnn, rnn or 3, or final for the final grade"


def _exporting(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("platform", choices=("csv", "canvas", "moodle", "gradescope"), help="where the grades go")
    add("topics", nargs="+", metavar="TOPIC", help=OR_FINAL)
    add("--to", type=Path, metavar="FILE", help="file to write (default: a file in exports/)")
    add("--into", type=Path, metavar="FILE", help="Canvas gradebook or Moodle worksheet to fill in")
    feedback = "write a zip of feedback that canvas or moodle hands out, instead of grades"
    add("--feedback", action="store_true", help=feedback)
    times = ("visible", "after_due_date", "after_published", "hidden")
    add("--visibility", choices=times, help="when students see results on Gradescope (default: visible)")
    unsafely = "let Gradescope grade even without a sandbox"
    add("--without-sandbox", action="store_true", help=unsafely)


def _listing_a_class(command: argparse.ArgumentParser) -> None:
    what = "a CSV file with ids, names and emails, or canvas or moodle, to read the class there"
    command.add_argument("file", type=Path, metavar="FILE|canvas|moodle", help=what)
    which = "column with the ids that students hand in under (default: found by its name)"
    command.add_argument("--id", metavar="COLUMN", help=which)


def _at_a_platform(command: argparse.ArgumentParser, topics: str = "a topic, such as 03_rnn, rnn or 3") -> None:
    command.add_argument("platform", choices=("canvas", "moodle"), help="the platform of the class, as in course.toml")
    command.add_argument("topics", nargs="+", metavar="TOPIC", help=topics)


def _sending(command: argparse.ArgumentParser) -> None:
    _at_a_platform(command, OR_FINAL)
    add = command.add_argument
    add("--dry-run", action="store_true", help="show the table of what would change, and send nothing")
    add("--student", action="append", default=[], help="send only to this student (repeat for several)")
    add("--replace-changed", action="store_true", help="send also where somebody changed the grade there")


def _taking(command: argparse.ArgumentParser) -> None:
    command.add_argument("student", metavar="STUDENT", help="the student's id in the gradebook")
    what = "a notebook, whatever it is called, an archive, or a folder with a notebook"
    command.add_argument("file", type=Path, metavar="FILE", help=what)
    command.add_argument("--topic", metavar="TOPIC", help="its topic (default: the one whose exercises it has)")
    when = "when it was handed in, such as '2027-01-31 23:40+01:00' (default: unknown, which counts as on time)"
    command.add_argument("--came", type=_time, metavar="TIME", help=when)


def _keeping(command: argparse.ArgumentParser) -> None:
    unused = "remove results not used for this many days (0 removes all)"
    command.add_argument("--prune", type=_days, metavar="DAYS", help=unused)


def _examining(command: argparse.ArgumentParser) -> None:
    where = "folder with the notebooks (default: this folder)"
    command.add_argument("folder", type=Path, nargs="?", default=Path(), help=where)


def _handing_in(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("what", metavar="NOTEBOOK|TOPIC", help="a notebook, such as my.ipynb, or a topic, such as 03_rnn")
    add("--student", help="the name your class knows you by (default: your login name)")
    add("--folder", type=Path, help="where to put the zip (default: beside the notebook's folder)")
    add("--blank", action="store_true", help="pack a notebook without answers, and do not ask")
    add("--variants", action="store_true", help="also pack the weights of models to compare with")


def _demonstrating(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("topic", nargs="?", default="06_self_attention", metavar="TOPIC", help="a topic (default: 06_self_attention)")
    add("--folder", type=Path, help="where to put the class (default: a temporary folder)")
    _with_workers(command)


def _editing(command: argparse.ArgumentParser) -> None:
    command.add_argument("notebook", type=Path, help="a notebook, such as solutions/03_rnn/03_rnn.ipynb")


def _upgrading(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    what = "a topic, such as 03_rnn, or a file of the list, such as nbgrader_config.py (default: all)"
    add("names", nargs="*", default=[], metavar="TOPIC|FILE", help=what)
    add("--diff", action="store_true", help="show what would change")
    add("--take", action="store_true", help="take ours, where that touches nothing you changed")


def _packing(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, nargs="?", default=Path("dist"), help="where to put it")


Run = Callable[[argparse.Namespace], int]
Declare = Callable[[argparse.ArgumentParser], None]

COMMANDS: dict[str, tuple[Run, Declare]] = {
    "new": (new, _starting),
    "start": (start, _starting_alone),
    "progress": (progress, _looking_at_oneself),
    "list": (list_topics, _with_presets),
    "lint": (lint, _with_topics),
    "release": (release, _releasing),
    "grade": (grade, _grading),
    "report": (report, _reporting),
    "viva": (viva, _asking_in_person),
    "attempts": (attempts, _looking_back),
    "requests": (requests, _asked_again),
    "solution": (solution, _solving),
    "export": (export, _exporting),
    "roster": (roster, _listing_a_class),
    "fetch": (fetch, _at_a_platform),
    "send": (send, _sending),
    "take": (take, _taking),
    "cache": (cache, _keeping),
    "doctor": (doctor, _examining),
    "submit": (submit, _handing_in),
    "demo": (demo, _demonstrating),
    "source": (source, _editing),
    "upgrade": (upgrade, _upgrading),
    "wheel": (wheel, _packing),
}
"""The function that runs each command, and the one that declares its arguments."""


if __name__ == "__main__":
    sys.exit(main())
