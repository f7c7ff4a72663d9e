"""The reference against Hugging Face's `tokenizers`, torch's own loss, brute force, and the laws of lossless codes."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.nn import functional as F

from course import data
from course.data import grammar, words_of
from course.reference.tokens import (
    SkipGram,
    as_bytes,
    best_scores,
    bits_per_byte,
    bpe_decode,
    bpe_encode,
    count_pairs,
    merge_pair,
    negative_samples,
    skip_gram_loss,
    train_bpe,
    wordpiece_encode,
)
from tests.reference.numbers import close, gradients, noise

DTYPES = [torch.float32, torch.float64]
WORKED_EXAMPLE = "hug hug hug pug pun pun bun hugs"
TEXTS = {
    "hugs": WORKED_EXAMPLE,
    "ties": "cd ab ba dc cd ab ba dc xyxyx yxyxy",
    "runs": "a aa aaa aaaa aaaaa aaaaaa aaaaaaa",
    "accents and emoji": "né naïve 🙂🙂 née 10.5 x_1 🙂é  née\n\tñandú",
}
any_text = st.text(st.sampled_from("ab cé🙂1.\n"), max_size=24)
few = settings(max_examples=40)


# --- byte-pair encoding ----------------------------------------------------------------------------------------------


def library_merges(text: str, merges: int) -> list[tuple[bytes, bytes]]:
    """The merges that `tokenizers` learns on the words of `text`.

    It orders equally common pairs by their numbers, and numbers its alphabet by code point: so byte b becomes
    chr(0x4E00 + b), a character that is neither space nor mark.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    alphabet = [chr(0x4E00 + byte) for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False, special_tokens=[]
    )
    words = ("".join(alphabet[byte] for byte in word.encode()) for word in words_of(text))
    tokenizer.train_from_iterator([" ".join(words)], trainer)

    def read(piece: str) -> bytes:
        return bytes(ord(character) - 0x4E00 for character in piece)

    found = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(read(first), read(second)) for first, second in found]


def recounted(text: str, merges: int) -> list[tuple[bytes, bytes]]:
    """The merges by the definition: all pairs of all words counted anew, each time, and each list searched."""
    words, number = [list(as_bytes(word)) for word in words_of(text)], [bytes([byte]) for byte in range(256)]
    learned = []
    while len(learned) < merges and (pairs := Counter(pair for word in words for pair in pairwise(word))):
        ranked = {pair: (-count, *map(number.index, pair)) for pair, count in pairs.items()}
        learned.append(min(ranked, key=ranked.__getitem__))
        number.append(b"".join(learned[-1]))
        for word in words:
            place = 0
            while place < len(word) - 1:
                if (word[place], word[place + 1]) == learned[-1]:
                    word[place : place + 2] = [number[-1]]
                place += 1
    return learned


@pytest.mark.parametrize("name", TEXTS)
def test_training_agrees_with_a_library_merge_for_merge(name):
    ours = train_bpe(TEXTS[name], 60)
    assert ours == library_merges(TEXTS[name], 60) and ours


def test_training_agrees_with_a_library_on_real_text():
    """Half of the first merges are ties: another rule for them parts soon."""
    text = "\n".join(data.load("docstrings", split="train")["text"])[:100_000]
    assert train_bpe(text, 600) == library_merges(text, 600)


@few
@given(any_text, st.integers(0, 12))
def test_training_is_what_counting_anew_gives(text, merges):
    assert train_bpe(text, merges) == recounted(text, merges)


def test_the_notebooks_worked_example():
    learned = train_bpe(WORKED_EXAMPLE, 6)
    assert learned == [(b"u", b"g"), (b"h", b"ug"), (b" ", b"p"), (b" ", b"hug"), (b"u", b"n"), (b" p", b"un")]
    words = Counter(as_bytes(word) for word in words_of(WORKED_EXAMPLE))
    assert count_pairs(words).most_common(1) == [((b"u", b"g"), 5)]


def test_a_run_holds_overlapping_pairs_and_is_merged_from_the_left():
    run = as_bytes("aaa")
    assert count_pairs(Counter({run: 2})) == Counter({(b"a", b"a"): 4})
    assert merge_pair(run, (b"a", b"a")) == (b"aa", b"a")
    assert count_pairs(Counter({run: 0})) == Counter()


@pytest.mark.parametrize(("text", "merges"), [("", 5), ("a b", 0), ("a\nb\nc", 5)])
def test_nothing_to_merge(text, merges):
    assert train_bpe(text, merges) == []


@few
@given(any_text, st.text(max_size=30))
def test_text_survives_encoding(learned_from, text):
    merges = train_bpe(learned_from, 20)
    for given_text in (text, learned_from):
        pieces = bpe_encode(given_text, merges)
        assert bpe_decode(pieces) == given_text and b"".join(pieces) == given_text.encode()


@few
@given(any_text, any_text)
def test_the_order_of_merges_decides(learned_from, text):
    merges = train_bpe(learned_from, 20)
    merged = [as_bytes(word) for word in words_of(text)]
    for pair in merges:
        merged = [merge_pair(word, pair) for word in merged]
    assert bpe_encode(text, merges) == [piece for word in merged for piece in word]


def test_half_a_character_is_no_text_alone():
    first, second = b"\xc3", b"\xa9"
    assert bpe_decode([first, second]) == "é" and bpe_decode([first]) == "�" and bpe_decode([]) == ""


# --- WordPiece -------------------------------------------------------------------------------------------------------


pieces = st.text("ab", min_size=1, max_size=3)


@given(st.text("abc", max_size=9), st.sets(st.one_of(pieces, pieces.map(lambda piece: "##" + piece)), max_size=12))
def test_wordpiece_agrees_with_a_library(word, vocab):
    numbered = {piece: number for number, piece in enumerate(sorted(vocab | {"[UNK]"}))}
    library = Tokenizer(models.WordPiece(numbered, unk_token="[UNK]", max_input_chars_per_word=100))
    assert wordpiece_encode(word, vocab) == library.encode(word).tokens


def test_wordpiece_never_tries_a_shorter_piece_again():
    vocab = {"a", "ab", "##b", "##bc", "##c"}
    assert wordpiece_encode("abc", vocab) == ["ab", "##c"]
    assert wordpiece_encode("abbb", vocab - {"##b"}) == ["[UNK]"]
    assert wordpiece_encode("abc", {"ab", "a", "##bc"}) == ["[UNK]"]


# --- bits per byte ---------------------------------------------------------------------------------------------------


def test_bits_per_byte_by_hand():
    assert bits_per_byte(torch.tensor([1 / 16]).log(), "né") == pytest.approx(4 / 3)
    assert bits_per_byte(torch.tensor([1 / 4, 1 / 8]).log(), "né") == pytest.approx(5 / 3)


@given(st.text(min_size=1, max_size=20))
def test_guessing_bytes_costs_eight_bits_each(text):
    log_probs = torch.full((len(text.encode()),), -math.log(256), dtype=torch.float64)
    assert bits_per_byte(log_probs, text) == pytest.approx(8)


# --- skip-gram with negative sampling --------------------------------------------------------------------------------


def test_noise_by_hand():
    counts = torch.tensor([16, 0, 81, 1])
    drawn = negative_samples(counts, (20_000, 2), torch.Generator().manual_seed(0))
    assert drawn.shape == (20_000, 2) and drawn.dtype == torch.long
    shares = drawn.flatten().bincount(minlength=4) / drawn.numel()
    torch.testing.assert_close(shares, torch.tensor([8, 0, 27, 1]) / 36, atol=0.01, rtol=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "k", "V", "D"), [(1, 1, 2, 1), (3, 5, 7, 2), (4, 4, 4, 4)])
def test_the_loss_is_binary_cross_entropy_of_all_pairs(B, k, V, D, dtype):
    E, O = noise(V, D, dtype=dtype), noise(V, D, seed=1, dtype=dtype)
    g = torch.Generator().manual_seed(B)
    centre, context = torch.randint(V, (2, B), generator=g)
    negative = torch.randint(V, (B, k), generator=g)
    others = torch.cat([context[:, None], negative], dim=1)
    scores = torch.einsum("bd,bnd->bn", E[centre], O[others])
    seen = torch.zeros_like(scores).index_fill(1, torch.tensor(0), 1.0)
    theirs = F.binary_cross_entropy_with_logits(scores, seen, reduction="none").sum(1).mean()
    ours = skip_gram_loss(E, O, centre, context, negative)
    assert ours.dtype == dtype
    close(ours, theirs)
    for a, b in zip(gradients(ours, [E, O]), gradients(theirs, [E, O])):
        close(a, b)


def test_the_loss_by_hand():
    E = torch.tensor([[1.0, 0.0]]).expand(3, 2)
    O = torch.tensor([[2.0, 0.0], [1.0, 1.0], [0.0, -1.0]])
    ids = torch.tensor([0])
    assert skip_gram_loss(E, O, ids, ids, torch.tensor([[1, 2]])).item() == pytest.approx(2.133, abs=5e-4)


@pytest.mark.parametrize("size", [1e3, -1e3])
def test_huge_scores_cost_a_finite_loss(size):
    E, O = torch.full((2, 1), 1.0, requires_grad=True), torch.full((2, 1), size)
    loss = skip_gram_loss(E, O, torch.tensor([0]), torch.tensor([1]), torch.tensor([[0, 1]]))
    assert loss.item() == pytest.approx(2 * size if size > 0 else -size)
    assert gradients(loss, [E])[0].isfinite().all()


def test_the_best_scores_leave_no_gradient():
    """The expected loss, all pairs summed with their probabilities, does not fall any more."""
    joint = torch.rand(4, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    joint, noise_words = joint / joint.sum(), torch.tensor([0.1, 0.2, 0.3, 0.3, 0.1], dtype=torch.float64)
    scores = best_scores(joint, noise_words, 3).requires_grad_()
    seen, drawn = joint * F.logsigmoid(scores), 3 * joint.sum(1, keepdim=True) * noise_words * F.logsigmoid(-scores)
    (slope,) = torch.autograd.grad((seen + drawn).sum(), scores)
    assert slope.abs().max() < 1e-12


def test_pairs_that_never_occur_score_minus_infinity():
    joint = grammar.neighbour_probabilities(2)
    scores = best_scores(joint, grammar.language().frequencies ** 0.75, 5)
    assert torch.equal(scores.isneginf(), joint == 0) and not scores.isnan().any()


def test_the_model_is_two_tables_and_the_loss():
    torch.manual_seed(0)
    model, ids = SkipGram(7, 3), torch.tensor([1, 2])
    assert {name: tuple(table.shape) for name, table in model.named_parameters()} == {"E": (7, 3), "O": (7, 3)}
    close(model(ids, ids, ids[:, None]), skip_gram_loss(model.E, model.O, ids, ids, ids[:, None]))


# --- what cannot be answered -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        lambda: bits_per_byte(torch.zeros(2), ""),
        lambda: bits_per_byte(torch.zeros(2, 1), "ab"),
        lambda: negative_samples(torch.zeros(3), (2,), torch.Generator()),
        lambda: skip_gram_loss(torch.zeros(3, 2), torch.zeros(3, 1), *torch.zeros(3, 1, 1).long()),
    ],
)
def test_impossible_input_is_refused(asked):
    with pytest.raises(ValueError, match=r"expected .*, got"):
        asked()
