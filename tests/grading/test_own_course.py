"""A course of an instructor's own, with an exercise written from docs/own-exercises.md alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path

import nbformat
import pytest

from course.clock import Extension
from course.course import chosen, course_in
from course.grading.course_files.catalogue import due
from course.grading.course_files.setup_cell import ARCHIVE
from course.grading.gradebook.scores import read_scores
from course.grading.release import handout
from course.outline import Faulty, Final, Late, read_outline
from course.problem import Problem
from course.study_paths import PATHS
from course.syllabus import OURS
from tests.commands import output_of, run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-exercises.md").read_text("utf-8")
TOPIC = "20_smoothing"
DUE = "2026-10-12T23:59:00+02:00"

WRONG = "def moving_average(x, width):\n    return x.unfold(1, width, 1).sum(-1)"
RIGHT = "def moving_average(x, width):\n    return x.unfold(1, width, 1).mean(-1)"


def block(name: str) -> str:
    (found,) = re.findall(rf"```\w+ {name}\n(.*?)```", PAGE, re.S)
    return found


def shell(folder: Path, *command: str, **environment: str) -> str:
    """What a line for the shell said, its programs being this environment's and its `course` this repository's."""
    here = {**os.environ, "PYTHONPATH": str(ROOT), "USER": os.environ.get("USER", "grader"), **environment}
    done = subprocess.run(command, cwd=folder, env=here, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's first four steps, done as it says."""
    place = tmp_path_factory.mktemp("own")
    folder = place / "mine"
    output_of(ROOT, "course", "new", str(folder), "06_self_attention")
    outline = folder / "course.toml"
    late = outline.read_text("utf-8").replace("percent_per_day = 0 ", "percent_per_day = 10 ")
    late = late.partition("[topics.")[0]  # its tests and keys are not what is tried here
    topic = block("outline").replace("exercises = [", f"due = {DUE}\nexercises = [", 1)
    outline.write_text(f'{late}[extensions]\nzoe = {{ "{TOPIC}" = "2 days" }}\n{topic}', "utf-8")
    own = folder / "exercises" / TOPIC
    own.mkdir()
    (own / "hidden.py").write_text(block("hidden"), "utf-8")
    (own / "notebook.py").write_text(block("notebook"), "utf-8")
    said = shell(folder, "bash", "-euc", block("release"))
    assert "1 notebooks read, no complaints" in said.replace("notebook read", "notebooks read")
    return folder


def hand_in(root: Path, student: str, answer: str = "", handed_in: str = "2026-10-12 12:00:00 UTC") -> None:
    nb = nbformat.read(root / "assignments" / TOPIC / f"{TOPIC}.ipynb", as_version=4)
    if answer:
        (cell,) = [
            cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id", "").endswith("-solution")
        ]
        cell.source = answer
    folder = root / "submitted" / student / TOPIC
    folder.mkdir(parents=True)
    nbformat.write(nb, folder / f"{TOPIC}.ipynb")
    (folder / "timestamp.txt").write_text(handed_in)


def test_the_release_holds_no_answer(mine: Path) -> None:
    text = (mine / "assignments" / TOPIC / f"{TOPIC}.ipynb").read_text("utf-8")
    assert "unfold" not in text and "into a ramp" not in text and "YOUR CODE HERE" in text
    assert "mybinder.org" not in text  # where it would not be found
    assert "This notebook belongs to a class" in text and ARCHIVE not in text


def test_a_right_a_wrong_a_blank_and_a_late_submission(mine: Path) -> None:
    hand_in(mine, "right", RIGHT)
    hand_in(mine, "wrong", WRONG)
    hand_in(mine, "blank")
    hand_in(mine, "late", RIGHT, "2026-10-13 22:30:00 UTC")  # a day and half an hour too late: two days begun
    said = shell(mine, "bash", "-euc", block("grade"))
    assert "sums" in said  # the mistake is counted in the summary
    url = f"sqlite:///{mine / 'gradebook.db'}"
    scores = {name: read_scores(url, TOPIC, name, TOPIC) for name in ("right", "wrong", "blank", "late")}
    assert {name: found and found.cells["moving_average"] for name, found in scores.items()} == {
        "right": 3.0,
        "wrong": 0.0,  # with a width of one the sum is the mean, but that counts with another case
        "blank": 0.0,
        "late": 3.0,
    }
    assert penalty(url, "late") == pytest.approx(0.2 * 3) and penalty(url, "right") == 0
    feedback = (mine / "feedback" / "wrong" / TOPIC / f"{TOPIC}.html").read_text("utf-8")
    assert "What is the average of a row of ones" in feedback and "unfold(1, width, 1).mean" not in feedback
    outline = mine / "course.toml"
    before = outline.read_text("utf-8")
    more = f'[extensions]\nlate = {{ "{TOPIC}" = "1 day" }}\n'
    outline.write_text(f'{before.replace("[extensions]", more)}\n[groups]\nowls = ["right", "pal"]\n', "utf-8")
    said = output_of(mine, "course", "grade", TOPIC)
    assert "late: has an extension, until 2026-10-13 23:59 +0200" in said and penalty(url, "late") == pytest.approx(0.3)
    assert "course.toml names zoe, but the gradebook has nobody of that name. Check the spelling" in said
    assert "owls: what right handed in counts for pal, too" in said
    pal = read_scores(url, TOPIC, "pal", TOPIC)
    assert pal is not None and pal.cells["moving_average"] == 3.0
    outline.write_text(before, "utf-8")
    said = output_of(mine, "course", "grade", TOPIC)
    assert "has an extension" not in said and penalty(url, "late") == pytest.approx(0.2 * 3), (
        "it is taken back with its line"
    )
    moved = re.sub(r"due = .*", "due = 2027-03-01T12:00:00+01:00", before)
    outline.write_text(moved.replace("points = 3,", "points = 6,"), "utf-8")
    said = output_of(mine, "course", "grade", "--stale", TOPIC)
    outline.write_text(before, "utf-8")
    assert f"{TOPIC}: course.toml has moving_average 6 and not 3, due 2027-03-01 12:00 +0100 and not 2026-10-1" in said
    assert f", as it was released. Run `course release {TOPIC}`" in said
    assert "course.toml has" not in output_of(mine, "course", "grade", TOPIC)


def penalty(url: str, student: str) -> float:
    from nbgrader.api import Gradebook

    with Gradebook(url) as gradebook:
        return gradebook.find_submission(TOPIC, student).late_submission_penalty


def test_what_is_handed_out_checks_without_the_tests(mine: Path, tmp_path: Path) -> None:
    (archive,) = (mine / "dist").glob("*.zip")
    with zipfile.ZipFile(archive) as handed_out:
        handed_out.extractall(tmp_path)
    assert (tmp_path / "mine" / "assignments" / TOPIC / f"{TOPIC}.ipynb").is_file()
    (wheel,) = (tmp_path / "mine").glob("*.whl")
    assert re.search(r"\+20\d{12}\.[0-9a-z]{1,8}-py3-none-any\.whl$", wheel.name), "of two, the newest can be told"
    names = zipfile.ZipFile(wheel).namelist()
    assert f"course/keys/{TOPIC[3:]}.key" in names and "course/keys/rnn.key" not in names
    assert not [name for name in names if "/hidden/" in name or "/reference/" in name]
    assert not [name for name in names if b"unfold(1, width" in zipfile.ZipFile(wheel).read(name)]
    assert b"zoe" not in zipfile.ZipFile(wheel).read("course/course.toml"), "students read of nobody's extension"
    with zipfile.ZipFile(wheel) as package:
        package.extractall(tmp_path / "site")
    code = f"import course\n{WRONG}\ncourse.check('moving_average', moving_average)\nprint(course.__file__)"
    said = shell(tmp_path, sys.executable, "-c", code, PYTHONPATH=str(tmp_path / "site"))
    assert "What is the average of a row of ones" in said and str(tmp_path / "site") in said


def make_wheel(root: Path, folder: Path) -> Path:
    wheel = folder / "sequence_course-2-py3-none-any.whl"
    wheel.write_text("new")
    return wheel


def fail(root: Path, folder: Path) -> Path:
    raise Problem("no wheel today")


@pytest.fixture
def handed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course that was handed out before, with a zip of somebody's in the same folder."""
    (tmp_path / "dist").mkdir()
    for name in ("sequence_course-1-py3-none-any.whl", f"{tmp_path.name}.zip", "data.zip"):
        (tmp_path / "dist" / name).write_text("old")
    monkeypatch.setattr(handout, "build_wheel", make_wheel)
    return tmp_path


def test_handing_out_replaces_its_own_files_only(handed_out: Path) -> None:
    made = handout.hand_out(course_in(handed_out))
    assert [path.name for path in made] == ["sequence_course-2-py3-none-any.whl", f"{handed_out.name}.zip"]
    assert set((handed_out / "dist").iterdir()) == {*made, handed_out / "dist" / "data.zip"}
    assert zipfile.is_zipfile(made[1])


def test_students_read_how_large_the_installation_is(handed_out: Path) -> None:
    wheel, archive = handout.hand_out(course_in(handed_out))
    told = zipfile.ZipFile(archive).read(f"{handed_out.name}/START.md").decode()
    assert "about 2 GB of disk. On Linux it takes about 7 GB" in told.replace("\n", " ")
    assert f"--extra-index-url https://download.pytorch.org/whl/cpu './{wheel.name}[lab]'" in told


def test_a_wheel_that_cannot_be_built_leaves_what_was_handed_out(
    handed_out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handout, "build_wheel", fail)
    before = set((handed_out / "dist").iterdir())
    with pytest.raises(Problem, match="no wheel today"):
        handout.hand_out(course_in(handed_out))
    assert set((handed_out / "dist").iterdir()) == before and len(before) == 3


def test_what_lies_beside_a_release_is_not_handed_out(tmp_path: Path) -> None:
    """A release leaves it there: it may be somebody's solution."""
    folder = OURS[0].folder
    for place in ("assignments", "solutions"):
        (tmp_path / place / folder).mkdir(parents=True)
        (tmp_path / place / folder / "data.csv").touch()
    for name in (f"{folder}/{folder}.ipynb", f"{folder}/solved.ipynb", "index.ipynb"):
        (tmp_path / "assignments" / name).touch()
    names = [path.relative_to(tmp_path / "assignments").as_posix() for path in handout.released(course_in(tmp_path))]
    assert set(names) == {f"{folder}/{folder}.ipynb", f"{folder}/data.csv", "index.ipynb"}


def test_a_test_module_without_the_exercise_is_refused(mine: Path, tmp_path: Path) -> None:
    """An exercise without tests must not be left to nbgrader's own rules, by which a student's output decides."""
    hidden = mine / "exercises" / TOPIC / "hidden.py"
    faults = {
        "moving_average = None\n": "names the exercise moving_average, but",
        "raise SystemExit\n": "cannot be used: Sys",
        "": "hidden.py is missing. Write it first",
    }
    commands = (["release", TOPIC], ["grade", TOPIC, "--force"])
    try:
        for (text, says), command in product(faults.items(), commands):
            hidden.write_text(text, "utf-8") if text else hidden.unlink(missing_ok=True)
            done = run(mine, "course", *command, status=None)
            assert done.returncode != 0 and "Traceback" not in done.stderr
            assert says in done.stdout + done.stderr
    finally:
        hidden.write_text(block("hidden"), "utf-8")


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("return x.unfold(1, width, 1).mean(-1)\n", "return x.mean() / 0 / len(wide)\n", "NameError: name 'wide'"),
        ("rng.normal(2, 7), 3, public", "rng.normal(2, 7), wide, public", "cannot be made: NameError"),
    ],
)
def test_tests_that_fail_of_themselves_get_one_sentence(mine: Path, right: str, wrong: str, says: str) -> None:
    hidden = mine / "exercises" / TOPIC / "hidden.py"
    assert right in block("hidden")
    released = mine / "assignments" / TOPIC / f"{TOPIC}.ipynb"
    written = released.stat().st_mtime_ns
    hidden.write_text(block("hidden").replace(right, wrong, 1), "utf-8")
    try:
        for command in ("lint", "release"):
            done = run(mine, "course", command, TOPIC, status=None)
            assert done.returncode != 0 and "Traceback" not in done.stderr
            (said,) = [row for row in (done.stdout + done.stderr).splitlines() if says in row]
            assert "hidden.py: the " in said and "moving_average" in said
        assert released.stat().st_mtime_ns == written, "a release that fails writes nothing"
    finally:
        hidden.write_text(block("hidden"), "utf-8")


def test_a_release_says_what_lint_would(mine: Path) -> None:
    notebook = mine / "exercises" / TOPIC / "notebook.py"
    before = notebook.read_text("utf-8")
    notebook.write_text(before + "\n# %%\nimport torch as\n", "utf-8")
    try:
        done = run(mine, "course", "release", TOPIC, status=1)
        assert "notebook.py, cell" in done.stdout and "complaint" in done.stdout
    finally:
        notebook.write_text(before, "utf-8")


def outline_of(folder: Path, text: str):
    (folder / "course.toml").write_text(text, "utf-8")
    return read_outline(folder / "course.toml")


def test_an_editors_mark_at_the_beginning_is_no_fault(tmp_path: Path) -> None:
    assert outline_of(tmp_path, "\ufeff[late]\npercent_per_day = 10\n[topics.03_rnn]\n").late.percent_per_day == 10


def test_points_are_lost_to_an_earlier_mistake_unless_the_course_says_otherwise(tmp_path: Path) -> None:
    assert outline_of(tmp_path, "[topics.03_rnn]\n").follow_through == "lose"
    assert outline_of(tmp_path, '[grading]\nfollow_through = "keep"\n[topics.03_rnn]\n').follow_through == "keep"


def test_points_come_in_quarters_and_whole_ones_stay_whole(tmp_path: Path) -> None:
    (topic,) = chosen(outline_of(tmp_path, "[topics.03_rnn]\npoints = { bptt = 2.25, rnn_cell = 2.0 }\n"))
    points = {item.name: item.points for item in topic.items}
    assert points["bptt"] == 2.25 and repr(points["rnn_cell"]) == "2"


@pytest.mark.parametrize(
    ("rule", "there"),
    [
        ('"drop"', False),
        ('"optional"', True),
        ('["rnn_question"]', False),
        ('["03_rnn"]', False),
        ('["04_lstm_gru", "lstm_gru_question"]', True),
        ("[]", True),
    ],
)
def test_what_has_no_points_is_dropped_where_the_course_says_so(tmp_path: Path, rule: str, there: bool) -> None:
    other = "[topics.04_lstm_gru]\npoints = { lstm_gru_question = 0 }\n"
    text = f"[grading]\nwithout_points = {rule}\n[topics.03_rnn]\npoints = {{ rnn_question = 0 }}\n{other}"
    topic, _ = chosen(outline_of(tmp_path, text))
    assert ("rnn_question" in [item.name for item in topic.items]) == there
    assert "rnn_question" in [item.name for item in topic.in_source]


PEOPLE = """
[extensions]
ada = { "03_rnn" = "1.5 days" }
"bob.m" = { "03_rnn" = "1 week", "04_lstm_gru" = "36 hours" }

[groups]
owls = ["ada", "cy"]
jays = { members = ["bob.m", "cy"], topics = ["04_lstm_gru"] }
"""


def test_extensions_and_groups_are_by_student_and_topic(tmp_path: Path) -> None:
    topics = f'title = "Ü\\u0001"\n[topics.03_rnn]\ndue = {DUE}\npoints = {{ bptt = 9 }}\n[topics.04_lstm_gru]\n'
    outline = outline_of(
        tmp_path, topics + PEOPLE.replace('["ada", "cy"]', '{ members = ["ada", "cy"], topics = ["03_rnn"] }')
    )
    assert outline.extended("03_rnn") == {"ada": Extension(1, timedelta(hours=12)), "bob.m": Extension(7)}
    assert outline.extended_due("03_rnn")["ada"] == datetime.fromisoformat(DUE) + timedelta(days=1.5)
    assert outline.extended_due("04_lstm_gru") == {}, "it has no due date"
    assert [group.members for group in outline.groups_in("04_lstm_gru")] == [("bob.m", "cy")]
    assert outline.students_named("03_rnn") == {"ada", "bob.m", "cy"}
    public = outline_of(tmp_path, outline.public)
    assert (public.choices, public.title) == (outline.choices, outline.title)
    assert public.extensions == {} and public.groups == (), "no student reads of another one"


@pytest.mark.parametrize("table", ["extensions", "groups"])
def test_the_tables_of_the_documentation_are_read(tmp_path: Path, table: str) -> None:
    page = (ROOT / "docs" / "instructor.md").read_text("utf-8")
    (text,) = re.findall(rf"```toml {table}\n(.*?)```", page, re.S)
    outline = outline_of(tmp_path, f"[topics.06_self_attention]\n{text}")
    assert len(getattr(outline, table)) == (3 if table == "extensions" else 2)


def test_the_final_grade_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "instructor.md").read_text("utf-8")
    (text,) = re.findall(r"```toml final\n(.*?)```", page, re.S)
    outline = outline_of(tmp_path, f"[topics.06_self_attention]\n[topics.09_masking]\n{text}")
    assert len(chosen(outline)) == 2 and outline.excused_from("06_self_attention") == {"ada"}
    weights = {"06_self_attention": Fraction(2), "09_masking": Fraction(1)}
    assert outline.final == Final(weights, 1, frozenset({"09_masking"}), frozenset({"softmax"}), 100, 0)
    assert "final" not in outline.public and "ada" not in outline.public


def test_one_extension_is_for_all_topics(tmp_path: Path) -> None:
    outline = outline_of(tmp_path, '[topics.03_rnn]\n[topics.04_lstm_gru]\n[extensions]\nada = "3 days"\n')
    assert outline.extended("03_rnn") == outline.extended("04_lstm_gru") == {"ada": Extension(3)}


def test_dates_are_those_of_the_class(tmp_path: Path) -> None:
    """Whatever zone a date was written in, and in one without a zone. An extension ends at the same time of day."""
    text = 'time_zone = "Europe/Berlin"\n[topics.03_rnn]\ndue = {}\n[extensions]\nada = {{ 03_rnn = "{}" }}\n'
    for written in ("2027-03-27T22:59:00Z", "2027-03-27T23:59:00", "2027-03-28T06:59:00+08:00"):
        outline = outline_of(tmp_path, text.format(written, "1 day"))
        (topic,) = chosen(outline)
        assert due(topic) == "  due 2027-03-27 23:59 +0100"
        assert f"{outline.extended_due('03_rnn')['ada']}" == "2027-03-28 23:59:00+02:00"
        assert chosen(outline_of(tmp_path, outline.public)) == (topic,), "students see it so, too"
    later = outline_of(tmp_path, text.format(written, "24 hours")).extended_due("03_rnn")["ada"]
    assert f"{later}" == "2027-03-29 00:59:00+02:00"


def test_points_and_due_dates_are_the_instructors(tmp_path: Path) -> None:
    outline = outline_of(tmp_path, f"[topics.03_rnn]\ndue = {DUE}\npoints = {{ bptt = 9 }}\n")
    (topic,) = chosen(outline)
    ours = next(topic for topic in OURS if topic.folder == "03_rnn")
    assert topic.points == ours.points - 5 + 9 and topic.due == datetime.fromisoformat(DUE)
    assert [item.name for item in topic.items] == [item.name for item in ours.items]


@pytest.mark.parametrize(
    ("seconds", "lost"), [(-5, 0.0), (0, 0.0), (7200, 0.0), (7201, 1.0), (7200 + 86400, 1.0), (9e9, 5.0)]
)
def test_late_work_loses_what_the_policy_says(seconds: float, lost: float) -> None:
    assert Late(percent_per_day=10, grace_hours=2, most_percent=50).penalty(10.0, seconds) == lost


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("topics =", "course.toml: "),
        ("", "chooses no topic"),
        ("[topics.3_rnn]", "two digits, an underscore, lower-case letters"),
        ("[topics.20_Smoothing]", "two digits, an underscore, lower-case letters"),
        ("[topics.03_rnnn]", "Did you mean '03_rnn'?"),
        ("[late]\npercent_per_day = 0\n[topics.03_rnn]\n[late]", "line 4 says '[late]' a second time"),
        ("[topics.03_rnn]\npoints = { nope = 2 }", "'nope', which is no exercise of it. Its exercises are rnn_cell"),
        ("[topics.03_rnn]\npoints = { rnn_sell = 2 }", "Did you mean 'rnn_cell'"),
        (
            "[topics.03_rnn]\npoints = { bptt = 2.3 }",
            "bptt has 2.3 points. Write a number of 0 or more, in steps of 0.25",
        ),
        ("[topics.03_rnn]\npoints = { bptt = -1 }", "bptt has -1 points. Write a number of 0 or more"),
        ("[topics.03_rnn]\npoints = { bptt = inf }", "bptt has inf points. Write a number of 0 or more"),
        ("[topics.03_rnn]\npoints = { bptt = true }", "bptt has True points. Write a number of 0 or more"),
        ("[grading]\nwithout_points = drop\n[topics.03_rnn]", """drop'. Write "optional" or "drop", with the quotes"""),
        (
            '[grading]\nwithout_points = "gone"\n[topics.03_rnn]',
            """is 'gone', but must be "optional" or "drop", or a list""",
        ),
        ("[grading]\nwithout_points = [3]\n[topics.03_rnn]", 'is [3], but must be "optional" or "drop", or a list'),
        (
            '[grading]\nwithout_points = ["bptt"]\n[topics.03_rnn]',
            "without_points has 'bptt', which has 5 points. Give it 0 points, or remove it there",
        ),
        (
            '[grading]\nwithout_points = ["btpt"]\n[topics.03_rnn]',
            "without_points has 'btpt', which is no topic or exercise here. Did you mean 'bptt'?",
        ),
        (
            '[grading]\nwithout_points = ["softmax"]\n[topics.03_rnn]',  # of a topic that the course leaves out
            "without_points has 'softmax', which is no topic or exercise here",
        ),
        (
            block("outline").replace("points = 3", "points = 0").replace("points = 2", "points = 0")
            + '[grading]\nwithout_points = "drop"\n',
            "has 0 points for everything. Take the topic's tables out instead",
        ),
        ('[topics.03_rnn]\ndue = "tomorrow"', "due is 'tomorrow'. Write a date with time and time zone"),
        ("[topics.03_rnn]\ndue = 2026-10-12", "due is '2026-10-12'. Write a date with time and time zone"),
        ("[topics.03_rnn]\ndue = 31.01.2027", "line 2 is 'due = 31.01.2027'. Write a date"),
        ("[topics.03_rnn]\ndue = 2027-01-31 23:59", "line 2 is 'due = 2027-01-31 23:59'. Write a date"),
        ("[topics.03_rnn]\ndue = 0001-01-01T00:00:00+01:00", "due is in the year 1"),
        ("[topics.03_rnn]\ndue = 9999-12-31T23:59:00-05:00", "due is in the year 9999"),
        ("[topics.20_mine]", "needs a title and exercises"),
        ("[late]\npercent_per_day = -1\n[topics.03_rnn]", "must be a number of 0 or more"),
        (
            "[late]\npercent_per_day = 1000\n[topics.03_rnn]",
            "percent_per_day is 1000, but late work can lose at most 100",
        ),
        ("[late]\nmost_percent = 100.5\n[topics.03_rnn]", "most_percent is 100.5, but late work can lose at most 100"),
        ('time_zone = "Berlin"\n[topics.03_rnn]', "time_zone is 'Berlin', but must be a city's, such as"),
        ('time_zone = "EST"\n[topics.03_rnn]', "time_zone is 'EST', but must be a city's, such as"),
        ("time_zone = 2\n[topics.03_rnn]", "time_zone is 2, but must be one line of text"),
        ('[late]\ntime_zone = "Europe/Berlin"\n[topics.03_rnn]', "Move the line above the first table"),
        ('[grading]\nfollow_through = "kepe"\n[topics.03_rnn]', """is 'kepe', but must be "lose" or "keep\""""),
        ("[grading]\nfollow_through = keep\n[topics.03_rnn]", """keep'. Write "lose" or "keep", with the quotes"""),
        ('assistants = "no"\n[topics.03_rnn]', """is 'no', but must be "allowed" or "tutor" or "not at all\""""),
        ("assistants = false\n[topics.03_rnn]", 'is False, but must be "allowed" or'),
        (
            "assistants = tutor\n[topics.03_rnn]",
            """tutor'. Write "allowed" or "tutor" or "not at all", with the quotes""",
        ),
        ("[grading]\nfollow_through = 1\n[topics.03_rnn]", 'is 1, but must be "lose" or "keep"'),
        ("[grading]\nfollow = 1\n[topics.03_rnn]", "[grading] says 'follow', which means nothing here"),
        ("[late]\nhours = 1\n[topics.03_rnn]", "'hours', which means nothing here"),
        ("[topics.03_rnn]\n[extensions]\nada = 3", """such as ada = { "03_rnn" = "3 days" }, or one time for all"""),
        ('[topics.03_rnn]\n[extensions]\nada = "3 dogs"', "has '3 dogs' for 03_rnn. Write it as"),
        (f"[topics.03_rnn]\nopens = {DUE}\ndue = {DUE}", "[topics.03_rnn] opens at or after it is due"),
        (
            '[topics.03_rnn]\n[extensions]\nada = { "3_rnn" = "3 days" }',
            "ada has '3_rnn', which is no topic here. Choose",
        ),
        ('[topics.03_rnn]\n[extensions]\nada.l = { "03_rnn" = "1 day" }', "A student's name with a dot needs quotes"),
        (
            '[topics.03_rnn]\n[extensions]\nada = { "03_rnn" = 3 }',
            """has 3 for 03_rnn. Write it as "3 days", "36 hours\"""",
        ),
        ('[topics.03_rnn]\n[extensions]\nada = { "03_rnn" = "3 dogs" }', "has '3 dogs' for 03_rnn. Write it as"),
        ('[topics.03_rnn]\n[extensions]\nada = { "03_rnn" = "60 weeks" }', "at most 366 days"),
        (
            '[topics.03_rnn]\n[groups]\nowls = "ada, bob"',
            """owls needs a list of students. Write owls = ["ada", "bob"]""",
        ),
        ('[topics.03_rnn]\n[groups]\nowls = ["ada", "../bob"]', "owls needs a list of students"),
        ('[topics.03_rnn]\n[groups]\nowls = ["ada", "ada"]', "must have two or more students, each of them once"),
        (
            '[topics.03_rnn]\n[groups.owls]\nmembers = ["a", "b"]\ntopics = ["3"]',
            "owls has '3', which is no topic here",
        ),
        ('[topics.03_rnn]\n[groups]\nowls = ["a", "b"]\njays = ["c", "b"]', "has b in owls and in jays for 03_rnn"),
        ('[topics.03_rnn]\n[excused]\nada = "03_rnn"', """ada is '03_rnn', but must be a list, such as ["03_rnn"]"""),
        ('[topics.03_rnn]\n[excused]\nada = ["3"]', "ada has '3', which is no topic here. Choose from 03_rnn"),
        ("[topics.03_rnn]\n[final]\ndrop = 1", "[final] says 'drop', which means nothing here"),
        ("[topics.03_rnn]\n[final]\ndrop_lowest = 1", "drop_lowest is 1, but must be a whole number from 0 to 0"),
        ("[topics.03_rnn]\n[final]\ncap = 100.5", "cap is 100.5, but must be a whole number from 1 to 1000"),
        ("[topics.03_rnn]\n[final]\ndecimals = true", "decimals is True, but must be a whole number from 0 to 3"),
        ("[topics.03_rnn]\n[final]\nnever_dropped = 3", "never_dropped is 3, but must be a list, such as"),
        ('[topics.03_rnn]\n[final]\nnever_dropped = ["bptt"]', "never_dropped has 'bptt', which is no topic here"),
        ("[topics.03_rnn]\n[final]\nextra_credit = 3", "extra_credit is 3, but must be a list of topics or exercises"),
        ('[topics.03_rnn]\n[final]\nextra_credit = ["btpt"]', "no topic or exercise here. Did you mean 'bptt'?"),
        (
            '[topics.03_rnn]\npoints = { bptt = 0 }\n[final]\nextra_credit = ["bptt"]',
            "extra_credit has 'bptt', which has 0 points. Give it some, or remove it there",
        ),
        ('[topics.03_rnn]\n[final]\nextra_credit = ["03_rnn"]', "leaves no topic that counts. Give one a weight"),
        ("[topics.03_rnn]\n[final.weights]\n03_rnn = 0", "leaves no topic that counts. Give one a weight"),
        ("[topics.03_rnn]\n[final.weights]\n3 = 1", "[final.weights] has '3', which is no topic here"),
        ("[topics.03_rnn]\n[final.weights]\n03_rnn = -1", "03_rnn is -1, but must be a number of 0 or more"),
        (
            "[topics.03_rnn]\n[topics.06_self_attention]\n[final.weights]\n03_rnn = 1",
            "has no line for 06_self_attention. Give it a weight, or 0 if it does not count",
        ),
        (
            f"{block('outline')}[final]\nextra_credit = ['moving_average', 'smoothing_question']",
            "has every exercise of 20_smoothing. Name the topic in their place",
        ),
        (
            block("outline").replace("20_smoothing", "final") + "[final]\n",
            "[topics.final] has the name of the final grade. Give the topic another name",
        ),
        (f"[topics.03_rnn]\n{block('outline').replace('20_smoothing', '03_more')}", "two topics have the number 03"),
        (block("outline").replace("points = 3, minutes = 10", "points = 3"), "moving_average has no minutes"),
        (
            block("outline").replace("exercises =", 'builds_on = ["03_rnn"]\nexercises ='),
            "no earlier topic of this course",
        ),
        (block("outline").replace("exercises =", "builds_on = 3\nexercises ="), 'such as builds_on = ["03_rnn"]'),
        (
            block("outline").replace("moving_average", "moving average"),
            "Give it the name of the function that students write",
        ),
        (f"[topics.03_rnn]\n{block('outline').replace('moving_average', 'bptt')}", "two exercises are called bptt"),
    ],
)
def test_an_outline_that_cannot_be_followed_gets_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(Faulty) as refused:
        chosen(outline_of(tmp_path, text))
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_faulty_outline_stops_every_command_with_that_sentence(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "solutions").mkdir()
    (tmp_path / "course.toml").write_text("[topics.03_rnn]\ndues = 1\n", "utf-8")
    done = run(tmp_path, "course", "list", status=2)
    assert done.stderr.startswith("course list: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(("encoding", "line"), [("cp1252", 2), ("utf-16", 1)])
def test_an_outline_in_another_encoding_gets_one_sentence(tmp_path: Path, encoding: str, line: int) -> None:
    path = tmp_path / "course.toml"
    path.write_bytes('[topics.03_rnn]\nx = "ú"\n'.encode(encoding))
    with pytest.raises(Faulty) as refused:
        read_outline(path)
    assert str(refused.value).endswith(f"is not in UTF-8, and line {line} cannot be read. Save the file as UTF-8")


def test_a_course_begins_in_an_empty_folder_only(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    assert "is not empty" in run(ROOT, "course", "new", str(tmp_path), "03_rnn", status=2).stderr
    (tmp_path / "course.toml").write_text("[topics.03_rnn]\n", "utf-8")
    (tmp_path / "nbgrader_config.py").touch()
    refused = run(tmp_path, "course", "new", "next", "03_rnn", status=2)
    assert "Run `course new` outside it" in refused.stderr
    assert "without [ ]" in run(ROOT, "course", "new", str(tmp_path / "mine [2]"), "03_rnn", status=2).stderr


def test_a_path_for_six_weeks_begins_a_course_of_its_topics(tmp_path: Path) -> None:
    said = output_of(tmp_path, "course", "new", "mine", "vision")
    assert said.startswith("11 topics in ")
    assert "They build on 05_bahdanau_attention, which this course leaves out.\n" in said
    (vision,) = (path for path in PATHS if path.name == "vision")
    outline = read_outline(tmp_path / "mine" / "course.toml")
    assert sorted(outline.choices) == sorted(vision.folders)
    assert sorted(path.stem for path in (tmp_path / "mine" / "solutions").glob("*.py")) == sorted(vision.folders)


def test_a_course_that_nobody_has_edited_is_begun_anywhere_and_released_without_our_badges(tmp_path: Path) -> None:
    output_of(tmp_path, "course", "new", "mine", "06_self_attention")
    folder = tmp_path / "mine"
    code = "from course.course import find_course\nfrom course.grading.release.make_release import release\n"
    code += "release(find_course(), find_course().topics)"
    shell(folder, sys.executable, "-c", code)
    for notebook in ("index.ipynb", "06_self_attention/06_self_attention.ipynb"):
        assert "mybinder.org" not in (folder / "assignments" / notebook).read_text("utf-8")


def test_grading_makes_no_key_and_reads_no_corpus_of_another_topic(tmp_path: Path) -> None:
    output_of(tmp_path, "course", "new", "mine", "01_markov_ngrams", "06_self_attention")
    mine, topic = tmp_path / "mine", "06_self_attention"
    output_of(mine, "course", "release", topic)
    work = mine / "submitted" / "ada" / topic
    shutil.copytree(mine / "assignments" / topic, work)
    (work / f"{topic}.ipynb").write_text(
        (work / f"{topic}.ipynb").read_text("utf-8").replace("raise NotImplementedError()", "return 1"), "utf-8"
    )
    shell(mine, sys.executable, "-m", "course", "grade", topic, COURSE_CACHE=str(tmp_path / "cache"))
    cache = tmp_path / "cache"
    assert {path.name for path in cache.iterdir()} == {"answer-keys", "editions", "matplotlib"}
    assert [path.name.startswith(f"{topic}-") for path in (cache / "answer-keys").iterdir()] == [True]


def test_a_release_says_what_takes_long_and_solves_nothing_twice(mine: Path) -> None:
    outline = mine / "course.toml"
    before = outline.read_text("utf-8")
    hidden = mine / "exercises" / TOPIC / "hidden.py"
    long = (
        f"course release: Making the answer key of {TOPIC}.",
        f"course release: Trying each known mistake of {TOPIC} ",
    )

    def said_by_release() -> str:
        return output_of(mine, "course", "release", TOPIC)

    hidden.write_text(block("hidden") + f"\nNEW = {os.urandom(8)!r}\n", "utf-8")
    try:
        said = said_by_release()
        assert [said.count(sentence) for sentence in long] == [1, 1]
        assert "course release: Building 1 notebook." in said
        outline.write_text(re.sub(r"due = .*", "due = 2027-03-01T12:00:00+01:00", before), "utf-8")
        said = said_by_release()
        assert [said.count(sentence) for sentence in long] == [0, 0]
    finally:
        outline.write_text(before, "utf-8")
        hidden.write_text(block("hidden"), "utf-8")
