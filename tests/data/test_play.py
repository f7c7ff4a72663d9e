"""The play: what is drawn follows the probabilities that are told of it."""

from __future__ import annotations

import torch

from course.data import grammar, play


def drawn(n, seed=0):
    return play.draw(n, torch.Generator().manual_seed(seed))


def is_later_surname(ids):
    """Where ids (B, T) are surnames of people who have spoken before, and so could be known: bool (B, T)."""
    speakers = torch.where(play.is_surname(ids), ids.roll(1, 1), -1)
    earlier = (speakers[:, :, None] == speakers[:, None]) & (speakers[:, :, None] >= 0)  # (B, T, T)
    return earlier.tril(-1).any(-1)


def test_a_text_is_lines_of_two_speakers_who_keep_their_surnames():
    for text in play.decode(drawn(1)[0]).splitlines(), play.decode(drawn(1, 1)[0]).splitlines():
        people = {tuple(line.split()[:2]) for line in text if len(line.split()) > 1}
        assert len({speaker for speaker, _ in people}) == len(people) <= 2
        assert all(speaker in play.SPEAKERS and surname in play.SURNAMES for speaker, surname in people)
        english = grammar.language()
        for line in text[:-1]:
            assert english.log_probability(line.split()[2:]) > -torch.inf


def test_probabilities_are_complete_and_allow_what_is_drawn():
    ids = drawn(12)
    p = play.next_token(ids[:, :-1])
    assert torch.allclose(p.sum(-1), torch.ones(12, play.LENGTH).double())
    assert bool((p.gather(-1, ids[:, 1:, None]) > 0).all())


def test_a_text_that_ends_anywhere_has_the_same_probabilities():
    ids = drawn(3)
    whole = play.next_token(ids)
    for length in range(1, 30):
        assert torch.allclose(play.next_token(ids[:, :length]), whole[:, :length])


def test_speakers_and_surnames_come_as_often_as_they_should():
    """Each kind of place by itself: who speaks first, who speaks next, which surname a new speaker has."""
    ids = drawn(400)
    p = play.next_token(ids[:, :-1])
    stop = grammar.language().ids[grammar.STOP]
    told = p.gather(-1, ids[:, 1:, None]).squeeze(-1)
    surname, later = play.is_surname(ids)[:, 1:], is_later_surname(ids)[:, 1:]
    assert bool((told[later] == 1).all()) and torch.allclose(told[surname & ~later], torch.tensor(1 / 16).double())
    assert torch.allclose(told[:, 0], torch.tensor(1 / 8).double())
    speaks = (ids[:, :-1] == stop) & (torch.arange(play.LENGTH) > 0)
    found, expected = (told[speaks] == 0.5).double().mean(), p[speaks].square().sum(-1).mean()
    assert 0.7 < float(found) < 0.95 and 0.35 < float(expected) < 0.5


def test_a_cast_has_names_of_its_own_and_the_ids_stay():
    ids = drawn(1)[0]
    ours, theirs = play.decode(ids), play.decode(ids, {name: name.upper() for name in play.SPEAKERS})
    assert theirs != ours and theirs.lower() == ours.lower()
    assert all(line.split()[0].isupper() for line in theirs.splitlines())


def test_the_same_seed_draws_the_same_texts():
    assert torch.equal(drawn(5), drawn(5)) and not torch.equal(drawn(5), drawn(5, 1))
    assert drawn(7).shape == (7, play.LENGTH + 1)


def test_later_surnames_are_found():
    brook, cliff = (len(play.words()) - len(play.SURNAMES) + i for i in (0, 1))
    ids = torch.tensor([[1, 5, brook, 9, 1, 6, cliff, 9, 1, 5, brook, 1, 6]])
    assert is_later_surname(ids).nonzero()[:, 1].tolist() == [10]
