"""Dates as people write them in five languages, with their meaning: `Sonntag, 4. Juli 1999` is 1999-07-04.

    dimanche 4 juillet 1999         Each date of the hundred years 1950 to 2049 can be written in nineteen forms: the
    1999. július 4., vasárnap       full, long, medium and short one of English, French, German, Spanish and Hungarian.
    4/7/99                          The English short form is left out: 7/4/99 may be a day in July or one in April.

Every digit of the answer comes from one known word of the source. These are the gold alignments. A word is a run of
letters or digits with the characters between it and the next one. The dates for training, for validation and for the
judge do not overlap.

Glossary: B dates, S characters of the longest one, T = 11 characters of an answer, the end included.

Source: the Unicode Common Locale Data Repository (CLDR), as it comes with the `babel` package; no network is needed.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor

from .cache import datasets_library

if TYPE_CHECKING:
    from datasets import DatasetDict

PAD, SOS, EOS = 0, 1, 2
"""The first ids of both alphabets. A source has no begin and end tokens, and uses only PAD."""
FIRST = 3
"""The id of an alphabet's first character."""
LETTERS = " ,./0123456789ADFJMNOSTWabcdefghijklmnopqrstuvwxyzÁáäéíóöúûüőű"
"""The characters of a source. Characters that CLDR adds later all become id 1."""
ANSWERS = "0123456789-"
"""The characters of an answer."""
SOURCES, TARGETS = FIRST + len(LETTERS), FIRST + len(ANSWERS)
"""Sizes of the two alphabets."""
DIGITS = (0, 1, 2, 3, 5, 6, 8, 9)
"""The positions of an answer's digits. The other positions are hyphens, which come from no word."""
LANGUAGES = {"en": "English", "fr": "French", "de": "German", "es": "Spanish", "hu": "Hungarian"}
Size = Literal["full", "long", "medium", "short"]
SIZES: tuple[Size, ...] = ("full", "long", "medium", "short")
AMBIGUOUS = {("en", "short")}
"""Forms with day and month in the opposite order to the other short forms."""
YEARS = (1950, 2049)
"""First and last year. The two digits of short forms stand for exactly one year in this range."""
PARTS = {"train": 0.8, "validation": 0.1, "judge": 0.1}
"""Shares of the dates. Every date belongs to one part."""
BATCH = 64
"""Dates in a training batch."""


@dataclass(frozen=True)
class Form:
    """One way to write a date: pieces of text, each either fixed or looked up in a table by a field of the date.

    `pieces` holds (field, table). The field is `year`, `month`, `day`, `weekday` or, for fixed text, nothing.
    """

    language: str
    size: Size
    pieces: tuple[tuple[str, tuple[str, ...]], ...]


class Dates(NamedTuple):
    """Dates as tensors, all LongTensors.

    `src` (B, S) with `lengths` (B,); `tgt` (B, 11), which ends in EOS; `words` (B, S), the word each character of the
    source belongs to, counted from 0; `gold` (B, 8), the word that each digit of the answer comes from.
    """

    src: Tensor
    lengths: Tensor
    tgt: Tensor
    words: Tensor
    gold: Tensor


@lru_cache(maxsize=1)
def forms() -> tuple[Form, ...]:
    """Return the nineteen forms, by language and size."""
    pairs = [(language, size) for language in LANGUAGES for size in SIZES]
    return tuple(_form(*pair) for pair in pairs if pair not in AMBIGUOUS)


def _form(language: str, size: Size) -> Form:
    from babel.dates import get_date_format, tokenize_pattern

    tokens = tokenize_pattern(get_date_format(size, language).pattern)
    return Form(language, size, tuple(_piece(kind, value, language) for kind, value in tokens))


def _piece(kind: str, value: Any, language: str) -> tuple[str, tuple[str, ...]]:
    """Return fixed text, or all values of a field in CLDR's spelling: days and months from 1, weekdays from Monday."""
    from babel.dates import DateTimeFormat

    if kind == "chars":
        return "", (plain(str(value)),)
    letter, width = value
    days = [datetime.date(2001, 1, day) for day in range(1, 32)]  # from a Monday on
    examples = {
        "y": ("year", [datetime.date(year, 1, 1) for year in range(YEARS[0], YEARS[1] + 1)]),
        "M": ("month", [datetime.date(2001, month, 1) for month in range(1, 13)]),
        "L": ("month", [datetime.date(2001, month, 1) for month in range(1, 13)]),
        "d": ("day", days),
        "E": ("weekday", days[:7]),
    }
    field, dates = examples[str(letter)]
    return field, tuple(plain(DateTimeFormat(date, language)[str(letter) * int(width)]) for date in dates)


def plain(text: str) -> str:
    """Normalise to composed characters and one kind of space."""
    return "".join(" " if char.isspace() else char for char in unicodedata.normalize("NFC", text))


def written(date: datetime.date, form: Form) -> str:
    """Return the date in that form."""
    place = {"": 0, "year": date.year - YEARS[0], "month": date.month - 1, "day": date.day - 1}
    place["weekday"] = date.weekday()
    return "".join(table[place[field]] for field, table in form.pieces)


def words_of(text: str) -> list[str]:
    """Return the words of a date, each with the characters between it and the next."""
    marks = _words(source_ids(text)[None])[0].tolist()
    return ["".join(char for char, mark in zip(text, marks) if mark == word) for word in range(max(marks) + 1)]


def _words(src: Tensor) -> Tensor:
    """Return the word index of each character of src (B, S). A word begins at a letter or digit after another sign."""
    inside = torch.tensor([False] * FIRST + [char.isalnum() for char in LETTERS])[src]  # (B, S)
    before = torch.cat([torch.zeros_like(inside[:, :1]), inside[:, :-1]], dim=1)
    return ((inside & ~before).cumsum(1) - 1).clamp(min=0)


@lru_cache(maxsize=32)
def _gold(form: Form) -> list[int]:
    """Return the index of the word that each of the eight digits of an answer comes from."""
    words = [field for field, table in form.pieces if field or table[0].strip(" ,./")]
    return [words.index(field) for field in ["year"] * 4 + ["month"] * 2 + ["day"] * 2]


def readings(text: str) -> list[tuple[datetime.date, Form]]:
    """Return every date that the text can mean, with its form."""
    found = []
    for form, pattern in _patterns():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        fields = {field: table.index(match[field]) for field, table in form.pieces if field}
        with suppress(ValueError):  # such as a 31st of June
            date = datetime.date(YEARS[0] + fields["year"], fields["month"] + 1, fields["day"] + 1)
            if written(date, form) == text:
                found.append((date, form))
    return found


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[Form, re.Pattern[str]]]:
    """Return a regular expression for each form, in which a field is one word of its table."""

    def part(field: str, table: tuple[str, ...]) -> str:
        choices = "|".join(re.escape(word) for word in table)
        return f"(?P<{field}>{choices})" if field else choices

    return [(form, re.compile("".join(part(*piece) for piece in form.pieces))) for form in forms()]


@lru_cache(maxsize=1)
def _ordinals() -> dict[str, Tensor]:
    """Return the days of each part, as `date.toordinal` numbers."""
    first, last = datetime.date(YEARS[0], 1, 1).toordinal(), datetime.date(YEARS[1], 12, 31).toordinal()
    mixed = torch.randperm(last - first + 1, generator=torch.Generator().manual_seed(0)) + first
    sizes = [round(share * len(mixed)) for share in PARTS.values()]
    sizes[0] += len(mixed) - sum(sizes)
    return dict(zip(PARTS, mixed.split(sizes), strict=True))


def days(part: str) -> list[datetime.date]:
    """Return the dates of a part, unordered.

    Raises:
        ValueError: there is no such part.
    """
    if part not in PARTS:
        raise ValueError(f"no part is called {part!r}; there are {', '.join(PARTS)}")
    return [datetime.date.fromordinal(day) for day in _ordinals()[part].tolist()]


def draw(n: int, generator: torch.Generator, part: str = "train") -> Dates:
    """Draw `n` dates of a part, each in its own form. Dates and forms are equally likely.

    Raises:
        ValueError: there is no such part.
    """
    return encoded(_drawn(n, generator, part))


def _drawn(n: int, generator: torch.Generator, part: str) -> list[tuple[datetime.date, Form]]:
    if part not in PARTS:
        raise ValueError(f"no part is called {part!r}; there are {', '.join(PARTS)}")
    ordinals = _ordinals()[part]
    chosen = ordinals[torch.randint(len(ordinals), (n,), generator=generator)].tolist()
    kinds = torch.randint(len(forms()), (n,), generator=generator).tolist()
    return [(datetime.date.fromordinal(day), forms()[kind]) for day, kind in zip(chosen, kinds, strict=True)]


def encoded(pairs: Sequence[tuple[datetime.date, Form]]) -> Dates:
    """Return dates in given forms as tensors."""
    texts = [written(date, form) for date, form in pairs]
    lengths = torch.tensor([len(text) for text in texts])
    longest = int(lengths.max())
    src = source_ids("".join(text.ljust(longest, "\0") for text in texts)).view(len(texts), longest)
    tgt = torch.stack([target_ids(date.isoformat()) for date, _ in pairs])
    return Dates(src, lengths, tgt, _words(src), torch.tensor([_gold(form) for _, form in pairs]))


_SOURCE_ID = {"\0": PAD, **{char: FIRST + index for index, char in enumerate(LETTERS)}}
_TARGET_ID = {char: FIRST + index for index, char in enumerate(ANSWERS)}


def source_ids(text: str) -> Tensor:
    """Return the characters of a source as a LongTensor (S,)."""
    return torch.tensor([_SOURCE_ID.get(char, SOS) for char in text])


def target_ids(text: str) -> Tensor:
    """Return an answer as a LongTensor with EOS at its end: `1999-07-04` becomes (11,)."""
    return torch.tensor([*(_TARGET_ID[char] for char in text), EOS])


def answer(ids: Tensor) -> str:
    """Return the text of ids (T,) up to their EOS, with a question mark for ids that are no character."""
    said = ""
    for index in ids.tolist():
        if index == EOS:
            break
        said += ANSWERS[index - FIRST] if FIRST <= index < TARGETS else "?"
    return said


def load(rows: int = 2000, seed: int = 0) -> DatasetDict:
    """Return splits `train` and `validation` of `rows` dates each, always the same for one seed.

    Columns: text, iso, language, form, words (of the text) and gold (the word each digit of iso comes from). They
    are drawn faster than a cache could be read, so they are not cached. No date is in both splits.
    """
    library = datasets_library()
    generator = torch.Generator().manual_seed(seed)
    parts = {part: [_row(*pair) for pair in _drawn(rows, generator, part)] for part in ("train", "validation")}
    return library.DatasetDict({part: library.Dataset.from_list(made) for part, made in parts.items()})


def _row(date: datetime.date, form: Form) -> dict[str, object]:
    names = {"text": written(date, form), "iso": date.isoformat(), "language": form.language, "form": form.size}
    return {**names, "words": words_of(names["text"]), "gold": _gold(form)}


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield endless training batches: src (B, S), lengths (B,), tgt (B, 11).

    A batch holds dates of similar lengths, which saves padding. The batches come in random order.
    """
    while True:
        many = draw(32 * BATCH, generator)
        groups = many.lengths.argsort(stable=True).split(BATCH)
        for place in torch.randperm(len(groups), generator=generator).tolist():
            chosen = groups[place]
            lengths = many.lengths[chosen]
            yield many.src[chosen, : int(lengths.max())], lengths, many.tgt[chosen]
