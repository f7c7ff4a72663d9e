"""Which files go along with a notebook, as its texts, its code and its modules name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.grading.intake.needed_files import MOST_FILES, gather, unfit

MEGABYTE = 2**20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's folder beside another one, with pictures, data and modules in it."""
    place = tmp_path / "work"
    for name in ("figs/mine.png", "my fig.png", "data.csv", "deep/er/rows.csv", ".secret/key.txt", "tool.exe"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"x")
    (place / "helper.py").write_text("import kit.parts\nTABLE = open('deep/er/rows.csv').read()\n")
    (place / "kit").mkdir()
    (place / "kit" / "__init__.py").write_text("from .parts import part\n")
    (place / "kit" / "parts.py").write_text("part = 1\n")
    (place / "space").mkdir()
    (place / "space" / "mod.py").write_text("")
    (tmp_path / "above.csv").write_bytes(b"x")
    (place / "link.csv").symlink_to(place / "data.csv")
    (place / "linked").symlink_to(place / "figs")
    return place


def text(source: str) -> NotebookNode:
    return new_markdown_cell(source)


def code(source: str) -> NotebookNode:
    return new_code_cell(source)


@pytest.mark.parametrize(
    ("cell", "files"),
    [
        (text("![sketch](figs/mine.png)"), ["figs/mine.png"]),
        (text('![sketch]( ./figs/mine.png "Mine" ) and [data](data.csv)'), ["figs/mine.png", "data.csv"]),
        (text("[![small](figs/mine.png)](my%20fig.png)"), ["figs/mine.png", "my fig.png"]),
        (text("![a](<my fig.png>)"), ["my fig.png"]),
        (text("![a][1]\n\n[1]: figs/mine.png"), ["figs/mine.png"]),
        (text("<img width=90 src='figs/mine.png'><a href=data.csv>x</a> <![x"), ["figs/mine.png", "data.csv"]),
        (text("`![a](figs/mine.png)` and ![b](attachment:c.png) and [d](https://e.org/data.csv) [f](#data.csv)"), []),
        (code('rows = open("data.csv").read()'), ["data.csv"]),
        (code("pd.read_csv('deep/er/rows.csv')"), ["deep/er/rows.csv"]),
        (code('Image.open(Path("figs") / "mine.png")'), ["figs/mine.png"]),
        (code('plt.imread(os.path.join("figs", "mine.png"))'), ["figs/mine.png"]),
        (code("NAME = 'data.csv'\ntable = load(NAME)"), ["data.csv"]),
        (code("display(HTML('<img src=\"figs/mine.png\">'), Markdown('![](my%20fig.png)'))"), None),
        (code("%run helper.py"), ["helper.py", "deep/er/rows.csv", "kit/__init__.py", "kit/parts.py"]),
        (code("!head data.csv"), ["data.csv"]),
        (code("import helper"), ["helper.py", "deep/er/rows.csv", "kit/__init__.py", "kit/parts.py"]),
        (code("from kit import part"), ["kit/__init__.py", "kit/parts.py"]),
        (code("from space import mod"), ["space/mod.py"]),
        (code("def half(:\n    open('data.csv')"), ["data.csv"]),
        (code("import torch, course\nfigs = 'figs'\nopen('new.csv', 'w')\nx = 'a\\0b' + 'n' * 3"), []),
        (code("open('model.pt', 'wb'); open('model.pt', 'rb')\nsave('run.npy'); load('run.npy')"), []),
    ],
)
def test_what_goes_along(cell: NotebookNode, files: list[str] | None, folder: Path) -> None:
    found = gather([cell], folder, MEGABYTE)
    assert sorted(found.files) == sorted(["figs/mine.png", "my fig.png"] if files is None else files)
    assert found.left == []


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (text("![a](figs/gone.png)"), "figs/gone.png (cell 1) is not there. Put the file there, or correct its name"),
        (code("open('gone.csv')"), "gone.csv (cell 1) is not there"),
        (text("![a](/home/ada/a.png)"), "/home/ada/a.png (cell 1) is an absolute path, which only your machine has"),
        (code("Image.open(r'C:\\Users\\ada\\a.png')"), "a.png (cell 1) is an absolute path"),
        (code("open('../above.csv')"), "../above.csv (cell 1) lies above the notebook's folder. Move it"),
        (code("x = '../above.csv'"), "../above.csv (cell 1) lies above the notebook's folder"),
        (code("open('link.csv')"), "link.csv (cell 1) is a symbolic link, or lies behind one"),
        (text("![a](linked/mine.png)"), "linked/mine.png (cell 1) is a symbolic link, or lies behind one"),
        (code("x = '.secret/key.txt'"), "is not handed in, because its name or its folder's begins with a dot"),
        (code("run('./tool.exe')"), "./tool.exe (cell 1) is not handed in, because it is a program"),
    ],
)
def test_what_cannot_is_named(cell: NotebookNode, said: str, folder: Path) -> None:
    found = gather([cell], folder, MEGABYTE)
    assert found.files == {} and len(found.left) == 1 and said in found.left[0]


def test_an_absolute_path_to_a_file_of_ones_own_is_named_and_the_systems_are_not(folder: Path) -> None:
    cells = [code(f"x = '{folder / 'data.csv'}'; y = '/etc/hosts'; z = '/nowhere.csv'")]
    (left,) = gather(cells, folder, MEGABYTE).left
    assert left.startswith(f"{folder / 'data.csv'}"[:60])


def test_a_path_that_only_windows_understands(folder: Path) -> None:
    found = gather([code(r"open('figs\\mine.png')")], folder, MEGABYTE)
    assert list(found.files) == ["figs/mine.png"] and "Write figs/mine.png" in found.left[0]


def test_what_is_too_large_is_named_and_the_smaller_files_go(folder: Path) -> None:
    (folder / "big.csv").write_bytes(bytes(2 * MEGABYTE))
    found = gather([code("open('big.csv'), open('data.csv')")], folder, MEGABYTE)
    assert list(found.files) == ["data.csv"]
    assert found.left == ["big.csv is not packed, because it has 2.0 MB and 1.0 MB are left"]


def test_files_without_end(folder: Path) -> None:
    for number in range(MOST_FILES + 1):
        (folder / "kit" / f"m{number}.py").touch()
    found = gather([code("import kit")], folder, MEGABYTE)
    assert len(found.files) == MOST_FILES and len(found.left) == 3


@pytest.mark.parametrize("name", ["a/.b/c.png", "timestamp.txt", "feedback/x.html", "a\nb.png", "up\\x.png", "x.EXE"])
def test_what_is_never_collected(name: str) -> None:
    assert unfit(name)
    assert not unfit("figs/Zoë 1.png")
