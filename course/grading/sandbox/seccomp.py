"""System calls refused by the kernel itself, whoever asks: a filter in front of every call of this process.

Linux lets a process put a small program before its own system calls (seccomp, Linux 3.17). It is written for an old
packet filter's machine: one register, loads, comparisons that skip forward, and `return`. It sees the call's number,
the machine it was made for and six arguments as plain words, never what a pointer points to; it answers "allow" or
"fail with this error". Children inherit it, nobody can take it off.

The filter here is a list of *refusals*, each a handful of instructions that either answer or pass on to the next:

    load number; is it 165? no: skip 1; return EPERM          mount
    load number; is it 41?  no: skip 4; load argument 0;      socket of a family other than AF_UNIX
                 is it 1?  yes: skip 1; return EACCES; load number

What is not refused is allowed: Python, torch and zmq use some two hundred calls that nobody wants to list, and files
are Landlock's or the namespace's business. Refused is what reaches other processes, reshapes the system, opens a
network, or is rarely needed and has often been a hole in the kernel.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .syscalls import AARCH64, NEWEST, X86_64, Unsupported, call, machine, no_new_privileges, numbers

__all__ = ["Instruction", "Unsupported", "program", "refuse"]

# The filter's machine (linux/bpf_common.h): what an instruction does, and the answers (linux/seccomp.h).
LOAD = 0x20  # register = word at offset k of the call's description
AND = 0x54  # register &= k
IF_EQUAL = 0x15  # register == k
IF_AT_LEAST = 0x35  # register >= k
RETURN = 0x06

ALLOW = 0x7FFF0000
FAIL = 0x00050000  # plus the error number; error 0 means: do nothing and report success

# The call's description (struct seccomp_data): number, machine, instruction pointer, six arguments of eight bytes.
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16

MACHINES = {X86_64: 0xC000003E, AARCH64: 0xC00000B7}
X32 = 0x40000000
"""Set in the number of a call of x86_64's 32-bit twin, which reaches the same functions by other numbers."""

SET_FILTER, ALL_THREADS = 1, 1


class Instruction(NamedTuple):
    """One step of a filter: what to do with `k`, and how many steps to skip if a comparison holds or fails."""

    code: int
    k: int
    if_true: int = 0
    if_false: int = 0


class Argument(NamedTuple):
    """A question about a call's argument: are its bits under `mask` one of `values`?

    Only the low word is looked at: all that is asked about here are ints to the kernel.
    """

    position: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


class Refusal(NamedTuple):
    """Calls (names, with blanks between) that fail with `error`; with 0 they do nothing and report success.

    Refused always, or only where an argument is one of the values of `where`, or but for those of `unless`.
    """

    calls: str
    error: int = errno.EPERM
    where: Argument | None = None
    unless: Argument | None = None


NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
ONLY_ASKING = 0xFFFFFFFF
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: type into somebody's terminal
FILE_FLAGS = (0x40086602, 0x401C5820)  # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
OWNERS, OWNERS_OF_SOCKETS = (8, 15), (0x8901, 0x8902)  # F_SETOWN, F_SETOWN_EX; FIOSETOWN, SIOCSPGRP
AF_UNIX = 1
ACCESS_MODE, O_TRUNC = 0o3, 0o1000

ALWAYS = (
    # New worlds, in which one would be root: most holes of recent years began here. The newer clone passes its flags
    # by address, where no filter can look; "no such call" makes the C library use the older one.
    Refusal("clone3", errno.ENOSYS),
    Refusal("clone", unless=Argument(0, (0,), NAMESPACES)),
    Refusal("unshare setns"),
    # The tree of files.
    Refusal("mount umount2 mount_setattr move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick"),
    Refusal("pivot_root chroot statmount listmount listns sysfs ustat quotactl quotactl_fd"),
    Refusal("open_by_handle_at name_to_handle_at"),  # files by number instead of by path
    # Other processes: their memory, descriptors, place and share of the machine.
    Refusal("ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd"),
    Refusal("migrate_pages move_pages"),
    Refusal("prlimit64", unless=Argument(0, (0,))),
    # A thread is named like a process, and libzmq aborts when it cannot set what holds for its threads anyhow.
    Refusal("sched_setaffinity sched_setattr sched_setparam sched_setscheduler", 0, unless=Argument(0, (0,))),
    Refusal("setpriority", unless=Argument(0, (0,))),  # PRIO_PROCESS ...
    Refusal("setpriority ioprio_set", unless=Argument(1, (0,))),  # ... of this process
    Refusal("ioprio_set", unless=Argument(0, (1,))),
    # What outlives a process or is shared by number with everybody else.
    Refusal("shmget semget msgget mq_open add_key request_key keyctl"),
    # Files of memory: nobody's, in no folder, and so counted by no limit. "No such call" makes libffi do without.
    Refusal("memfd_create memfd_secret", errno.ENOSYS),
    # Parts of the kernel with a history, and of no use in a notebook.
    Refusal("io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd"),
    Refusal("lookup_dcookie nfsservctl uselib _sysctl modify_ldt iopl ioperm vhangup lsm_set_self_attr"),
    Refusal("personality", unless=Argument(0, (0, ONLY_ASKING))),
    Refusal("ioctl", where=Argument(1, (*TERMINAL_INPUT, *FILE_FLAGS))),
    # The machine as a whole.
    Refusal("kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff syslog acct"),
    Refusal("settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname"),
    # Watching folders: a way to learn the names in one that cannot be listed.
    Refusal("inotify_init inotify_init1 fanotify_init"),
    # Modes, owners and times of files, which Landlock leaves to whoever owns them: reported as done, and not done, as
    # copying a file or unpacking an archive sets them in passing and should go on.
    Refusal("chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat", 0),
    Refusal("utime utimes futimesat utimensat", 0),
    Refusal("setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr"),
)

NETWORK = (Refusal("socket socketpair", errno.EACCES, unless=Argument(0, (AF_UNIX,))),)


def refuse(network: bool = True, *, landlock: int | None = None) -> None:
    """Refuse, for this process and all it starts, the system calls no notebook needs. There is no way back.

    Args:
        network: refuse sockets of every family but `AF_UNIX` as well (EACCES). libzmq aborts on that when ipykernel
            binds its TCP port: see `iopub`.
        landlock: the ABI of Landlock, where that takes the place of namespaces. What it does not hold is refused
            here: leaving the process group (call `os.setsid` before, and a signal to the group ends them all),
            cutting files short below 3, signals to others below 6.

    Raises:
        Unsupported: not Linux, another machine than x86_64 and aarch64, or a kernel without filters.
    """
    instructions = program(machine(), network=network, landlock=landlock, own=os.getpid())
    code = b"".join(struct.pack("=HBBI", i.code, i.if_true, i.if_false, i.k) for i in instructions)
    held = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("@HP", len(instructions), ctypes.addressof(held))
    no_new_privileges()
    try:
        stray = call("seccomp", SET_FILTER, ALL_THREADS, described)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EINVAL):
            raise Unsupported("this kernel has no seccomp filters") from error
        raise
    if stray:
        raise Unsupported(f"thread {stray} has a filter of its own, and cannot be given this one")


def program(machine: str, *, network: bool = True, landlock: int | None = None, own: int = 0) -> list[Instruction]:
    """The filter of `refuse`, for `machine`; `own` is the process it is for."""
    refusals = [*ALWAYS]
    refusals += NETWORK if network else ()
    refusals += _uncovered(landlock, own) if landlock is not None else ()
    return [*_entrance(machine), *(step for refusal in refusals for step in _assemble(refusal, machine)), _allow()]


def _uncovered(landlock: int, own: int) -> Iterator[Refusal]:
    """What Landlock of that ABI leaves open, and a namespace would hold."""
    # Leaving the process group, and with it the reach of the signal that ends them all: not done, reported as done.
    yield Refusal("setsid setpgid", 0)
    if landlock < 3:
        cutting = Argument(1, (O_TRUNC,), ACCESS_MODE | O_TRUNC)  # open to read, and empty it
        yield Refusal("truncate", errno.EACCES)
        yield Refusal("open", errno.EACCES, where=cutting)
        yield Refusal("openat", errno.EACCES, where=cutting._replace(position=2))
        yield Refusal("openat2", errno.ENOSYS)
    if landlock < 6:
        yield Refusal("kill", unless=Argument(0, (own, 0)))
        yield Refusal("tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo", unless=Argument(0, (own,)))
        yield Refusal("pidfd_send_signal")
        # The owner of a descriptor, any process by its number, is sent a signal of one's choice when something arrives.
        yield Refusal("fcntl", where=Argument(1, OWNERS))
        yield Refusal("ioctl", where=Argument(1, OWNERS_OF_SOCKETS))


def _entrance(machine: str) -> list[Instruction]:
    """Only calls made for this machine and known to the table go on; ends with the number loaded."""
    return [
        Instruction(LOAD, MACHINE),
        Instruction(IF_EQUAL, MACHINES[machine], if_true=1),
        _fail(errno.EPERM),
        Instruction(LOAD, NUMBER),
        Instruction(IF_AT_LEAST, X32, if_false=1),
        _fail(errno.EPERM),
        Instruction(IF_AT_LEAST, NEWEST + 1, if_false=1),
        _fail(errno.ENOSYS),
    ]


def _assemble(refusal: Refusal, machine: str) -> Iterator[Instruction]:
    """The steps of one refusal for each of its calls; begin and, unless they answer, end with the number loaded."""
    known = numbers(machine)
    body = _body(refusal)
    for name in refusal.calls.split():
        if name in known:
            yield Instruction(IF_EQUAL, known[name], if_false=len(body))
            yield from body


def _body(refusal: Refusal) -> Sequence[Instruction]:
    argument = refusal.where or refusal.unless
    if argument is None:
        return [_fail(refusal.error)]
    count = len(argument.values)
    steps = [Instruction(LOAD, ARGUMENTS + 8 * argument.position), Instruction(AND, argument.mask)]
    for position, value in enumerate(argument.values):
        later = count - 1 - position  # comparisons after this one
        if refusal.unless is not None:
            steps.append(Instruction(IF_EQUAL, value, if_true=later + 1))
        else:
            steps.append(Instruction(IF_EQUAL, value, if_true=later, if_false=0 if later else 1))
    return [*steps, _fail(refusal.error), Instruction(LOAD, NUMBER)]


def _fail(error: int) -> Instruction:
    return Instruction(RETURN, FAIL | error)


def _allow() -> Instruction:
    return Instruction(RETURN, ALLOW)
