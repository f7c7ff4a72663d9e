"""Decide what `nbgrader zip_collect` collects from downloads, and report at the end which files it left out.

`ownership` finds the student of each zip. New work replaces the work in `submitted/`, which is kept in `attempts/`;
nothing is deleted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any

from nbgrader.plugins import FileNameCollectorPlugin

from course.course import Course
from course.grading.gradebook.students import lookalikes
from course.grading.intake import attempts
from course.grading.intake.arrival_time import ARRIVAL
from course.grading.intake.bare_notebooks import Listed, by_sender, find_student, match_bare, other_topic
from course.grading.intake.ownership import (
    Conflict,
    HandIn,
    Manifest,
    find_conflicts,
    find_hand_ins,
    newest,
    read_manifest,
    read_senders,
    write_senders,
)
from course.grading.intake.platforms import Sender, is_companion, is_marked_late, sender_of, senders_of, typed_by
from course.grading.intake.shared_work import SharedWork, find_shared
from course.grading.intake.submit import MACHINE_LOGINS, MANIFEST, STAMP, archive_pattern
from course.grading.intake.untrusted import (
    everything,
    holds_work,
    is_left_behind,
    is_of_a_system,
    plain_files,
    printable,
    refuse_name,
)
from course.grading.machine.faults import advice_for
from course.grading.nbgrader_bridge.class_list import class_list
from course.grading.nbgrader_bridge.collected_requests import CollectedRequests
from course.grading.nbgrader_bridge.course_of import course_of
from course.grading.nbgrader_bridge.left_files import (
    BESIDE,
    OTHER_ARCHIVES,
    TYPED,
    LeftFiles,
    of_another_topic,
    unfit_file,
)
from course.grading.nbgrader_bridge.unpacking import TolerantExtractor
from course.outline import Group
from course.problem import Problem


class TopicCollector(FileNameCollectorPlugin):
    """nbgrader's collector, except that it finds the owner of every file first, and reports the files it leaves out.

    Files of all types are collected, whatever `valid_ext` says. If an instructor sets another `named_regexp`, the
    collector behaves as nbgrader's own.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.left = LeftFiles()
        """Files that were not collected, except manifests."""
        self.conflicts: list[Conflict] = []
        """Work that was not collected, because it may belong to another student."""
        self.kept: list[Path] = []
        """Attempts in `attempts/` that were replaced, in this run or an earlier one."""
        self._kept_before: set[Path] = set()
        self._of: dict[Path, tuple[HandIn, PurePosixPath]] = {}
        self._passed_over: set[Path] = set()
        self._passed_over_for: list[str] = []
        self._unmatched: dict[Path, str] = {}
        self._shared: list[SharedWork] = []
        self._handed_in_files: set[Sender] = set()
        self._handed_in_work: set[Sender] = set()
        self._settled: set[str] = set()
        self._named_otherwise: dict[str, str] = {}
        self._topics = self.course.known_folders
        self._extracted = Path()
        self.requests = CollectedRequests(Path(), ())

    @property
    def is_ours(self) -> bool:
        """Whether zips are recognised by the names that `course submit` gives."""
        return bool(self.named_regexp == archive_pattern(self.course.known_folders))

    @property
    def topic(self) -> str:
        """The assignment that is collected."""
        return str(self.parent.coursedir.assignment_id)

    @property
    def root(self) -> Path:
        """The course's folder."""
        return Path(self.parent.coursedir.root)

    @property
    def course(self) -> Course:
        """The course whose work is collected."""
        return course_of(self)

    @property
    def groups(self) -> list[Group]:
        """The groups of students who hand in together."""
        return self.course.outline.groups_in(self.topic)

    @cached_property
    def people(self) -> list[Listed]:
        """The class list."""
        return class_list(self.parent.coursedir.db_url)

    def submitted(self, student: str) -> Path:
        """Return the folder for a student's collected work."""
        coursedir = self.parent.coursedir
        return Path(coursedir.format_path(coursedir.submitted_directory, student, self.topic))

    def decide(self, extracted: Path, unopened: Collection[Path] = ()) -> None:
        """Find the student of each file below `extracted`; a student's older attempts are copied to `attempts/`.

        Work in `conflicts` is neither copied nor collected. Nor are archives that could not be opened, `unopened`.
        """
        self._topics, self._extracted = (*self.course.known_folders, self.topic), extracted
        self._kept_before = set((self.root / attempts.FOLDER).glob(f"*/{self.topic}/*"))
        self._passed_over.update(unopened)
        for folder in self._empty_folders(extracted):
            self.left.add("no work is in it. Ask for it again", folder)
        files = [path for path in everything(extracted) if path.is_file() and not _is_of_a_system(path)]
        self.requests = CollectedRequests(extracted, files)
        self._passed_over.update(self.requests.found)
        files = [path for path in files if path not in self._passed_over]
        manifests = dict(self._manifests(files, extracted))
        below = [_below(path, extracted) for path in files]
        found = find_hand_ins(below, manifests, self._topics)
        work = [path for path in below if not typed_by(path) and not is_companion(path)]
        self._handed_in_files = {one.sender for one in found if one.sender}.union(*map(senders_of, work))
        others = [one for one in found if one.topic != self.topic or not _is_a_name(one.student)]
        found = [*(one for one in found if one not in others), *self._bare(work, found)]
        self._handed_in_work = {one.sender for one in found if one.sender}
        found = list(self._by_the_class_list(found))
        found = list(self._as_an_instructor_decided(self._once_a_group(found), extracted))
        self._of = {extracted / path: (one, file) for one in (*others, *found) for file, path in one.files.items()}
        self.conflicts = self._conflicts(found)
        split = [one for conflict in self.conflicts for one in conflict.hand_ins]
        by_student: dict[str, list[HandIn]] = {}
        for one in found:
            if one in split:
                self._passed_over.update(extracted / path for path in one.files.values())
            else:
                by_student.setdefault(one.student, []).append(one)
        for several in by_student.values():
            self._keep_older(several, extracted)
        self.requests.keep(self.course, self.root, partial(self._owner, [*others, *found]))
        for path, reason in self.requests.left.items():
            self.left.add(reason, path)

    def _by_the_class_list(self, found: Iterable[HandIn]) -> Iterator[HandIn]:
        """Yield hand-ins, those under a name that the class list lacks as the student's whom the platform names."""
        known = {*(person.id for person in self.people), *(group.name for group in self.groups)}
        for one in found:
            student = None if one.is_split or one.student in known else self._listed(one.sender)
            if student is None:
                yield one
            else:
                self._named_otherwise[student] = one.student
                yield one.given_to(student)

    def _conflicts(self, found: Sequence[HandIn]) -> list[Conflict]:
        """Return the conflicts, those included in which the class list knows the sender as another student."""
        conflicts = find_conflicts(found, self._collected(), self.groups)
        told = [one for conflict in conflicts for one in conflict.hand_ins]
        known = {person.id for person in self.people}
        for one in found:
            sent_by = self._listed(one.sender)
            if sent_by in (None, one.student) or one.student not in known or one in told:
                continue
            are_together = any({sent_by, one.student} <= set(group.members) for group in self.groups)
            if not are_together and one.student not in self._there(_files(one, self._extracted)):
                reason = f"A zip says {one.student}, but its sender is {sent_by} in the class list."
                conflicts.append(Conflict(reason, (one,)))
        return conflicts

    def _listed(self, sender: Sender | None) -> str | None:
        """Return the student of the class list who is a platform's sender, or None."""
        return find_student(sender, self.people, may_be_team=bool(self.groups)) if sender else None

    def _owner(self, hand_ins: Iterable[HandIn], path: PurePosixPath, sender: Sender | None) -> str:
        """Return the student whose file this is: by the zip that it came in, or by its sender; "" if unknown."""
        packed = [one.student for one in hand_ins if one.time and path.is_relative_to(one.folder)]
        packed += [one.student for one in hand_ins if sender is not None and one.sender == sender]
        known = [student for student, other in self._collected().items() if other == sender]
        return next(iter([*packed, *known, *filter(None, [self._listed(sender)])]), "")

    def _empty_folders(self, extracted: Path) -> list[Path]:
        """Return the folders named by a student's zip or by a platform that hold no work."""
        found: list[Path] = []
        for path in everything(extracted):
            below = _below(path, extracted)
            if path.is_dir() and not is_of_a_system(below) and not any(map(path.is_relative_to, found)):
                is_somebodys = sender_of(PurePosixPath(below.name), below.name) or self._match(f"/{below.name}/x")
                if is_somebodys and not holds_work(path):
                    found.append(path)
        return found

    def _bare(self, work: Iterable[PurePosixPath], found: Iterable[HandIn]) -> Iterator[HandIn]:
        """Yield work uploaded without `course submit` whose students the class list identifies."""
        packed = {path for one in found for path in one.files.values()}
        with_zip = {one.sender for one in found if one.topic == self.topic}
        sent = by_sender(path for path in work if path not in packed and not self._other_topic(path))
        sent = {sender: self._once(files) for sender, files in sent.items() if sender not in with_zip}
        for sender, files in sent.items():
            one = match_bare(sender, files, self.people, self.topic, self.groups)
            if isinstance(one, HandIn):
                yield one
            else:
                self._unmatched |= dict.fromkeys((self._extracted / path for path in files), one)

    def _once_a_group(self, found: list[HandIn]) -> list[HandIn]:
        """Return the hand-ins, keeping one of the copies that members of a group sent."""
        for shared in find_shared(found, self._digest, self.people, self.groups) if self.groups else ():
            found = [*(one for one in found if one not in shared.copies), shared.one]
            left = {path for one in shared.copies for path in one.files.values()} - {*shared.one.files.values()}
            self._passed_over.update(self._extracted / path for path in left)
            self._shared.append(shared)
        return found

    def _once(self, files: Iterable[PurePosixPath]) -> list[PurePosixPath]:
        """Return a sender's files without duplicates from a second download of the same work."""
        kept: dict[str, PurePosixPath] = {}
        for path in files:
            below = PurePosixPath(*path.parts[1:])  # without the download's own folder
            same = attempts.digest({str(below): self._extracted / path})
            if kept.setdefault(same, path) != path:
                self._passed_over.add(self._extracted / path)
        return list(kept.values())

    def _as_an_instructor_decided(self, found: list[HandIn], extracted: Path) -> Iterator[HandIn]:
        """Yield the hand-ins; work whose files and manifest already lie in `submitted/` gets the name it has there."""
        disputed = [one for conflict in self._conflicts(found) for one in conflict.hand_ins]
        for one in found:
            is_open = one in disputed or not self.submitted(one.student).is_dir()
            names = self._there(_files(one, extracted)) if is_open and one.manifests else []
            if one.is_split:  # the manifest's name may be that of the work's original author
                names = [name for name in names if name == one.named]
            yield one.given_to(names[0]) if names and one.student not in names else one

    def _there(self, files: Mapping[str, Path]) -> list[str]:
        """Return the students whose work in `submitted/` has exactly these files."""
        works = sorted(self.submitted("student").parent.parent.glob(f"*/{self.topic}"))
        ours = [work for work in works if work == self.submitted(work.parent.name)]
        return [work.parent.name for work in ours if _holds(work, files)]

    def _keep_older(self, several: list[HandIn], extracted: Path) -> None:
        """Copy all but the newest of a student's hand-ins to `attempts/`; identical zips count as one."""
        chosen = newest(several)
        wanted = self._digest(chosen)
        for one in several:
            if one is chosen:
                continue
            files = _files(one, extracted)
            self._passed_over.update(files.values())
            if attempts.digest(files) != wanted:
                self.kept.append(attempts.keep(self.root, one.student, one.topic, one.time, files))

    def collect(self, submitted_file: str) -> dict[str, Any] | None:
        """Return a file's student and arrival time, or None if the file is not collected."""
        if not self.is_ours:
            return super().collect(submitted_file)
        path = Path(submitted_file)
        if _is_of_a_system(path) or path in self._passed_over:
            return None
        if path not in self._of:
            if reason := self._nobodys(path):
                self.left.add(reason, path)
            return None
        one, file = self._of[path]
        if one.topic != self.topic:
            self.left.add(of_another_topic(self.course, one.topic, self.topic), self._extracted / one.folder)
            return None
        if not _is_a_name(one.student):
            reason = f"{printable(one.student)} cannot be a student's name. Rename the zip, or ask for it again"
        elif is_left_behind(file):
            return None
        elif not (reason := unfit_file(path, file)):
            said = self._match(f"/{one.name}/{file}") or {"file_id": str(file)}  # a bare notebook has no time
            return {**said, "student_id": one.student}
        if path.name != MANIFEST:
            self.left.add(reason, path)
        return None

    def _nobodys(self, path: Path) -> str:
        """Return why a file that belongs to no hand-in was left out, or "" if nobody needs to know."""
        below = _below(path, self._extracted)
        take = "to its student with `course take STUDENT FILE`"
        there = self._there({f"{self.topic}.ipynb": path}) if path.suffix == ".ipynb" else []
        known = f"It is the work of {', '.join(there)} in submitted/ already. If it is another's, give it {take}"
        if is_companion(below):
            return ""
        if sender := typed_by(below):
            return "" if sender in self._handed_in_files else TYPED
        if path in self._unmatched:
            return f"{self._unmatched[path]}. {known if there else f'Give it {take}'}"
        if path.suffix.lower() in OTHER_ARCHIVES:
            if path.stem in {one.folder.name for one, _ in self._of.values()}:  # the instructor has unpacked it
                return ""
            inbox = f"downloaded/{self.topic}/archive/"
            return f"only .zip and .gz are unpacked. Unpack it in {inbox}, into a folder of its name without the ending"
        if other := self._other_topic(below):
            return of_another_topic(self.course, other, self.topic)
        if senders := senders_of(below):
            return BESIDE if senders & self._handed_in_work else "no notebook came with it. Ask for the notebook"
        untold = "neither a zip's name nor a manifest says whose it is"
        give = f"Give a notebook {take}, and ask for one in place of anything else"
        return f"{untold}. {known if there else give}"

    def _other_topic(self, path: PurePosixPath) -> str | None:
        return other_topic(path, self.topic, self._topics)

    def _match(self, filename: str) -> dict[str, Any] | None:
        """Return what the file name's regular expression finds; for our own expression, without nbgrader's warning."""
        if not self.is_ours:
            return super()._match(filename)
        found = re.match(archive_pattern(self._topics), filename)
        return found.groupdict() if found else None

    def make_room(self, collected: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Return the part of `collected` to copy into `submitted/`, after copying the work it replaces to `attempts/`.

        Identical work is not copied. Work older than that in `submitted/` goes to `attempts/` itself.
        """
        wanted = {}
        for student, data in collected.items():
            work = self.submitted(student)
            pairs = zip(data["src_files"], data["dest_files"], strict=True)
            files = {Path(to).relative_to(work).as_posix(): Path(of) for of, to in pairs}
            there = dict(plain_files(work)) if work.is_dir() else {}
            if _holds(work, files):
                self.log.info("Nothing new of %s", student)
                if data["timestamp"] and attempts.arrival(work) is None:  # the platform says now when it came
                    (work / ARRIVAL).write_text(data["timestamp"].isoformat(" "), encoding="utf-8")
            elif there and attempts.is_passed_over(self.root, student, self.topic, data["timestamp"], files):
                self._passed_over_for.append(student)
                continue
            elif _is_older(data["timestamp"], attempts.arrival(work)):
                time = f"{data['timestamp']:{STAMP}}"
                self.kept.append(attempts.keep(self.root, student, self.topic, time, files))
                continue
            elif there and not self.parent.force:
                reason = (
                    "submitted/ holds other work of the student. Run with --force to replace it and "
                    "keep it in attempts/"
                )
                self.left.add(reason, *files.values())
                continue
            else:
                if there:
                    self.kept.append(attempts.keep_folder(self.root, student, self.topic, work))
                wanted[student] = data
            self._settled.add(student)
        return wanted

    def note_senders(self) -> None:
        """Save which senders a platform named for the work in `submitted/`, for the next download."""
        senders = self._collected()
        for shared in self._settled_shared():
            senders |= shared.senders
        for path, (one, _) in self._of.items():
            is_there = one.student in self._settled and one.topic == self.topic and path not in self._passed_over
            is_theirs = self._listed(one.sender) in (None, one.student)  # a partner in a group may have sent it
            if is_there and is_theirs and one.sender is not None and one.sender.lasting:
                senders[one.student] = one.sender
        write_senders(self.root, self.topic, senders)

    def notes(self) -> Iterator[str]:
        """Yield notes for the instructor on the collected work."""
        if kept := sorted(path.relative_to(self.root).as_posix() for path in {*self.kept} - self._kept_before):
            yield "\n".join(["Newer hand-ins replace these, which are kept:", *map("  {}".format, kept)])
        bare = [one.student for one in self._settled_works() if not one.time and not self._came(one.student)]
        if bare:
            told = "handed in notebooks without `course submit` and were found in the class list"
            stamp = "Nothing says when they came, so they count as on time unless you put a timestamp.txt beside them"
            yield f"{', '.join(sorted(bare))} {told}. {stamp}."
        if late := sorted(filter(self._is_on_time, self._marked_late())):
            stamp = f"write the time that Canvas shows into submitted/<student>/{self.topic}/timestamp.txt"
            yield f"Canvas calls the work of {', '.join(late)} LATE, but it counts as on time. To change that, {stamp}."
        yield from filter(None, (shared.note for shared in self._settled_shared()))
        yield from self.requests.notes
        for student, other in sorted(lookalikes(self._settled, [one.id for one in self.people]).items()):
            yield (
                f"The class list has no {student}, but {other}. If they are one student, move the work from "
                f"submitted/{student} to submitted/{other} before you grade."
            )
        for student, name in sorted(self._named_otherwise.items()):
            yield (
                f"{student} handed in as {printable(name)}, whom the class list does not have. "
                f"The platform says who sent it, so it counts for {student}."
            )
        for student in sorted(self._passed_over_for):
            yield f"{student}: the attempt that you chose with `course attempts` still counts, until a newer one comes."
        for student in sorted(self._settled):
            if student.casefold() in MACHINE_LOGINS:
                place = f"submitted/{student}"
                yield f"{student} is a login that machines give. Ask whose work it is, and rename {place} to their id."

    def _settled_shared(self) -> list[SharedWork]:
        """Return the shared works of groups of which one copy lies in `submitted/` now."""
        return [shared for shared in self._shared if shared.one.student in self._settled]

    def _settled_works(self) -> list[HandIn]:
        """Return the hand-ins that lie in `submitted/` now."""
        there = [(path, one) for path, (one, _) in self._of.items() if path not in self._passed_over]
        works = {str(one.folder): one for _, one in there if one.student in self._settled and one.topic == self.topic}
        return list(works.values())

    def _marked_late(self) -> Iterator[str]:
        """Yield the students whose work Canvas marks as late."""
        for one in self._settled_works():
            if one.sender and one.sender.platform == "Canvas" and any(map(is_marked_late, one.files.values())):
                yield one.student

    def _is_on_time(self, student: str) -> bool:
        """Return whether a student's work counts as on time: it came before the due date, or its time is unknown."""
        came = self._came(student)
        choice = self.course.outline.choices.get(self.topic)
        due = choice.due if choice else None
        return came is None or (due is not None and came <= due.astimezone(UTC).replace(tzinfo=None))

    def _came(self, student: str) -> datetime | None:
        return attempts.arrival(self.submitted(student))

    def uncollected(self, extracted: Path) -> Iterator[str]:
        """Yield lines about what was left out and why."""
        for conflict in self.conflicts:
            place = f"submitted/<student>/{self.topic}/"
            done = "None of these is collected, so put each"
            if len(conflict.hand_ins) > 1 and len(set(map(self._digest, conflict.hand_ins))) == 1:
                done = "If they are a group, name it under [groups] in course.toml and run this again, or put each"
            yield f"{conflict.reason} {done} into {place} yourself:"
            yield from (f"  {printable(one.folder.as_posix())}{_sender(one.sender)}" for one in conflict.hand_ins)
            yield from (f"  submitted/{student}/{self.topic}, collected before" for student in conflict.collected)
        yield from self.left.lines(extracted)

    def _digest(self, one: HandIn) -> str:
        return attempts.digest(_files(one, self._extracted))

    def _collected(self) -> dict[str, Sender]:
        """Return the known senders of the work in `submitted/`."""
        senders = read_senders(self.root, self.topic)
        return {student: sender for student, sender in senders.items() if self.submitted(student).is_dir()}

    def _manifests(self, files: Iterable[Path], extracted: Path) -> Iterator[tuple[PurePosixPath, Manifest]]:
        """Yield the readable manifests by their folders below `extracted`; one in `extracted` itself has no zip."""
        for path in files:
            if path.name == MANIFEST and path.parent != extracted and not path.is_symlink():
                said = read_manifest(path)
                if said is not None and said.is_valid:
                    yield _below(path.parent, extracted), said


def collect_extracted(app: Any, process: Callable[[Any], None]) -> None:
    """Run `process`, a method of nbgrader's application, on the unpacked files, and report the result.

    If anything was left out, the program exits with status 1.
    """
    extractor, collector = app.extractor_plugin_inst, app.collector_plugin_inst
    extracted = Path(app._format_collect_path(app.extracted_directory))
    if not isinstance(collector, TopicCollector) or not isinstance(extractor, TolerantExtractor):
        process(app)
        return
    try:
        if collector.is_ours and extracted.is_dir():
            collector.decide(extracted, extractor.left)
            # Of the files that are left out, those that somebody must look at are named below.
            app.log.addFilter(lambda record: "no match information" not in record.getMessage())
        process(app)
        collector.note_senders()
        notes = list(collector.notes())
    except Exception as error:
        if not isinstance(error, OSError) and not advice_for(error):
            raise
        sys.exit(
            f"nbgrader zip_collect: {advice_for(error) or error}. Then run it again with --force, which "
            "starts from the beginning"
        )
    for note in notes:
        print(note)
    for path, reason in extractor.left.items():
        collector.left.add(reason, path)
    if left := "\n".join(collector.uncollected(extracted)):
        sys.exit(f"nbgrader zip_collect: everything is in submitted/ except these files of {extracted}\n{left}")


def transfer(
    app: Any, copy: Callable[[Any, dict[str, dict[str, Any]]], None], collected: dict[str, dict[str, Any]]
) -> None:
    """Run `copy`, a method of nbgrader's application, on `collected`, and keep the work that it replaces."""
    collector = app.collector_plugin_inst
    copy(app, collector.make_room(collected) if isinstance(collector, TopicCollector) else collected)


def _sender(sender: Sender | None) -> str:
    return f", from {sender.label}" if sender is not None and sender.label else ""


def _is_a_name(student: str) -> bool:
    try:
        refuse_name(student)
    except Problem:
        return False
    return True


def _is_of_a_system(path: Path) -> bool:
    """Return whether a Mac or another system packed this along with the files."""
    return path.name.startswith(".") or is_of_a_system(path)


def _holds(work: Path, files: Mapping[str, Path]) -> bool:
    """Return whether a folder of work has these files with the same contents; it may have others."""
    if not all((work / name).is_file() for name in files):
        return False
    return attempts.digest({name: work / name for name in files}) == attempts.digest(files)


def _is_older(came: datetime | None, there: datetime | None) -> bool:
    return came is not None and there is not None and came < there


def _below(path: Path, folder: Path) -> PurePosixPath:
    return PurePosixPath(path.relative_to(folder).as_posix())


def _files(one: HandIn, extracted: Path) -> dict[str, Path]:
    """Return the files of a hand-in, by their path in it."""
    return {file.as_posix(): extracted / path for file, path in one.files.items()}
