"""English text from every machine with Python: the docstrings of the standard library, read from its files.

Each module is parsed with `ast`, never imported. A docstring is cut into paragraphs, and prose is kept, without
doctests, tables, signatures or drawings. This gives about 240,000 words, slightly different for each version of
Python. Whole modules go to one split, by a hash of their name, so that two methods with the same sentence cannot put
it into two splits. Within a split the docstrings are shuffled, so that any beginning is a fair sample.
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
"""Version of the way in which the corpus is made, part of the cache's name."""
LEFT_OUT = frozenset({"test", "tests", "idle_test", "site-packages", "dist-packages", "lib2to3", "__pycache__"})
"""Folders of tests, and of packages that do not belong to the library."""
SHARES = {"train": 80, "held_out": 10, "reserved": 10}
"""Percent of the modules in each split. The `reserved` one is for the judge, and `load` does not return it."""


def load(split: str | None = None) -> DatasetDict:
    """Return splits `train` and `held_out`, with rows of `module`, `name` (the documented object) and `text`.

    Raises:
        ValueError: `split` is neither of them.
    """
    splits = all_splits()
    offered = type(splits)({name: splits[name] for name in ("train", "held_out")})
    if split is None:
        return offered
    if split not in offered:
        raise ValueError(f"docstrings have no split {split!r}; there are {', '.join(offered)}")
    return offered[split]


def reserved_text() -> str:
    """Return the judge's held-out text: the modules that `load` does not return, one docstring a line."""
    return "\n".join(all_splits()["reserved"]["text"])


def split_of(module: str) -> str:
    """Return the split of a module, the same on every machine and for every version."""
    percent = _hash(module) % 100
    for name, share in SHARES.items():
        if percent < share:
            return name
        percent -= share
    raise AssertionError("the shares add up to 100")


def all_splits() -> DatasetDict:
    """Return the training, held-out and reserved texts, from the cache if they are there."""
    # platform.python_version identifies the files that are read, VERSION the way they are processed.
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
    """Return whether a progress bar is visible, at a terminal or in a notebook. A log file would keep all updates."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel") or sys.stderr.isatty()


def _hash(name: str) -> int:
    """Return a hash that depends only on the name. Python's own `hash` of a string differs between processes."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


def module_files(library: Path) -> Iterator[tuple[str, Path]]:
    """Yield dotted names and files of the modules below `library`, in alphabetical order."""
    for path in sorted(library.rglob("*.py")):
        parts = path.relative_to(library).with_suffix("").parts
        if not LEFT_OUT.intersection(parts) and not parts[-1].startswith("test_"):
            yield ".".join(parts).removesuffix(".__init__"), path


def docstrings_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the dotted name and prose of every docstring in a file, or nothing if it is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in the library
            module = tree(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return
    for name, node in _documented(module, ""):
        text = prose(ast.get_docstring(node, clean=False) or "")
        if text:
            yield name, text


def prose(docstring: str) -> str:
    """Return the English paragraphs of a docstring, each on its own line."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if _is_english(paragraph))


def _is_english(paragraph: str) -> bool:
    """Return whether a paragraph is plain prose: ASCII, not indented, mostly letters, long enough for a sentence."""
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
    """Yield every module, class and function below `node` that can have a docstring, with its dotted name."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield prefix or "module", node  # type: ignore[misc]
    for child in ast.iter_child_nodes(node):
        name = getattr(child, "name", "")
        inner = f"{prefix}.{name}".strip(".") if isinstance(name, str) and name else prefix
        yield from _documented(child, inner) if not isinstance(child, ast.expr) else ()
