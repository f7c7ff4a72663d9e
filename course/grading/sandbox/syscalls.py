"""Map names of system calls to their numbers on the supported machines, and make system calls by name.

A system call is a number in a register. The C library has no function for the newest calls, and the filter of `seccomp`
sees only numbers, so this table is the only place that translates names. Numbers from 424 on are the same on every
machine.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from collections.abc import Mapping

X86_64 = "x86_64"
AARCH64 = "aarch64"

NEWEST = 470
"""The highest reviewed number (`listns`, Linux 6.19); the filter refuses all newer calls."""

PR_SET_NO_NEW_PRIVS = 38


class Unsupported(RuntimeError):
    """The error for a machine or a kernel that lacks a feature, which the message names."""


# Name, number on x86_64, number on aarch64; a dash where the machine has no such call. Sources: the kernel's
# arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
_TABLE = """
    _sysctl             156   -
    acct                163  89
    add_key             248 217
    adjtimex            159 171
    bpf                 321 280
    capget              125  90
    capset              126  91
    chmod                90   -
    chown                92   -
    chroot              161  51
    clock_adjtime       305 266
    clock_settime       227 112
    clone                56 220
    clone3              435 435
    delete_module       176 106
    fanotify_init       300 262
    fchmod               91  52
    fchmodat            268  53
    fchmodat2           452 452
    fchown               93  55
    fchownat            260  54
    fcntl                72  25
    file_setattr        469 469
    finit_module        313 273
    fremovexattr        199  16
    fsconfig            431 431
    fsetxattr           190   7
    fsmount             432 432
    fsopen              430 430
    fspick              433 433
    futimesat           261   -
    init_module         175 105
    inotify_init        253   -
    inotify_init1       294  26
    io_uring_enter      426 426
    io_uring_register   427 427
    io_uring_setup      425 425
    ioctl                16  29
    ioperm              173   -
    iopl                172   -
    ioprio_set          251  30
    kcmp                312 272
    kexec_file_load     320 294
    kexec_load          246 104
    keyctl              250 219
    kill                 62 129
    landlock_add_rule       445 445
    landlock_create_ruleset 444 444
    landlock_restrict_self  446 446
    lchown               94   -
    listmount           458 458
    listns              470 470
    lookup_dcookie      212  18
    lremovexattr        198  15
    lsetxattr           189   6
    lsm_set_self_attr   460 460
    memfd_create        319 279
    memfd_secret        447 447
    migrate_pages       256 238
    modify_ldt          154   -
    mount               165  40
    mount_setattr       442 442
    move_mount          429 429
    move_pages          279 239
    mq_open             240 180
    msgget               68 186
    name_to_handle_at   303 264
    nfsservctl          180  42
    open                  2   -
    open_by_handle_at   304 265
    open_tree           428 428
    open_tree_attr      467 467
    openat              257  56
    openat2             437 437
    perf_event_open     298 241
    personality         135  92
    pidfd_getfd         438 438
    pidfd_send_signal   424 424
    pivot_root          155  41
    prlimit64           302 261
    process_madvise     440 440
    process_mrelease    448 448
    process_vm_readv    310 270
    process_vm_writev   311 271
    ptrace              101 117
    quotactl            179  60
    quotactl_fd         443 443
    reboot              169 142
    removexattr         197  14
    removexattrat       466 466
    request_key         249 218
    rt_sigqueueinfo     129 138
    rt_tgsigqueueinfo   297 240
    sched_setaffinity   203 122
    sched_setattr       314 274
    sched_setparam      142 118
    sched_setscheduler  144 119
    seccomp             317 277
    semget               64 190
    setdomainname       171 162
    sethostname         170 161
    setns               308 268
    setpgid             109 154
    setpriority         141 140
    setsid              112 157
    settimeofday        164 170
    setxattr            188   5
    setxattrat          463 463
    shmget               29 194
    socket               41 198
    socketpair           53 199
    statmount           457 457
    swapoff             168 225
    swapon              167 224
    sysfs               139   -
    syslog              103 116
    tgkill              234 131
    tkill               200 130
    truncate             76  45
    umount2             166  39
    unshare             272  97
    uselib              134   -
    userfaultfd         323 282
    ustat               136   -
    utime               132   -
    utimensat           280  88
    utimes              235   -
    vhangup             153  58
"""


def machine() -> str:
    """Return this machine's architecture, as the table names it.

    Raises:
        Unsupported: the system is not Linux, or the table lacks the architecture.
    """
    name = platform.machine()
    if not sys.platform.startswith("linux") or name not in (X86_64, AARCH64) or sys.maxsize < 2**32:
        raise Unsupported(f"system calls are known for Linux on {X86_64} and {AARCH64}, not for {sys.platform}, {name}")
    return name


@functools.cache
def numbers(machine: str) -> Mapping[str, int]:
    """Return the numbers of the system calls of `machine` by name."""
    column = {X86_64: 1, AARCH64: 2}[machine]
    rows = (line.split() for line in _TABLE.strip().splitlines())
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make the system call `name`; bytes and buffers are passed by address.

    Raises:
        OSError: the kernel refused the call.
        Unsupported: this machine has no such call.
    """
    number = numbers(machine()).get(name)
    if number is None:
        raise Unsupported(f"{machine()} has no system call {name}")
    return _checked(name, _libc().syscall(ctypes.c_long(number), *map(_word, arguments)))


def prctl(option: int, *arguments: int) -> int:
    """Call `prctl`, which sets or reads an attribute of this process; missing arguments are zero.

    Raises:
        OSError: the kernel refused the call.
    """
    rest = [*arguments, 0, 0, 0, 0][:4]
    return _checked("prctl", _libc().prctl(ctypes.c_int(option), *map(ctypes.c_ulong, rest)))


def no_new_privileges() -> None:
    """Set no_new_privs, so that set-uid programs grant no rights; without it, only root may confine itself."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def _word(value: int | bytes | ctypes.Array[ctypes.c_char] | None) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value


def _checked(name: str, answer: int) -> int:
    if answer < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return answer
