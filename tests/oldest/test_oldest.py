"""The oldest versions that the course declares: nothing newer than PyTorch 2.4 or Python 3.11 is used.

A lint, no proof: it reads names and keywords, not behaviour, and of a tensor's methods only names.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
NEWER = Path(__file__).with_name("newer.txt")
HEAD, *LINES = NEWER.read_text("utf-8").splitlines()
NAMES = frozenset(LINES)
SOURCES = sorted([*(ROOT / "course").rglob("*.py"), *(ROOT / "solutions").glob("*.py")])
TENSORS = {name.removeprefix("torch.Tensor.") for name in NAMES if name.startswith("torch.Tensor.")}
ANYBODYS = {name for kind in (list, str, dict, bytes, tuple) for name in dir(kind)}
"""Methods that a tensor has in common with what is no tensor."""

# Gone from the standard library in Python 3.12 (PEP 632, PEP 594's neighbours) and 3.13 (PEP 594).
REMOVED = {
    *("asynchat", "asyncore", "distutils", "imp", "smtpd"),
    *("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib", "nis", "nntplib"),
    *("ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib"),
}


def newer_in(text: str) -> list[str]:
    """What of PyTorch a module names that the oldest version lacks."""
    tree = ast.parse(text)
    aliases = dict(_imported(tree))
    found = set(aliases.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(_dotted(node, aliases))
            found |= {f"torch.Tensor.{node.attr}"} if node.attr in TENSORS - ANYBODYS else set()
        elif isinstance(node, ast.Call):
            found |= {f"{_dotted(node.func, aliases)}({keyword.arg})" for keyword in node.keywords}
    return sorted(found & NAMES)


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What each imported name of PyTorch stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.split(".")[0] == "torch":
                    yield (one.asname, one.name) if one.asname else ("torch", "torch")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            yield from ((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{base}.{node.attr}" if (base := _dotted(node.value, aliases)) else ""
    return aliases.get(node.id, "") if isinstance(node, ast.Name) else ""


def test_no_newer_pytorch_is_needed() -> None:
    found = {str(path.relative_to(ROOT)): newer_in(path.read_text("utf-8")) for path in SOURCES}
    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import torch\ntorch.accelerator.is_available()", ["torch.accelerator", "torch.accelerator.is_available"]),
        ("from torch import nn\nnn.Buffer", ["torch.nn.Buffer"]),
        ("from torch.nn import Buffer as B", ["torch.nn.Buffer"]),
        (
            "from torch.nn import functional as F\nF.scaled_dot_product_attention(q, k, v, enable_gqa=True)",
            ["torch.nn.functional.scaled_dot_product_attention(enable_gqa)"],
        ),
        (
            "from torch.nn.utils.rnn import pad_sequence\npad_sequence(x, padding_side='left')",
            ["torch.nn.utils.rnn.pad_sequence(padding_side)"],
        ),
        ("x.hash_tensor()", ["torch.Tensor.hash_tensor"]),
        ("words.index('a'); other.accelerator", []),
        ("from torch.nn import functional as F\nF.scaled_dot_product_attention(q, k, v, is_causal=True)", []),
    ],
)
def test_what_is_newer_is_seen(code: str, found: list[str]) -> None:
    assert newer_in(code) == found


def test_the_list_is_about_the_versions_that_the_course_names() -> None:
    """After a new PyTorch in constraints.txt, or another oldest one: record.py says how to make the list anew."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (declared,) = re.findall(r"^torch>=(\d+\.\d+)$", "\n".join(project["dependencies"]), re.MULTILINE)
    (pinned,) = re.findall(r"^torch==(\S+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    assert re.fullmatch(rf"# torch {re.escape(pinned)} has these, {re.escape(declared)}\.\d+ has not", HEAD)
    assert len(NAMES) > 100


def test_every_python_from_3_11_can_read_it() -> None:
    """Syntax no newer than 3.11's, and nothing of the standard library that 3.12 and 3.13 removed."""
    gone = {}
    for path in SOURCES:
        tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 11))
        gone[str(path.relative_to(ROOT))] = sorted(set(_modules(tree)) & REMOVED)
    assert {path: modules for path, modules in gone.items() if modules} == {}


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.split(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0", "3.14.0"])
def test_every_pinned_version_is_for_each_python_declared(python):
    refusing = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.M):
        try:
            found = metadata(name)
        except PackageNotFoundError:
            continue  # not needed on this system
        declared = found.get("Requires-Python", "")  # [] raises in the backport, if it was imported first
        if found["Version"].partition("+")[0] == version and python not in SpecifierSet(declared):
            refusing[f"{name}=={version}"] = declared
    assert not refusing
