"""Dates in five languages: one reading each, gold names the right word, no date is shared."""

from __future__ import annotations

import datetime
import itertools

import pytest
import torch

from course import data
from course.data import dates

JULY = datetime.date(1999, 7, 4)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_nineteen_forms():
    found = {(form.language, form.size): dates.written(JULY, form) for form in dates.forms()}
    assert len(found) == 19 and ("en", "short") not in found
    assert found["en", "full"] == "Sunday, July 4, 1999"
    assert found["fr", "long"] == "4 juillet 1999"
    assert found["de", "short"] == "04.07.99"
    assert found["es", "full"] == "domingo, 4 de julio de 1999"
    assert found["hu", "full"] == "1999. július 4., vasárnap"


def test_babels_own_formatting_says_the_same():
    from babel.dates import format_date

    for day, form in itertools.product(dates.days("judge")[:25], dates.forms()):
        assert dates.written(day, form) == dates.plain(format_date(day, form.size, form.language))


def test_every_date_can_be_read_in_one_way_only():
    """At least every month, every day of the month, every year, every weekday, in every form."""
    first = datetime.date(1950, 1, 1)
    days = [first + datetime.timedelta(days=step) for step in range(0, 36_500, 61)] + [datetime.date(2000, 2, 29)]
    for day, form in itertools.product(days, dates.forms()):
        text = dates.written(day, form)
        assert {date for date, _ in dates.readings(text)} == {day}, text
    assert dates.readings("31. Juni 1999") == [] and dates.readings("yesterday") == []


def test_the_parts_share_no_date_and_leave_none_out():
    parts = {part: set(dates.days(part)) for part in dates.PARTS}
    assert sum(map(len, parts.values())) == len(set.union(*parts.values())) == 36_525
    assert len(parts["train"]) == 29_221 and len(parts["judge"]) == 3_652
    for part, days in parts.items():
        drawn = dates.draw(300, generator(), part)
        assert {datetime.date.fromisoformat(dates.answer(ids)) for ids in drawn.tgt} <= days
    with pytest.raises(ValueError, match="part"):
        dates.draw(3, generator(), "test")
    with pytest.raises(ValueError, match="part"):
        dates.days("test")


def test_gold_names_the_word_that_a_digit_comes_from():
    drawn = dates.draw(600, generator(1))
    for src, length, tgt, words, gold in zip(*drawn, strict=True):
        text = "".join(dates.LETTERS[index - dates.FIRST] for index in src[:length].tolist())
        pieces = dates.words_of(text)
        assert "".join(pieces) == text and words[length - 1] == len(pieces) - 1
        iso = dates.answer(tgt)
        plain = [piece.strip(" ,./") for piece in pieces]
        assert plain[gold[0]] in (iso[:4], iso[2:4])
        assert plain[gold[6]].zfill(2) == iso[8:]
        assert not plain[gold[4]].isdigit() or plain[gold[4]].zfill(2) == iso[5:7]
        assert gold[0] == gold[3] and gold[4] == gold[5] and gold[6] == gold[7] and len(set(gold.tolist())) == 3


def test_draws_are_padded_ended_and_repeat_themselves():
    drawn, again, other = (dates.draw(50, generator(seed)) for seed in (2, 2, 3))
    assert all(torch.equal(a, b) for a, b in zip(drawn, again, strict=True))
    assert not torch.equal(drawn.tgt, other.tgt)
    padded = torch.arange(drawn.src.shape[1]) >= drawn.lengths[:, None]
    assert torch.equal(drawn.src == dates.PAD, padded) and drawn.tgt.shape == (50, 11)
    assert (drawn.tgt[:, -1] == dates.EOS).all() and int(drawn.src.max()) < dates.SOURCES
    assert (drawn.src[~padded] >= dates.FIRST).all(), "no character is unknown"
    assert dates.source_ids("4 июля").tolist()[2:] == [dates.SOS] * 4


def test_load_gives_two_splits():
    corpus = data.load("dates", rows=40, seed=3)
    assert list(corpus) == ["train", "validation"] and len(corpus["train"]) == 40
    row = corpus["train"][0]
    assert list(row) == ["text", "iso", "language", "form", "words", "gold"]
    assert row["text"] == "".join(row["words"]) and row["language"] in dates.LANGUAGES
    assert data.load("dates", rows=40, seed=3)["train"]["text"] == corpus["train"]["text"]
    assert not set(corpus["train"]["iso"]) & set(corpus["validation"]["iso"])


def test_the_stream_gives_dates_of_similar_lengths():
    stream = data.stream("bahdanau_attention_task", generator(1))
    train = set(dates.days("train"))
    for src, lengths, tgt in itertools.islice(stream, 40):
        assert src.shape == (dates.BATCH, int(lengths.max())) and tgt.shape == (dates.BATCH, 11)
        assert {datetime.date.fromisoformat(dates.answer(ids)) for ids in tgt} <= train
