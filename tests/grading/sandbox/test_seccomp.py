"""Refused system calls: the filter read by a simulator for both machines, then felt in a child."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course.grading.sandbox import seccomp
from course.grading.sandbox.syscalls import AARCH64, NEWEST, X86_64, Unsupported, call, numbers

from .child import in_child, linux, outcome

BOTH = pytest.mark.parametrize("machine", [X86_64, AARCH64])
NEW_USER = 0x10000000
F_SETOWN_EX, FIOSETOWN = 15, 0x8901
ALLOWED = "allowed"


def _answer(machine: str, number: int, *arguments: int, audit: int | None = None, **options: Any) -> str:
    """What the filter answers to a call, by running it as the kernel does."""
    words = {seccomp.NUMBER: number, seccomp.MACHINE: seccomp.MACHINES[machine] if audit is None else audit}
    words |= {seccomp.ARGUMENTS + 8 * i: value & 0xFFFFFFFF for i, value in enumerate([*arguments, *[0] * 6][:6])}
    steps = seccomp.program(machine, **options)
    place, register = 0, 0
    while True:
        step = steps[place]
        place += 1
        if step.code == seccomp.LOAD:
            register = words[step.k]
        elif step.code == seccomp.AND:
            register &= step.k
        elif step.code == seccomp.RETURN:
            return ALLOWED if step.k == seccomp.ALLOW else errno.errorcode.get(step.k - seccomp.FAIL, "pretended")
        else:
            holds = register == step.k if step.code == seccomp.IF_EQUAL else register >= step.k
            place += step.if_true if holds else step.if_false


def _named(machine: str, name: str, *arguments: int, **options: Any) -> str:
    return _answer(machine, numbers(machine)[name], *arguments, **options)


@BOTH
def test_every_call_of_every_refusal_is_refused(machine: str) -> None:
    for refusal in seccomp.ALWAYS:
        for name in set(refusal.calls.split()) & set(numbers(machine)):
            if refusal.where is None and refusal.unless is None:
                assert _named(machine, name) == errno.errorcode.get(refusal.error, "pretended"), name


@BOTH
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("clone", (0x11,), ALLOWED),
        ("clone", (0x11 | NEW_USER,), "EPERM"),
        ("clone", (0x11 | 0x00020000,), "EPERM"),
        ("clone", (0x3D0F00,), ALLOWED),  # a thread, as glibc makes one
        ("clone3", (), "ENOSYS"),
        ("socket", (1, 1), ALLOWED),
        ("socket", (2, 1), "EACCES"),
        ("socket", (10, 1), "EACCES"),
        ("socket", (16, 3), "EACCES"),
        ("socketpair", (1, 1), ALLOWED),
        ("ioctl", (0, 0x5401), ALLOWED),
        ("ioctl", (0, 0x5412), "EPERM"),
        ("ioctl", (0, 0x541C), "EPERM"),
        ("ioctl", (0, 0x40086602), "EPERM"),
        ("personality", (0xFFFFFFFF,), ALLOWED),
        ("personality", (0x0040000,), "EPERM"),
        ("prlimit64", (0, 7), ALLOWED),
        ("prlimit64", (1234, 7), "EPERM"),
        ("sched_setaffinity", (0, 8), ALLOWED),
        ("sched_setaffinity", (1234, 8), "pretended"),
        ("setpriority", (0, 0, 5), ALLOWED),
        ("setpriority", (0, 77, 5), "EPERM"),
        ("setpriority", (2, 0, 5), "EPERM"),
        ("ioprio_set", (1, 0, 5), ALLOWED),
        ("ioprio_set", (1, 77, 5), "EPERM"),
        ("kill", (1234, 9), ALLOWED),
        ("setsid", (), ALLOWED),
        ("openat", (0, 0, 0o1000), ALLOWED),
    ],
)
def test_arguments_decide(machine: str, name: str, arguments: tuple[int, ...], expected: str) -> None:
    assert _named(machine, name, *arguments) == expected


@BOTH
def test_the_network_may_stay(machine: str) -> None:
    assert _named(machine, "socket", 2, 1, network=False) == ALLOWED


@BOTH
def test_what_an_old_landlock_does_not_hold(machine: str) -> None:
    old, middle, new = ({"landlock": abi, "own": 500} for abi in (1, 4, 6))
    assert _named(machine, "truncate", **old) == "EACCES"
    assert _named(machine, "openat", 0, 0, 0o1000, **old) == "EACCES"
    assert _named(machine, "openat", 0, 0, 0o1001, **old) == ALLOWED
    assert _named(machine, "openat", 0, 0, 0o1000, **middle) == ALLOWED
    assert _named(machine, "kill", 1234, 9, **middle) == "EPERM"
    assert _named(machine, "kill", 500, 9, **middle) == ALLOWED
    assert _named(machine, "tgkill", 500, 501, 6, **middle) == ALLOWED
    assert _named(machine, "pidfd_send_signal", 5, 9, **middle) == "EPERM"
    assert _named(machine, "kill", 1234, 9, **new) == ALLOWED
    for name, shut, open_ in (("fcntl", (8, 15), (2, 4, 10)), ("ioctl", (0x8901, 0x8902), (0x5401, 0x8903))):
        assert {_named(machine, name, 5, request, **middle) for request in shut} == {"EPERM"}
        assert {_named(machine, name, 5, request, **middle) for request in open_} == {ALLOWED}
        assert {_named(machine, name, 5, request, **new) for request in (*shut, *open_)} == {ALLOWED}


@BOTH
def test_other_doors_to_the_same_calls_are_shut(machine: str) -> None:
    other = AARCH64 if machine == X86_64 else X86_64
    assert _answer(machine, 39, audit=seccomp.MACHINES[other]) == "EPERM"
    assert _answer(machine, 20, audit=0x40000003) == "EPERM"  # a 32-bit program's
    assert _answer(machine, seccomp.X32 | 39) == "EPERM"
    assert _answer(machine, 0xFFFFFFFF) == "EPERM"
    assert _answer(machine, NEWEST + 1) == "ENOSYS"
    assert _answer(machine, 512) == "ENOSYS"


@BOTH
def test_ordinary_calls_pass(machine: str) -> None:
    refused = {number for refusal in seccomp.ALWAYS for number in _numbers_of(machine, refusal)}
    refused |= {number for refusal in seccomp.NETWORK for number in _numbers_of(machine, refusal)}
    for number in set(range(NEWEST + 1)) - refused:
        assert _answer(machine, number) == ALLOWED, number


def _numbers_of(machine: str, refusal: seccomp.Refusal) -> list[int]:
    return [numbers(machine)[name] for name in refusal.calls.split() if name in numbers(machine)]


def _refused(act: Callable[[], object], **options: Any) -> Any:
    def confined() -> object:
        seccomp.refuse(**options)
        return act()

    return in_child(confined)


@linux
@pytest.mark.parametrize(
    ("family", "kind"),
    [
        ("AF_INET", socket.SOCK_STREAM),
        ("AF_INET", socket.SOCK_DGRAM),
        ("AF_INET", socket.SOCK_RAW),
        ("AF_INET6", socket.SOCK_STREAM),
        ("AF_NETLINK", socket.SOCK_RAW),
        ("AF_PACKET", socket.SOCK_RAW),
        ("AF_VSOCK", socket.SOCK_STREAM),
        ("AF_ALG", socket.SOCK_SEQPACKET),
    ],
)
def test_no_socket_reaches_the_network(family: str, kind: int) -> None:
    assert _refused(lambda: outcome(lambda: socket.socket(getattr(socket, family), kind))) == "EACCES"


@linux
def test_unix_sockets_work() -> None:
    def talk() -> str:
        here, there = socket.socketpair()
        here.sendall(b"hello")
        return there.recv(5).decode()

    assert _refused(talk) == "hello"


@linux
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("unshare", (NEW_USER,)),
        ("unshare", (0x40000000,)),
        ("setns", (0, 0)),
        ("clone", (NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)),
        ("mount", (b"none", b"/tmp", b"tmpfs", 0, None)),
        ("umount2", (b"/proc", 0)),
        ("pivot_root", (b"/", b"/")),
        ("chroot", (b"/tmp",)),
        ("ptrace", (0, 0, 0, 0)),
        ("process_vm_readv", (1, None, 0, None, 0, 0)),
        ("process_vm_writev", (1, None, 0, None, 0, 0)),
        ("pidfd_getfd", (0, 0, 0)),
        ("kcmp", (1, 1, 0, 0, 0)),
        ("keyctl", (0, 0, 0, 0, 0)),
        ("io_uring_setup", (1, bytes(120))),
        ("bpf", (0, None, 0)),
        ("perf_event_open", (bytes(128), 0, -1, -1, 0)),
        ("userfaultfd", (0,)),
        ("open_by_handle_at", (0, None, 0)),
        ("syslog", (10, None, 0)),
        ("acct", (None,)),
        ("prlimit64", (1, 7, None, None)),
        ("shmget", (1, 4096, 0o1600)),
        ("setxattr", (b"/tmp", b"user.a", b"b", 1, 0)),
    ],
)
def test_dangerous_calls_fail(name: str, arguments: tuple[Any, ...]) -> None:
    assert _refused(lambda: outcome(lambda: call(name, *arguments))) == "EPERM"


@linux
def test_programs_it_starts_are_bound_as_well() -> None:
    code = "import socket\ntry: socket.socket()\nexcept OSError as error: print(error.errno)"
    finished = _refused(lambda: subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    assert finished.strip() == str(errno.EACCES)


@linux
def test_threads_of_the_process_are_bound_as_well() -> None:
    def from_a_thread() -> str:
        ready, found = threading.Event(), []

        def waiting() -> None:
            ready.wait()
            found.append(outcome(socket.socket))

        thread = threading.Thread(target=waiting)
        thread.start()
        seccomp.refuse()
        ready.set()
        thread.join()
        return found[0]

    assert in_child(from_a_thread) == "EACCES"


@linux
def test_modes_and_times_stay_as_they_are_and_copies_go_on(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mine")
    before = kept.stat()

    def change() -> str:
        kept.chmod(0)
        os.utime(kept, (0, 0))
        os.chown(kept, 12345, 12345)
        shutil.copy2(kept, tmp_path / "copy")
        return (tmp_path / "copy").read_text()

    assert _refused(change) == "mine"
    after = kept.stat()
    assert (after.st_mode, after.st_mtime, after.st_uid) == (before.st_mode, before.st_mtime, before.st_uid)


@linux
def test_nobody_leaves_the_process_group() -> None:
    def leave() -> bool:
        group = os.getpgrp()
        os.setpgid(0, 0)
        started = subprocess.run(
            [sys.executable, "-c", "import os; print(os.getpgrp())"],
            start_new_session=True,
            capture_output=True,
            text=True,
        )
        return os.getpgrp() == group == int(started.stdout)

    assert _refused(leave, landlock=6)


@linux
def test_signals_stay_inside_where_landlock_cannot_hold_them() -> None:
    parent = os.getpid()

    def send() -> list[str]:
        return [outcome(lambda: os.kill(parent, 0)), outcome(lambda: os.kill(os.getpid(), 0))]

    assert _refused(send, landlock=5) == ["EPERM", "done"]


@linux
def test_no_descriptor_sends_them_either() -> None:
    """When something arrives its owner is sent a signal: any process, and any signal."""
    parent = os.getpid()

    def own() -> list[str]:
        here, there = socket.socketpair()
        with here, there:
            return [
                outcome(lambda: fcntl.fcntl(here, fcntl.F_SETOWN, parent)),
                outcome(lambda: fcntl.fcntl(here, F_SETOWN_EX, struct.pack("=ii", 1, parent))),
                outcome(lambda: fcntl.ioctl(here, FIOSETOWN, struct.pack("=i", parent))),
            ]

    assert _refused(own, landlock=5) == ["EPERM"] * 3


@linux
def test_files_cannot_be_cut_short_where_landlock_cannot_hold_them(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("mine")

    def cut() -> list[str]:
        return [
            outcome(lambda: os.truncate(file, 0)),
            outcome(lambda: os.open(file, os.O_RDONLY | os.O_TRUNC)),
            outcome(lambda: file.read_text()),
        ]

    assert _refused(cut, landlock=2) == ["EACCES", "EACCES", "done"]
    assert file.read_text() == "mine"


@linux
@pytest.mark.skipif(platform.machine() != X86_64, reason="a 32-bit call of x86")
def test_a_call_made_the_32_bit_way_fails() -> None:
    def old_getpid() -> int:
        """`mov eax, 20; int 0x80; ret`: getpid, by the door of 32-bit programs."""
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()

    assert _refused(old_getpid) == -errno.EPERM


def test_an_unknown_machine_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(Unsupported, match="riscv64"):
        seccomp.refuse()
