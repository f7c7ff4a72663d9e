"""Hidden tests of `bits_per_byte`: a model's loss in a unit that does not depend on its tokeniser."""

from __future__ import annotations

import math

import torch

from course.exercise import call, exercise
from course.hidden.tokens.scaffold import drawn_text
from course.reference import tokens as reference


@exercise(
    reference.bits_per_byte,
    hints=(
        "One piece of probability 1/16 costs four bits. What is its natural logarithm, and how does it become 4?",
        "The same text can be cut into few pieces or into many. Which number of the text stays the same, however it is "
        "cut? Compare len(text) with len(text.encode()) for `né`.",
        "Begin with what the model pays for the whole text. Is that a positive number, and in which unit is it?",
    ),
    calls=(
        "bits_per_byte(tensor([0.5]).log(), 'a')",
        "bits_per_byte(tensor([0.25]).log(), 'ab')",
        "bits_per_byte(tensor([0.5, 0.5]).log(), 'ab')",
        "bits_per_byte(tensor([0.25]).log(), 'é')",
        "bits_per_byte(tensor([1.]).log(), 'abc')",
        "bits_per_byte(tensor([0.5, 0.25]).log(), 'abc')",
    ),
)
def bits_per_byte(rng):
    """Texts with fewer pieces than bytes, with as many, and with more; characters of one to four bytes."""

    def case(title, text, T, dtype=torch.float64, **options):
        log_probs = -rng.uniform(T, low=0.1, high=7.0, dtype=dtype)
        return call(title, log_probs, text, grad=False, **options)

    yield call("one piece for two letters", torch.tensor([1 / 16]).double().log(), "né", grad=False, public=True)
    yield call("two pieces", torch.tensor([1 / 4, 1 / 8]).double().log(), "né", grad=False, public=True)
    yield case("a longer text", drawn_text(rng, "abc", 31), 23, weight=2.0)
    yield case("accents and emoji", drawn_text(rng, "éa🙂", 17), 29, weight=2.0)
    yield case("a special symbol besides", "ab", 3)
    yield case("float32", drawn_text(rng, "né", 11), 13, dtype=torch.float32, public=True)


def _sum(log_probs):
    return -log_probs.double().sum().item()


def _bytes(text):
    return len(text.encode())


bits_per_byte.mistakes(
    "One piece of probability 1/2 costs one bit. What does your function say of it?",
    nats=lambda log_probs, text: _sum(log_probs) / _bytes(text),
    nats_by_the_wrong_factor=lambda log_probs, text: _sum(log_probs) * math.log(2) / _bytes(text),
)
bits_per_byte.mistakes(
    "How many bytes has `né`? And how many characters do you divide by?",
    per_character=lambda log_probs, text: _sum(log_probs) / math.log(2) / len(text),
)
bits_per_byte.mistakes(
    "Cut the same text into twice as many pieces of half the cost. Should your number change?",
    per_piece=lambda log_probs, text: _sum(log_probs) / math.log(2) / len(log_probs),
    mean_over_pieces_too=lambda log_probs, text: _sum(log_probs) / math.log(2) / len(log_probs) / _bytes(text),
)
bits_per_byte.mistakes(
    "Is the logarithm of a probability positive or negative? And a cost?",
    sign_forgotten=lambda log_probs, text: -_sum(log_probs) / math.log(2) / _bytes(text),
)
