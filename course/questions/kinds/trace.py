"""What is this value, or its shape, after that line?"""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..drafting import drafted
from ..outcomes import Value, is_easy, is_tensor, said, said_shape, same
from ..question import Draft, Moment
from ..table import Table, is_algebra
from ..watching import Event
from ..wording import code, shown_call, times
from ..wrong_choices import Site, Wrong, distinct, is_choice, options

MOST_SITES = 14
_EMPTY = (
    r"\{\}|(?<![\w.])\w*\((int|float|list|set|dict)?\)|(?<=[=,] )-[\d.e-]+"
    r"|'[^']*'|\"[^\"]*\"|torch\.empty\([^()]*\)"
)
_COPY = re.compile(rf"\s*[\w, ]+(: [\w\[\]., ]+)? = ({_EMPTY}|[\w\[\]., ])*")
"""A line that only copies, takes apart, or sets constants and empty containers."""


def sites(table: Table, rng: random.Random) -> Iterator[Site]:
    """Yield moments at which a variable is worth asking for, with its values in changed copies and at other times."""
    found = [site for call in range(len(table.calls)) for site in _of_call(table, call, rng)]
    rng.shuffle(found)
    yield from found[:MOST_SITES]


def _of_call(table: Table, call: int, rng: random.Random) -> Iterator[Site]:
    events = [event for event in table.events[call] if event and event.name]
    total, turn = Counter((event.line, event.name) for event in events), Counter[str]()
    for event in events:
        turn[event.name] += 1
        copied = _COPY.fullmatch(table.subject.lines[event.line - 1])
        if event.value is None or copied or total[event.line, event.name] > 4:
            continue
        moment = Moment(event.name, turn[event.name])
        if _is_worth_asking(event.value, table, call):
            yield from _by_value(table, call, moment, event, rng)
        elif is_tensor(event.value) and "numbers(" in table.calls[call]:
            yield from _by_shape(table, call, replace(moment, shape=True), event, rng)


def _is_worth_asking(value: Value, table: Table, call: int) -> bool:
    """Return whether a value is easy, does not stand in the call, and is not the result."""
    if "numbers(" in table.calls[call] or not is_choice(value) or value.kind == "bool":
        return False
    trivial = value.kind in ("int", "float") and value.parts[0] in (0, 1)
    return not trivial and said(value) not in table.calls[call] and same(value, table.right[call]) is not True


def _by_value(table: Table, call: int, moment: Moment, event: Event, rng: random.Random) -> Iterator[Site]:
    assert event.value is not None
    sets = [one.value for one in table.events[call] if one and one.name == moment.name]
    near = [value for nth, value in enumerate(sets, 1) if value and 0 < abs(nth - moment.nth) <= 2]
    wrong = [Wrong(value, (), f"`{moment.name}` has this value at another time.") for value in near]
    wrong += _in_copies(table, call, moment)
    rng.shuffle(wrong)
    score = 0.6 * (moment.nth > 1) + 0.3 - 0.6 * (event.value.kind == "int")
    score -= 0.4 * (is_tensor(event.value) and len(set(event.value.parts)) < 2)
    yield Site(call, moment, event.value, distinct(event.value, wrong), event.line, score)


def _by_shape(table: Table, call: int, moment: Moment, event: Event, rng: random.Random) -> Iterator[Site]:
    """Yield a site for a shape. Wrong ones may be the right one with sizes exchanged or left out."""
    assert event.value is not None
    shape, text = event.value.shape, table.calls[call]
    given = any(f"{maker}{said_shape(shape)}" in text for maker in ("numbers", "zeros", "ones"))
    if len(shape) < 2 or said_shape(shape) in text or given:
        return
    computed = _in_copies(table, call, moment)
    swapped = ((*shape[:-2], shape[-1], shape[-2]), (shape[1], shape[0], *shape[2:]))
    made = [Wrong(Value("shape", shape=other), (), "Two of its sizes have changed places.") for other in swapped]
    made += [Wrong(Value("shape", shape=shape[1:]), (), "The first of its sizes is missing.")]
    made += [Wrong(Value("shape", shape=shape[:-1]), (), "The last of its sizes is missing.")]
    rng.shuffle(computed)
    right = Value("shape", shape=shape)
    yield Site(call, moment, right, distinct(right, [*computed, *made]), event.line)


def _in_copies(table: Table, call: int, moment: Moment) -> list[Wrong]:
    rows = zip(table.changes, table.results, strict=True)
    values = ((change, moment.value_in(row[call].events)) for change, row in rows if not is_algebra(change))
    return [Wrong(value, (change,)) for change, value in values if value and value.kind != "None" and is_easy(value)]


def draft(table: Table, site: Site, wrong: Sequence[Wrong], rng: random.Random) -> Draft | None:
    """Return the question for a site."""
    moment, call = site.moment, table.calls[site.call]
    assert moment is not None
    events = [event for event in table.events[site.call] if event and event.name]
    before = list(itertools.islice((e.line for e in events if e.name == moment.name), moment.nth))
    nth, runs = before.count(site.line), sum((e.line, e.name) == (site.line, moment.name) for e in events)
    what = f"the shape of `{moment.name}`" if moment.shape else f"`{moment.name}`"
    first = _first_line(table.subject.tree, site.line)
    where = f"line {site.line}" if first == site.line else f"lines {first} to {site.line}"
    ran = "" if runs == 1 else f" {'has' if first == site.line else 'have'} run {times(nth)}"
    return drafted(
        table,
        "trace",
        f"This call runs:\n{code(shown_call(call, table.subject))}\nWhat is {what} right after {where}{ran}?",
        options(table, site, wrong, "be so", f"This is {what} there."),
        rng,
        score=3.6 + site.score + 0.5 * any(len(one.changes) == 2 for one in wrong),
        lines=[site.line],
        call=call,
    )


def _first_line(tree: ast.Module, last: int) -> int:
    """Return the line in which the statement begins that ends in line `last`."""
    simple = (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body"))
    return next((node.lineno for node in simple if node.end_lineno == last), last)
