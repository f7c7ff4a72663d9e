"""Files, sockets and signals outside the rules, out of reach."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course.grading.sandbox import capabilities, landlock
from course.grading.sandbox.landlock import Right, Unsupported

from .child import become_nobody, in_child, needs_landlock, outcome, system

pytestmark = needs_landlock()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with `secret`, `read` and `write`, each holding `file` and `folder/file`."""
    for name in ("secret", "read", "write"):
        (tmp_path / name / "folder").mkdir(parents=True)
        for file in ("file", "folder/file"):
            (tmp_path / name / file).write_text(name)
    return tmp_path


def _restricted(place: Path, act: Callable[[], object], **options: Any) -> Any:
    def confined() -> object:
        landlock.restrict([*system(), place / "read", place / "missing"], [place / "write"], **options)
        return act()

    return in_child(confined)


def test_what_is_not_granted_cannot_be_read(place: Path) -> None:
    (place / "write" / "link").symlink_to(place / "secret" / "file")

    def read() -> list[str]:
        paths = [place / name / "folder" / "file" for name in ("secret", "read", "write")]
        paths += [place / "write" / "link", place / "read" / ".." / "secret" / "file"]
        paths += [Path("/proc/self/root", *(place / "secret" / "file").parts[1:])]
        listings = [outcome(lambda name=name: list((place / name).iterdir())) for name in ("", "secret", "read")]
        return [outcome(path.read_text) for path in paths] + listings

    assert _restricted(place, read) == [
        *("EACCES", "done", "done", "EACCES", "EACCES", "EACCES"),
        *("EACCES", "EACCES", "done"),
    ]


@pytest.mark.parametrize("name", ["secret", "read"])
def test_what_is_not_granted_cannot_be_changed(place: Path, name: str) -> None:
    folder, file, mine = place / name, place / name / "file", place / "write" / "file"

    def change() -> dict[str, str]:
        ways: dict[str, Callable[[], object]] = {
            "write": lambda: file.write_text("changed"),
            "append": lambda: file.open("a"),
            "make": lambda: (folder / "new").write_text(""),
            "make a folder": (folder / "new").mkdir,
            "make a pipe": lambda: os.mkfifo(folder / "new"),
            "make a link": lambda: (folder / "new").symlink_to("/"),
            "make a socket": lambda: socket.socket(socket.AF_UNIX).bind(str(folder / "new")),
            "delete": file.unlink,
            "delete a folder": (folder / "folder").rmdir,
            "rename": lambda: file.rename(folder / "new"),
            "move in": lambda: mine.rename(folder / "new"),
            "move out": lambda: file.rename(place / "write" / "new"),
            "link in": lambda: (folder / "new").hardlink_to(mine),
            "link out": lambda: (place / "write" / "linked").hardlink_to(file),
        }
        return {way: outcome(act) for way, act in ways.items()}

    outcomes = _restricted(place, change)
    assert set(outcomes.values()) <= {"EACCES", "EXDEV", "ENOTEMPTY"}, outcomes
    assert sorted(path.name for path in folder.iterdir()) == ["file", "folder"]
    assert file.read_text() == name


@needs_landlock(3)
def test_what_is_not_granted_cannot_be_cut_short(place: Path) -> None:
    def cut() -> list[str]:
        file = place / "read" / "file"
        return [outcome(lambda: os.truncate(file, 0)), outcome(lambda: os.open(file, os.O_RDONLY | os.O_TRUNC))]

    assert _restricted(place, cut) == ["EACCES", "EACCES"]
    assert (place / "read" / "file").read_text() == "read"


@needs_landlock(2)
def test_the_writable_folder_is_a_place_to_work(place: Path) -> None:
    def work() -> str:
        mine = place / "write"
        (mine / "deep" / "er").mkdir(parents=True)
        (mine / "file").rename(mine / "deep" / "er" / "moved")
        (mine / "link").symlink_to("deep/er/moved")
        (mine / "hard").hardlink_to(mine / "link")
        os.mkfifo(mine / "pipe")
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(str(mine / "socket"))
            server.listen()
            client.connect(str(mine / "socket"))
        os.truncate(mine / "link", 2)
        text = (mine / "link").read_text()
        (mine / "script").write_text("#!/bin/sh\necho runs\n")
        (mine / "script").chmod(0o700)
        text += subprocess.run([mine / "script"], capture_output=True, text=True).stdout
        shutil.rmtree(mine / "deep")
        return text

    assert _restricted(place, work) == "wrruns\n"


def test_no_device_nodes(place: Path) -> None:
    assert _restricted(place, lambda: outcome(lambda: os.mknod(place / "write" / "null", 0o020666, 0x103))) in (
        *("EACCES", "EPERM"),
    )


def test_who_uses_an_accelerator_may_name_its_threads(place: Path) -> None:
    """CUDA opens the file so, and without it finds no device: `cuInit` is 304."""

    def rename() -> str:
        own = Path("/proc/self/task", str(threading.get_native_id()), "comm")
        return outcome(lambda: own.write_text("cuda"))

    assert _restricted(place, rename, devices=[Path("/dev/null")]) == "done"
    assert _restricted(place, rename) == "EACCES"


def test_devices_that_hold_nothing_can_be_used(place: Path) -> None:
    def use() -> list[object]:
        Path("/dev/null").write_text("gone")
        with Path("/dev/urandom").open("rb") as random, Path("/dev/zero").open("rb") as zero:
            return [len(random.read(5)), sum(zero.read(5)), outcome(lambda: list(Path("/dev").iterdir()))]

    assert _restricted(place, use) == [5, 0, "EACCES"]


def test_of_proc_only_facts_and_oneself(place: Path) -> None:
    parent = os.getpid()

    def read() -> dict[str, str]:
        names = ["self/status", "cpuinfo", "self/net/unix", "self/environ", "1/cmdline", "mounts"]
        names += [f"{parent}/{name}" for name in ("environ", "mem", "maps", "cmdline", "status")]
        found = {name: outcome(Path("/proc", name).read_bytes) for name in names}
        return found | {"listing": outcome(lambda: list(Path("/proc").iterdir()))}

    outcomes = _restricted(place, read)
    assert {name for name, how in outcomes.items() if how == "done"} == {"self/status", "cpuinfo"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can empty the kernel's caches")
def test_rules_outlast_a_shortage_of_memory(place: Path) -> None:
    def read_twice() -> list[str]:
        first = outcome(Path("/proc/self/status").read_text)
        os.write(there, b"read")
        os.read(back, 1)
        return [first, outcome(Path("/proc/self/status").read_text)]

    here, there = os.pipe()
    back, forth = os.pipe()

    def forget() -> None:
        os.read(here, 4)
        Path("/proc/sys/vm/drop_caches").write_text("2")
        os.write(forth, b"!")

    drops = threading.Thread(target=forget)
    drops.start()
    assert _restricted(place, read_twice) == ["done", "done"]
    drops.join()


def test_programs_it_starts_are_bound_as_well(place: Path) -> None:
    def start() -> list[str]:
        runs = [["cat", str(place / name / "file")] for name in ("secret", "read")]
        return [subprocess.run(command, capture_output=True, text=True).stdout for command in runs]

    assert _restricted(place, start) == ["", "read"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_holds_without_rights_too(place: Path) -> None:
    def read() -> list[str]:
        become_nobody(place)
        landlock.restrict([*system(), place / "read"], [])
        return [outcome((place / name / "file").read_text) for name in ("secret", "read")]

    assert in_child(read) == ["EACCES", "done"]


def test_holds_root_without_capabilities(place: Path) -> None:
    def read() -> list[str]:
        capabilities.drop()
        landlock.restrict([*system(), place / "read"], [])
        return [outcome((place / name / "file").read_text) for name in ("secret", "read")]

    assert in_child(read) == ["EACCES", "done"]


def test_a_second_restriction_only_takes(place: Path) -> None:
    def read() -> list[str]:
        landlock.restrict([*system(), place], [])
        return [outcome((place / name / "file").read_text) for name in ("secret", "read")]

    assert _restricted(place, read) == ["EACCES", "done"]


def test_files_can_be_granted_one_by_one(place: Path) -> None:
    def read() -> list[str]:
        landlock.restrict([*system(), place / "read" / "file"], [place / "write" / "file"])
        return [
            outcome((place / "read" / "file").read_text),
            outcome((place / "read" / "folder" / "file").read_text),
            outcome(lambda: (place / "write" / "file").write_text("changed")),
            outcome(lambda: (place / "write" / "other").write_text("changed")),
        ]

    assert in_child(read) == ["done", "EACCES", "done", "EACCES"]


@needs_landlock(4)
def test_no_tcp(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def reach() -> list[str]:
            return [
                outcome(lambda: socket.create_connection(("127.0.0.1", port), timeout=5)),
                outcome(lambda: socket.create_server(("127.0.0.1", 0))),
            ]

        assert _restricted(place, reach) == ["EACCES", "EACCES"]


@needs_landlock(6)
def test_abstract_sockets_outside_are_out_of_reach(place: Path) -> None:
    name = f"\0course-test-{os.urandom(8).hex()}"
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(name)
        outside.listen()

        def reach() -> list[str]:
            inside = socket.socket(socket.AF_UNIX)
            inside.bind(name + "-inside")
            inside.listen()
            ends = (name, name + "-inside")
            return [outcome(lambda end=end: socket.socket(socket.AF_UNIX).connect(end)) for end in ends]

        assert _restricted(place, reach) == ["EPERM", "done"]


@needs_landlock(6)
def test_signals_outside_are_refused_and_inside_are_not(place: Path) -> None:
    parent = os.getpid()

    def send() -> list[str]:
        child = subprocess.Popen(["sleep", "60"])
        try:
            return [outcome(lambda: os.kill(parent, 0)), outcome(child.kill)]
        finally:
            child.wait()

    assert _restricted(place, send) == ["EPERM", "done"]


@pytest.mark.skipif(landlock.abi() >= 9, reason="this kernel's Landlock holds named sockets")
def test_named_sockets_are_what_old_versions_leave_open(place: Path) -> None:
    """Not a wish: the limit that the module's first lines tell of."""
    _reach_named(place, "done")


@needs_landlock(9)
def test_named_sockets_outside_are_out_of_reach(place: Path) -> None:
    _reach_named(place, "EACCES")
    _reach_named(place, "done", sockets=[place / "secret" / "socket"])


def _reach_named(place: Path, expected: str, **options: Any) -> None:
    address = str(place / "secret" / "socket")
    Path(address).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(address)
        outside.listen()
        reach = lambda: outcome(lambda: socket.socket(socket.AF_UNIX).connect(address))  # noqa: E731
        assert _restricted(place, reach, **options) == expected


def test_other_threads_would_stay_free(place: Path) -> None:
    if landlock.abi() >= 8:
        pytest.skip("this kernel's Landlock holds all threads of a process")

    def with_a_thread() -> str:
        done = threading.Event()
        threading.Thread(target=done.wait).start()
        try:
            landlock.restrict([], [])
        except RuntimeError as error:
            return str(error)
        finally:
            done.set()
        return "restricted"

    assert "2. Restrict it before" in in_child(with_a_thread)


def test_rights_the_kernel_does_not_know_are_not_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(landlock, "call", lambda name, *arguments: asked.append((name, arguments)) or os.dup(0))
    monkeypatch.setattr(landlock, "no_new_privileges", lambda: None)
    for version in range(1, 11):
        landlock.enforce(version, [(Path("/usr"), landlock.READ | landlock.CHANGE)])
    handled = [int.from_bytes(arguments[0][:8], "little") for name, arguments in asked if name.endswith("ruleset")]
    highest = [Right.MAKE_SYM, Right.REFER, *[Right.TRUNCATE] * 2, *[Right.IOCTL_DEV] * 4, *[Right.RESOLVE_UNIX] * 2]
    assert [value.bit_length() for value in handled] == [right.bit_length() for right in highest]


def test_without_landlock_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    with pytest.raises(Unsupported, match="no Landlock"):
        landlock.restrict([], [])


def test_elsewhere_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert landlock.abi() == 0
