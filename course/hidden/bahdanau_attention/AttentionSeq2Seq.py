"""Hidden tests of `AttentionSeq2Seq`."""

import torch

from course.exercise import Ref, build, exercise
from course.reference import bahdanau_attention as reference
from course.reference.bahdanau_attention import AttentionSeq2Seq as _Right

PAD_ALONE = "other tokens behind a sentence's end change its logits"

ALONE = "a sentence gets other logits in a batch than it gets alone"

LOOKED = "decode_greedy returns two tensors: ids (B, L), and the attention weights (B, L, S) of each step"

LOGITS = "logits for every position"
"""The case that no constant passes, and no table of remembered answers. All others count together with it."""


@exercise(
    reference.AttentionSeq2Seq,
    name="AttentionSeq2Seq",
    forbidden=("blocks.AttentionSeq2Seq",),
    hints=(
        "Which numbers go from one step to the next, and which stay the same in all steps? Which of the two loops "
        "knows the next token, and which has to find it?",
        "Change one token of the target. Which logits of `forward` may move, and which must not?",
        "Decode two sentences alone, then together. What happens to the one that ends later?",
        "Begin with `step`, and call it once by hand with what `encode` returns and the embedding of sos. Print the "
        "shapes of its three results. `forward` is then a loop that collects logits. `decode_greedy` is the same "
        "loop, fed with its own tokens.",
    ),
    calls=(
        (
            "AttentionSeq2Seq(7, 5, 4, 6, 3)(ones(2, 4, dtype=torch.long), tensor([4, 2]), ones(2, 3, "
            "dtype=torch.long)).shape"
        ),
        (
            "AttentionSeq2Seq(7, 5, 4, 6, 0)(ones(2, 4, dtype=torch.long), tensor([4, 2]), ones(2, 3, "
            "dtype=torch.long)).shape"
        ),
        (
            "model = set_all(AttentionSeq2Seq(7, 5, 4, 6, 3), 0); model.decode_greedy(ones(1, 2, "
            "dtype=torch.long), tensor([2]), 3)[0]"
        ),
        (
            "model = set_all(AttentionSeq2Seq(7, 5, 4, 6, 3), 0); model.decode_greedy(ones(1, 2, "
            "dtype=torch.long), tensor([2]), 3)[1].shape"
        ),
        (
            "model = set_all(AttentionSeq2Seq(7, 5, 4, 6, 3), 0); model.decode_greedy(ones(1, 2, "
            "dtype=torch.long), tensor([2]), 1)[1]"
        ),
        (
            "model = set_all(AttentionSeq2Seq(7, 5, 4, 6, 3), 0); model.decode_greedy(ones(1, 2, "
            "dtype=torch.long), tensor([1]), 1)[1]"
        ),
    ),
)
def AttentionSeq2Seq(rng):
    """Parameters are the student's own, so laws decide: what may depend on what, and whether the two loops agree."""
    lengths = torch.tensor([5, 1, 7, 2, 6])
    src = rng.integers(3, 13, 5, 7)
    tgt = rng.integers(3, 11, 5, 8)
    behind = torch.arange(7) >= lengths[:, None]
    refilled = torch.where(behind, 3 + (src - 3 + rng.integers(1, 10, 5, 7)) % 10, src)

    def case(title, attention=5, scale=0.5, fill=True, sizes=(13, 11, 6, 8), **settings):
        made = build(title, *sizes, attention, **settings).laws_only()
        made = made if title == LOGITS else made.counts_with(LOGITS)
        return made.fill(rng, scale=scale) if fill else made

    copies = rng.integers(0, 5, 11)
    yield (
        case(LOGITS, public=True)
        .call(src, lengths, tgt)
        .law("shape_is", shape=(5, 8, 11), meaning="logits (B, T, V), a row for each target")
        .law("finite")
        .call(src[copies], lengths[copies], tgt[copies], into="copies")
        .law("rows_follow", of="copies", rows=copies, because="copies of a pair of sentences should get the same "
             "logits, and other pairs others. Do yours depend on the tokens, and on nothing else?")
    )  # fmt: skip
    yield (
        case("read twice", public=True, weight=0.5)
        .call(src, lengths, tgt)
        .call(src, lengths, tgt, into="again")
        .law("repeats", to="again", because="in evaluation, the same batch gets other logits the second time. What "
             "do they depend on besides the weights and the tokens?")
    )  # fmt: skip
    yield (
        case("what stands behind the end", public=True)
        .call(src, lengths, tgt)
        .call(refilled, lengths, tgt, into="other")
        .law("equal", to="other", within=1e-5, because=PAD_ALONE)
    )
    rows = [(src[k : k + 1, :n], lengths[k : k + 1], tgt[k : k + 1]) for k, n in enumerate(lengths.tolist())]
    yield (
        case("alone and in company")
        .call(src, lengths, tgt)
        .map(rows, into="alone")
        .law("same_rows", to="alone", because=ALONE)
    )
    changed = tgt.clone()
    changed[:, 3] = 3 + (tgt[:, 3] - 2) % 8
    yield (
        case("what has been written", public=True, weight=2.0)
        .call(src, lengths, tgt)
        .call(src, lengths, changed, into="other")
        .law("equal_up_to", to="other", count=4, within=1e-5, because="another token at position 3 changes logits "
             "at or before position 3. Does the decoder read what it is about to write?")
        .law("differ_at", to="other", dim=1, place=4, because="another token at position 3 changes nothing at "
             "position 4. Does each step read the token before it?")
        .law("differ_at", to="other", dim=1, place=7, because="another token at position 3 changes nothing at "
             "position 7. Is the decoder's state carried from step to step?")
    )  # fmt: skip
    number = rng.seed()
    yield (
        case("how it begins", fill=False)
        .fill(number)
        .call(13, 11, 6, 8, 5, sos=9, on="answer", into="second")
        .fill(number, on="second")
        .call(src, lengths, tgt)
        .call(src, lengths, tgt, on="second", into="other")
        .law("differ_at", to="other", dim=1, place=0, because="with another sos the first step reads the same. Does "
             "the decoder read shift_right(tgt, sos)?")
    )  # fmt: skip
    yield from _looks_back(case, rng)
    yield (
        case("everything learns", public=True, sizes=(13, 11, 6, 17))
        .call(src, lengths, tgt)
        .gradients(wrt="parameters")
        .law("every_parameter_learns")
        .law("learns_by_place", places=[13, 14], because="no gradient reaches the embeddings of the source")
        .law("every_row_learns", rows=13, used=sorted(set(src[~behind].tolist())),
             because="some tokens of the source get no gradient. Where does it stop on its way back?")
    )  # fmt: skip
    yield from _writes(case, rng)
    yield (
        case("logits for many words", sizes=(13, 23, 6, 8), public=True)
        .call(src, lengths, tgt)
        .law("no_probabilities")
        .law("some_below_zero")
    )


def _looks_back(case, rng):
    """A long source and weak weights. The last states have forgotten its middle, and attention has not."""
    long = torch.full((3,), 101)
    source, target = rng.integers(3, 13, 3, 101), rng.integers(3, 11, 3, 5)
    middle = source.clone()
    middle[:, 48:53] = 3 + (source[:, 48:53] - 3 + rng.integers(1, 10, 3, 5)) % 10
    yield (
        case("a token far away, with attention", scale=0.2, public=True, weight=4.0)
        .call(source, long, target)
        .call(middle, long, target, into="other")
        .law("different", to="other", within=1e-5, because="with weak weights the last states forget the middle of "
             "a long source, but attention should see it. Does the context reach the logits?")
    )  # fmt: skip
    rare = source.clamp(max=11)
    rare[:, 50] = 12
    yield (
        case("a token far away learns", scale=0.2, sizes=(13, 11, 6, 17))
        .call(rare, long, target)
        .gradients(wrt="parameters")
        .law("every_row_learns", rows=13, used=[12], least=1e-5, because="the middle of a long source gets no "
             "gradient. Does one come back through the context?")
    )  # fmt: skip
    yield (
        case("the same without attention", attention=0, scale=0.2, weight=2.0)
        .call(source, long, target)
        .call(middle, long, target, into="other")
        .law("equal", to="other", within=1e-5, because="with attention=0 the context is the last state, which has "
             "forgotten the middle of a long source, but yours still sees it")
    )  # fmt: skip
    last = source.clone()
    last[:, 100] = 3 + (source[:, 100] - 2) % 10
    yield (
        case("the end of the source, without attention", attention=0, public=True)
        .call(source, long, target)
        .call(last, long, target, into="other")
        .law("different", to="other", because="without attention another last token of the source changes nothing")
    )
    written = rng.integers(3, 11, 3, 60)  # by its end, a state that is told nothing has forgotten where it began
    yield (
        case("a late step, without attention", attention=0, scale=0.2)
        .call(source, long, written)
        .call(last, long, written, into="other")
        .law("differ_at", to="other", dim=1, place=59, within=1e-5, because="without attention the last state of "
             "the encoder is the context of every step, but after 59 of them yours knows nothing of the source")
    )  # fmt: skip
    number = rng.seed()
    # A sentence that begins with one eos does not begin with the other: two steps are looked at.
    for title, eos in (("the weights move", 2), ("the weights move, with another eos", 3)):
        yield (
            case(title, fill=False, weight=1.0, eos=eos)
            .fill(number, scale=1.0)
            .call(source[:, :7].clone(), torch.full((3,), 7), 2, method="decode_greedy", into="decoded")
            .call(1, on="decoded", method="__getitem__", into="weights")
            .law("slices_differ", of="weights", dim=1, within=1e-5, because="the weights are the same at two steps. "
                 "Is the query the decoder's own state, as it is now?")
        )  # fmt: skip


def _writes(case, rng):
    """Greedy decoding against the model's own logits, for sentences that end early, late and never."""
    n, longest = 29, 9
    lengths = rng.integers(1, 8, n)
    lengths[0] = 7
    src = rng.integers(3, 13, n, 7)
    yield (
        case("what decode_greedy returns", weight=0.5, public=True)
        .call(src, lengths, longest, method="decode_greedy", into="decoded")
        .law("has_parts", of="decoded", count=2, because=LOOKED)
    )
    for title, tokens, settings in (
        ("greedy: the best token at each step", 4, {"public": True}),
        ("greedy, once more", 4, {}),
        ("greedy, with other specials", 5, {"pad": 3, "sos": 4, "eos": 0, "public": True}),
        ("greedy, with other specials, once more", 5, {"pad": 4, "sos": 2, "eos": 1, "weight": 1.0}),
        ("greedy, with eos first", 5, {"pad": 1, "sos": 2, "eos": 0, "weight": 1.0}),
    ):
        eos, pad = settings.get("eos", 2), settings.get("pad", 0)
        yield (
            case(title, scale=1.0, sizes=(13, tokens, 6, 8), **{"weight": 2.0, **settings})
            .call(src, lengths, longest, method="decode_greedy", into="decoded")
            .call(0, on="decoded", method="__getitem__", into="ids")
            .call(1, on="decoded", method="__getitem__", into="weights")
            .call(src, lengths, Ref("ids"), into="logits")
            .law("whole_numbers", of="ids")
            .law("padded_behind", of="ids", eos=eos, pad=pad)
            .law("no_longer_than", of="ids", longest=longest)
            .law("long_enough", of="ids", eos=eos, longest=longest)
            .law("a_row_for_each", of="logits", ids="ids")
            .law("keeps_its_eos", of="ids", logits="logits", eos=eos, pad=pad)
            .law("follows_its_logits", of="ids", logits="logits", eos=eos)
            .law("a_row_for_each", of="weights", ids="ids", because=LOOKED)
            .law("weighs_real_places", of="weights", ids="ids", lengths=lengths, eos=eos)
        )
    few, ends = src[:12], lengths[:12]
    rolled = [(few.roll(-k, 0), ends.roll(-k), longest) for k in range(12)]
    rows = [(few[k : k + 1], ends[k : k + 1], longest) for k in range(12)]
    # In 95 of 100 networks as wide as these some of the twelve sentences end by then, and others do not: it has to
    # happen in one of three.
    for title, eos in (
        ("decoded alone and in company", 2),
        ("alone and in company, with another eos", 3),
        ("alone and in company, with a third eos", 4),
    ):
        yield (
            case(title, scale=1.0, sizes=(13, 5, 12, 64), eos=eos)
            .map(rolled, method="decode_greedy", into="company")
            .map(rows, method="decode_greedy", into="alone")
            .law("same_whoever_is_first", of="company", to="alone", pad=0,
                 because="a sentence is decoded into other tokens in a batch than it is alone")
        )  # fmt: skip
    yield (
        case("greedy without attention", attention=0, scale=1.0, sizes=(13, 4, 6, 8))
        .call(src, lengths, longest, method="decode_greedy", into="decoded")
        .call(0, on="decoded", method="__getitem__", into="ids")
        .call(src, lengths, Ref("ids"), into="logits")
        .law("padded_behind", of="ids", eos=2, pad=0)
        .law("long_enough", of="ids", eos=2, longest=longest)
        .law("follows_its_logits", of="ids", logits="logits", eos=2)
    )


class LaidOpen(_Right):
    """The reference with its pieces laid open, so that wrong ones can take their place."""

    def reads(self, tgt):
        return reference.shift_right(tgt, self.sos)

    def begin(self, last):
        return torch.tanh(self.start(last))

    def next_state(self, new, start):
        return new

    def fed(self, token):
        return token

    def ended(self, ended):
        return ended

    def done(self, ended):
        return bool(ended.all())

    def forward(self, src, src_lengths, tgt):
        keys, mask, last = self.encode(src, src_lengths)
        start = state = self.begin(last)
        logits = []
        for token in self.reads(tgt).unbind(1):
            scores, new, _ = self.step(token, state, keys, mask, last)
            state = self.next_state(new, start)
            logits.append(scores)
        return torch.stack(logits, 1)

    @torch.no_grad()
    def decode_greedy(self, src, src_lengths, max_len):
        keys, mask, last = self.encode(src, src_lengths)
        start = state = self.begin(last)
        token, ended = torch.full_like(src_lengths, self.sos), src_lengths < 0
        ids, weights = [], []
        while len(ids) < max_len and not self.done(ended):
            scores, new, looked = self.step(self.fed(token), state, keys, mask, last)
            state = self.next_state(new, start)
            token = scores.argmax(-1).masked_fill(self.ended(ended), self.pad)
            ended = ended | (token == self.eos)
            ids.append(token)
            weights.append(looked)
        return torch.stack(ids, 1), torch.stack(weights, 1)


@AttentionSeq2Seq.misconception(
    "Watch the training loss. Does it fall to zero at once? Then the decoder can read the answer from its input."
)
class ReadsWhatItIsToWrite(LaidOpen):
    def reads(self, tgt):
        return tgt


def _masked_by(change):
    class Masked(LaidOpen):
        def encode(self, src, src_lengths):
            keys, mask, last = super().encode(src, src_lengths)
            return keys, change(mask), last

    return Masked


AttentionSeq2Seq.mistakes(
    "Print the weights of the shortest sentence of a batch. How much lies behind its end?",
    MaskForgotten=_masked_by(torch.ones_like),
)


@AttentionSeq2Seq.misconception(
    "Change an early token of the target. Do late logits move? Which state goes into a step?"
)
class EveryStepStartsAnew(LaidOpen):
    def next_state(self, new, start):
        return start


@AttentionSeq2Seq.misconception(
    "Replace all tokens of the target by others. Do the logits of forward move? What does each of its steps read?"
)
class ReadsItsOwnTokens(LaidOpen):
    def forward(self, src, src_lengths, tgt):
        keys, mask, last = self.encode(src, src_lengths)
        state, token, logits = self.begin(last), torch.full_like(src_lengths, self.sos), []
        for _ in range(tgt.shape[1]):
            scores, state, _ = self.step(token, state, keys, mask, last)
            token = scores.argmax(-1)
            logits.append(scores)
        return torch.stack(logits, 1)


@AttentionSeq2Seq.misconception(
    "Print the shape of what goes into your first step. It takes a token's embedding, (B, E). Is it that, or an id?"
)
class ReadsIdsForEmbeddings(LaidOpen):
    def step(self, token, state, keys, mask, last):
        return self.decoder(torch.cat([token, last], 1), state)


@AttentionSeq2Seq.misconception(
    "Give the ids that you decoded to forward. Does each have the largest logit at its position? Then print what goes "
    "into the first two steps of both loops, the token, its embedding and the state."
)
class DecodesOtherwise(LaidOpen):
    def fed(self, token):
        return torch.full_like(token, self.sos)


@AttentionSeq2Seq.misconception(
    "Decode a short and a long sentence together, and count the columns. When does your loop stop?"
)
class StopsWithTheFirst(LaidOpen):
    def done(self, ended):
        return bool(ended.any())


@AttentionSeq2Seq.misconception("Print the decoded ids. What stands behind the first eos of a sentence?")
class WritesOnAfterEos(LaidOpen):
    def ended(self, ended):
        return torch.zeros_like(ended)
