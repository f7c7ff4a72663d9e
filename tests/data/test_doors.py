"""`load` by name, from the hub and from files, and what it says when there is nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types

import pytest

from course import data
from course.data import cache, hub
from tests.few import few


def test_an_unknown_name_is_answered_with_the_names():
    with pytest.raises(ValueError, match=r"no corpus is called 'docstring'; there are .*docstrings.*hub:<id>"):
        data.load("docstring")


def test_an_unknown_task_has_no_batches():
    import torch

    with pytest.raises(ValueError, match="no training batches for 'nothing'"):
        data.stream("nothing", torch.Generator())


def test_files_of_one_kind(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\n")
    assert data.load(str(tmp_path))["train"]["text"][:] == ["one", "two", "three"]
    assert data.load(tmp_path)["train"]["text"][:] == ["one", "two", "three"]
    assert data.load(str(tmp_path / "a.txt"), split="train")["text"][:] == ["one", "two"]


def test_tables(tmp_path):
    (tmp_path / "a.tsv").write_text("word\tcount\nthe\t3\n")
    assert data.load(str(tmp_path / "a.tsv"))["train"][0] == {"word": "the", "count": 3}
    (tmp_path / "B.TSV").write_text("word\tcount\nof\t2\n")
    assert data.load(str(tmp_path / "B.TSV"))["train"][0] == {"word": "of", "count": 2}
    (tmp_path / "a.jsonl").write_text(json.dumps({"word": "of"}) + "\n")
    assert data.load(str(tmp_path / "a.jsonl"))["train"][0] == {"word": "of"}


def test_a_saved_folder(tmp_path):
    library = cache.datasets_library()
    library.Dataset.from_dict({"text": ["one"]}).save_to_disk(str(tmp_path / "saved"))
    assert data.load(str(tmp_path / "saved"))["text"][:] == ["one"]


def test_files_that_are_not_there_or_not_of_one_kind(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file or folder 'nowhere/a.txt'"):
        data.load("nowhere/a.txt")
    with pytest.raises(ValueError, match="no file to read"):
        data.load(str(tmp_path))
    (tmp_path / "a.txt").touch()
    (tmp_path / "a.csv").touch()
    with pytest.raises(ValueError, match=r"several kinds \(csv, text\)"):
        data.load(str(tmp_path))


def test_the_hub_is_asked_by_its_own_name(monkeypatch):
    asked = []
    library = types.SimpleNamespace(load_dataset=lambda name, **options: asked.append((name, options)))
    monkeypatch.setattr(hub, "datasets_library", lambda: library)
    data.load("hub:owner/name", split="train[:1%]")
    assert asked == [("owner/name", {"split": "train[:1%]"})]
    with pytest.raises(ValueError, match="hub:<id>"):
        data.load("hub:")


def test_a_hub_that_is_switched_off_says_so(monkeypatch):
    def refuse(name, **options):
        raise ConnectionError("some long story")

    library = types.SimpleNamespace(load_dataset=refuse, config=types.SimpleNamespace(HF_HUB_OFFLINE=True))
    monkeypatch.setattr(hub, "datasets_library", lambda: library)
    with pytest.raises(ConnectionError, match=r"'owner/name' is not on this machine.*HF_HUB_OFFLINE"):
        data.load("hub:owner/name")


def fresh(code: str, **environment: str) -> str:
    settings = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | environment
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = "import sys, course.data; print([m for m in ('datasets', 'torch', 'pandas') if m in sys.modules])"
    assert fresh(code) == "[]"


def test_where_notebooks_are_graded_the_hub_is_off_and_the_home_is_ours(tmp_path):
    code = (
        "from course.data.cache import datasets_library as d; import os;"
        "print(d().config.HF_HUB_OFFLINE, os.environ.get('HF_HOME'))"
    )
    graded = fresh(code, COURSE_JUDGE="/nowhere", COURSE_CACHE=str(tmp_path))
    assert graded == f"True {tmp_path / 'huggingface'}"
    assert fresh(code, COURSE_CACHE=str(tmp_path)) == "False None"


@pytest.mark.parametrize("corpus", few(["order", "phrases", "recall", "relations"], "phrases"))
def test_so_it_is_whichever_corpus_is_loaded_first(corpus, tmp_path):
    code = f"from course import data; data.load({corpus!r}); import datasets; print(datasets.config.HF_HUB_OFFLINE)"
    assert fresh(code, COURSE_JUDGE="/nowhere", COURSE_CACHE=str(tmp_path)).endswith("True")


def test_the_courses_own_corpora_never_touch_the_network():
    code = (
        "import socket\n"
        "def refuse(*_): raise AssertionError('the network was touched')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from course import data; print(data.load('docstrings').num_rows['train'] > 1000)"
    )
    assert fresh(code) == "True"


def test_a_corpus_module_is_there_when_it_is_asked_for():
    """Topic 10 asks for `data.phrases`, and where its weights are loaded, nothing before has loaded the corpus."""
    code = "from course import data; print(len(data.phrases.vocabulary('english')), hasattr(data, 'poems'))"
    assert fresh(code) == "160 False"
