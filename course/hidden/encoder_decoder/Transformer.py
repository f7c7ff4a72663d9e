"""Hidden tests of `Transformer`: embeddings, positions, masks, both stacks of layers, and the logits."""

import torch

from course.exercise import build, exercise
from course.hidden.encoder_decoder.scaffold import BUILT_IN_LAYERS, HEADS, INNER, PAD, D
from course.hidden.shapes import shapes_of
from course.reference import encoder_decoder as reference
from course.reference.encoder_decoder import causal

SRC_VOCAB, TGT_VOCAB = 13, 17


@exercise(
    reference.Transformer,
    hints=(
        "Follow one sentence through embedding, scaling, positions and encoder. Write down the shape after each step.",
        "Change the last word of tgt_in. At which positions do the logits move? Then change the padding of src.",
        "Do the words of both languages get positions? How large is an embedding before and after scaling? In "
        "pre-norm nothing norms the residual stream inside the layers. What stands at the end of each stack?",
        "Begin with the source alone. Make its mask, embed it, and return the memory from forward for now. Is its "
        "shape (B, S, D)? Then embed the target in the same way, with its own table and mask, and go on to the "
        "decoder.",
    ),
    forbidden=BUILT_IN_LAYERS,
    tolerance=1e-5,
    name="Transformer",
    calls=(
        ("Transformer(7, 9, 4, 2, 8, 1, dropout=0.)(ones(2, 3, dtype=torch.long), ones(2, 5, dtype=torch.long)).shape"),
        "model = set_all(Transformer(7, 3, 4, 2, 8, 1, dropout=0.), 0); model(tensor([[3, 4]]), tensor([[1]]))",
        (
            "model = set_all(Transformer(7, 3, 4, 2, 8, 1, dropout=0., norm='pre'), 0); model(tensor([[3, "
            "4]]), tensor([[1]]))"
        ),
        (
            "model = Transformer(7, 9, 4, 2, 8, 1, dropout=0.).eval(); (model(tensor([[3, 4]]), tensor([[1, "
            "5]])) - model(tensor([[3, 4, 0]]), tensor([[1, 5]]))).abs().max() < 1e-4"
        ),
        (
            "model = Transformer(7, 9, 4, 2, 8, 1, dropout=0.).eval(); (model(tensor([[3, 4]]), tensor([[1, "
            "5]]))[:, :1] - model(tensor([[3, 4]]), tensor([[1, 6]]))[:, :1]).abs().max() < 1e-4"
        ),
        (
            "model = Transformer(7, 9, 4, 2, 8, 1, dropout=0.).eval(); (model(tensor([[3, 4]]), tensor([[1, "
            "5]])) - model(tensor([[4, 3]]), tensor([[1, 5]]))).abs().max() < 1e-4"
        ),
    ),
)
def Transformer(rng):
    """Loaded by name into both norms, padding anywhere in the source, masks given, and masks of its own.

    With a dropout of 1 no word is left in training, and every word in evaluation.
    """

    def model(title, norm="post", n_layers=2, dropout=0.0, pad=PAD, **settings):
        sizes = (SRC_VOCAB, TGT_VOCAB, D, HEADS, INNER, n_layers)
        made = build(title, *sizes, dropout=dropout, norm=norm, pad=pad, max_len=11, **settings)
        shapes = shapes_of(reference.Transformer, *sizes, norm=norm)
        state = {name: rng.normal(*shape) / (2 if len(shape) > 1 else 1) for name, shape in shapes.items()}
        return made.call(method="double", into="model").load(state)

    def ids(B, S, T):
        """The second sentence ends early, in padding. The third is padding alone."""
        src = rng.integers(3, SRC_VOCAB, B, S)
        src[1:2, S // 2 :], src[2:] = 0, 0
        return src, torch.cat([torch.ones(B, 1).long(), rng.integers(3, TGT_VOCAB, B, T - 1)], 1)

    yield model("post-norm", public=True, weight=2.0).call(*ids(2, 7, 5))
    yield model("pre-norm", "pre", public=True, weight=2.0).call(*ids(3, 5, 7))
    src, tgt = ids(2, 5, 5)
    yield model("one layer each, padding in front", n_layers=1, public=True).call(src.flip(1), tgt)
    yield model("three layers, pre-norm", "pre", 3).call(*ids(2, 5, 5))
    yield model("a first word from one word", n_layers=1).call(*ids(1, 1, 1))
    src, tgt = ids(3, 7, 5)
    some = (rng.uniform(3, 1, 1, 7) < 0.6) | (torch.arange(7) == 0)
    yield model("masks that are given").call(
        src, tgt, some, causal(5) & (rng.uniform(5, 5) < 0.7) | torch.eye(5).bool()
    )
    yield model("a source mask alone", "pre", 1).call(src, tgt, src_mask=some)
    yield model("nothing hidden at all", n_layers=1).call(src, tgt, tgt_mask=torch.ones(5, 5, dtype=torch.bool))
    src, tgt = rng.permutation(SRC_VOCAB - 1).view(2, 6), rng.integers(3, TGT_VOCAB, 2, 5)
    src[1, 4:], last = SRC_VOCAB - 1, SRC_VOCAB - 1
    yield model("padding with another number", n_layers=1, pad=last).call(src, tgt.masked_fill(tgt == last, 3))
    yield model("gradients of the weights").call(*ids(2, 5, 3)).gradients(wrt="parameters")
    everything = {"n_layers": 1, "dropout": 1.0, "weight": 0.5}
    yield model("in training, everything dropped", **everything).train().call(*ids(2, 5, 3))
    words = model("in training, the words of both languages dropped", **everything).train()
    yield words.read("encoder").read("decoder").call(*ids(2, 5, 3))  # what is read is put into evaluation
    yield model("in evaluation, nothing dropped", **everything).call(*ids(2, 5, 3))


class OpenModel(reference.Transformer):
    """The reference in pieces, for a wrong one to exchange."""

    def embedded(self, ids, embed):
        return self.dropout(self.placed(ids, embed))

    def placed(self, ids, embed):
        return embed(ids) * embed.embedding_dim**0.5 + self.positions[: ids.shape[1]]

    def masks(self, src, tgt_in, src_mask, tgt_mask):
        return (
            self.real(src) if src_mask is None else src_mask,
            self.real(tgt_in) & self.past(tgt_in.shape[1]) if tgt_mask is None else tgt_mask,
        )

    def past(self, T):
        return causal(T)

    def encoded(self, src, src_mask):
        memory = self.embedded(src, self.src_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        return self.encoder_norm(memory)

    def decoded(self, tgt_in, memory, tgt_mask, src_mask):
        x = self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x)

    def towers(self, src, tgt_in, src_mask, tgt_mask):
        return self.decoded(tgt_in, self.encoded(src, src_mask), tgt_mask, src_mask)

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        x = self.towers(src, tgt_in, *self.masks(src, tgt_in, src_mask, tgt_mask))
        return x @ self.tgt_embed.weight.T


@Transformer.misconception(
    "Print the size of an embedding and of a position's vector before you add them. How do they compare?"
)
class EmbeddingsNotScaled(OpenModel):
    def placed(self, ids, embed):
        return embed(ids) + self.positions[: ids.shape[1]]


@Transformer.misconception("Exchange two words of the source. Do the logits move? Attention alone ignores the order.")
class NoPlaces(OpenModel):
    def placed(self, ids, embed):
        return embed(ids) * embed.embedding_dim**0.5


@Transformer.misconception(
    "Put it into training mode with a dropout of 1. Change a source word. Do the logits still move?"
)
class WordsNotDropped(OpenModel):
    def embedded(self, ids, embed):
        return self.placed(ids, embed)


@Transformer.misconception(
    "Change the last word of tgt_in. At which positions may the logits move when no mask is given?"
)
class FutureInSight(OpenModel):
    def past(self, T):
        return torch.ones(T, T, dtype=torch.bool)


@Transformer.misconception("Translate a sentence alone, and with padding behind it. Are the logits the same?")
class PaddingInSight(OpenModel):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        return src_mask, super().masks(src, tgt_in, src_mask, tgt_mask)[1]


@Transformer.misconception(
    "Print the source's mask for a sentence with padding. Is True at the words, or at the padding?",
    convention="True hides, as in nn.Transformer's key_padding_mask",
)
class PaddingMaskInverted(OpenModel):
    def masks(self, src, tgt_in, src_mask, tgt_mask):
        hidden = ~self.real(src)
        return hidden if src_mask is None else src_mask, super().masks(src, tgt_in, src_mask, tgt_mask)[1]


@Transformer.misconception(
    "Change the second word of tgt_in. Which logits move first? Does the model shift the target, or its caller?"
)
class ShiftsOnceMore(OpenModel):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        again = torch.cat([torch.full_like(tgt_in[:, :1], self.sos), tgt_in[:, :-1]], 1)
        return super().forward(src, again, src_mask, tgt_mask)


@Transformer.misconception(
    "In pre-norm, print the size of the vectors at the top of each stack. What should norm them?"
)
class NoNormAtTheEnd(OpenModel):
    def towers(self, src, tgt_in, src_mask, tgt_mask):
        memory, x = self.embedded(src, self.src_embed), self.embedded(tgt_in, self.tgt_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return x
