"""The pictures of topic 01 are figures with words that fit, and the writer writes."""

from __future__ import annotations

import io

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.figure import Figure

from course.reference.markov_ngrams import NGramModel, count_ngrams, transition_matrix
from course.show import markov_ngrams as show

ALPHABET = "\n" + "".join(map(chr, range(32, 127)))
TEXT = "the cat sat on the mat, and the dog ate the hat.\n" * 20


@pytest.fixture(scope="module")
def ids():
    return torch.tensor([ALPHABET.index(c) for c in TEXT])


@pytest.fixture(scope="module")
def models(ids):
    return {n: NGramModel(n, len(ALPHABET), 0.1).fit(ids) for n in (1, 2, 4)}


def pictures(ids, models):
    counts = [count_ngrams(TEXT, n) for n in range(1, 7)]
    others = [count_ngrams("a rat ran over the hot dog", n) for n in range(1, 7)]
    yield show.windows_seen(counts, others, len(ALPHABET))
    yield show.transition_map(transition_matrix(ids, len(ALPHABET)), ALPHABET)
    yield show.smoothing_curves([0.01, 0.1, 1.0], {"short": [30.0, 20.0, 25.0], "long": [12.0, 11.0, 14.0]})
    yield show.next_symbols(models[4], "on the ", ALPHABET, lengths=[0, 1, 2, 3])
    yield show.perplexity_by_order([1, 2, 3, 4], [20.0, 10.0, 4.0, 2.0], [21.0, 11.0, 6.0, 7.0])
    yield show.approximations({"1 character": "x$y " * 30, "4 characters": "the cat " * 20})


def test_figures_are_whole_and_closed(ids, models):
    before = plt.get_fignums()
    for figure in pictures(ids, models):
        assert isinstance(figure, Figure)
        assert len(figure.get_label()) > 20  # what it shows, in words
        figure.savefig(io.BytesIO(), format="png")  # whatever it holds can be drawn
        figure.canvas.draw()
        room = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert room.x0 > -0.05 and room.y0 > -0.05 and room.x1 < width + 0.05 and room.y1 < height + 0.05
    assert plt.get_fignums() == before


def test_the_callers_style_is_left_alone(ids, models):
    before = dict(mpl.rcParams)
    list(pictures(ids, models))
    assert dict(mpl.rcParams) == before


def test_writing_is_repeatable_and_stays_in_the_alphabet(models):
    first, surprises = show.write(models[4], ALPHABET, "the ", length=50, seed=1)
    assert (first, surprises) == show.write(models[4], ALPHABET, "the ", length=50, seed=1)
    assert first != show.write(models[4], ALPHABET, "the ", length=50, seed=2)[0]
    assert len(first) == len(surprises) == 50 and set(first) <= set(ALPHABET) and min(surprises) >= 0


def test_a_low_temperature_takes_the_likeliest(models):
    _, cold = show.write(models[1], ALPHABET, length=100, temperature=0.02)
    _, warm = show.write(models[1], ALPHABET, length=100)
    assert sum(cold) < 0.8 * sum(warm)
    hot, surprises = show.write(models[4], ALPHABET, "the ", length=300, temperature=50.0)
    assert len(set(hot)) > 60 and sum(surprises) / len(surprises) > 4


def test_words_can_be_tokens_too():
    words = TEXT.split()
    lexicon = sorted(set(words))
    model = NGramModel(2, len(lexicon), 0.0).fit(torch.tensor([lexicon.index(word) for word in words]))
    written, _ = show.write(model, lexicon, length=10)
    assert len(written) == 10 and set(written) <= set(lexicon)


def test_the_writer_answers_every_control(models):
    widget = show.writer(models, ALPHABET, prompt="the ", length=60)
    order, temperature, begin, again, page = widget.children
    assert all(control.description for control in (order, temperature, begin, again))
    seen = [page.value]
    order.value = 1
    seen.append(page.value)
    temperature.value = 0.2
    seen.append(page.value)
    again.click()
    seen.append(page.value)
    begin.value = "<b>& ünder"
    seen.append(page.value)
    assert len(set(seen)) == 5
    assert "&lt;b&gt;&amp; nder" in page.value  # escaped, and what the alphabet lacks is left out
    assert "color:" not in page.value.replace("background-color:", "")  # the page's own text colour


def test_the_writer_is_quick(models):
    import time

    started = time.process_time()
    show.writer(models, ALPHABET)
    assert time.process_time() - started < 1.0
