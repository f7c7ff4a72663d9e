"""Check the keys of questions again: `python -m tests.questions.checked_again FILE` of `tests.questions.measured`.

This reads a question as a person does, from its code, its text and its choices, and executes it with `sys.settrace`. It
imports nothing of `course.questions`, so it cannot share a fault with what made the questions.
"""

from __future__ import annotations

import ast
import copy
import json
import math
import random
import re
import signal
import sys
import textwrap
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.syllabus import OURS
from tests.hidden.answers import answers
from tests.hidden.judged import verdict_on
from tests.original import find

EXERCISES = {item.name: topic for topic in OURS for item in topic.items if item.kind == "exercise"}
ERROR, FILE, SEED, SECONDS = "It stops with an error.", "<shown>", 4711, 20
TIMES = {"": 1, "once": 1, "twice": 2, "three times": 3, "four times": 4}

# -- what the notes below a question say -----------------------------------------------------------------------------


def numbers(*shape: int) -> torch.Tensor:
    return 3 * torch.rand(*shape) - 1


def gen(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(SEED + seed)


def set_all(model: nn.Module, value: float) -> nn.Module:
    state = {name: torch.full_like(one, value) for name, one in model.named_parameters()}
    model.load_state_dict(state, strict=False)
    return model.eval()


class oracle(nn.Module):
    pad, sos, eos = 0, 1, 2

    def __init__(self, words: list[list[int]]) -> None:
        super().__init__()
        self.words, self.max_len = words, max(len(row) for row in words)

    def forward(self, src: torch.Tensor, said: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        out = torch.tensor([-90.0 - word for word in range(9)]).expand(*said.shape, 9).clone()
        for b, first in enumerate(src[:, 0].tolist()):
            row = [*self.words[(first - 7) % len(self.words)], *[self.eos] * said.shape[1]]
            out[b, range(said.shape[1]), row[: said.shape[1]]] = 0.0
        return out


class counter(nn.Module):
    def forward(self, ids: torch.Tensor, cache: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        return 9.0 * torch.eye(5)[(ids + 1) % 5], ids if cache is None else torch.cat([cache, ids], 1)


WORDS = {
    "tensor": torch.tensor, "zeros": torch.zeros, "ones": torch.ones, "eye": torch.eye, "arange": torch.arange,
    "inf": math.inf, "nan": math.nan, "torch": torch, "nn": nn, "F": F, "math": math, "Counter": Counter,
    "numbers": numbers, "gen": gen, "set_all": set_all, "oracle": oracle, "counter": counter, "array": np.array,
}  # fmt: skip


class References(dict[str, Any]):
    """The names of a module, and the references of all exercises that it lacks."""

    def __missing__(self, name: str) -> Any:
        if name not in EXERCISES:
            raise KeyError(name)
        return find(name).reference


# -- executing -------------------------------------------------------------------------------------------------------


class Stopped:
    """What an error gives."""


def _late(*_: object) -> None:
    raise TimeoutError


def result(source: str, call: str, names: Mapping[str, Any], tracer: Any = None) -> Any:
    """What a call gives, or `Stopped`.

    Raises:
        TimeoutError: it takes longer than this check.
    """
    torch.manual_seed(SEED)
    random.seed(SEED)
    space = {**names}
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        exec(compile(source, FILE, "exec"), space)
        scope = References({**space, **WORDS, **{name: space[name] for name in defined(source)}})
        *first, last = ast.parse(call).body
        assert isinstance(last, ast.Expr)
        sys.settrace(tracer)
        exec(compile(ast.Module(first, []), "<call>", "exec"), scope)
        return eval(compile(ast.Expression(last.value), "<call>", "eval"), scope)
    except TimeoutError:
        raise
    except Exception:  # noqa: BLE001 - whatever an answer raises
        return Stopped
    finally:
        sys.settrace(None)
        signal.alarm(0)


def defined(source: str) -> list[str]:
    return re.findall(r"^(?:def|class) (\w+)", source, re.M)


def value_after(source: str, call: str, names: Mapping[str, Any], name: str, first: int, last: int, nth: int) -> Any:
    """The value of a variable right after lines have run for the nth time, or `Stopped`."""
    runs, kept = 0, [Stopped]
    inside = dict[FrameType, bool]()

    def trace(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        nonlocal runs
        if frame.f_code.co_filename != FILE or frame.f_code.co_name.startswith("<"):
            return None  # elsewhere, or a comprehension
        here = event == "line" and first <= frame.f_lineno <= last
        began_again = here and frame.f_lineno == first and first < last and inside.get(frame) == "behind"
        if inside.get(frame) and (not here or began_again) and event in ("line", "return") and name in frame.f_locals:
            runs += 1
            if runs == nth:
                kept[0] = copied(frame.f_locals[name])
        if event == "exception":
            inside[frame] = ""
        elif event != "call":
            inside[frame] = "" if not here else "behind" if frame.f_lineno > first else inside.get(frame) or "first"
        return trace

    result(source, call, names, trace)
    return kept[0]


def copied(value: Any) -> Any:
    """A copy, of tensors that need gradients, too."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    if isinstance(value, dict):
        return {key: copied(one) for key, one in value.items()}
    return copy.deepcopy(value)


# -- comparing -------------------------------------------------------------------------------------------------------


def close(a: float, b: float, of: float) -> bool:
    if math.isnan(b) or math.isinf(b) or math.isnan(a) or math.isinf(a):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= of * (1 + abs(b))


def plain(value: Any) -> Any:
    """A value as nested tuples, without what a person doesn't see: strides, kinds of dicts, numpy's scalars."""
    if isinstance(value, torch.Tensor):
        return ("tensor", tuple(value.shape), *value.detach().flatten().tolist())
    if isinstance(value, np.ndarray):
        return plain(torch.from_numpy(np.ascontiguousarray(value)))
    if isinstance(value, Mapping):
        return ("dict", *sorted(((repr(plain(k)), plain(v)) for k, v in value.items()), key=lambda pair: pair[0]))
    if isinstance(value, AbstractSet):
        return ("set", *sorted(map(plain, value), key=repr))
    if isinstance(value, (list, deque)):
        return ("list", *map(plain, value))
    if isinstance(value, tuple):
        return ("tuple", *map(plain, value))
    if isinstance(value, (np.generic, Fraction)):
        return plain(value.item() if isinstance(value, np.generic) else float(value))
    return value


def alike(a: Any, b: Any, of: float) -> bool:
    """Whether two plain values are the same, where numbers may be `of` apart."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(alike(x, y, of) for x, y in zip(a, b, strict=True))
    if type(a) is type(b) is float:
        return close(a, b, of)
    return type(a) is type(b) and a == b


def is_said(value: Any, said: str) -> bool:
    """Whether a text of a question says this value."""
    if said == ERROR or value is Stopped:
        return said == ERROR and value is Stopped
    said = re.fullmatch(r"\s*`(.*)`\s*", said, re.S)[1]  # type: ignore[index]
    said = re.sub(r"tensor of shape (\(.*?\)) without numbers", r"zeros(\1)", said)
    if found := re.fullmatch(r"tensor of shape (\(.*\))", said):
        return isinstance(value, (torch.Tensor, np.ndarray)) and tuple(value.shape) == eval(found[1])
    rough = 0.5 if re.search(r"\de\d", said) else 0.06 if re.search(r"\d{4}\.\d", said) else 6e-4
    return alike(plain(value), plain(eval(said, {**WORDS})), rough)


def same(a: Any, b: Any) -> bool:
    return alike(plain(a), plain(b), 1e-3)


# -- reading ---------------------------------------------------------------------------------------------------------


def changed(source: str, change: str) -> str:
    """The source after a change, as a choice or a premise says it."""
    lines = source.splitlines()
    if found := re.fullmatch(r"[Ll]ines (\d+) and (\d+) change places\.?", change):
        a, b = (int(number) - 1 for number in found.groups())
        lines[a], lines[b] = lines[b], lines[a]
        return "\n".join(lines) + "\n"
    found = re.match(r"[Ll]ines? (\d+)(?: to (\d+))? ", change)
    assert found, change
    first, last = int(found[1]), int(found[2] or found[1])
    rest = change[found.end() :]
    if re.fullmatch(r"(is|are) removed\.?", rest):
        new = []
    elif premise := re.fullmatch(r"(?:is|are) changed from\n(.*)\nto\n(.*)", rest, re.S):
        was, now = (textwrap.dedent(text) for text in premise.groups())
        assert was == textwrap.dedent("\n".join(lines[first - 1 : last])), (was, lines[first - 1 : last])
        new = now.splitlines()
    else:
        now = re.fullmatch(r"becomes? `(.*)`|becomes?\n(.*)", rest, re.S)
        assert now, change
        new = (now[1] or textwrap.dedent(now[2])).splitlines()
    indent = re.match(" *", lines[first - 1])[0]  # type: ignore[index]
    if len(new) == last - first + 1 > 1:  # each line keeps its own
        indent = min((re.match(" *", line)[0] for line in lines[first - 1 : last]), key=len)  # type: ignore[index]
    return "\n".join([*lines[: first - 1], *(indent + line for line in new), *lines[last:]]) + "\n"


def indented(text: str) -> str:
    """The code in a text."""
    return "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))


def call_of(asked: str, choice: str) -> str:
    """The call that a choice of "tell apart" means, where the question may hold what all share, with `…`."""
    if "…" not in asked:
        return indented(choice) if choice.startswith("\n") else choice.strip("`")
    names = re.findall(r"(\w+)=…", asked)
    values = re.fullmatch(", ".join(f"{name} = (.*)" for name in names), choice.strip("`"), re.S)
    assert values, (asked, choice)
    for name, value in zip(names, values.groups(), strict=True):
        asked = asked.replace(f"{name}=…", f"{name}={value}", 1)
    return asked


Names = Mapping[str, Any]
Passes = Callable[[str], bool]
"""Whether a changed source still passes all checks."""


def mistakes(question: Mapping[str, Any], names: Names, passes: Passes) -> list[str]:
    """What is wrong with the key of a question, or with a reason that it gives.

    Raises:
        TimeoutError: it takes longer than this check.
    """
    source = "\n".join(line[4:] for line in question["code"].splitlines()) + "\n"
    return _CHECKS[question["kind"]](question, source, names, passes)


def _trace(question: Mapping[str, Any], source: str, names: Names, _: Passes) -> list[str]:
    text = question["text"]
    found = re.search(
        r"What is (the shape of )?`(\w+)` right after lines? (\d+)(?: to (\d+))?(?: (?:has|have) run (.*?))?\?", text
    )
    assert found, text
    shape, name, first, last, times = found.groups("")
    value = value_after(source, indented(text), names, name, int(first), int(last or first), TIMES[times])
    value = value.shape if shape and value is not Stopped else value
    return _only([is_said(value, said) for said, _ in question["choices"]], question["key"], value)


def _what_happens(question: Mapping[str, Any], source: str, names: Names, _: Passes) -> list[str]:
    call = indented(question["text"])
    value = result(source, call, names)
    wrong = _only([is_said(value, said) for said, _ in question["choices"]], question["key"], value)
    for said, reason in question["choices"]:
        change = re.fullmatch(r"It would come out if (.*)\.", reason)
        is_single = change and " and line" not in change[1]
        if change and is_single and not is_said(result(changed(source, change[1]), call, names), said):
            wrong.append(f"wrong reason: {reason}")
    return wrong


def _tell_apart(question: Mapping[str, Any], source: str, names: Names, _: Passes) -> list[str]:
    premise, asked = re.split(r"\n(?=For which|With which)", question["text"], maxsplit=1)
    new = changed(source, premise)
    calls = [call_of(indented(asked), said) for said, _ in question["choices"]]
    pairs = [(result(source, call, names), result(new, call, names)) for call in calls]
    return _only([not same(own, other) for own, other in pairs], question["key"], pairs)


def _find_the_change(question: Mapping[str, Any], source: str, names: Names, _: Passes) -> list[str]:
    wanted = re.search(r"makes this call (?:return (`.*?`)|stop with an error)\. Which", question["text"])
    assert wanted
    call, reasons = indented(question["text"]), [reason for _, reason in question["choices"]]
    values = [result(changed(source, said), call, names) for said, _ in question["choices"]]
    wrong = _only([is_said(value, wanted[1] or ERROR) for value in values], question["key"], values)
    for value, reason in zip(values, reasons, strict=True):
        said = re.fullmatch(r"With it, the call (?:returns (`.*`)|stops with an error)\.", reason)
        if not (said and is_said(value, said[1] or ERROR)):
            wrong.append(f"wrong reason: {reason}")
    return wrong


def _alters_nothing(question: Mapping[str, Any], source: str, names: Names, passes: Passes) -> list[str]:
    copies = [changed(source, said) for said, _ in question["choices"]]
    wrong = [] if passes(copies[question["key"]]) else ["the right change does not pass"]
    for copy_, (_, reason) in zip(copies, question["choices"], strict=True):
        if found := re.fullmatch(r"`(.*?)` then .*", reason, re.S):
            own, other = (result(text, found[1], names) for text in (source, copy_))
            if own is not Stopped and same(own, other):  # a call without its first lines stops
                wrong.append(f"wrong reason: {reason}")
    return wrong


_CHECKS = {
    "trace": _trace, "what happens": _what_happens, "tell apart": _tell_apart, "find the change": _find_the_change,
    "alters nothing": _alters_nothing,
}  # fmt: skip


def _only(are_right: list[bool], key: int, found: Any) -> list[str]:
    right = ["abcd"[place] for place, is_right in enumerate(are_right) if is_right]
    return [] if right == ["abcd"[key]] else [f"{right} are right, and the key is {'abcd'[key]}: {found}"]


def check(lines: Iterable[str]) -> tuple[int, list[str]]:
    """The number of questions that were checked, and a text for each mistake. A code that is not whole is left out."""
    number, wrong = 0, list[str]()
    for one in map(json.loads, lines):
        exercise, name = one["exercise"], one["answer"]
        among = {getattr(a, "__name__", ""): a for a in answers("alternatives", EXERCISES[exercise], exercise)}
        names = vars(sys.modules[among[name].__module__]) if one["questions"] else {}
        passes = partial(_passes, exercise, name, names)
        for question in (asked for asked in one["questions"] if "…" not in asked["code"]):
            with suppress(TimeoutError):
                found = mistakes(question, names, passes)
                number += 1
                wrong += [f"{exercise}: {question['kind']}: {text}\n    {json.dumps(question)}" for text in found]
    return number, wrong


def _passes(exercise: str, name: str, names: Names, source: str) -> bool:
    space = {**names}
    exec(compile(source, FILE, "exec"), space)
    return verdict_on(exercise, space[name], SEED).kind == "passed"


if __name__ == "__main__":
    number, wrong = check(Path(sys.argv[1]).read_text().splitlines())
    print("\n".join(wrong))
    print(f"{number} questions checked, {len(wrong)} mistakes")
    sys.exit(bool(wrong))
