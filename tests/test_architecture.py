"""The pages on how the course is built say what the code does: pictures, names of files and functions, examples."""

from __future__ import annotations

import ast
import io
import json
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from dataclasses import asdict
from html import unescape
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from course.exercise import Exercise, call, exercise
from course.exercise.key import key_of, write_key_file
from course.exercise.prediction import Prediction, right, wrong
from course.exercise.runner import run
from course.exercise.script import Verb
from course.exercise.values import DTYPES, TAGS, decode, encode
from course.exercise.wire import pack, unpack
from course.grading.course_files.cells import METADATA
from course.grading.execution.examination import Origin
from course.grading.execution.judged_outputs import record
from course.grading.execution.notebook_run import BEGIN, GIVEN, LEND
from course.grading.execution.task import Outcome, Task
from course.grading.kernels.protocol import Order
from course.judge.verdict import Kind, Verdict
from tests.original import ORIGINAL
from tests.test_imports import MAY_IMPORT, STAGE_MAY_IMPORT
from website.architecture import PICTURES, depths, direct, draw_all

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *(DOCS / f"{name}.md" for name in ("architecture", "glossary", "protocol")),
    *sorted((DOCS / "decisions").glob("*.md")),
]
READMES = sorted((ROOT / "course").glob("**/README.md"))
NAME = r"`([A-Za-z_][\w.]*)(?:\([^`]*\))?`"
FILE = r"`((?!course/keys)(?:course|tests|website|docs|solutions|bench)/[\w/.-]+)`"


@pytest.mark.parametrize("name", draw_all())
def test_a_picture_is_what_the_rules_say(name: str) -> None:
    committed = (PICTURES / name).read_text("utf-8")
    assert committed == draw_all()[name], "the rules for imports have changed: run `make pictures`"
    told = ElementTree.fromstring(committed).findtext("{http://www.w3.org/2000/svg}title")
    (shown,) = re.findall(rf"!\[(.*?)\]\(pictures/{name}\)", (DOCS / "architecture.md").read_text("utf-8"))
    assert shown == unescape(told or ""), "the page describes another picture"


@pytest.mark.parametrize(("name", "parts"), [("parts.svg", MAY_IMPORT), ("grading.svg", STAGE_MAY_IMPORT)])
def test_a_picture_shows_every_part_once_and_no_two_overlap(name: str, parts: dict[str, set[str]]) -> None:
    drawn = ElementTree.fromstring(draw_all()[name])
    space = "{http://www.w3.org/2000/svg}"
    titles = [text.text for text in drawn.iter(f"{space}text") if text.get("class") == "t"]
    shown = {"__init__": "course", "course": "course.py"}
    assert sorted(titles) == sorted(shown.get(part, part) for part in parts)
    boxes = [rect for rect in drawn.iter(f"{space}rect") if (rect.get("class") or "").startswith("b")]
    frames = [tuple(float(box.get(side, 0)) for side in ("x", "y", "width", "height")) for box in boxes]
    for (x, y, width, height), (u, v, wide, high) in combinations(frames, 2):
        assert x + width < u or u + wide < x or y + height < v or v + high < y


def test_shortcuts_are_left_out_and_ways_lead_down() -> None:
    leads = {"a": {"b", "c"}, "b": {"c"}, "c": set(), "d": {"a", "c"}}
    assert direct(leads) == {"a": ["b"], "b": ["c"], "c": [], "d": ["a"]}
    depth = depths(leads)
    assert all(depth[name] < depth[other] for name, known in leads.items() for other in known)


def _names(path: Path) -> set[str]:
    """What a module defines: functions, classes, methods and constants."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_functions_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text("utf-8")
    for name in re.findall(FILE, text):
        assert (ROOT / name).exists(), f"there is no {name}"
    for name, file in re.findall(rf"{NAME} (?:\| |in ){FILE}", text):
        assert name.rpartition(".")[2] in _names(ROOT / file), f"{file} has no {name}"


def test_where_to_begin_is_a_file_or_a_name() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| `(course/[\w./]+)`(.*?)\|.*\| `([\w./]+)` \|$", text, re.M)
    assert len(rows) > 8
    for place, _, begin in rows:
        path = ROOT / place
        assert begin in _names(path) if path.is_file() else (path / begin).is_file(), f"{place} has no {begin}"


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_readme_names_modules_that_are_there(readme: Path) -> None:
    for name in re.findall(r"`([\w/.]+\.(?:py|j2|safetensors))`", readme.read_text("utf-8")):
        here = (readme.parent / name, ROOT / "course" / name, ROOT / "course" / "grading" / name, ROOT / name)
        assert any(path.exists() for path in here), f"there is no {name}"


A_MODULE_A_TOPIC = {"reference", "hidden", "show"}
"""Folders whose READMEs need not name every module."""


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_readme_names_every_module_beside_it(readme: Path) -> None:
    if readme.parent.name not in A_MODULE_A_TOPIC:
        text = readme.read_text("utf-8")
        modules = {path.name for path in readme.parent.glob("*.py")} - {"__init__.py", "__main__.py"}
        assert sorted(name for name in modules if f"`{name}`" not in text) == []


def test_every_package_of_the_course_has_a_readme() -> None:
    inside = {path.parent for path in (ROOT / "course").rglob("__init__.py") if "keys" not in path.parts}
    topics = {path for path in inside if path.parent == ROOT / "course" / "hidden"}
    without = sorted(path.name for path in inside - topics if not (path / "README.md").is_file())
    assert without == []


def test_every_page_of_decisions_is_in_the_navigation_and_the_index() -> None:
    navigation, index = (ROOT / "mkdocs.yml").read_text("utf-8"), (DOCS / "decisions" / "index.md").read_text("utf-8")
    for page in (DOCS / "decisions").glob("*.md"):
        assert f"- decisions/{page.name}" in navigation or page.name == "index.md"
        assert f"({page.name})" in index or page.name == "index.md"


# -- examples of docs/protocol.md ------------------------------------------------------------------------------------

PROTOCOL = (DOCS / "protocol.md").read_text("utf-8")
TENSORS = [torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)]


def _example(name: str, language: str = "json") -> Any:
    (text,) = re.findall(rf"```{language} {name}\n(.*?)```", PROTOCOL, re.S)
    return json.loads(text) if language == "json" else ast.literal_eval(text)


def _double() -> Exercise:
    """The exercise of the page's examples."""

    calls, hints = ("double(2)", "double(-1)"), ("What is twice 3?",)

    @exercise(lambda x: 2 * x, hints=hints, forbidden=("torch.add",), calls=calls, name="double")
    def double(rng):
        yield call("a whole number", 3, public=True)

    @double.misconception("Is twice 2 the same as 2 squared? And twice 3?")
    def squares(x):
        return x * x

    return double


def _timeless(value: Any) -> Any:
    """Plain values as JSON has them, and no seconds, which are others each time."""
    if isinstance(value, dict):
        return {key: 0.0 if key == "seconds" else _timeless(item) for key, item in value.items()}
    return [_timeless(item) for item in value] if isinstance(value, list | tuple) else value


def _rows() -> dict[str, list[Any]]:
    """The table of tags: each tag, and the trees that stand beside it."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| (`\[.*\]`) \|$", PROTOCOL, re.M)
    return {tag: [json.loads(tree) for tree in re.findall(r"`(\[.*?\])`(?:,|$)", trees)] for tag, trees in rows}


def test_every_tag_is_described_and_its_examples_are_values() -> None:
    assert set(_rows()) == TAGS
    for tag, trees in _rows().items():
        for tree in trees:
            assert tree[0] == tag
            again, _ = encode(decode(tree, TENSORS))
            positions = json.dumps(again).replace('["tensor", 0', '["tensor", 1') if tree[1:2] == [1] else ""
            assert again == tree or json.loads(positions) == tree


def test_the_greeting_is_what_a_kernel_sends() -> None:
    assert _example("greeting", "python") == pack({"ready": "softmax"})


def test_scripts_and_recordings_look_as_shown() -> None:
    (script,) = key_of(_double(), public_only=True).scripts
    sent = {"run": script.to_plain()}
    assert _timeless(sent) == _example("script")
    assert encode(sent)[0] == _example("script-tree")
    assert _timeless(run(script, lambda x: x * x).to_plain()) == _example("recording")
    raised, shown = _timeless(run(script, lambda x: x / 0).to_plain()), _example("raised")
    assert (raised["raised"][0], raised["raised"][1], raised["raised"][3]) == (*shown["raised"][:2], "out")
    assert raised.keys() == shown.keys()


def test_every_verb_and_kind_of_verdict_is_described() -> None:
    described = re.findall(r"^\| `(\w+)` \| [^|]*\|$", PROTOCOL.partition("twelve verbs")[2].partition("**")[0], re.M)
    assert sorted(described) == sorted(get_args(Verb))
    assert all(f"`{kind}`" in PROTOCOL for kind in get_args(Kind))
    assert all(f"`{str(dtype).removeprefix('torch.')}`" in PROTOCOL for dtype in DTYPES)
    assert all(f"`{origin}`" in PROTOCOL for origin in get_args(Origin))


TWICE_ZERO = Prediction(
    "twice_zero",
    "What is twice 0?",
    right("0", "Nothing twice is nothing."),
    wrong("2", "That is twice 1."),
    wrong("1", "That is half of 2."),
)


def test_the_answer_key_looks_as_shown(tmp_path: Path) -> None:
    hints = {"double_question": ("Double 1, then 2. Draw what you see.",)}
    criteria = {"double_question": ("Doubles a number of your own.",)}
    write_key_file(tmp_path / "topic.key", [_double()], [TWICE_ZERO], hints, criteria)
    assert _timeless(unpack((tmp_path / "topic.key").read_bytes())) == _example("key")


def _header(archive: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert {"header.json", "notebook.ipynb"} <= set(opened.namelist())
        return json.loads(opened.read("header.json"))


def test_task_and_outcome_look_as_shown() -> None:
    assert _header(Task("06_self_attention", b"{}", {"words.txt": b""}, seed=1234).to_bytes()) == _example("task")
    shown = _example("outcome")
    outcome = Outcome(b"{}", **{**shown, "verdicts": tuple(map(Verdict.from_dict, shown["verdicts"]))})
    assert _header(outcome.to_bytes()) == shown


def test_the_order_is_one() -> None:
    order = msgspec.convert(_example("order"), Order)
    assert json.loads(json.dumps(asdict(order))) == _example("order")


def test_what_is_said_to_a_kernel_stands_on_the_page() -> None:
    assert all(f"`{code}`" in PROTOCOL for code in (BEGIN, GIVEN, LEND))


def test_the_metadata_of_a_graded_notebook_has_the_fields_shown() -> None:
    verdict = Verdict("softmax", "passed", 2.0, 2.0)
    marks = {"nbgrader": {"grade_id": "softmax", "grade": True, "solution": False, "points": 2}}
    nb = new_notebook(cells=[new_code_cell("check('softmax', softmax)", metadata=marks)])
    record(ORIGINAL, nb, {0: "softmax"}, Outcome(b"", (verdict,)))
    shown = _example("metadata")
    later = {"task", "work", "submission", "arrival", "notes"}  # by JudgedExecute and SaveVerdicts
    assert shown.keys() == nb.metadata[METADATA].keys() | later
    assert shown["verdicts"]["softmax"].keys() == verdict.to_dict().keys()
    assert all(re.search(rf"^\|.*`{field}`.*\|", PROTOCOL, re.M) for field in shown)
