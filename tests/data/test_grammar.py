"""The grammar: its probabilities are true, its verbs agree, and its exact predictions are those of counting."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
import torch

from course import data
from course.data import grammar
from course.data.finite_grammar import FiniteGrammar

LANGUAGE = grammar.language()


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def tiny() -> FiniteGrammar:
    """Seven sentences, one of them said in two ways: `duck` is somebody and something that is done."""
    rules = {
        "S": [(0.5, "WHO does ."), (0.3, "WHO does does ."), (0.2, "does .")],
        "WHO": [(0.75, "somebody"), (0.25, "duck")],
    }
    return FiniteGrammar(rules, {"somebody": {"duck": 1.0}, "does": {"duck": 3.0, "swim": 1.0}})


@pytest.fixture(scope="module")
def looping() -> FiniteGrammar:
    """a+ b: no longest sentence."""
    return FiniteGrammar({"S": [(0.6, "a S"), (0.4, "a b")]}, {})


# --- the automaton ---------------------------------------------------------------------------------------------------


def test_a_tiny_grammar_by_hand(tiny):
    by_hand = {
        "duck duck .": 0.5 * 0.75,
        "duck swim .": 0.5 * 0.25,
        "duck duck duck .": 0.3 * 9 / 16,
        "duck duck swim .": 0.3 * 3 / 16,
        "duck swim duck .": 0.3 * 3 / 16,
        "duck swim swim .": 0.3 * 1 / 16,
        "duck .": 0.2 * 0.75,
        "swim .": 0.2 * 0.25,
    }
    assert sum(by_hand.values()) == pytest.approx(1)
    for text, p in by_hand.items():
        assert tiny.log_probability(text.split()) == pytest.approx(math.log(p))
    for text in ("", "swim duck .", "duck", "duck . duck .", "duck flies ."):
        assert tiny.log_probability(text.split()) == -math.inf
    assert tiny.words == ("<unk>", "duck", ".", "swim")


def test_all_sentences_together_have_probability_one(looping):
    total = sum(math.exp(looping.log_probability(["a"] * n + ["b"])) for n in range(1, 60))
    assert total == pytest.approx(1)
    assert len(looping.states) == 3, "a rule that ends in its own symbol adds no states"


def test_next_words_multiply_to_the_sentence(tiny):
    sentence = ["duck", "swim", "duck", "."]
    ids = tiny.encode(sentence)
    following = tiny.next_word(ids[None])
    assert following.shape == (1, 5, 4)
    torch.testing.assert_close(following[0, :4].sum(-1), torch.ones(4, dtype=torch.float64))
    assert (following[0, 4] == 0).all(), "after the last word nothing more is said"
    product = following[0, torch.arange(4), ids].log().sum()
    assert float(product) == pytest.approx(tiny.log_probability(sentence))


def test_running_text_is_stationary(tiny):
    torch.testing.assert_close(tiny.stationary @ tiny.running, tiny.stationary)
    assert float(tiny.frequencies.sum()) == pytest.approx(1) and tiny.frequencies[0] == 0
    lengths = {3: 0.5, 4: 0.3, 2: 0.2}
    assert float(tiny.frequencies[tiny.ids["."]]) == pytest.approx(1 / sum(n * p for n, p in lengths.items()))


@pytest.mark.parametrize("ordered", [True, False])
def test_the_centre_of_a_window_is_that_of_counting_all_texts(tiny, ordered):
    """Every text of five words in a row, with its probability, counted as an n-gram model would."""
    V = len(tiny.words)
    counted: dict[tuple[int, ...], torch.Tensor] = {}
    every = torch.tensor(list(itertools.product(range(1, V), repeat=5)))
    following = tiny.next_word(every, running=True)
    p = following[:, :5].gather(2, every[:, :, None]).squeeze(2).prod(1)
    assert float(p.sum()) == pytest.approx(1)
    for window, share in zip(every.tolist(), p.tolist(), strict=True):
        around = (*window[:2], *window[3:])
        key = around if ordered else tuple(sorted(around))
        counted.setdefault(key, torch.zeros(V, dtype=torch.float64))[window[2]] += share
    contexts = torch.tensor([key for key, table in counted.items() if table.sum() > 1e-12])
    expected = torch.stack([counted[tuple(row)] for row in contexts.tolist()])
    torch.testing.assert_close(tiny.centre(contexts, ordered=ordered), expected / expected.sum(1, keepdim=True))


def test_sentences_are_drawn_with_their_probabilities(tiny):
    drawn = Counter(" ".join(tiny.words[i] for i in s) for s in tiny.draw_sentences(20_000, seeded()))
    for text, count in drawn.items():
        p = math.exp(tiny.log_probability(text.split()))
        assert abs(count - 20_000 * p) < 5 * (20_000 * p) ** 0.5, text


@pytest.mark.parametrize(
    ("rules", "lexicon", "message"),
    [
        ({"S": [(0.5, "a")]}, {}, "'S' add up to 0.5"),
        ({"S": [(1.0, "noun")]}, {"noun": {}}, "'noun' is empty"),
        ({"S": [(0.5, "S a"), (0.5, "a")]}, {}, "nests on the left"),
        ({"S": [(0.5, "a S b"), (0.5, "a b")]}, {}, "no end of states"),
    ],
)
def test_what_is_no_finite_grammar_is_refused(rules, lexicon, message):
    with pytest.raises(ValueError, match=message):
        FiniteGrammar(rules, lexicon)


# --- the language ----------------------------------------------------------------------------------------------------


def test_every_distribution_sums_to_one():
    rows = torch.ones(len(LANGUAGE.states), dtype=torch.float64)
    torch.testing.assert_close(LANGUAGE.within.sum(1) + LANGUAGE.ends, rows)
    torch.testing.assert_close(LANGUAGE.running.sum(1), rows)
    torch.testing.assert_close(LANGUAGE.emits.sum(1), rows)
    assert float(LANGUAGE.first.sum()) == pytest.approx(1)
    assert float(LANGUAGE.stationary.sum()) == pytest.approx(1)


def test_the_vocabulary_is_ordered_by_true_frequency():
    frequencies = LANGUAGE.frequencies
    assert LANGUAGE.words[0] == "<unk>" and len(set(LANGUAGE.words)) == len(LANGUAGE.words)
    assert (frequencies[1:-1] >= frequencies[2:] - 1e-9).all() and (frequencies[1:] > 0).all()
    text = LANGUAGE.draw_text(200, 500, seeded(1), anywhere=True)
    seen = torch.bincount(text.flatten(), minlength=len(frequencies)) / text.numel()
    # Words of one text depend on each other, so six standard deviations of independent ones are allowed.
    assert ((seen - frequencies).abs() <= 6 * (frequencies / text.numel()).sqrt()).all()


def test_classes_are_large_and_some_words_are_ambiguous():
    classes, table = grammar.classes(), grammar.class_table()
    assert sum(len(words) >= 8 for words in classes.values()) >= 20
    assert table.shape == (len(LANGUAGE.words), len(classes))
    for column, words in enumerate(classes.values()):
        assert {LANGUAGE.words[i] for i in table[:, column].nonzero().flatten().tolist()} == set(words)
    several = {LANGUAGE.words[i] for i in (table.sum(1) > 1).nonzero().flatten().tolist()}
    assert {"cook", "cooks", "guide", "guides", "lamb", "chicken", "duck", "the"} <= several


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("this dog sleeps .", "this dog sleep ."),
        ("many dogs near the river sleep .", "many dogs near the river sleeps ."),
        ("the dogs that the farmer sees sleep .", "the dogs that the farmer sees sleeps ."),
        ("the teacher who these cats fear often laughs .", "the teacher who these cats fear often laugh ."),
        ("Ada eats fresh bread .", "Ada eats happy bread ."),
        ("Ada says that the lamb sleeps .", "the lamb says that Ada sleeps ."),
        ("the cook cooks lamb .", "the cooks cooks lamb ."),
        ("many cooks cook lamb .", "many cook cooks lamb ."),
    ],
)
def test_it_knows_right_from_wrong(right, wrong):
    assert math.isfinite(LANGUAGE.log_probability(right.split()))
    assert LANGUAGE.log_probability(wrong.split()) == -math.inf


def test_ambiguous_sentences_add_up_their_derivations():
    """`the ducks that ...`: the determiner alone does not tell; the first verb that follows `the` must."""
    following = LANGUAGE.next_word(LANGUAGE.encode(["the", "cooks"])[None])[0, 2]
    assert following[LANGUAGE.ids["laugh"]] > 0 and following[LANGUAGE.ids["laughs"]] == 0


def test_sentences_have_the_probabilities_they_were_drawn_with():
    sentences = LANGUAGE.draw_sentences(300, seeded(2))
    together = LANGUAGE.log_probabilities(sentences)
    assert torch.isfinite(together).all()
    for sentence, expected in list(zip(sentences, together.tolist(), strict=True))[:30]:
        ids = torch.tensor([sentence])
        following = LANGUAGE.next_word(ids)[0, : len(sentence)]
        assert float(following.gather(1, ids.T).log().sum()) == pytest.approx(expected)
        assert LANGUAGE.log_probability(LANGUAGE.decode(ids[0])) == pytest.approx(expected)


def test_what_is_known_decides_the_loss():
    """The floors lie where they must: the whole window below its bag, the bag below the bare frequencies."""
    contexts, centres = grammar.windows(3000, 2, seeded(3))

    def loss(p: torch.Tensor) -> float:
        return float(-p.expand(len(centres), -1).gather(1, centres[:, None]).log().mean())

    window, bag = LANGUAGE.centre(contexts), LANGUAGE.centre(contexts, ordered=False)
    torch.testing.assert_close(bag.sum(1), torch.ones(3000, dtype=torch.float64))
    shuffled = LANGUAGE.centre(contexts[:, torch.tensor([3, 0, 2, 1])], ordered=False)
    torch.testing.assert_close(bag, shuffled)
    assert 1.5 < loss(window) < loss(bag) - 0.1 < loss(LANGUAGE.frequencies) - 2


def test_load_gives_sentences_with_their_true_probabilities():
    splits = data.load("grammar", sentences=40, held_out=20, seed=3)
    assert set(splits) == {"train", "held_out"} and len(splits["train"]) == 40 and len(splits["held_out"]) == 20
    assert splits["train"].column_names == ["text", "words", "log_probability"]
    for row in splits["held_out"]:
        assert row["text"] == " ".join(row["words"])
        assert row["log_probability"] == pytest.approx(LANGUAGE.log_probability(row["words"]))
    again = data.load("grammar", sentences=40, held_out=20, seed=3)
    assert again["train"]["text"][:] == splits["train"]["text"][:]
    assert splits["train"]["text"][:20] != splits["held_out"]["text"][:]


def test_the_training_stream_never_ends_and_begins_with_a_sentence():
    first = [ids for (ids,) in itertools.islice(data.stream("cbow_task", seeded(1)), grammar.TEXTS + 2)]
    assert all(ids.shape == (grammar.BATCH,) and ids.dtype == torch.int64 for ids in first)
    sentence = LANGUAGE.decode(first[-1])[: LANGUAGE.decode(first[-1]).index(".") + 1]
    assert math.isfinite(LANGUAGE.log_probability(sentence)), "a stretch begins with a sentence"


def test_global_randomness_is_left_alone():
    torch.manual_seed(7)
    state = torch.get_rng_state()
    LANGUAGE.draw_sentences(5, seeded())
    grammar.windows(5, 2, seeded())
    assert torch.equal(torch.get_rng_state(), state)


# --- sentences for language models ------------------------------------------------------------------------------------


def test_sentences_are_padded_between_full_stops():
    (ids, lengths), (_, others) = itertools.islice(data.stream("masking_task", seeded(3)), 2)
    stop = LANGUAGE.ids["."]
    assert ids.shape == (64, int(lengths.max())) and len(others) == 64
    real = torch.arange(ids.shape[1]) < lengths[:, None]
    assert (ids[:, 0] == stop).all() and (ids.gather(1, lengths[:, None] - 1) == stop).all()
    assert not ids[~real].any() and ids[real].all(), "zero is what stands behind the end, and nothing else"
    assert ((ids == stop).sum(1) == 2).all(), "a full stop before and one at the end"


def test_the_stream_draws_the_languages_own_sentences():
    seen = itertools.islice(data.stream("masking_task", seeded(4)), 40)
    sentences = [row[1:n].tolist() for ids, lengths in seen for row, n in zip(ids, lengths.tolist(), strict=True)]
    assert torch.isfinite(LANGUAGE.log_probabilities(sentences)).all()
    assert len({tuple(sentence) for sentence in sentences}) > 2000, "no batch comes twice"
