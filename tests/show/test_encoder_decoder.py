"""The pictures of topic 10 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn

from course import show
from course.data import phrases
from course.reference import encoder_decoder as reference

pictures = show.encoder_decoder


@pytest.fixture(autouse=True)
def nothing_stays_open():
    yield
    assert not plt.get_fignums()


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = len(phrases.vocabulary("english")), len(phrases.vocabulary("french"))
    return reference.Transformer(*sizes, 16, 2, 32, 2, max_len=12).eval()


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def knowing(model, src):
    """Decodes as the grammar would."""
    return phrases.encode([phrases.aligned(phrases.decode(row, "english"))[0] for row in src], "french")


def test_every_figure_has_a_description_and_says_what_its_axes_are(model):
    figures = [
        pictures.alignment("a red cat", "un chat rouge", [0, 2, 1]),
        pictures.by_length(["3-5", "6-9"], {"one": [1.0, 0.9], "other": [0.8, 0.3]}),
        pictures.sizes_by_height({"no norm": [8, 80, 800], "pre-norm": [8, 9, 10]}),
        pictures.schedule(reference.warmup_schedule, 512, 40, 200),
        pictures.architectures(reference.architecture_masks),
        pictures.cross_maps(torch.full((2, 1, 2, 3), 1 / 3, requires_grad=True), ["le", "chat"], ["the", "cat", "."]),
        pictures.whole_picture(),
        pictures.seconds_by_length([8, 32], {"GRU": [0.001, 0.004], "layer": [0.001, 0.002]}),
        pictures.decoder_only(Causal(mask=None), torch.tensor([[3, 4, 5]]), ["the", "cat", "sleeps"]),
    ]
    for figure in figures:
        assert len(figure.get_label()) > 20
        assert all(axes.get_title(loc="left") or axes.get_xlabel() or axes.get_ylabel() for axes in figure.axes)
    assert "1 pairs of lines cross" in figures[0].get_label()
    assert "step 40" in labels(figures[3])
    assert "weight" in labels(figures[5])  # what the colours mean
    assert "4.0 ms" in figures[7].get_label()


class Causal(nn.Module):
    """A decoder-only stack with this mask, or without layers."""

    def __init__(self, mask: torch.Tensor | None, n_layers: int = 2) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.mask = nn.Embedding(9, 8), mask
        self.layers = nn.ModuleList(reference.EncoderLayer(8, 2, 16, dropout=0.0) for _ in range(n_layers))

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.mask)
        return x @ self.embed.weight.T


@pytest.mark.parametrize(
    ("model", "n_layers", "depends_on"),
    [
        (Causal(None, n_layers=0), 0, "itself alone"),
        (Causal(None), 2, "every word"),
        (Causal(reference.causal(4)), 2, "itself and the words before"),
        (Causal(reference.causal(4).T), 2, "some words"),
    ],
)
def test_a_decoder_only_stack_shows_what_its_words_depend_on(model, n_layers, depends_on):
    figure = pictures.decoder_only(model, torch.tensor([[3, 0, 5, 6]]), ["the", "cat", "sleeps", "."])
    assert f"in {n_layers} layers. The logits of each word depend on {depends_on}." in figure.get_label()
    squares = [axes.images[0].get_array() for axes in figure.axes if axes.images]
    assert len(squares) == n_layers + 1
    if model.mask is not None:
        assert ((squares[0] > 0) == model.mask.numpy()).all()


def test_the_masks_are_drawn_as_they_are_given():
    figure = pictures.architectures(reference.architecture_masks, src_length=3, tgt_length=4)
    shown = [axes.images[0].get_array() for axes in figure.axes]
    assert [image.shape for image in shown] == [(4, 4), (3, 3), (3, 3), (4, 4), (4, 3)]
    assert shown[0].tolist() == [[float(j <= i and j < 2) for j in range(4)] for i in range(4)]
    assert shown[4].sum() == 8


def test_cross_weights_come_from_the_model_that_was_called(model):
    src, tgt_in = torch.randint(3, 20, (2, 5)), torch.randint(3, 20, (2, 7))
    weights = pictures.cross_weights(model, src, tgt_in)
    assert weights.shape == (2, 2, 2, 7, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 2, 7))
    assert not any(layer.cross_attention._forward_hooks for layer in model.decoder)


def test_a_word_looks_from_where_the_words_before_it_were_read(model):
    src, said = torch.randint(3, 20, (2, 5)), torch.randint(3, 20, (2, 7))
    read = torch.cat([torch.full((2, 1), phrases.SOS), said[:, :-1]], dim=1)
    assert torch.equal(pictures.looks(model, src, said), pictures.cross_weights(model, src, read))


def test_the_translator_follows_what_is_typed_and_chosen(model):
    widget = pictures.translator(model, knowing)
    example, typed, french, layer, looks, verdict, _ = widget.children
    assert [child.description for child in (example, typed, french, layer)] == [
        "example",
        "English",
        "French",
        "layer",
    ]
    assert [word for word, _ in french.options] == [
        "le",
        "petit",
        "chat",
        "noir",
        "ne",
        "le",
        "voit",
        "pas",
        ".",
        "(end)",
    ]
    assert "The grammar says the same" in verdict.value and "“noir”" in looks.value
    before = looks.value
    french.value = 1
    assert "“petit”" in looks.value and looks.value != before
    before = looks.value
    layer.value = 1
    assert looks.value != before
    example.value = 2
    assert typed.value == pictures.EXAMPLES[1] and "fatigué" in [word for word, _ in french.options]


def test_the_translator_says_what_it_does_not_know(model):
    widget = pictures.translator(model, lambda model, src: torch.tensor([[5, 6, 2]]))
    _, typed, french, _, looks, verdict, _ = widget.children
    assert "The grammar says: <b>le petit chat" in verdict.value
    typed.value = "the dragon <b>sleeps"
    assert "not in the english vocabulary: &lt;b&gt;sleeps, dragon" in verdict.value
    typed.value = "cat the sees"
    assert "no such sentence" in verdict.value and looks.value and len(french.options) == 3


def test_a_sentence_longer_than_the_model_reads_is_refused(model):
    widget = pictures.translator(model, knowing)
    _, typed, french, _, looks, verdict, _ = widget.children
    before, options = looks.value, french.options
    longest = "the " * 10 + "cat ."  # 12 words: with the end, one more than the model reads
    typed.value = longest
    assert "The model reads at most 12 words, the end included. This sentence has 13." in verdict.value
    assert looks.value == before and french.options == options
    with pytest.raises(ValueError, match="at most 12 words"):
        pictures._Translation(model, knowing, longest)


def test_capitals_and_full_stops_are_mended():
    assert pictures.words_of("The cat and I sleep") == ["the", "cat", "and", "I", "sleep", "."]
    assert pictures.words_of("do i sleep?") == ["do", "I", "sleep", "?"]
