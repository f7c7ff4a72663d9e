"""A sandbox counts only where a process in it was seen to be shut in."""

from __future__ import annotations

import pytest

from course.grading.sandbox import bubblewrap
from course.grading.sandbox import probe as sandbox_probe

from .child import linux, needs_landlock

WAYS = "a file outside could be read, the network could be reached"


@linux
def test_a_probe_without_a_sandbox_finds_both_ways_out() -> None:
    assert sandbox_probe.look_from_inside("none") == WAYS


@linux
def test_a_bubblewrap_that_shuts_nothing_in_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "program", lambda: "bwrap")
    monkeypatch.setattr(bubblewrap, "command", lambda confines: [])
    assert sandbox_probe.probe_tier("bubblewrap") == WAYS


@linux
@pytest.mark.skipif(bubblewrap.program() is None, reason="bubblewrap is not installed")
def test_a_bubblewrap_that_leaves_the_network_open_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    if why := sandbox_probe.probe_tier("bubblewrap"):
        pytest.skip(f"no bubblewrap on this machine: {why}")
    closed = bubblewrap.namespaces()
    monkeypatch.setattr(bubblewrap, "namespaces", lambda: [one for one in closed if one != "--unshare-net"])
    assert sandbox_probe.probe_tier("bubblewrap") == "the network could be reached"


@needs_landlock()
def test_landlock_shuts_in() -> None:
    assert sandbox_probe.probe_tier("landlock") == ""


@linux
def test_where_nothing_can_listen_no_sandbox_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(address: tuple[str, int]) -> None:
        raise OSError("no such device")

    monkeypatch.setattr(sandbox_probe.socket, "create_server", refuse)
    assert "cannot be tried" in sandbox_probe.look_from_inside("bubblewrap")
