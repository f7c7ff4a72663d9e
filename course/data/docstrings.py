"""English that is on every machine with Python: the docstrings of the standard library, read from its own files.

Each module is parsed with `ast`, never imported. A docstring is cut into paragraphs, and those that are prose are kept,
without doctests, tables, signatures or drawings. This gives about 240,000 words, and a few more or less with each
version of Python. Whole modules go to one split, by a hash of their name, so that no sentence is in two splits because
two methods share it. Within a split the docstrings lie in a mixed order, so that any beginning is a fair sample.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import platform
import sys
import sysconfig
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..source import tree
from .cache import datasets_library, kept

if TYPE_CHECKING:
    from datasets import DatasetDict

VERSION = 1
"""Counts the ways in which the corpus has been made; part of the cache's name."""
LEFT_OUT = frozenset({"test", "tests", "idle_test", "site-packages", "dist-packages", "lib2to3", "__pycache__"})
"""Folders of tests, and of packages that are not the library's own."""
SHARES = {"train": 80, "held_out": 10, "reserved": 10}
"""Percent of the modules in each split. The `reserved` one is for the judge, and `load` does not return it."""


def load(split: str | None = None) -> DatasetDict:
    """The corpus: splits `train` and `held_out`, rows of `module`, `name` (what it documents) and `text`.

    Raises:
        ValueError: `split` is neither of the two.
    """
    splits = all_splits()
    offered = type(splits)({name: splits[name] for name in ("train", "held_out")})
    if split is None:
        return offered
    if split not in offered:
        raise ValueError(f"docstrings have no split {split!r}; there are {', '.join(offered)}")
    return offered[split]


def reserved_text() -> str:
    """The judge's held-out text: the modules that `load` keeps back, one docstring a line."""
    return "\n".join(all_splits()["reserved"]["text"])


def split_of(module: str) -> str:
    """The split a module belongs to, the same on every machine and for every version."""
    percent = _hash(module) % 100
    for name, share in SHARES.items():
        if percent < share:
            return name
        percent -= share
    raise AssertionError("the shares add up to 100")


def all_splits() -> DatasetDict:
    """Return the training, held-out and reserved texts, from the cache where they are kept."""
    # platform.python_version names the files that are read; VERSION names what is made of them.
    return kept(f"docstrings-{platform.python_version()}-v{VERSION}", make_splits)


def make_splits() -> DatasetDict:
    """Read the library's docstrings and split them."""
    library = datasets_library()
    from datasets.utils import tqdm

    place = Path(sysconfig.get_path("stdlib"))
    files = list(module_files(place))
    if not files:
        raise FileNotFoundError(f"this Python comes without the sources of its library: no .py file in {place}")
    rows: dict[str, list[dict[str, str]]] = {name: [] for name in SHARES}
    for module, path in tqdm(files, desc="Reading the standard library", unit=" modules", disable=not _is_watched()):
        found = [{"module": module, "name": name, "text": text} for name, text in docstrings_in(path)]
        rows[split_of(module)] += found
    mixed = {
        name: sorted(split, key=lambda row: _hash(f"{row['module']}:{row['name']}")) for name, split in rows.items()
    }
    return library.DatasetDict({name: library.Dataset.from_list(split) for name, split in mixed.items()})


def _is_watched() -> bool:
    """Whether someone sees a progress bar, at a terminal or in a notebook. A log file would keep all its updates."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel") or sys.stderr.isatty()


def _hash(name: str) -> int:
    """A number that depends on the name alone. Python's own `hash` of a string changes with every process."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


def module_files(library: Path) -> Iterator[tuple[str, Path]]:
    """Dotted names and files of the modules below `library`, in alphabetical order."""
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library).with_suffix("").parts
        if not LEFT_OUT.intersection(parts) and not parts[-1].startswith("test_"):
            yield ".".join(parts).removesuffix(".__init__"), path


def docstrings_in(path: Path) -> Iterator[tuple[str, str]]:
    """The dotted name and the prose of every docstring in a file; nothing of a file that is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library's own invalid escapes are no news
            module = tree(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    for name, node in _documented(module, ""):
        text = prose(ast.get_docstring(node, clean=False) or "")
        if text:
            yield name, text


def prose(docstring: str) -> str:
    """The paragraphs of a docstring that are English, each on a line of its own."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if _is_english(paragraph))


def _is_english(paragraph: str) -> bool:
    """Whether a paragraph is plain prose: ASCII, not indented, mostly letters, a sentence's worth of words."""
    lines = textwrap.dedent(paragraph).splitlines()
    words = paragraph.split()
    if (
        len(words) < 4
        or not all(word.isascii() and word.isprintable() for word in words)
        or any(">>>" in line for line in lines)
    ):
        return False
    if any(line.startswith("    ") or "  " in line.strip().replace(".  ", ". ") for line in lines):
        return False
    plain_words = sum(word.strip(".,;:!?()'\"`").isalpha() for word in words)
    return plain_words >= 0.7 * len(words)


def _documented(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.Module | ast.ClassDef | ast.FunctionDef]]:
    """Every module, class and function below `node` that can carry a docstring, with its dotted name."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield prefix or "module", node  # type: ignore[misc]
    for child in ast.iter_child_nodes(node):
        name = getattr(child, "name", "")
        inner = f"{prefix}.{name}".strip(".") if isinstance(name, str) and name else prefix
        yield from _documented(child, inner) if not isinstance(child, ast.expr) else ()
