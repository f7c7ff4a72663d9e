"""Read and write the criteria in a comment: each has its own line, beside what the grader typed."""

from __future__ import annotations

import re

from course.outline import Criterion, Rubric

_POINTS = r"\([+−-]\d+(?:\.\d+)?\)"
"""The points at the end of a criterion's line."""

_OLD_LINE = re.compile(rf"- .* {_POINTS}")
"""The line of a criterion, also of a criterion that the rubric had before."""


def signed(points: float) -> str:
    """Return points as a grader reads them: `+1`, `−0.5` or `0`."""
    return f"{points:+g}".replace("-", "−") if points else "0"


def line_of(criterion: Criterion) -> str:
    """Return the line of a criterion in a comment, which is an item of a Markdown list."""
    return f"- {criterion.wording} ({signed(criterion.points)})" if criterion.points else f"- {criterion.wording}"


def taken_in(comment: str, rubric: Rubric) -> list[Criterion]:
    """Return the criteria that have a line in a comment, in the rubric's order, whatever points the line names."""
    lines = [line.rstrip() for line in comment.split("\n")]
    return [criterion for criterion in rubric if any(_is_of(criterion, line) for line in lines)]


def with_criterion(comment: str, rubric: Rubric, criterion: Criterion) -> str:
    """Return the comment with a line for `criterion`, and without the lines of other criteria of its group."""
    for other in rubric:
        if other == criterion or (other.group and other.group == criterion.group):
            comment = without_criterion(comment, rubric, other)
    lines = comment.split("\n")
    place = rubric.index(criterion)
    earlier = [n for n, line in enumerate(lines) if any(_is_of(one, line) for one in rubric[:place])]
    later = [n for n, line in enumerate(lines) if any(_is_of(one, line) for one in rubric[place + 1 :])]
    if earlier:
        lines.insert(earlier[-1] + 1, line_of(criterion))
    elif later:
        lines.insert(later[0], line_of(criterion))
    else:
        return f"{line_of(criterion)}\n\n{comment}" if comment else line_of(criterion)
    return "\n".join(lines)


def without_criterion(comment: str, rubric: Rubric, criterion: Criterion) -> str:
    """Return the comment without the line of `criterion`; what the grader typed stays as it is."""
    lines = comment.split("\n")
    kept = [line for line in lines if not _is_of(criterion, line)]
    removed_all = len(kept) < len(lines) and not taken_in("\n".join(kept), rubric)
    if removed_all and _is_of(criterion, lines[0]) and kept and not kept[0].strip():
        del kept[0]  # the empty line that came with the first criterion
    return "\n".join(kept)


def renewed(comment: str, rubric: Rubric) -> str:
    """Return the comment with the current points of its criteria in their lines."""
    lines = comment.split("\n")
    for n, line in enumerate(lines):
        found = next((criterion for criterion in rubric if _is_of(criterion, line)), None)
        lines[n] = line_of(found) if found else line
    return "\n".join(lines)


def typed_in(comment: str, rubric: Rubric) -> list[str]:
    """Return the paragraphs that a grader typed into a comment, each once."""
    lines = (line.rstrip() for line in comment.split("\n"))
    kept = [line for line in lines if not (_OLD_LINE.fullmatch(line) or any(_is_of(one, line) for one in rubric))]
    paragraphs = (paragraph.strip() for paragraph in re.split(r"\n{2,}", "\n".join(kept)))
    return list(dict.fromkeys(filter(None, paragraphs)))


def _is_of(criterion: Criterion, line: str) -> bool:
    return re.fullmatch(rf"- {re.escape(criterion.wording)}(?: {_POINTS})?\s*", line) is not None
