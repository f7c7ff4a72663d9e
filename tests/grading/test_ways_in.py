"""`nbgrader zip_collect` with downloads as the platforms make them: who gets what, and what an instructor reads.

Nothing is executed here: the notebooks are a line long.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from course.grading import submission as old_names
from course.grading.intake import attempts
from course.grading.intake.submit import ARCHIVE, MANIFEST
from course.grading.nbgrader_bridge.patches import guard_collecting
from tests.grading.lesson import NAME
from tests.grading.nbgrader_bridge.test_unpacking import made

ROOT = Path(__file__).parents[2]
FIRST, SECOND, THIRD = "20270131T230029Z", "20270201T080000Z", "20270202T120000Z"


@dataclass
class Course:
    """An instructor's folder, and what was heard there."""

    root: Path
    told: str = ""
    status: int = 0

    @property
    def inbox(self) -> Path:
        return self.root / "downloaded" / NAME / "archive"

    def collect(self, topic: str = NAME, *, force: bool = True) -> str:
        """Run the command, in this process; returns what it ends with."""
        app = ZipCollectApp(force=force, config=_config())
        app.coursedir = CourseDirectory(root=str(self.root), assignment_id=topic)
        app.coursedir.release_directory = "assignments"
        app.init_plugins()
        app.extract_archive_files()
        try:
            app.process_extracted_files()
        except SystemExit as error:
            self.status, self.told = 1, str(error.code)
        else:
            self.status, self.told = 0, ""
        return self.told

    def download(self, **archives: Mapping[str, bytes | str] | bytes) -> None:
        """Put zips, by their names without an ending, in place of what was downloaded before."""
        shutil.rmtree(self.inbox, ignore_errors=True)
        self.inbox.mkdir(parents=True)
        self.add(**archives)

    def add(self, **archives: Mapping[str, bytes | str] | bytes) -> None:
        for name, content in archives.items():
            data = content if isinstance(content, bytes) else packed(content)
            (self.inbox / f"{name}.zip").write_bytes(data)

    def there(self, folder: str = "submitted") -> dict[str, str]:
        """The notebooks of the topic below a folder, by whose they are (and the attempt), and what is in each."""
        found = sorted((self.root / folder).rglob(f"{NAME}.ipynb"))
        return {path.parent.relative_to(self.root / folder).as_posix(): path.read_text() for path in found}

    def came(self, student: str) -> str:
        return (self.root / "submitted" / student / NAME / "timestamp.txt").read_text()


def _config() -> Config:
    config = Config()
    config.ZipCollectApp.extractor_plugin = "course.grading.nbgrader_bridge.unpacking.TolerantExtractor"
    config.ZipCollectApp.collector_plugin = "course.grading.nbgrader_bridge.zip_collect.TopicCollector"
    config.FileNameCollectorPlugin.named_regexp = ARCHIVE
    config.FileNameCollectorPlugin.valid_ext = [".ipynb", ".safetensors", ".json"]
    return config


@pytest.fixture
def course(tmp_path: Path) -> Course:
    guard_collecting()
    root = tmp_path / "course"
    (root / "assignments" / NAME).mkdir(parents=True)
    (root / "assignments" / NAME / f"{NAME}.ipynb").write_text("{}")
    return Course(root)


def packed(files: Mapping[str, bytes | str]) -> bytes:
    """The bytes of a zip."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


def manifest(student: str, time: str) -> str:
    when = re.sub(r"(....)(..)(..)T(..)(..)(..)Z", r"\1-\2-\3T\4:\5:\6+00:00", time)
    return json.dumps({"topic": NAME, "student": student, "time": when})


def handed_in(student: str, text: str, time: str = FIRST) -> dict[str, str]:
    """What `course submit` packs."""
    return {f"{NAME}.ipynb": text, "checkpoints/a.safetensors": text, MANIFEST: manifest(student, time)}


def named(student: str, time: str = FIRST) -> str:
    return f"{NAME}-{student}-{time}"


def zipped(student: str, text: str, time: str = FIRST) -> bytes:
    return packed(handed_in(student, text, time))


def test_moodle_in_folders_and_flat(course: Course) -> None:
    """mod/assign/classes/downloader.php: folders are its default; both with the number that tells people apart."""
    course.download(
        **{
            "CS1-Self-attention-77": {
                f"Ada Lovelace_101_assignsubmission_file/{named('jd1234')}.zip": zipped("jd1234", "Ada's"),
                f"Bob_102_assignsubmission_file_/{named('bm9')}.zip": zipped("bm9", "Bob's"),
                f"Cy_103_assignsubmission_file_{named('cy')}.zip": zipped("cy", "Cy's"),
            }
        }
    )
    assert course.collect() == ""
    assert course.there() == {f"jd1234/{NAME}": "Ada's", f"bm9/{NAME}": "Bob's", f"cy/{NAME}": "Cy's"}
    assert (course.root / "submitted" / "cy" / NAME / "checkpoints" / "a.safetensors").read_text() == "Cy's"
    assert course.came("cy") == "2027-01-31 23:00:29"


def test_canvas_late_and_handed_in_twice(course: Course) -> None:
    """lib/content_zipper.rb: of a student's attempts it packs the last; files of one name get a number behind."""
    course.download(
        submissions={
            f"lovelaceada_123_456_{named('ada')}.zip": zipped("ada", "Ada's"),
            f"moorebob_LATE_124_457_{named('bob')}-1.zip": zipped("bob", "Bob's"),
            f"anon_f3xY9_458_{named('cy')}.zip": zipped("cy", "Cy's"),
            "daedan_125_text.html": "<p>see my zip</p>",
        }
    )
    told = course.collect()
    assert course.there() == {f"ada/{NAME}": "Ada's", f"bob/{NAME}": "Bob's", f"cy/{NAME}": "Cy's"}
    assert course.status == 1 and told.splitlines()[1] == (
        "the student typed a text on the platform and handed in no file. Ask for the notebook:"
    )
    assert told.splitlines()[2:] == ["  submissions/daedan_125_text.html"]


def test_blackboard_with_two_attempts_and_a_topic_for_a_title(course: Course) -> None:
    """README.md of kwurst/bb-file-cleanup: a text file for each attempt, and the date in digits before the name."""
    title = f"{NAME}-1"
    attempts = {
        f"{title}_jd1234_attempt_2027-01-31-23-59-01_{named('jd1234')}.zip": zipped("jd1234", "first"),
        f"{title}_jd1234_attempt_2027-01-31-23-59-01.txt": "Name: Ada",
        f"{title}_jd1234_attempt_2027-02-01-09-00-00_{named('jd1234', SECOND)}.zip": zipped("jd1234", "second", SECOND),
        f"{title}_jd1234_attempt_2027-02-01-09-00-00.txt": "Name: Ada",
        f"{title}_bm_9_attempt_2027-02-01-10-00-00_my work.zip": zipped("bm9", "Bob's"),
    }
    course.download(**{"gradebook_CS1_Self-attention_2027-02-03-10-00-00": attempts})
    assert course.collect() == ""
    assert course.there() == {f"bm9/{NAME}": "Bob's", f"jd1234/{NAME}": "second"}
    assert course.there("attempts") == {f"jd1234/{NAME}/{FIRST}": "first"}
    kept = course.root / "attempts" / "jd1234" / NAME / FIRST
    files = [f"{NAME}.ipynb", "a.safetensors", MANIFEST, "timestamp.txt"]
    assert sorted(path.name for path in kept.rglob("*.*")) == files
    assert course.collect() == "" and course.there("attempts") == {f"jd1234/{NAME}/{FIRST}": "first"}, "once"


def test_brightspace_in_folders_and_flat(course: Course) -> None:
    """bsunzip.sh of squell/bb-scripts: a folder for each attempt, called by name and time, and an index."""
    course.download(
        **{
            "Self-attention Download Feb 3, 2027 1000 AM": {
                "index.html": "<table>",
                f"12345-67890 - Ada Lovelace - Jan 31, 2027 1159 PM/{named('ada')}.zip": zipped("ada", "first"),
                f"12345-67890 - Ada Lovelace - Feb 1, 2027 900 AM/{named('ada', SECOND)}.zip": zipped(
                    "ada", "second", SECOND
                ),
                f"12346-67890 - Mary-Ann Smith - Jan 31, 2027 1158 PM - {named('mas')}.zip": zipped("mas", "Mary's"),
            }
        }
    )
    assert course.collect() == ""
    assert course.there() == {f"ada/{NAME}": "second", f"mas/{NAME}": "Mary's"}
    assert course.there("attempts") == {f"ada/{NAME}/{FIRST}": "first"}


def test_gradescope_unpacks_what_was_uploaded(course: Course) -> None:
    """Its export has a folder for each submission, with what was in the zip: the manifest says whose it is."""
    export = {"submission_metadata.yml": "submission_123456:\n  :submitters:\n  - :name: Ada\n"}
    for number, student in ((123456, "ada"), (123457, "bob"), (123458, "ada")):
        for name, content in handed_in(student, f"{number}").items():
            export[f"assignment_99_export/submission_{number}/{name}"] = content
    course.download(assignment_99_export=export)
    told = course.collect()
    assert course.there() == {f"bob/{NAME}": "123457"} and course.status == 1
    assert told.splitlines()[1] == (
        "submission_123456 and submission_123458 handed in as ada. None of these is collected, so put each into "
        f"submitted/<student>/{NAME}/ yourself:"
    )
    assert len(told.splitlines()) == 4 and "submission_metadata.yml" not in told


def test_two_students_one_name(course: Course) -> None:
    """Zips made on Colab all say root: nobody's is lost, nobody gets another's, and all are named."""
    zips = {"Ada_101": FIRST, "Bob_102": FIRST.replace("29Z", "30Z"), "Cy_103": SECOND}
    files = {
        f"{who}_assignsubmission_file_/{named('root', time)}.zip": zipped("root", who, time)
        for who, time in zips.items()
    }
    course.download(all={**files, f"Dan_104_assignsubmission_file_/{named('dan')}.zip": zipped("dan", "Dan's")})
    told = course.collect()
    assert course.status == 1 and course.there() == {f"dan/{NAME}": "Dan's"} and course.there("attempts") == {}
    extracted = course.root / "downloaded" / NAME / "extracted"
    assert told.splitlines() == [
        f"nbgrader zip_collect: everything is in submitted/ except these files of {extracted}",
        "Ada_101, Bob_102 and Cy_103 handed in as root. None of these is collected, so put each into "
        f"submitted/<student>/{NAME}/ yourself:",
        *(f"  all/{who}_assignsubmission_file_/{named('root', time)}, from {who}" for who, time in zips.items()),
    ]
    for who, time in zips.items():
        place = extracted / "all" / f"{who}_assignsubmission_file_" / named("root", time)
        assert (place / f"{NAME}.ipynb").read_text() == who, "where the message says"


def test_what_an_instructor_put_into_its_place_is_known_there(course: Course) -> None:
    zips = {"Ada_101": FIRST, "Bob_102": SECOND}
    course.download(
        all={
            **{
                f"{who}_assignsubmission_file_/{named('smith', t)}.zip": zipped("smith", who, t)
                for who, t in zips.items()
            },
            f"Cy_103_assignsubmission_file_/{named('cy')}.zip": zipped("root", "Cy's"),
        }
    )
    assert len(course.collect().splitlines()) == 6
    extracted = course.root / "downloaded" / NAME / "extracted" / "all"
    for folder in extracted.iterdir():
        student = folder.name[:3].lower().strip("_")
        shutil.copytree(next(folder.iterdir()), course.root / "submitted" / student / NAME)
    mine = {f"ada/{NAME}": "Ada_101", f"bob/{NAME}": "Bob_102", f"cy/{NAME}": "Cy's"}
    assert course.collect() == "" and course.there() == mine and course.there("attempts") == {}
    course.download(again={f"Ada_101_assignsubmission_file_/{named('smith', THIRD)}.zip": zipped("smith", "3", THIRD)})
    assert course.collect().splitlines()[1].startswith("Ada_101 handed in as ada and smith.")
    assert course.there() == mine


def test_a_copy_of_somebody_elses_zip_is_not_taken_for_that(course: Course) -> None:
    course.download(one=packed({f"{named('ada')}.zip": zipped("ada", "Ada's")}))
    assert course.collect() == ""
    course.download(two=packed({f"{named('bob')}.zip": zipped("ada", "Ada's")}))
    assert course.collect().splitlines()[1].startswith("A zip is named for bob, but a manifest in it says ada.")
    assert course.there() == {f"ada/{NAME}": "Ada's"}


def test_somebody_elses_work_of_an_earlier_download_stays(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    course.download(one={f"Ada_101_assignsubmission_file_/{named('root')}.zip": zipped("root", "Ada's")})
    assert course.collect() == ""
    assert capsys.readouterr().out == (
        "root is a login that machines give. Ask whose work it is, and rename submitted/root to their id.\n"
    )
    course.download(
        two={f"Bob_102_assignsubmission_file_/{named('root', SECOND)}.zip": zipped("root", "Bob's", SECOND)}
    )
    told = course.collect()
    assert course.status == 1 and course.there() == {f"root/{NAME}": "Ada's"} and course.there("attempts") == {}
    assert told.splitlines()[1].startswith("Ada_101 and Bob_102 handed in as root.")
    assert told.splitlines()[2:] == [
        f"  two/Bob_102_assignsubmission_file_/{named('root', SECOND)}, from Bob_102",
        f"  submitted/root/{NAME}, collected before",
    ]
    (course.root / "submitted" / "root").rename(course.root / "submitted" / "ada")
    course.download(three={f"Ada_101_assignsubmission_file_/{named('ada', THIRD)}.zip": zipped("ada", "again", THIRD)})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "again"}
    assert course.there("attempts") == {f"ada/{NAME}/{FIRST}": "Ada's"}


def test_a_sender_with_two_names_and_a_manifest_that_says_another(course: Course) -> None:
    course.download(
        all={
            f"Ada_101_assignsubmission_file_/{named('jovyan')}.zip": zipped("jovyan", "before"),
            f"Ada_101_assignsubmission_file_/{named('ada', SECOND)}.zip": zipped("ada", "after", SECOND),
            f"Bob_102_assignsubmission_file_/{named('bob')}.zip": zipped("cy", "whose?"),
        }
    )
    told = course.collect().splitlines()
    assert course.status == 1 and course.there() == {} and course.there("attempts") == {}
    assert told[1].startswith("A zip is named for bob, but a manifest in it says cy. None of these is collected")
    assert told[3].startswith("Ada_101 handed in as ada and jovyan. None of these is collected"), told[3]
    assert len(told) == 6


def test_what_a_later_download_replaces_is_kept(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    sender = "Ada_101_assignsubmission_file_"
    for text, time in (("first", FIRST), ("third", THIRD), ("second", SECOND)):
        course.download(all={f"{sender}/{named('ada', time)}.zip": zipped("ada", text, time)})
        assert course.collect() == ""
    assert course.there() == {f"ada/{NAME}": "third"}, "the newest counts, whenever it is downloaded"
    assert course.there("attempts") == {f"ada/{NAME}/{FIRST}": "first", f"ada/{NAME}/{SECOND}": "second"}
    assert (course.root / "attempts" / "ada" / NAME / FIRST / "timestamp.txt").read_text() == "2027-01-31 23:00:29"
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "Newer hand-ins replace these, which are kept:",
        f"  attempts/ada/{NAME}/{SECOND}",
    ]
    assert course.collect() == "" and "attempts" not in capsys.readouterr().out, "that was said before"


def test_the_same_work_stays_as_it_is(course: Course) -> None:
    """What an instructor corrected beside it, a time stamp say, stays, too."""
    course.download(**{named("ada"): handed_in("ada", "mine"), f"{named('ada')} (1)": handed_in("ada", "mine")})
    assert course.collect() == ""
    stamp = course.root / "submitted" / "ada" / NAME / "timestamp.txt"
    stamp.write_text("2027-01-30 12:00:00")
    (stamp.parent / "helper.py").touch()
    assert course.collect() == "" and course.came("ada") == "2027-01-30 12:00:00"
    assert (stamp.parent / "helper.py").exists() and course.there("attempts") == {}


def test_without_force_nothing_that_is_there_is_replaced(course: Course) -> None:
    work = course.root / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    work.parent.mkdir(parents=True)
    work.write_text("by hand")
    course.download(**{named("ada"): handed_in("ada", "mine"), named("bob"): handed_in("bob", "Bob's")})
    told = course.collect(force=False)
    assert course.status == 1 and course.there() == {f"ada/{NAME}": "by hand", f"bob/{NAME}": "Bob's"}
    assert "the student. Run with --force to replace it and keep it in attempts/:" in told


def test_windows_a_mac_and_a_name_that_leads_out(course: Course, tmp_path: Path) -> None:
    windows = made(tmp_path, f"{NAME}.ipynb", "checkpoints\\a.safetensors").read_bytes()
    zoe = "Zoe\u0308"
    course.download(
        **{named("win"): windows, named(zoe): handed_in(zoe, "hers"), named(".."): {f"{NAME}.ipynb": "out"}},
        All={f"__MACOSX/{named('mac')}/._{NAME}.ipynb": "", f"{named('mac')}/{NAME}.ipynb": "Mac's"},
    )
    told = course.collect().splitlines()
    assert sorted(course.there()) == sorted(f"{who}/{NAME}" for who in ("Zo\u00eb", "mac", "win"))
    assert (course.root / "submitted" / "win" / NAME / "checkpoints" / "a.safetensors").is_file()
    assert told[1] == ".. cannot be a student's name. Rename the zip, or ask for it again:" and len(told) == 3
    assert not list(course.root.glob(f"{NAME}*")), "as submitted/../ would be"


def test_a_macs_files_beside_the_zips_are_no_work(course: Course) -> None:
    """The Finder writes them onto disks that are no Mac's, and packs them."""
    mac = "Mac OS X        \x02"
    inner = {**handed_in("ada", "Ada's"), "__MACOSX/._x.zip": mac, "._y.zip": mac, "Icon\r": "", "data/Icon\r": ""}
    course.download(
        **{named("ada"): inner, f"._{named('ada')}": mac.encode()},
        all={f"{named('bob')}.zip": zipped("bob", "Bob's"), f"__MACOSX/._{named('bob')}.zip": mac, "Icon\r": ""},
    )
    for name in ("Icon\r", "Thumbs.db", "desktop.ini", ".DS_Store"):
        (course.inbox / name).touch()
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "Ada's", f"bob/{NAME}": "Bob's"}
    work = course.root / "submitted" / "ada" / NAME
    assert not [path for path in work.rglob("*") if "Icon" in path.name or path.name.startswith("._")]


def test_what_was_typed_on_a_platform_hides_no_missing_notebook(course: Course) -> None:
    """Blackboard and Moodle make a page of it for everybody. Who handed in nothing else is named apart."""
    date = "attempt_2027-01-31-23-59-01"
    files: dict[str, bytes | str] = {"Title_none_attempt_2027-01-31-23-59-01.txt": "Name: None", "z.ipynb": "{}"}
    for number in range(30):
        who, folder = f"m{number:02}", f"Moo_{number}_assignsubmission"
        files |= {
            f"{folder}_file/{named(who)}.zip": zipped(who, who),
            f"{folder}_onlinetext/onlinetext.html": "<p>see my zip</p>",
            f"Title_b{number:02}_{date}_{named(f'b{number:02}')}.zip": zipped(f"b{number:02}", ""),
            f"Title_b{number:02}_{date}.txt": "Name: B",
            f"a{number:02}.pdf": "",
        }
    course.download(all=files)
    _first, nobodys, notebook, *more = course.collect().splitlines()
    assert len(course.there()) == 60 and nobodys.startswith("neither a zip's name") and notebook == "  all/z.ipynb"
    assert len(more) == 22 and more[19:] == [
        "  and 11 more",
        "the student typed a text on the platform and handed in no file. Ask for the notebook:",
        "  all/Title_none_attempt_2027-01-31-23-59-01.txt",
    ]


def test_a_rar_or_7z_is_to_be_unpacked_where_it_lies(course: Course) -> None:
    course.download(all={f"{named('bob')}.7z": b"7z\xbc\xaf"})
    (course.inbox / f"{named('ada')}.RAR").write_bytes(b"Rar!\x1a\x07")
    told = course.collect().splitlines()
    assert course.status == 1 and told[1] == (
        f"only .zip and .gz are unpacked. Unpack it in downloaded/{NAME}/archive/, into a folder of its name "
        "without the ending:"
    )
    assert sorted(told[2:]) == [f"  {named('ada')}.RAR", f"  all/{named('bob')}.7z"]
    for who in ("ada", "bob"):
        for name, text in handed_in(who, who).items():
            path = course.inbox / named(who) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "ada", f"bob/{NAME}": "bob"}


def test_a_zip_for_another_topic_is_called_that(course: Course) -> None:
    """One that this course does not have, or not any more, among them."""
    gone = {f"{NAME}.ipynb": "{}", MANIFEST: manifest("ada", FIRST).replace(NAME, "20_smooth")}
    course.download(**{"my work": gone, f"01_markov_ngrams-bob-{FIRST}": {f"{NAME}.ipynb": "{}"}})
    assert course.collect().splitlines()[1::2] == [
        f"packed for {topic}, not for {NAME}. If it belongs to {NAME}, put it at "
        f"submitted/<student>/{NAME}/{NAME}.ipynb "
        "yourself:"
        for topic in ("01_markov_ngrams", "20_smooth")
    ]
    assert course.there() == {}


def test_a_course_of_yesterday_goes_on(course: Course) -> None:
    """Its configuration has our expression by name; zips of an assignment that is no topic of ours come in, too."""
    assert old_names.ARCHIVE == ARCHIVE  # where the nbgrader_config.py of that course finds it
    course.download(**{named("ada"): {f"{NAME}.ipynb": "no manifest"}})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "no manifest"}
    extra = course.root / "downloaded" / "99_extra" / "archive"
    extra.mkdir(parents=True)
    (extra / f"99_extra-ada-{FIRST}.zip").write_bytes(packed({"99_extra.ipynb": "an instructor's own"}))
    assert course.collect("99_extra") == ""
    assert (course.root / "submitted" / "ada" / "99_extra" / "99_extra.ipynb").read_text() == "an instructor's own"


def test_a_chosen_attempt_counts_until_a_newer_one_comes(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    course.download(
        **{named("ada", time): handed_in("ada", text, time) for text, time in ((FIRST, FIRST), (SECOND, SECOND))}
    )
    assert course.collect() == ""
    work = course.root / "submitted" / "ada" / NAME
    first = attempts.attempts_of(course.root, "ada", NAME, work)[0]
    attempts.put_back(course.root, "ada", NAME, first, work)
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": FIRST}
    assert course.came("ada") == "2027-01-31 23:00:29"
    told = "ada: the attempt that you chose with `course attempts` still counts, until a newer one comes."
    assert told in capsys.readouterr().out
    course.add(**{named("ada", THIRD): handed_in("ada", THIRD, THIRD)})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": THIRD}
    assert list(course.there("attempts").values()) == [FIRST, SECOND]


@pytest.fixture
def listed(course: Course) -> Course:
    """A class list as `course roster` keeps it: of Canvas with numbers, with two of one name."""
    people = {"ada": ("Ada", "Lovelace", "123"), "bm9": ("José María", "Núñez", "")}
    people |= {"kim1": ("Kim", "Lee", ""), "kim2": ("Kim", "Lee", "")}
    with Gradebook(CourseDirectory(root=str(course.root)).db_url) as gradebook:
        for student, (first, last, number) in people.items():
            gradebook.add_student(student, first_name=first, last_name=last, lms_user_id=number)
    return course


def test_bare_notebooks_from_canvas(listed: Course, capsys: pytest.CaptureFixture[str]) -> None:
    """By the number that Canvas's class list has, else by the name that Canvas makes of it."""
    listed.download(
        submissions={
            f"lovelaceada_123_456_{NAME}-1.ipynb": "Ada's",
            "lovelaceada_123_457_self_attention_task.safetensors": "weights",
            "lovelaceada_123_458_my.png": "picture",
            "núñezjosémaría_LATE_999_459_my homework.ipynb": "José's",
            f"leekim_125_460_{NAME}.ipynb": "whose?",
            "lovelaceada_126_461_another.ipynb": "of another Ada",
            "anon_f3xY9_462_x.ipynb": "nobody's",
        }
    )
    told = listed.collect().splitlines()
    assert listed.there() == {f"ada/{NAME}": "Ada's", f"bm9/{NAME}": "José's"}
    work = listed.root / "submitted" / "ada" / NAME
    assert (work / "checkpoints" / "self_attention_task.safetensors").read_text() == "weights"
    assert (work / "my.png").read_text() == "picture" and not (work / "timestamp.txt").exists()
    place = f"Put it at submitted/<student>/{NAME}/{NAME}.ipynb yourself:"
    cannot = "the class list has no student, or several, whom Canvas can mean by"
    assert f"{cannot} leekim. {place}" in told and f"  submissions/leekim_125_460_{NAME}.ipynb" in told
    assert any(line.startswith(f"{cannot} anon_f3xY9. ") for line in told) and len(told) == 7
    said = "ada, bm9 handed in notebooks without `course submit` and were found in the class list. These have no"
    assert said in capsys.readouterr().out
    (work / "timestamp.txt").write_text("2027-01-30 12:00:00")
    listed.collect()
    assert listed.came("ada") == "2027-01-30 12:00:00", "the same work stays"


def test_bare_notebooks_from_moodle(listed: Course) -> None:
    """In folders and flat, and packed by hand; a zip of `course submit` beside a notebook counts alone."""
    mine = "José María Núñez_102_assignsubmission_file"
    listed.download(
        **{
            "CS1-Self-attention-77": {
                f"Ada Lovelace_101_assignsubmission_file_{NAME}.ipynb": "Ada's",
                f"{mine}/work.zip": packed({f"my work/{NAME}.ipynb": "José's", "my work/figs/a.png": "picture"}),
                f"Cy_103_assignsubmission_file/{named('cy')}.zip": zipped("cy", "Cy's"),
                "Cy_103_assignsubmission_file/draft.ipynb": "draft",
                "Kim Lee_104_assignsubmission_file/05_bahdanau_attention.ipynb": "of another topic",
            }
        }
    )
    told = listed.collect()
    assert listed.there() == {f"ada/{NAME}": "Ada's", f"bm9/{NAME}": "José's", f"cy/{NAME}": "Cy's"}
    assert (listed.root / "submitted" / "bm9" / NAME / "figs" / "a.png").read_text() == "picture"
    assert listed.status == 1 and "draft.ipynb" in told and "whom Moodle can mean by Kim Lee" in told


def test_a_bare_notebook_that_may_be_another_is_left(listed: Course) -> None:
    listed.download(
        submissions={
            "lovelaceada_123_456_05_bahdanau_attention.ipynb": "of another topic",
            "núñezjosémaría_124_457_one.ipynb": "one",
            "núñezjosémaría_124_458_two.ipynb": "two",
        }
    )
    told = listed.collect()
    assert listed.there() == {} and told.count("sent no notebook that is certainly") == 2


def test_bare_notebooks_in_two_downloads_are_collected_once(listed: Course) -> None:
    """A second download brings the first one's files again; what changed in it is for a person to decide."""
    mine, josés = f"lovelaceada_123_456_{NAME}.ipynb", f"núñezjosémaría_124_457_{NAME}.ipynb"
    listed.download(first={mine: "Ada's", josés: "old"}, second={mine: "Ada's", josés: "new"})
    told = listed.collect()
    assert listed.there() == {f"ada/{NAME}": "Ada's"}
    assert "núñezjosémaría_124 sent" in told and "lovelaceada" not in told


def test_a_manifest_with_a_time_that_cannot_be_hinders_nobody(course: Course) -> None:
    first = {**handed_in("ada", "old"), MANIFEST: manifest("ada", FIRST).replace("2027", "0001")}
    course.download(work=first, **{named("ada"): handed_in("ada", "mine"), named("bob"): handed_in("bob", "Bob's")})
    assert course.collect() == "" and course.there() == {f"ada/{NAME}": "mine", f"bob/{NAME}": "Bob's"}
    work = course.root / "submitted" / "ada" / NAME
    (old,) = [one for one in attempts.attempts_of(course.root, "ada", NAME, work) if not one.counts]
    assert old.came is None and (old.place / f"{NAME}.ipynb").read_text() == "old"


def test_a_bare_notebook_gives_way_to_a_zip_and_is_kept(listed: Course) -> None:
    listed.download(submissions={f"lovelaceada_123_456_{NAME}.ipynb": "bare"})
    listed.collect()
    listed.download(submissions={f"lovelaceada_123_457_{named('ada')}.zip": zipped("ada", "zip")})
    assert listed.collect() == "" and listed.there() == {f"ada/{NAME}": "zip"}
    assert list(listed.there("attempts").values()) == ["bare"]
