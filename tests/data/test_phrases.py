"""The translations are French, the alignments name the words they come from, and what is held out stays out."""

from __future__ import annotations

import random

import pytest
import torch

from course import data
from course.data import phrases, transfer


def said(sentence: str) -> str:
    return " ".join(phrases.aligned(sentence.split())[0])


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("the small black cat does not see him .", "le petit chat noir ne le voit pas ."),
        ("two old women love a beautiful red house .", "deux vieilles femmes aiment une belle maison rouge ."),
        ("I never hear the elephant .", "je n' entends jamais l' éléphant ."),
        ("does my friend love her ?", "est-ce que mon ami l' aime ?"),
        ("is he often tired ?", "est-ce qu' il est souvent fatigué ?"),
        ("the girl and the queen are tired .", "la fille et la reine sont fatiguées ."),
        ("the girl and the king are tired .", "la fille et le roi sont fatigués ."),
        ("my school is old .", "mon école est vieille ."),
        ("my old school is white .", "ma vieille école est blanche ."),
        ("this old man follows these men .", "ce vieil homme suit ces hommes ."),
        ("this man works in the garden .", "cet homme travaille dans le jardin ."),
        ("he does not want an apple .", "il ne veut pas de pomme ."),
        ("he never draws a tree .", "il ne dessine jamais d' arbre ."),
        ("we are not with a king .", None),
        ("they do not arrive on an island .", "ils n' arrivent pas sur une île ."),
        ("I am happy .", "je suis heureux ."),
        ("she is happy .", "elle est heureuse ."),
    ],
)
def test_agreement_order_negation_and_elision(english, french):
    if french is None:
        with pytest.raises(ValueError, match="not a sentence of the grammar"):
            said(english)
    else:
        assert said(english) == french


def test_english_can_be_read_back():
    chance = random.Random(3)
    for _ in range(3000):
        clause = transfer.draw(chance)
        assert transfer.analyse([word for word, _ in transfer.english(clause)]) == clause


@pytest.mark.parametrize(
    "words", ["", "cat the sees .", "the cat see him .", "a cats sleep .", "a elephant sleeps .", "the cat sleeps"]
)
def test_what_is_no_sentence_is_refused(words):
    with pytest.raises(ValueError, match=r"not a sentence|does not go with"):
        phrases.aligned(words.split())


def test_every_french_word_comes_from_an_english_one():
    for english, french, places in phrases.draw(500, random.Random(0)):
        assert len(places) == len(french) and all(0 <= place < len(english) for place in places)
    french, places = phrases.aligned(["the", "small", "black", "cat", "does", "not", "see", "him", "."])
    assert dict(zip(french[1:4], places[1:4], strict=True)) == {"petit": 1, "chat": 3, "noir": 2}
    assert [places[french.index(word)] for word in ("ne", "pas", "voit")] == [5, 5, 6]


def test_shares_have_no_sentence_in_common():
    corpus = data.load("phrases")
    train, validation = set(corpus["train"]["english"]), set(corpus["validation"]["english"])
    held_out = {" ".join(english) for english, _, _ in phrases.draw(3000, random.Random(5))}
    assert len(train) == phrases.TRAIN and len(validation) == phrases.VALIDATION
    assert not train & validation and not held_out & (train | validation)


def test_a_draw_repeats_itself_and_does_not_repeat_a_sentence():
    once, again = (phrases.draw(300, random.Random(7)) for _ in range(2))
    assert once == again and len({english for english, _, _ in once}) == 300
    with pytest.raises(ValueError, match="no share is called 'test'"):
        phrases.draw(1, random.Random(0), "test")


def test_the_vocabulary_holds_every_word_and_no_other():
    pairs = phrases.draw(20_000, random.Random(0), "train")
    for language, index in (("english", 0), ("french", 1)):
        words = phrases.vocabulary(language)
        assert words[:3] == ("<pad>", "<sos>", "<eos>") and len(set(words)) == len(words)
        assert set(words[3:]) == {word for pair in pairs for word in pair[index]}


def test_ids_and_words_are_each_others_inverse():
    sentences = [["she", "dances", "."], ["the", "small", "black", "cat", "does", "not", "see", "him", "."]]
    ids = phrases.encode(sentences, "english")
    assert ids.shape == (2, 10) and ids[0].tolist()[3:] == [phrases.EOS] + 6 * [phrases.PAD]
    assert [phrases.decode(row, "english") for row in ids] == sentences
    with pytest.raises(ValueError, match="not in the english vocabulary: dragon"):
        phrases.encode([["the", "dragon"]], "english")


def test_the_stream_goes_through_every_pair():
    once = data.stream("encoder_decoder_task", torch.Generator().manual_seed(4))
    seen = set()
    for _ in range(phrases.TRAIN // phrases.BATCH):
        src, tgt = next(once)
        assert len(src) == len(tgt) == phrases.BATCH and src.dtype == tgt.dtype == torch.long
        assert ((tgt == phrases.EOS).sum(1) == 1).all() and ((src == phrases.EOS).sum(1) == 1).all()
        assert (tgt[:, -1] != phrases.PAD).any() and not (tgt == phrases.SOS).any()
        seen |= {tuple(row) for row in src.tolist()}
    assert len({tuple(i for i in row if i) for row in seen}) == phrases.TRAIN // phrases.BATCH * phrases.BATCH
    assert not torch.equal(next(once)[0], src)


def test_batches_hold_sentences_of_similar_lengths():
    stream = data.stream("encoder_decoder_task", torch.Generator().manual_seed(0))
    share = [(tgt == phrases.PAD).double().mean().item() for _, tgt in (next(stream) for _ in range(200))]
    assert sum(share) / len(share) < 0.02
