"""The published GPT: what it can do, and what stands beside it. How it came to be is not asked."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.data import chat, wordnet
from course.reference.gpt import GPT, generate_text
from tests.training import wordnet_text
from tests.training.pretrain_gpt import bits_per_byte

CONTROL = [chr(number) for number in range(9)]
LINES = [
    "cook (person): someone who cooks food",
    "river (natural thing): a large natural stream of water",
    "rapidly (adverb): with rapid movements",
]


@pytest.fixture(scope="module")
def model():
    return GPT(**wordnet.SIZES).load_published(wordnet.weights()).eval()


def test_it_is_small_and_in_half_precision():
    assert wordnet.WEIGHTS.stat().st_size <= 3_000_000
    assert {weight.dtype for weight in wordnet.weights().values()} == {torch.float16}


def test_it_finds_definitions_likelier_than_noise(model):
    assert bits_per_byte(model, LINES) < 2.0
    assert bits_per_byte(model, ["qzx wv jjk vvq xxz kqj zzx"]) > 4.0


@pytest.mark.parametrize("kind", ["plant", "verb", "person"])
def test_it_defines_words_that_do_not_exist(model, kind):
    tokens = generate_text(model, wordnet.prompt("blorbel", kind), 80, torch.Generator().manual_seed(0), top_p=0.9)
    said = wordnet.decode(tokens[0].tolist())
    assert wordnet.END in tokens and len(said.split()) >= 2 and said.isascii()


def test_it_knows_plants_from_persons(model):
    """Flowers are a plant's, and professions a person's: the kind is read."""

    def nats(kind, rest):
        ids = wordnet.prompt("blorbel", kind)[0].tolist()
        text = torch.tensor([ids + wordnet.encode(rest)])
        with torch.no_grad():
            log_p = model(text[:, :-1])[0].log_softmax(-1).gather(-1, text[:, 1:, None])
        return -float(log_p[0, len(ids) - 1 :].sum())

    for rest, kind, other in (
        (" any of various shrubs with flowers", "plant", "person"),
        (" someone who", "person", "plant"),
    ):
        assert nats(kind, rest) + math.log(100) < nats(other, rest)


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters=CONTROL), max_size=40))
@settings(max_examples=50, deadline=None)
def test_any_text_is_encoded_and_decoded(text):
    assert wordnet.decode(wordnet.encode(text)) == text


@pytest.mark.parametrize("control", CONTROL)
@pytest.mark.parametrize("text", ["What is a cup?{}{}A cup is poison.", "{}", "cu{}p", "a\n{}\tcup "])
def test_no_typed_text_makes_a_special_token(text, control):
    tokens = wordnet.encode(text.format(control, control))
    assert tokens == wordnet.encode(text.format("", ""))
    assert not {wordnet.END, chat.IMAGE, *chat.SPECIAL.values()} & {*tokens}


def test_it_encodes_as_the_merges_say():
    """Merge after merge, in their order, as the exercise of topic 13 does it."""
    for line in LINES:
        pieces = []
        for word in wordnet.words_of(line):
            parts = [bytes([b]) for b in word.encode()]
            for pair in wordnet.merges():
                i = 0
                while i < len(parts) - 1:
                    if (parts[i], parts[i + 1]) == pair:
                        parts[i : i + 2] = [parts[i] + parts[i + 1]]
                    i += 1
            pieces += parts
        assert [wordnet.pieces()[token] for token in wordnet.encode(line)] == pieces


def test_a_text_ends_at_the_end():
    assert wordnet.decode([*wordnet.encode("a tree"), wordnet.END, 70, 71]) == "a tree"
    assert len(wordnet.pieces()) == wordnet.SIZES["vocab"] == len({*wordnet.pieces()})


def test_an_unknown_kind_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"no kind is called 'dragon'.*animal"):
        wordnet.prompt("blorbel", "dragon")


def test_the_card_says_what_it_should():
    card = wordnet.card()
    for said in (
        "WordNet 3.0 Copyright 2006 by Princeton University",
        "bits per byte",
        "What it is bad at",
        "make weights",
    ):
        assert said in card
    assert card.count(": ") > 20 and sum(line.startswith("- ") and "(" in line for line in card.splitlines()) >= 20


DATA = """  1 This software and database is being provided to you
00001740 03 n 01 entity 0 003 ~ 00001930 n 0000 | that which is perceived; "an example"; "another"
00002137 18 n 03 left-hander 0 south_paw 0 third 0 001 @ 00001740 n 0000 | a person who favours the left hand
00002138 00 a 01 able(p) 0 000 | (usually followed by `to') having the means; "able to swim"
00002139 29 v 01 breathe 0 000 02 + 02 00 + 08 00 | draw air into the lungs
"""


def test_lines_are_read_as_wordnet_writes_them():
    assert list(wordnet_text.definitions(DATA)) == [
        ["entity (thing): that which is perceived"],
        [
            "left-hander (person): a person who favours the left hand",
            "south paw (person): a person who favours the left hand",
        ],
        ["able (adjective): (usually followed by `to') having the means"],
        ["breathe (verb): draw air into the lungs"],
    ]
    assert {*wordnet_text.KIND.values()} == {*wordnet.KINDS}


def test_a_folder_without_wordnet_is_named_in_one_sentence(tmp_path):
    with pytest.raises(SystemExit, match=r"holds no data.noun.*--wordnet FOLDER"):
        wordnet_text.read(tmp_path)


def test_merges_are_those_of_topic_13():
    """Of equally common pairs the older goes first."""
    merges = wordnet_text.trained_merges(["hug hug hug pug pun pun bun hugs"], 6)
    assert merges == [(b"u", b"g"), (b"h", b"ug"), (b" ", b"p"), (b" ", b"hug"), (b"u", b"n"), (b" p", b"un")]
