"""What does your function return here?"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from ..drafting import drafted
from ..outcomes import Value, form, said
from ..question import LAST_RESORT, Draft
from ..table import Table, is_algebra
from ..wording import code, shown_call, tokens
from ..wrong_choices import Site, Wrong, distinct, is_choice, options


def sites(table: Table, rng: random.Random) -> Iterator[Site]:
    """Yield the calls whose result a person can work out, with wrong results of changed copies."""
    for call, (text, right) in enumerate(zip(table.calls, table.right, strict=True)):
        if not is_choice(right) or (_asks_shape(text) and _numbers(said(right)) <= _numbers(text)):
            continue
        copies = [change for change in range(len(table.changes)) if not is_algebra(table.changes[change])]
        rng.shuffle(copies)
        wrong = distinct(right, (Wrong(table.outcome(copy, call), (table.changes[copy],)) for copy in copies))
        special = 0.5 if right.kind == "error" or "nan" in said(right) else 0.0
        if len(wrong) < 3:  # too little can be changed, so results of other calls serve
            others = [k for k, one in enumerate(table.right) if one.kind == right.kind and "\n" not in table.calls[k]]
            others.sort(key=lambda k: not _could_be(table.right[k], right, text))
            fitting = [k for k in others if _could_be(table.right[k], right, text)]
            is_fair = len(distinct(right, [*wrong, *(Wrong(table.right[k]) for k in fitting)])) > len(wrong) == 2
            returned = (Wrong(table.right[k], (), f"`{table.calls[k]}` returns this.") for k in others)
            wrong = distinct(right, [*wrong, *returned])[:3]
            special -= 0.0 if is_fair else LAST_RESORT
        yield Site(call, None, right, wrong, 0, special - (said(right) in text))


def _could_be(other: Value, right: Value, call: str) -> bool:
    """Return whether another result has the form of the right one, and no number or name that its call cannot give."""
    return form(other) == form(right) and tokens(said(other)) <= tokens(call) | tokens(said(right))


def draft(table: Table, site: Site, wrong: Sequence[Wrong], rng: random.Random) -> Draft | None:
    """Return the question for a site."""
    call = table.calls[site.call]
    return drafted(
        table,
        "what happens",
        f"What does this return?\n{code(shown_call(call, table.subject))}",
        options(table, site, wrong, "come out", "This is what comes out."),
        rng,
        score=4.0 + site.score + 0.5 * any(len(one.changes) == 2 for one in wrong),
        lines=[change.line for one in wrong for change in one.changes],
        call=call,
    )


def _asks_shape(call: str) -> bool:
    return call.endswith(".shape")


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))
