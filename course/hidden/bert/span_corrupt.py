"""Hidden tests of `span_corrupt`: lists of ids, spans at the ends and in the middle, more sentinels than spans."""

from __future__ import annotations

from course.exercise import call, exercise
from course.reference import bert as reference


@exercise(
    reference.span_corrupt,
    hints=(
        "Write a sentence of eight words on paper, and cross out two spans. What stands in their place?",
        "Write its targets, too, and read them aloud. Which sentinel says that the last span is over?",
        "Put the spans of the targets back into the inputs. Is it the text again?",
        "Begin with two empty lists and the place from which nothing has been copied yet. What does the first span add "
        "to each list, and where does the place stand afterwards?",
    ),
    calls=(
        "span_corrupt([1, 2, 3, 4], [1], [2], [91, 92])",
        "span_corrupt([1, 2, 3, 4], [0], [1], [91, 92])",
        "span_corrupt([1, 2, 3, 4], [3], [1], [91, 92])",
        "span_corrupt([1, 2, 3], [], [], [91])",
        "span_corrupt([1, 2, 3, 4, 5], [0, 3], [1, 1], [91, 92, 93])",
        "span_corrupt([1, 2], [0], [2], [91, 92])",
    ),
)
def span_corrupt(rng):
    """Every id stands once, so that each place can be told. The sentinels come in any order."""

    def asked(title, gaps, lengths, spare=2, **settings):
        """Spans of these lengths with so many words before each and behind the last."""
        total = sum(gaps) + sum(lengths)
        ids, starts, place = (100 + rng.permutation(total)).tolist(), [], 0
        for gap, length in zip(gaps, lengths):
            starts.append(place + gap)
            place += gap + length
        sentinels = (900 + rng.permutation(len(lengths) + 1 + spare)).tolist()
        return call(title, ids, starts, list(lengths), sentinels, **settings)

    yield asked("two spans", (3, 2, 4), (2, 1), public=True, weight=2.0)
    yield asked("a span at the beginning", (0, 3, 2), (2, 3), public=True)
    yield asked("a span at the end", (5, 2, 0), (1, 4), public=True)
    yield asked("no spans", (7,), (), public=True, weight=0.5).counts_with("two spans")
    yield asked("one span", (4, 3), (3,))
    yield asked("all of the text", (0, 0), (7,), weight=0.5)
    yield asked("five spans", (2, 1, 3, 1, 2, 5), (1, 3, 2, 1, 2), weight=2.0)
    yield asked("just as many sentinels as are needed", (3, 2, 1), (2, 2), 0)


def _corrupt(ids, starts, lengths, sentinels, told=None, end=None):
    """The task with other sentinels `told` before span i, or others at the `end`."""
    told = told or (lambda i: [sentinels[i]])
    inputs, targets, kept = [], [], 0
    for i, (start, length) in enumerate(zip(starts, lengths)):
        inputs += [*ids[kept:start], sentinels[i]]
        targets += [*told(i), *ids[start : start + length]]
        kept = start + length
    return inputs + ids[kept:], targets + ([sentinels[len(starts)]] if end is None else end)


@span_corrupt.misconception("Read your targets aloud. How does a reader know that the last span is over?")
def no_sentinel_at_the_end(ids, starts, lengths, sentinels):
    return _corrupt(ids, starts, lengths, sentinels, end=[])


@span_corrupt.misconception("Give it ten sentinels and two spans. Which one should close the targets?")
def the_last_sentinel_of_all_at_the_end(ids, starts, lengths, sentinels):
    return _corrupt(ids, starts, lengths, sentinels, end=[sentinels[-1]])


@span_corrupt.misconception("Which sentinel stands for the first span? Compare inputs and targets with the list.")
def sentinels_counted_from_the_end(ids, starts, lengths, sentinels):
    return _corrupt(ids, starts, lengths, sentinels[: len(starts) + 1][::-1])


@span_corrupt.misconception("Two spans have two sentinels. Print those in your inputs.")
def one_sentinel_for_all(ids, starts, lengths, sentinels):
    return _corrupt(ids, starts, lengths, sentinels[:1] * (len(starts) + 1))


@span_corrupt.misconception("How long are your inputs? A span of three words becomes how many tokens?")
def a_sentinel_for_each_word(ids, starts, lengths, sentinels):
    inputs, hidden = list(ids), {}
    for i, (start, length) in enumerate(zip(starts, lengths)):
        hidden |= dict.fromkeys(range(start, start + length), sentinels[i])
    inputs = [hidden.get(place, token) for place, token in enumerate(ids)]
    return inputs, _corrupt(ids, starts, lengths, sentinels)[1]


@span_corrupt.misconception("Put the spans of your targets back into the inputs. Which words do you have twice?")
def the_hidden_words_stay(ids, starts, lengths, sentinels):
    inputs, kept = [], 0
    for i, start in enumerate(starts):
        inputs += [*ids[kept:start], sentinels[i]]
        kept = start
    return inputs + ids[kept:], _corrupt(ids, starts, lengths, sentinels)[1]


@span_corrupt.misconception("Print your targets. Between the first span and the second one, what tells them apart?")
def targets_without_sentinels(ids, starts, lengths, sentinels):
    return _corrupt(ids, starts, lengths, sentinels, told=lambda i: [])


@span_corrupt.misconception("Hide one span in the middle. What stands behind its sentinel in your inputs?")
def what_follows_the_last_span_is_lost(ids, starts, lengths, sentinels):
    inputs, targets = _corrupt(ids, starts, lengths, sentinels)
    behind = len(ids) - (starts[-1] + lengths[-1]) if starts else 0
    return inputs[: len(inputs) - behind], targets
