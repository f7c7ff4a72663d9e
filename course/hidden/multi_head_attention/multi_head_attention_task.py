"""Hidden tests of `multi_head_attention_task`."""

import torch
from torch.nn import functional as F

from course.data import relations
from course.exercise import exercise, given_model
from course.hidden.multi_head_attention.scaffold import FORBIDDEN
from course.reference import multi_head_attention as reference


@exercise(
    reference.relations_by_hand,
    name="multi_head_attention_task",
    hints=(
        "Follow one batch on paper, from four tensors (B, S) to the loss. What is the shape of the words, of the "
        "layer's output and of the logits, and which of these axes does the loss compare with answers?",
        "Print the share of right answers for friends and for rivals apart. 10 % is guessing a number. Is one "
        "question right and the other below 30 %? Count your layer's heads, and print both heads' weights.",
        "Are both questions at 30 %? Change one word, then split and merge. Does only that word change?",
        "Begin with forward, and call an untrained model on one batch. Its logits must have the shape (B, S, 2, 10). "
        "Compute one loss of it, near log 10 = 2.3. Only then write the loop around it.",
    ),
    forbidden=FORBIDDEN,
)
def multi_head_attention_task(rng):
    """Playgrounds of the judge's own, each question apart. Two heads get 99.9 %, and one head one question."""

    def playgrounds(n, children=relations.CHILDREN):
        return relations.draw(n, torch.Generator().manual_seed(rng.seed()), children)

    def asked(title, drawn, bar, question=None, **options):
        *seen, answers = drawn
        return (
            given_model(title, **options)
            .call(*seen, into="logits")
            .law("accuracy_at_least", of="logits", targets=only(question, answers), bar=bar)
            .laws_only()
        )

    def only(question, answers):
        """The answers to one question, -1 for those to the other, which are not counted; None counts both."""
        targets = answers.clone()
        if question is not None:
            targets[..., 1 - question] = -1
        return targets.flatten()

    some = playgrounds(250)
    first = asked("the friend's number", some, 0.98, 0, public=True)
    yield first.shows("accuracy_at_least", full=0.98, called="accuracy for friends")
    rival = first.judged_again("the rival's number", targets=only(1, some[-1]))
    yield rival.shows("accuracy_at_least", full=0.98, called="accuracy for rivals")
    both = only(None, some[-1])
    for what, question in (("friends", 0), ("rivals", 1)):
        targets = only(question, some[-1])
        yield first.judged_again(f"four of five {what}, of these", targets=targets, bar=0.8, weight=0.1)
        yield first.judged_again(f"more {what} than one head gets besides", targets=targets, bar=0.27, weight=0.1)
    yield first.judged_again("more than half of all the answers", targets=both, bar=0.51, weight=0.1)
    yield first.judged_again("more answers than by guessing", targets=both, bar=0.2, weight=0.1)
    many = playgrounds(1000)
    friends, rivals, both = (only(question, many[-1]) for question in (0, 1, None))
    first = asked("a thousand other playgrounds, friends", many, 0.98, 0, weight=2.0)
    yield first
    yield first.judged_again("a thousand other playgrounds, rivals", targets=rivals, weight=2.0)
    yield first.judged_again("four of five friends' numbers", targets=friends, bar=0.8)
    yield first.judged_again("four of five rivals' numbers", targets=rivals, bar=0.8)
    yield first.judged_again("both questions, better than half", targets=both, bar=0.51, weight=0.5)
    yield first.judged_again("both questions, better than guessing", targets=both, bar=0.2, weight=0.5)
    yield asked("sixteen children, as never in training", playgrounds(250, 16), 0.95)

    names, numbers, friends, rivals, _ = playgrounds(50)
    changes = {
        "other numbers, other answers": (names, (numbers + 1) % 10, friends, rivals),
        "friends and rivals exchanged, other answers": (names, numbers, rivals, friends),
    }
    for title, changed in changes.items():
        yield (
            given_model(title, public=True, weight=0.1)
            .call(names, numbers, friends, rivals, into="before")
            .call(*changed, into="after")
            .law("different", of="before", to="after", within=1e-3, because="the answers stay the same")
            .laws_only()
        )
    *seen, answers = playgrounds(50)
    other = answers.flip(-1).flatten()
    because = "your model answers the other question"
    yield (
        given_model("not the other question's answers", public=True, weight=0.1)
        .call(*seen, into="logits")
        .law("log_loss_at_least", of="logits", targets=other, known=0.0 * other, margin=1.0, because=because)
        .laws_only()
    )


def _numbers(names, numbers, whom):
    """Scores for what those children wear, and no doubt about it: (B, S, 10)."""
    where = (names[:, None] == whom[..., None]).int().argmax(-1)
    return 10.0 * F.one_hot(numbers.gather(1, where), len(relations.NUMBERS))


def _both(names, numbers, friends, rivals):
    """Those scores for both questions: (B, S, 2, 10)."""
    return torch.stack([_numbers(names, numbers, friends), _numbers(names, numbers, rivals)], dim=2)


def _mixed(these, scores, others):
    """Some logits for these children, (B, S), and other logits for the rest."""
    return torch.where(these[..., None, None], scores, others)


def _another(scores):
    return scores.roll(1, dims=-1)


@multi_head_attention_task.misconception(
    "Your model only guesses. Does the loss fall, or does it jump about? Do the parameters move in a step, and how far?"
)
def never_trained(names, numbers, friends, rivals):
    # any numbers that have nothing to do with the question, though they change with it
    noise = torch.stack([names + 3 * numbers + 5 * friends + 7 * rivals, names + 7 * friends + 5 * rivals], dim=2)
    return torch.cos((noise + 1)[..., None] * (1.0 + torch.arange(len(relations.NUMBERS), device=names.device)))


def _mostly(names, scores):
    """What one head learns of its question. It is right for all children but one in twenty-six."""
    return _mixed(names == 0, _another(scores), scores)


multi_head_attention_task.mistakes(
    "One question is answered, the other is not. Print the weights. How many different patterns do you see?",
    knows_friends_mostly=lambda names, numbers, friends, _: _mostly(names, _both(names, numbers, friends, friends)),
    knows_rivals_mostly=lambda names, numbers, _, rivals: _mostly(names, _both(names, numbers, rivals, rivals)),
)


@multi_head_attention_task.misconception(
    "It is a little better than guessing. Does the loss still fall at the end? Do all parameters move in a step?"
)
def has_hardly_begun(names, *asked):
    both = _both(names, *asked)
    return _mixed(names < 6, both, _another(both))  # of twenty-six


@multi_head_attention_task.misconception(
    "Nearly all answers are right, to both questions. Was the loss still falling at the end? If it jumped about, how "
    "large is a step?"
)
def nearly_there(names, *asked):
    both = _both(names, *asked)
    return _mixed(names < 2, _another(both), both)


@multi_head_attention_task.misconception(
    "Your model finds both numbers, but not which is whose. Print both heads' weights for one child. Do "
    "the heads look at different children?"
)
def hears_both_and_mixes_them_up(names, *asked):
    # like a fair coin, and the same again for the same child: who is asked about depends on the name
    both = _both(names, *asked)
    return _mixed(names % 2 == 0, both, both.flip(2))


@multi_head_attention_task.misconception(
    "At most half of the answers to both questions are right. Does the loss still fall at the end? If "
    "not, change one word, then split and merge. Does only that word change? If it does, are old "
    "gradients still there in each step?"
)
def children_mixed_up(names, *asked):
    both = _both(names, *asked)
    return _mixed(names % 3 == 0, both, both.roll(1, dims=1))


multi_head_attention_task.mistakes(
    "Your model gives friends' numbers for rivals. In which order do the answers stand in a batch?",
    questions_exchanged=lambda names, numbers, friends, rivals: _both(names, numbers, rivals, friends),
)
