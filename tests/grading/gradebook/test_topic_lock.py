"""One grader at a time for a topic, and one sentence where that cannot be seen to."""

from __future__ import annotations

import errno
import os
import sys

import pytest

from course.grading.gradebook.topic_lock import holds_topic_lock, topic_lock
from course.problem import Problem


def test_the_second_is_told(tmp_path):
    with topic_lock(tmp_path, "03_rnn"):
        assert holds_topic_lock(tmp_path, "03_rnn") and not holds_topic_lock(tmp_path, "04_lstm_gru")
        with pytest.raises(Problem, match="another command works on 03_rnn"), topic_lock(tmp_path, "03_rnn"):
            pass
        with topic_lock(tmp_path, "04_lstm_gru"):
            pass
    assert not holds_topic_lock(tmp_path, "03_rnn")
    with topic_lock(tmp_path, "03_rnn"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks files in another way")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_disk_without_locks_is_one_sentence(tmp_path, monkeypatch, number):
    """Network disks are mounted so; the system's own error does not say what was to be locked."""

    def flock(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", flock)
    told = r"03_rnn\.lock cannot be locked .*. Move the course to a disk that supports locks"
    with pytest.raises(Problem, match=told), topic_lock(tmp_path, "03_rnn"):
        pass
