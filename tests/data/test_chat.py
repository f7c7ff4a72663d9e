"""The assistant's adapter: what it can do, what it leaves alone, and what stands beside it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course import blocks
from course.data import chat, digits, pretrained, wordnet
from course.reference.assistant import chat_ids, insert_patches, sequence_log_prob, stretch
from course.reference.gpt import GPT, generate_text
from tests.training import tune_chat

END = chat.SPECIAL["end"]


@pytest.fixture(scope="module")
def assistant():
    return GPT(**wordnet.SIZES).load_published(chat.weights()).eval().requires_grad_(False)


def prompt(*words):
    ids, _ = chat_ids([("user", [token for some in words for token in some])], chat.SPECIAL)
    return torch.cat([ids, torch.tensor([chat.SPECIAL["assistant"]])])[None]


def test_it_is_small_and_in_half_precision():
    assert chat.ADAPTER.stat().st_size < 500_000
    assert {tensor.dtype for tensor in chat.adapter().values()} == {torch.float16}


def test_the_adapter_is_of_low_rank_and_moves_no_word():
    base, tuned = wordnet.weights(), chat.weights()
    assert tuned.keys() == base.keys()
    moved = (tuned["words.weight"] != base["words.weight"].float()).any(1).nonzero().flatten().tolist()
    assert {*moved} <= {*chat.SPECIAL.values()}
    change = tuned["layers.0.W_q.weight"] - base["layers.0.W_q.weight"].float()
    assert 0 < torch.linalg.matrix_rank(change.double(), rtol=1e-5) <= tune_chat.RANK


def test_weights_are_new_at_each_call():
    chat.weights()["norm.weight"].zero_()
    assert bool(chat.weights()["norm.weight"].any())


def test_it_answers_in_one_sentence_and_stops(assistant):
    questions = ["What is a blorbel?", "What does it mean to overgrok?", "What does moonish mean?", "What is a tree?"]
    for question in questions:
        said = generate_text(assistant, prompt(wordnet.encode(question)), 60, torch.Generator().manual_seed(0),
                             temperature=0.5)[0].tolist()  # fmt: skip
        assert END in said
        answer = wordnet.decode(said[: said.index(END)])
        assert answer.endswith(".") and answer[0].isupper() and len(answer.split()) > 3


def test_the_predictor_does_not():
    predictor = GPT(**wordnet.SIZES).load_published(wordnet.weights()).eval()
    said = generate_text(predictor, prompt(wordnet.encode("What is a tree?")), 60, torch.Generator().manual_seed(0))
    assert END not in said


@pytest.mark.parametrize("digit", chat.DIGITS)
def test_it_says_which_digits_name_stands_in_front(assistant, digit):
    ids = prompt(wordnet.encode(f" {digit}")[:1], wordnet.encode(chat.ASKED))
    said = generate_text(assistant, ids, 10, torch.Generator().manual_seed(0), temperature=0.0)[0].tolist()
    assert wordnet.decode(said[: said.index(END)]) == f"It is {digit}."


@pytest.mark.slow
def test_a_linear_map_lets_it_read_digits(assistant):
    """As in the notebook: over nine tenths of the digits that nobody has shown it."""
    torch.manual_seed(0)
    eye = blocks.ViT(**pretrained.SIZES).eval()
    eye.load_state_dict(pretrained.weights())
    (images, labels), (new_images, new_labels) = digits.scans("train"), digits.scans("test")
    with torch.no_grad():
        seen, new = eye.tokens(images), eye.tokens(new_images)
    asked = ("user", [chat.IMAGE, *wordnet.encode(chat.ASKED)])
    rows = [chat_ids([asked, ("assistant", wordnet.encode(f"It is {digit}."))], chat.SPECIAL) for digit in chat.DIGITS]
    ids, learned = (nn.utils.rnn.pad_sequence(list(part), batch_first=True) for part in zip(*rows, strict=True))
    longer, spoken = stretch(ids, learned, chat.IMAGE, seen.shape[1])
    words, look = assistant.embed(ids), nn.Linear(40, 160)
    optimizer = torch.optim.Adam(look.parameters(), lr=1e-2)
    for _ in range(100):
        some = torch.randint(len(seen), (32,))
        digit = labels[some]
        vectors = insert_patches(words[digit], ids[digit], chat.IMAGE, look(seen[some]))
        loss = -sequence_log_prob(assistant(vectors)[0], longer[digit], spoken[digit]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    begun = torch.cat([prompt(asked[1]), torch.tensor([wordnet.encode("It is")])], 1).expand(len(new), -1)
    with torch.no_grad():
        said = assistant(insert_patches(assistant.embed(begun), begun, chat.IMAGE, look(new)))[0][:, -1].argmax(-1)
    names = torch.tensor([wordnet.encode(f" {digit}")[0] for digit in chat.DIGITS])
    assert (said == names[new_labels]).double().mean().item() > 0.9


def test_lines_of_wordnet_become_questions_and_answers():
    made = tune_chat.asked_and_answered
    assert made("cook (person): someone who cooks food") == ("What is a cook?", "A cook is someone who cooks food.")
    assert made("Ohm (person): (1789-1854) a German physicist; he wrote a law") == (
        "What is Ohm?",
        "Ohm is a German physicist.",
    )
    assert made("breathe (verb): draw air into the lungs") == (
        "What does it mean to breathe?",
        "To breathe is to draw air into the lungs.",
    )
    assert made("able (adjective): having the means") == ("What does able mean?", "Able means having the means.")
    assert made("rapidly (adverb): with rapid movements") is None


def test_the_card_says_what_it_should():
    card = chat.card()
    for said in ("make chat", "blurred", "What it is bad at", "WordNet 3.0 Copyright 2006", "LoRA"):
        assert said in card
