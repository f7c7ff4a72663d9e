"""Hidden tests of `decode_greedy`: what the model reads at each step, and where each sentence ends."""

import torch

from course.exercise import call, exercise
from course.hidden.encoder_decoder.scaffold import EOS, PAD, SOS, asking, on_time, renumbered
from course.reference import encoder_decoder as reference


@exercise(
    reference.decode_greedy,
    hints=(
        "What does the decoder read before the first word is known? Write down its input for the first three calls.",
        "The model returns logits for every position. Which of them predict the word that is still missing?",
        "Decode three sentences of different lengths together, then each alone. Do they agree? What should stand "
        "behind an eos, and what does the model predict there?",
        "Begin with a single call. Its input has a row for each sentence, and one column. Which id stands there? Get "
        "one word for each sentence and append the column. When this works, put it into a loop. Finally, keep track "
        "of which sentences have ended.",
    ),
    calls=(
        "model = oracle([[3, 4, 2]]); decode_greedy(model, tensor([[7]]))",
        "model = oracle([[3, 2, 5], [3, 4, 2]]); decode_greedy(model, tensor([[7], [8]]))",
        "model = oracle([[2, 3, 3]]); decode_greedy(model, tensor([[7]]))",
        "model = oracle([[3, 4, 5]]); decode_greedy(model, tensor([[7]]))",
        "model = oracle([[3, 2, 3], [4, 2, 4]]); decode_greedy(model, tensor([[7], [8]]))",
        "model = oracle([[0, 3, 2]]); decode_greedy(model, tensor([[7]]))",
    ),
)
def decode_greedy(rng):
    """A stand-in for the model. One sentence of each batch takes all of max_len, so the answer's width is settled."""

    def case(title, ends, wanted, places=7, **settings):
        model = on_time(rng, ends, places)
        return call(title, model, asking(rng, len(ends), wanted), grad=False, **settings)

    yield case("three sentences of different lengths", [2, 6, 4], [0, 1, 2], public=True, weight=2.0)
    yield case("a sentence of max_len words", [4], [0], places=5, public=True)
    yield case("a sentence that never ends", [None, 3, 1], [2, 0, 1, 2], weight=2.0)
    yield case("nothing to say", [0, 5, None], [0, 2, 1])
    yield case("sentences of one length", [3, 3, 3], [2, 1, 0], places=4, weight=2.0)
    yield case("a single word", [0], [0], places=1, weight=0.5)
    yield case("many sentences", [1, 2, 3, 4, None], [*rng.integers(0, 5, 12).tolist(), 4])
    model, src = renumbered(on_time(rng, [2, None, 4], 5, 13), asking(rng, 3, [1, 0, 2]))
    yield call("other numbers for pad, sos and eos", model, src, grad=False, weight=0.5)


def _write(model, src, *, row=-1, reads=lambda said: said, stop=all, silent=True):
    """Greedy decoding with one thing changed."""
    said = torch.full((len(src), 1), model.sos)
    done = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(model.max_len):
        word = model(src, reads(said))[:, row].argmax(-1)
        word = word.masked_fill(done & silent, model.pad)
        said = torch.cat([said, word[:, None]], 1)
        done = done | (word == model.eos)
        if stop(done.tolist()):
            break
    return said[:, 1:]


@decode_greedy.misconception("Print the logits' shape after two words. Which position predicts the next word?")
def reads_the_first_row(model, src):
    return _write(model, src, row=0)


@decode_greedy.misconception("What did the model see before it chose the third word? Print the decoder's input.")
def feeds_the_last_word_only(model, src):
    return _write(model, src, reads=lambda said: said[:, -1:])


@decode_greedy.misconception(
    "Decode three sentences of different lengths together, then alone. Which ones are cut off?"
)
def stops_when_one_ends(model, src):
    return _write(model, src, stop=any)


@decode_greedy.misconception("What stands behind an eos in your result? A sentence that has ended gets only pad.")
def writes_on_behind_the_end(model, src):
    return _write(model, src, silent=False, stop=lambda done: False)


@decode_greedy.misconception("Print the first column of your result. Did the model choose these ids?")
def returns_all_that_it_read(model, src):
    return torch.cat([torch.full((len(src), 1), model.sos), _write(model, src)], 1)


@decode_greedy.misconception(
    "Give the model other numbers for pad, sos and eos. Where does your function get them from?"
)
def numbers_of_its_own(model, src):
    class Known:
        pad, sos, eos, max_len = PAD, SOS, EOS, model.max_len

        def __call__(self, *asked):
            return model(*asked)

    return _write(Known(), src)


@decode_greedy.misconception("Print a sentence that has ended. Is its eos still there? It belongs to the result.")
def without_eos(model, src):
    ids = _write(model, src)
    return ids.masked_fill(ids == model.eos, model.pad)
