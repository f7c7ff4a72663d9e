"""Grade one submission on Gradescope: `python -m course.grading.export.autograder /autograder`.

Grading takes the same steps as for a class: nbgrader's sanitising, the sandbox, the judge. The students' results are
written to `results/results.json`. A fault of the machine writes no results, so Gradescope reports that the autograder
failed, and nobody gets a zero for it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from course.course import Course, course_in
from course.files import write_atomically
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.graded import Graded
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.save import save
from course.grading.classroom.summary import graded_cells
from course.grading.export.gradescope import CLASS, SETTINGS
from course.grading.intake.check_submission import examine
from course.grading.machine import faults
from course.grading.problem import Problem
from course.judge.verdict import Verdict
from course.syllabus import Topic


def main(root: Path) -> int:
    """Grade the submission in `root`, and return 0 if results were written, else 1."""
    started = time.monotonic()
    results = root / "results" / "results.json"
    results.unlink(missing_ok=True)
    settings = json.loads((root / "source" / SETTINGS).read_bytes())
    course = course_in(root / "source" / CLASS)
    topic = course.find_topic(settings["topic"])
    try:
        graded = grade(course, root, topic, settings["require_sandbox"])
        said = gradescope_results(topic, graded, settings["visibility"])
        said["execution_time"] = round(time.monotonic() - started)
        write_atomically(results, json.dumps(said, indent=2, ensure_ascii=False).encode())
    except (Problem, OSError) as error:
        print(f"Not graded: {faults.advice_for(error) or error}")
        return 1
    return 0


def grade(course: Course, root: Path, topic: Topic, require_sandbox: bool) -> Graded:
    """Return the graded submission; its `reason` says why it was not graded, if the student caused that.

    Raises:
        Problem, OSError: the machine could not grade the submission, which must be run again.
    """
    student = _student(root)
    with tempfile.TemporaryDirectory(prefix="course-class-") as folder:
        copy = Path(folder).resolve() / CLASS
        shutil.copytree(course.root, copy)
        place = copy / "submitted" / student / topic.folder
        try:
            notes = [*hand_in(root / "submission", place, topic), *examine(course, place, topic.folder)]
        except Problem as problem:
            return Graded(student, reason=str(problem))
        classroom = Classroom(replace(course, root=copy), topic, {"require_sandbox": require_sandbox})
        reason = save(classroom, student)
        if reason:
            raise faults.Fault(reason)
        graded = LastGrading(classroom, student).result(notes)
    if not graded.complete:
        raise faults.Fault("; ".join(v.message for v in graded.verdicts.values() if v.kind == "not-graded"))
    return graded


def hand_in(submission: Path, place: Path, topic: Topic) -> list[str]:
    """Copy the upload to where nbgrader looks for it, whether it has folders or all files in one folder.

    Of several copies of the notebook, the one in the fewest folders is taken. Returns a note on the others.

    Raises:
        Problem: the notebook is missing or ambiguous, or the upload holds links.
    """
    from course.grading.intake.untrusted import refuse_links

    refuse_links(submission)
    name = f"{topic.folder}.ipynb"
    found = sorted(submission.rglob(name), key=lambda path: (len(path.parts), path))
    if not found:
        others = sorted(path.name for path in submission.rglob("*.ipynb"))
        raise Problem(
            f"there is no {name}{' but ' + ', '.join(others) if others else ''}. Upload the notebook under that name"
        )
    copies = [path.relative_to(submission).as_posix() for path in found]
    if len(found) > 1 and len(found[0].parts) == len(found[1].parts):
        raise Problem(f"there are several {name}, {', '.join(copies)}. Upload only the one to grade")
    folder = found[0].parent
    shutil.copytree(folder, place)
    for path in sorted(folder.glob("*.safetensors")):
        (place / "checkpoints").mkdir(exist_ok=True)
        if not (place / "checkpoints" / path.name).exists():
            shutil.copy(path, place / "checkpoints")
    verb = "is" if len(copies) == 2 else "are"
    return [f"{copies[0]} is graded. {', '.join(copies[1:])} {verb} not"] if copies[1:] else []


def gradescope_results(topic: Topic, graded: Graded, visibility: str) -> dict[str, Any]:
    """Return Gradescope's `results.json`: a test for each graded exercise, without details of hidden cases."""
    if graded.reason or graded.scores is None:
        return {
            "score": 0.0,
            "output": f"This could not be graded: {graded.reason}.",
            "output_format": "text",
            "visibility": visibility,
            "stdout_visibility": "hidden",
        }
    tests, by_hand = [], []
    for name in graded_cells(topic, [graded]):
        score, most, verdict = graded.scores.cells[name], graded.scores.maxima[name], graded.verdicts.get(name)
        if score is None or name in graded.scores.waiting:
            by_hand.append(name)
        if score is None:
            continue
        tests.append(
            {
                "name": name,
                "score": score,
                "max_score": most,
                "status": "passed" if score >= most else "failed",
                "output": _output(verdict, score, most),
                "output_format": "text",
                "visibility": visibility,
            }
        )
    lines = [f"{topic.folder}  {topic.title}", *(f"Note: {note}" for note in graded.notes)]
    lines += [f"Your instructor grades these: {', '.join(by_hand)}"] if by_hand else []
    return {
        "tests": tests,
        "output": "\n".join(lines),
        "output_format": "text",
        "visibility": visibility,
        "stdout_visibility": "hidden",
        "extra_data": {"isolation": graded.isolation, "misconceptions": _misconceptions(graded)},
    }


def _output(verdict: Verdict | None, score: float, most: float) -> str:
    """Return the text for a student: public checks and the hint, and the number of failed hidden checks."""
    if verdict is None:
        return "all tests pass" if score >= most else "a test fails"
    from course.judge import report
    from course.judge.points import how_points_follow

    lines = [report.headline(verdict), *filter(None, [how_points_follow(verdict, naming_hidden=False)])]
    failed = [case for case in verdict.cases if not case.passed and not case.held_back]
    public = [case for case in failed if case.public]
    lines += [f"✗ {case.title}: {case.message}" for case in public]
    if len(failed) > len(public):
        count = len(failed) - len(public)
        lines.append(f"{count} hidden check{'s fail' if count > 1 else ' fails'}")
    if verdict.convention:
        lines.append(f"This computation is correct under another convention: {verdict.convention}.")
    if verdict.message and (not verdict.cases or verdict.kind == "forbidden"):
        lines.append(verdict.message)
    lines += report.measured(verdict)
    lines += [f"Look here: {hint}" for hint in report.where_to_look(verdict)]
    return "\n".join(lines)


def _misconceptions(graded: Graded) -> dict[str, str]:
    return {name: verdict.misconception for name, verdict in graded.verdicts.items() if verdict.misconception}


def _student(root: Path) -> str:
    """Return a fixed name for the same group of students, because it seeds the hidden cases."""
    try:
        about = json.loads((root / "submission_metadata.json").read_bytes())
        people = sorted(str(user["email"]) for user in about["users"])
    except (OSError, ValueError, KeyError, TypeError):
        people = []
    return f"s{hashlib.sha256(' '.join(people).encode()).hexdigest()[:12]}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
