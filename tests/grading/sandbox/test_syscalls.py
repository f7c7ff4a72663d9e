"""System calls by name: the table against the system's own headers."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from course.grading.sandbox.syscalls import AARCH64, NEWEST, X86_64, call, numbers

from .child import linux

HEADERS = {
    X86_64: [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")],
    AARCH64: [Path("/usr/include/asm-generic/unistd.h")],
}


@pytest.mark.parametrize("machine", HEADERS)
def test_numbers_are_those_of_the_headers(machine: str) -> None:
    header = next((path for path in HEADERS[machine] if path.is_file()), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed")
    lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    known = {name: int(number) for name, number in lines}
    newest = known.pop("syscalls", max(known.values()) + 1)
    ours = {name: number for name, number in numbers(machine).items() if number < newest}
    assert ours == {name: known.get(name) for name in ours}
    absent = set(numbers(X86_64)) - set(numbers(machine))
    assert not absent & set(known)


def test_no_number_stands_for_two_calls() -> None:
    for machine in HEADERS:
        taken = numbers(machine).values()
        assert len(set(taken)) == len(taken)
        assert max(taken) <= NEWEST


@linux
def test_a_refused_call_says_which() -> None:
    with pytest.raises(OSError, match="setns"):
        call("setns", -1, 0)
    assert os.getpid() > 0
