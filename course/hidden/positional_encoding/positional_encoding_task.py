"""Hidden tests of `positional_encoding_task`: a model that echoes letters three places late, in longer lists, too."""

import torch
from torch.nn import functional as F

from course.data import order
from course.exercise import exercise, given_model
from course.reference import positional_encoding as reference


@exercise(
    reference.echo_by_hand,
    hints=(
        "The lists of the judge are longer than those of the training. What must a query know to find the letter "
        "three positions back in both?",
        "Is accuracy near 16 % at length 16? Then the model names any letter of the list. What tells positions apart?",
        "Right at 16 letters and wrong at 32? Which encoding never says where a word stands, only how far off? Draw "
        "the attention weights of one list. Where is the line of ones, and where should it be?",
        "Begin with a model without positions, from letters to logits. Its result on one batch must have the shape "
        "(B, T, 26). Make one training step with it. Then give it your encoding, and write the loop around the step.",
    ),
)
def positional_encoding_task(rng):
    """The judge's own lists, at the trained length and beyond, then lists that tell one wrong echo from another.

    RoPE in one wide head, forty seeds: 100 % at 16, 32 and 64 letters. Learned or sinusoidal positions: 100 %, then
    about 47 % and 25 %. No positions: 16 %. (tests/training/test_positional_encoding_task.py)
    """

    def asked(title, ids, bar, because="", **options):
        targets = order.targets(ids).flatten()
        return (
            given_model(title, **options)
            .call(ids, into="logits")
            .law("accuracy_at_least", of="logits", targets=targets, bar=bar, because=because)
            .laws_only()
        )

    def letters(n, length):
        return rng.integers(0, len(order.LETTERS), n, length)

    def repeating(period):
        alphabets = torch.stack([rng.permutation(len(order.LETTERS))[:period] for _ in range(50)])
        return alphabets[:, torch.arange(order.LENGTH) % period]

    some = asked("lists of 16 letters, 99 % right", letters(100, 16), 0.99, public=True, weight=2.0)
    yield some.shows("accuracy_at_least", full=0.99, called="accuracy on lists of 16 letters")
    others = asked("other lists of 16 letters, 99 % right", letters(500, 16), 0.99, weight=2.0)
    yield others
    yield others.judged_again("better than no positions: 50 % right", bar=0.5, weight=2.0)
    yield asked("lists of 32 letters, 90 % right", letters(200, 32), 0.9, weight=2.0)
    yield asked("lists of 64 letters, 80 % right", letters(100, 64), 0.8)
    apart = {"weight": 0.25, "public": True}
    yield asked(
        "one letter again and again", repeating(1), 0.9, "your model does not say the only letter of a list", **apart
    )
    yield asked(
        "two letters in turn", repeating(2), 0.9, "in a b a b …, your model does not say the other letter", **apart
    )
    by_threes = repeating(2)[:, :2].repeat_interleave(3, dim=1).repeat(1, 2)  # a a a b b b a a a b b b
    yield asked(
        "two letters, three by three",
        by_threes,
        0.9,
        "in a a a b b b …, your model does not say the other letter",
        **apart,
    )
    yield asked(
        "three letters in turn",
        repeating(3),
        0.9,
        "in a b c a b c …, your model does not say the same letter again",
        **apart,
    )
    ids = letters(50, 16)
    neighbours = given_model("not the letter one position back", public=True, weight=0.1).call(ids, into="logits")
    for title, by in (("not the letter one position back", 1), ("not the letter one position ahead", -1)):
        said = ids.roll(by, 1)
        said[:, 0 if by > 0 else -1] = -100
        yield (
            (neighbours if by > 0 else neighbours.judged_again(title, weight=0.1))
            .law("log_loss_at_least", of="logits", targets=said, known=torch.zeros(50), margin=1.0,
                 because="your model says a neighbour's letter")
            .laws_only()
            .counts_with("one letter again and again")
        )  # fmt: skip


def _said(ids, places):
    """Logits that name the letters at `places` (T,), wrapped around, with certainty."""
    return 20.0 * _one_hot(ids[:, places % ids.shape[1]])


def _one_hot(ids):
    return F.one_hot(ids, len(order.LETTERS)).float()


@positional_encoding_task.misconception(
    "Your model names wrong letters of the list. Does its answer change when you shuffle the list? If "
    "so, how many positions back is the letter that it says?"
)
def names_a_frequent_letter(ids):
    return _one_hot(ids).sum(1, keepdim=True).expand(-1, ids.shape[1], -1)


@positional_encoding_task.misconception(
    "Your model knows which letters are in the list, but not where. Does its answer change when you shuffle the list?"
)
def names_another_letter_of_the_list(ids):
    """What a model without positions learns: each letter but this position's own, as likely as it is frequent."""
    return _one_hot(ids).sum(1, keepdim=True) - _one_hot(ids)


def _echo(places_back):
    return lambda ids: _said(ids, torch.arange(ids.shape[1]) - places_back)


positional_encoding_task.mistakes(
    "Your model says the letter it has just heard. Where does each position look?", says_it_at_once=_echo(0)
)
positional_encoding_task.mistakes(
    "Write a row of ids and a row of your answers below each other. By how many positions do they differ?",
    echoes_the_neighbour=_echo(1),
)
positional_encoding_task.mistakes(
    "Your model says the letter one position *ahead*. Write a row of ids and one of targets below each other.",
    says_the_next_letter=_echo(-1),
)


@positional_encoding_task.misconception(
    "Your model says the letter three positions *ahead*. Write a row of ids and one of targets below each other."
)
def looks_ahead(ids):
    places = torch.arange(ids.shape[1]) + order.DELAY
    last = ids.shape[1] - 1
    return _said(ids, torch.where(places > last, places - 2 * order.DELAY, places))


@positional_encoding_task.misconception(
    "All is right up to the trained length, and not beyond. Did training ever change the vectors of later positions?"
)
def knows_only_the_trained_places(ids):
    right = _said(ids, torch.arange(ids.shape[1]) - order.DELAY)
    known = torch.arange(ids.shape[1]) < order.LENGTH
    return torch.where(known[:, None], right, _said(ids, torch.zeros(ids.shape[1], dtype=torch.long)))


@positional_encoding_task.misconception(
    "Your model does not even echo a list of one letter. Does the loss fall, or does it jump about? Do "
    "the parameters move in a step, and how far?"
)
def never_trained(ids):
    return torch.linspace(1.0, 0.0, len(order.LETTERS)).expand(*ids.shape, -1)
