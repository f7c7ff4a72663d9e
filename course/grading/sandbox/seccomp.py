"""Refuse system calls with a seccomp filter, which the kernel runs before every system call of this process.

Linux lets a process install a small program for its own system calls (seccomp, Linux 3.17). The program is classic BPF:
one register, loads, comparisons that skip forward, and `return`. It sees the call's number, the architecture and six
arguments as plain words, but not the memory that a pointer points to. It returns "allow" or "fail with this error".
Child processes inherit the filter, and no process can remove it.

The filter here is a list of *refusals*, each a few instructions that either return or pass on to the next refusal:

    load number; is it 165? no: skip 1; return EPERM          mount
    load number; is it 41?  no: skip 4; load argument 0;      socket of a family other than AF_UNIX
                 is it 1?  yes: skip 1; return EACCES; load number

All other calls are allowed, because Python, torch and zmq use some two hundred calls, and Landlock or the namespace
protects files. The filter refuses calls that reach other processes, change the system or open a network, and rarely
used calls that have often been security holes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .syscalls import AARCH64, NEWEST, X86_64, Unsupported, call, machine, no_new_privileges, numbers

__all__ = ["Instruction", "Unsupported", "program", "refuse", "refuse_children"]

# The opcodes of BPF (linux/bpf_common.h), and the return values (linux/seccomp.h).
LOAD = 0x20  # register = word at offset k of the call's description
AND = 0x54  # register &= k
IF_EQUAL = 0x15  # register == k
IF_AT_LEAST = 0x35  # register >= k
RETURN = 0x06

ALLOW = 0x7FFF0000
FAIL = 0x00050000  # plus the error number; with error 0 the call does nothing and reports success

# Offsets in struct seccomp_data: number, architecture, instruction pointer, six arguments of eight bytes.
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16

MACHINES = {X86_64: 0xC000003E, AARCH64: 0xC00000B7}
X32 = 0x40000000
"""The bit in the number of a call of x86_64's x32 ABI, which reaches the same functions by other numbers."""

SET_FILTER, ALL_THREADS = 1, 1


class Instruction(NamedTuple):
    """One instruction of a filter: opcode, operand `k`, and the steps to skip if a comparison holds or fails."""

    code: int
    k: int
    if_true: int = 0
    if_false: int = 0


class Argument(NamedTuple):
    """A condition on a call's argument: its bits under `mask` are one of `values`.

    The filter compares only the low word, because all arguments here are ints for the kernel.
    """

    position: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


class Refusal(NamedTuple):
    """Calls (names, separated by spaces) that fail with `error`; with 0 they do nothing and report success.

    Calls are refused always, or only if the condition `where` holds, or only if `unless` does not hold.
    """

    calls: str
    error: int = errno.EPERM
    where: Argument | None = None
    unless: Argument | None = None


NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
ONLY_ASKING = 0xFFFFFFFF
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: inject input into a terminal
FILE_FLAGS = (0x40086602, 0x401C5820)  # FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
OWNERS, OWNERS_OF_SOCKETS = (8, 15), (0x8901, 0x8902)  # F_SETOWN, F_SETOWN_EX; FIOSETOWN, SIOCSPGRP
AF_UNIX = 1
ACCESS_MODE, O_TRUNC = 0o3, 0o1000

ALWAYS = (
    # User namespaces, in which a process is root: most security holes of recent years began here. clone3 passes its
    # flags by address, where no filter can look; ENOSYS makes the C library use the older clone.
    Refusal("clone3", errno.ENOSYS),
    Refusal("clone", unless=Argument(0, (0,), NAMESPACES)),
    Refusal("unshare setns"),
    # Mounts and file systems.
    Refusal("mount umount2 mount_setattr move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick"),
    Refusal("pivot_root chroot statmount listmount listns sysfs ustat quotactl quotactl_fd"),
    Refusal("open_by_handle_at name_to_handle_at"),  # files by handle instead of by path
    # Other processes: their memory, descriptors, limits and scheduling.
    Refusal("ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd"),
    Refusal("migrate_pages move_pages"),
    Refusal("prlimit64", unless=Argument(0, (0,))),
    # Threads have ids like processes. These calls report success, because libzmq aborts if they fail for its threads.
    Refusal("sched_setaffinity sched_setattr sched_setparam sched_setscheduler", 0, unless=Argument(0, (0,))),
    Refusal("setpriority", unless=Argument(0, (0,))),  # PRIO_PROCESS ...
    Refusal("setpriority ioprio_set", unless=Argument(1, (0,))),  # ... of this process
    Refusal("ioprio_set", unless=Argument(0, (1,))),
    # Objects that outlive a process or that all processes can open by number.
    Refusal("shmget semget msgget mq_open add_key request_key keyctl"),
    # Anonymous files in memory, which no limit counts. ENOSYS makes libffi work without them.
    Refusal("memfd_create memfd_secret", errno.ENOSYS),
    # Parts of the kernel with many past security holes, and no use in a notebook.
    Refusal("io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd"),
    Refusal("lookup_dcookie nfsservctl uselib _sysctl modify_ldt iopl ioperm vhangup lsm_set_self_attr"),
    Refusal("personality", unless=Argument(0, (0, ONLY_ASKING))),
    Refusal("ioctl", where=Argument(1, (*TERMINAL_INPUT, *FILE_FLAGS))),
    # Settings of the whole machine.
    Refusal("kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff syslog acct"),
    Refusal("settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname"),
    # Watching folders, which reveals file names in a folder that cannot be listed.
    Refusal("inotify_init inotify_init1 fanotify_init"),
    # Modes, owners and times of files, which Landlock does not protect. These calls report success without effect,
    # because copying a file or unpacking an archive sets them, too, and should not fail.
    Refusal("chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat", 0),
    Refusal("utime utimes futimesat utimensat", 0),
    Refusal("setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat file_setattr"),
)

NETWORK = (Refusal("socket socketpair", errno.EACCES, unless=Argument(0, (AF_UNIX,))),)

CHILDREN = Refusal("clone clone3 fork vfork", errno.EAGAIN)


def refuse(network: bool = True, *, landlock: int | None = None) -> None:
    """Refuse, irreversibly, the system calls that no notebook needs, for this process and its future children.

    Args:
        network: also refuse sockets of every family but `AF_UNIX` (EACCES). libzmq aborts on that when ipykernel
            binds its TCP port: see `iopub`.
        landlock: the ABI of Landlock, if it replaces namespaces. The filter then also refuses calls that Landlock does
            not cover: leaving the process group (call `os.setsid` before, so that a signal to the group ends all
            processes), truncating files below ABI 3, signals to other processes below ABI 6.

    Raises:
        Unsupported: not Linux, neither x86_64 nor aarch64, or a kernel without filters.
    """
    _install(program(machine(), network=network, landlock=landlock, own=os.getpid()))


def refuse_children() -> None:
    """Refuse, irreversibly, that this process starts others or threads, whatever its user may do.

    Raises:
        Unsupported: as for `refuse`.
    """
    here = machine()
    _install([*_entrance(here), *_assemble(CHILDREN, here), _allow()])


def _install(instructions: Sequence[Instruction]) -> None:
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
    """Return the filter of `refuse` for `machine`; `own` is the id of the process that will install it."""
    refusals = [*ALWAYS]
    refusals += NETWORK if network else ()
    refusals += _uncovered(landlock, own) if landlock is not None else ()
    return [*_entrance(machine), *(step for refusal in refusals for step in _assemble(refusal, machine)), _allow()]


def _uncovered(landlock: int, own: int) -> Iterator[Refusal]:
    """Yield the refusals that a namespace would make unnecessary and Landlock of this ABI does not."""
    # Leaving the process group would escape the signal that ends the group, so this reports success without effect.
    yield Refusal("setsid setpgid", 0)
    if landlock < 3:
        cutting = Argument(1, (O_TRUNC,), ACCESS_MODE | O_TRUNC)  # open read-only and truncate
        yield Refusal("truncate", errno.EACCES)
        yield Refusal("open", errno.EACCES, where=cutting)
        yield Refusal("openat", errno.EACCES, where=cutting._replace(position=2))
        yield Refusal("openat2", errno.ENOSYS)
    if landlock < 6:
        yield Refusal("kill", unless=Argument(0, (own, 0)))
        yield Refusal("tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo", unless=Argument(0, (own,)))
        yield Refusal("pidfd_send_signal")
        # The owner of a descriptor, which can be any process, gets a chosen signal when data arrives.
        yield Refusal("fcntl", where=Argument(1, OWNERS))
        yield Refusal("ioctl", where=Argument(1, OWNERS_OF_SOCKETS))


def _entrance(machine: str) -> list[Instruction]:
    """Return the first instructions: refuse other architectures and unknown numbers, then load the number."""
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
    """Yield the instructions of one refusal; at their start and end, the register holds the call's number."""
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
        later = count - 1 - position  # number of comparisons after this one
        if refusal.unless is not None:
            steps.append(Instruction(IF_EQUAL, value, if_true=later + 1))
        else:
            steps.append(Instruction(IF_EQUAL, value, if_true=later, if_false=0 if later else 1))
    return [*steps, _fail(refusal.error), Instruction(LOAD, NUMBER)]


def _fail(error: int) -> Instruction:
    return Instruction(RETURN, FAIL | error)


def _allow() -> Instruction:
    return Instruction(RETURN, ALLOW)
