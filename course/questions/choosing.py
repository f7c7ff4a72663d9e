"""Make questions about an answer: draft them from its table, choose different ones, and confirm each of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .executing import Ran, Run, Runner
from .kinds import alters_nothing, find_change, tell_apart, trace, what_happens
from .outcomes import same
from .question import Claim, Draft, Question
from .subject import Subject, Unaskable
from .table import Table, make_table
from .wrong_choices import corners, three_wrong

AGAIN = (2, 3, 5, 8, 13)
"""Seeds of the runs that confirm a question. The table was made with 0 and 1."""

AGAIN_CHANGED = 3
"""What a question loses in the choice of questions if one before it has two of its changes."""

FEWEST = 3
"""Fewer sound questions than these are none."""


def ask(subject: Subject, run: Runner, seed: int = 0, most: int = 6) -> list[Question]:
    """Return up to `most` confirmed questions about an answer, the same ones for the same seed.

    Raises:
        Unaskable: there are fewer than three. The message says why.
    """
    rng = random.Random(f"{seed}:{subject.source}")
    drafts = all_drafts(make_table(subject, run, rng), run, rng)
    chosen = _choose(drafts, run, rng, most)
    if len(chosen) < FEWEST:
        raise Unaskable("it is too short")
    return [draft.question for draft in chosen]


def all_drafts(table: Table, run: Runner, rng: random.Random) -> list[Draft]:
    """Return everything that could be asked, unconfirmed."""
    kinds = (tell_apart, find_change, alters_nothing)
    found = [draft for kind in kinds for draft in kind.drafts(table, rng)]
    asked = [(kind, site) for kind in (what_happens, trace) for site in kind.sites(table, rng)]
    squares = [list(corners(table, site, rng)) for _, site in asked]
    ran = iter(run([made for tried in squares for _, _, made in tried]))
    for (kind, site), tried in zip(asked, squares, strict=True):
        wrong = three_wrong(site, [(*pair, next(ran)) for pair in tried], rng)
        found.append(kind.draft(table, site, wrong, rng) if wrong else None)
    return [draft for draft in found if draft]


def _choose(drafts: Sequence[Draft], run: Runner, rng: random.Random, most: int) -> list[Draft]:
    """Return the best drafts that are confirmed, of different kinds and about different lines and calls."""
    left = [replace(draft, score=draft.score + 0.3 * rng.random()) for draft in drafts]
    taken: list[Draft] = []
    while len(taken) < most and (candidates := _best(left, taken, most - len(taken))):
        left = [draft for draft in left if draft not in candidates]
        taken += _confirmed(candidates, run)
    return taken


def _best(left: list[Draft], taken: list[Draft], number: int) -> list[Draft]:
    kinds, lines, calls = (Counter[object]() for _ in range(3))
    for draft in taken:
        kinds[draft.question.kind] += 1
        lines[draft.line] += 1
        calls[draft.call] += 1
    best: list[Draft] = []
    rest = [draft for draft in left if not any(_repeats(draft, other) for other in taken)]
    while rest and len(best) < number:
        first = max(
            rest,
            key=lambda draft: (
                draft.score > 0,
                draft.score
                - 1.2 * kinds[draft.question.kind]
                - 0.4 * lines[draft.line]
                - 0.8 * calls[draft.call]
                - AGAIN_CHANGED * any(_is_about_like(draft, other) for other in (*taken, *best)),
            ),
        )
        if first.score < 0 and len(taken) + len(best) >= FEWEST:
            break
        best.append(first)
        kinds[first.question.kind] += 1
        lines[first.line] += 1
        calls[first.call] += 1
        rest = [draft for draft in rest if not _repeats(draft, first)]
    return best


def _repeats(draft: Draft, earlier: Draft) -> bool:
    """Return whether an earlier question asks the same, or says in a reply what this one asks."""
    one, other = draft.asked, earlier.asked
    if draft.question.text == earlier.question.text or _fact(one) in map(_fact, earlier.claims):
        return True
    if one.moment is None or other.moment is None:
        return False
    return (draft.line, one.moment.name) == (earlier.line, other.moment.name)


def _is_about_like(draft: Draft, earlier: Draft) -> bool:
    """Return whether two questions of one kind have two changes in common."""
    return draft.question.kind == earlier.question.kind and len(draft.changed & earlier.changed) > 1


def _fact(claim: Claim) -> tuple[object, ...]:
    return claim.run.source, claim.run.call, claim.moment


def _confirmed(drafts: Sequence[Draft], run: Runner) -> list[Draft]:
    """Return the drafts whose claims hold with other seeds, in fresh namespaces."""
    runs = list(dict.fromkeys(replace(claim.run, seed=seed) for d in drafts for claim in d.claims for seed in AGAIN))
    ran: dict[Run, Ran] = dict(zip(runs, run(runs), strict=True))
    return [draft for draft in drafts if all(_holds(claim, ran) for claim in draft.claims)]


def _holds(claim: Claim, ran: dict[Run, Ran]) -> bool:
    for seed in AGAIN:
        found = ran[replace(claim.run, seed=seed)]
        value = claim.moment.value_in(found.events) if claim.moment else found.outcome
        if value is None or same(value, claim.outcome) is not True:
            return False
    return True
