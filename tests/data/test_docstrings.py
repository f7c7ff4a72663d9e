"""The corpus of docstrings: prose only, whole modules in one split, made once."""

from __future__ import annotations

import threading

import pytest

from course import data
from course.data import cache, docstrings


@pytest.fixture(scope="module")
def corpus():
    return docstrings.all_splits()


def test_there_is_enough_of_it(corpus):
    words = {name: sum(len(text.split()) for text in split["text"]) for name, split in corpus.items()}
    assert sum(words.values()) > 150_000
    assert words["train"] > 100_000 and words["held_out"] > 10_000 and words["reserved"] > 8_000


def test_a_module_is_in_one_split(corpus):
    modules = {name: set(split["module"]) for name, split in corpus.items()}
    assert not modules["train"] & modules["held_out"]
    assert not modules["reserved"] & (modules["train"] | modules["held_out"])
    assert all(docstrings.split_of(module) == name for name in modules for module in modules[name])


def test_the_judges_part_is_kept_back(corpus):
    offered = data.load("docstrings")
    assert set(offered) == {"train", "held_out"}
    assert offered["train"].column_names == ["module", "name", "text"]
    assert len(data.load("docstrings", split="train")) == len(offered["train"])
    assert docstrings.reserved_text().startswith(corpus["reserved"][0]["text"])
    with pytest.raises(ValueError, match="train, held_out"):
        data.load("docstrings", split="reserved")


def test_it_is_english(corpus):
    text = "\n".join(corpus["train"]["text"])
    assert text.isascii() and ">>>" not in text and "\t" not in text and "\n\n" not in text
    words = text.split()
    assert sum(word.strip(".,;:!?()'\"`").isalpha() for word in words) > 0.85 * len(words)
    assert words.count("the") > 0.02 * len(words)


def test_prose_is_told_from_the_rest():
    text = """Return the length of the list, in steps.

    >>> len([1, 2]) and this is a doctest line
    2

        an indented = example(of, code)

    name     meaning of it      default of it
    width    how wide           80

    Lines of one paragraph
    become one line.
    """
    assert docstrings.prose(text) == "Return the length of the list, in steps.\nLines of one paragraph become one line."


def test_every_kind_of_docstring_is_found(tmp_path):
    source = tmp_path / "module.py"
    source.write_text(
        '"""The module says what it is for."""\n'
        'class Box:\n    """A box that holds other things."""\n'
        '    async def open(self):\n        """Open the box and look inside."""\n'
        'if True:\n    def inner():\n        """Functions in branches count as well."""\n'
    )
    assert [name for name, _ in docstrings.docstrings_in(source)] == ["module", "Box", "Box.open", "inner"]
    source.write_text("this is no python")
    assert list(docstrings.docstrings_in(source)) == []


def test_tests_are_left_out(tmp_path):
    for name in ("a.py", "json/__init__.py", "json/decoder.py", "test/b.py", "idlelib/idle_test/c.py", "test_d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [module for module, _ in docstrings.module_files(tmp_path)] == ["a", "json", "json.decoder"]


# -- the cache ---------------------------------------------------------------------------------------------------


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def small(calls: list[int]):
    def make():
        calls.append(1)
        library = cache.datasets_library()
        return library.DatasetDict({"train": library.Dataset.from_dict({"text": ["one", "two"]})})

    return make


def test_a_corpus_is_made_once(empty_cache):
    calls: list[int] = []
    for _ in range(2):
        assert cache.kept("small-v1", small(calls))["train"]["text"][:] == ["one", "two"]
    assert calls == [1]
    assert [path.name for path in empty_cache.iterdir()] == ["small-v1"]


def test_saving_draws_no_bars_and_leaves_those_of_the_user(empty_cache, capfd):
    library = cache.datasets_library()
    library.enable_progress_bars()
    cache.kept("small-v1", small([]))
    assert "Saving" not in "".join(capfd.readouterr())
    assert not library.are_progress_bars_disabled()


def test_a_damaged_entry_is_made_anew(empty_cache):
    calls: list[int] = []
    cache.kept("small-v1", small(calls))
    (empty_cache / "small-v1" / "dataset_dict.json").unlink()
    assert cache.kept("small-v1", small(calls))["train"].num_rows == 2
    assert cache.kept("small-v1", small(calls))["train"].num_rows == 2
    assert calls == [1, 1]


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "file" / "below"))
    calls: list[int] = []
    assert cache.kept("small-v1", small(calls))["train"].num_rows == 2


def test_many_at_once_do_not_disturb_each_other(empty_cache):
    calls: list[int] = []
    rows: list[int] = []
    threads = [
        threading.Thread(target=lambda: rows.append(cache.kept("small-v1", small(calls))["train"].num_rows))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows == [2] * 6
    assert [path.name for path in empty_cache.iterdir()] == ["small-v1"]


def test_a_log_file_gets_no_progress_bar(monkeypatch, tmp_path, capfd):
    (tmp_path / "one.py").write_text('"""This is the only module of a small library."""')
    monkeypatch.setattr(docstrings, "module_files", lambda place: [("one", tmp_path / "one.py")])
    docstrings.make_splits()
    assert capfd.readouterr().err == ""
