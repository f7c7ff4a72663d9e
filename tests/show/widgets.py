"""Every widget of the course, made of references and of models that were trained for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets
import torch

from course import blocks, show
from course.data import advice, beings, calculator, copying, dates, phrases, play_model, wordnet
from course.data.bpe_merges import trained_merges
from course.reference import (
    assistant,
    bahdanau_attention,
    bert,
    cbow,
    cost,
    encoder_decoder,
    gpt,
    hidden_states,
    inside,
    linear_time,
    lora,
    lstm_gru,
    markov_ngrams,
    masking,
    positional_encoding,
    reasoning,
    rnn,
    self_attention,
    tokens,
    vit_patches,
)


def _writer() -> Any:
    text = "the cat sat on the mat and the dog ran after the cat " * 8
    alphabet = sorted({*text})
    ids = torch.tensor([alphabet.index(letter) for letter in text])
    models = {n: markov_ngrams.NGramModel(n, len(alphabet), 0.1).fit(ids) for n in (1, 2, 4)}
    return show.markov_ngrams.writer(models, alphabet, "the ")


def _words() -> Any:
    from course.data import grammar

    E = torch.randn(len(grammar.language().words), 16, generator=torch.Generator().manual_seed(0))
    return show.cbow.explorer(E, cbow.nearest)


def _dates() -> Any:
    torch.manual_seed(0)
    return show.bahdanau_attention.step_the_decoder(
        bahdanau_attention.AttentionSeq2Seq(dates.SOURCES, dates.TARGETS, 16, 16, 8)
    )


def _heads() -> Any:
    words = ["Ada", "Bo", "Cy", "Di", "Eve", "Flo", "Gus", "Hal"]
    made = torch.Generator().manual_seed(0)
    layers = [torch.softmax(3 * torch.randn(h, 8, 8, generator=made), -1) for h in (2, 4)]
    return show.multi_head_attention.explorer(layers, words, [f"{word}?" for word in words])


def _translator() -> Any:
    torch.manual_seed(0)
    sizes = len(phrases.vocabulary("english")), len(phrases.vocabulary("french"))
    model = encoder_decoder.Transformer(*sizes, 16, 2, 32, 2, max_len=24).eval()
    return show.encoder_decoder.translator(model, encoder_decoder.decode_greedy)


def _images() -> Any:
    torch.manual_seed(0)
    model = vit_patches.ViT(12, 3, 1, 10, 16, 2, 32, 2).eval()
    return show.vit_patches.explorer(model.attention_maps, torch.rand(6, 1, 12, 12), vit_patches.patchify)


def _next_tokens() -> Any:
    torch.manual_seed(0)
    return show.gpt.sampler(gpt.GPT(**wordnet.SIZES), gpt.next_token)


def _hidden_words() -> Any:
    torch.manual_seed(0)
    return show.bert.guesser(bert.Bert(len(beings.words()), 12, 2, 17, 1).eval())


def _copier() -> Any:
    torch.manual_seed(0)
    layer = linear_time.SelectiveLayer(32, 4)
    model = linear_time.Copier(copying.TOKENS, len(copying.LETTERS), copying.ASKED, layer).eval()
    return show.linear_time.watch_the_state(model, linear_time.selective_scan)


def _drafts() -> Any:
    torch.manual_seed(0)
    model = gpt.GPT(**wordnet.SIZES).load_published(wordnet.weights())
    return show.cost.guesses(model, cost.Draft(wordnet.SIZES["vocab"]), cost.accept_draft)


def _play() -> Any:
    model = blocks.OpenGPT(**play_model.SIZES).load_published(play_model.weights()).eval()
    return show.inside.explorer(model, inside.logit_lens)


def _tries() -> Any:
    """One question at three rounds, and two verifiers."""
    rounds = {0: ["=6", "=4"], 30: ["=1*5=5", "=4"], 60: ["=1*5=5", "=5"]}
    verifiers = {"strict": lambda line, text: float(reasoning.extract_answer(text) == calculator.value(line))}
    return show.reasoning.groups("3+8*5", rounds, verifiers | {"any": lambda line, text: float("4" in text)})


def _matrices() -> dict[str, torch.Tensor]:
    made = torch.Generator().manual_seed(0)
    return {"tall": torch.randn(12, 5, generator=made), "wide": torch.randn(4, 9, generator=made)}


WIDGETS: dict[str, Callable[[], Any]] = {
    "01 writer": _writer,
    "02 explorer": _words,
    "03 turn_the_radius": lambda: show.rnn.turn_the_radius(rnn.bptt),
    "03 watch_it_read": lambda: show.rnn.watch_it_read(rnn.ElmanClassifier(10, 16, 2)),
    "04 write_the_tape": lambda: show.lstm_gru.write_the_tape(lstm_gru.lstm_cell),
    "05 step_the_decoder": _dates,
    "06 playground": lambda: show.self_attention.playground(self_attention.scaled_dot_product_attention),
    "07 explorer": _heads,
    "08 explorer": lambda: show.positional_encoding.explorer(positional_encoding.sinusoidal),
    "08 turning_pairs": lambda: show.positional_encoding.turning_pairs(positional_encoding.rope),
    "09 painter": lambda: show.masking.painter(masking.masked_softmax),
    "10 translator": _translator,
    "11 explorer": _images,
    "12 explorer": lambda: show.lora.explorer(_matrices(), lora.best_rank_r),
    "13 explorer": lambda: show.tokens.explorer(tokens.bpe_encode, trained_merges()),
    "14 lattice": lambda: show.hidden_states.lattice(hidden_states.viterbi, hidden_states.hmm_posterior),
    "14 speller": lambda: show.hidden_states.speller(hidden_states.ctc_collapse),
    "15 sampler": _next_tokens,
    "16 guesser": _hidden_words,
    "17 watch_the_state": _copier,
    "18 explorer": lambda: show.assistant.explorer(assistant.best_policy, -advice.rewards()),
    "19 guesses": _drafts,
    "20 explorer": _play,
    "21 groups": _tries,
}


def parts(widget: Any, kind: type = ipywidgets.DOMWidget) -> Iterator[Any]:
    """All widgets of a kind within `widget`."""
    if isinstance(widget, kind):
        yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child, kind)


def controls(widget: Any) -> list[Any]:
    """What can be moved, chosen, typed or pressed."""
    kinds = (ipywidgets.ValueWidget, ipywidgets.Button)
    still = (ipywidgets.HTML, ipywidgets.Label, ipywidgets.Image)
    return [part for part in parts(widget) if isinstance(part, kinds) and not isinstance(part, still)]


def move(control: Any, times: int = 1) -> None:
    """Move one control as its next key would."""
    for _ in range(times):
        if isinstance(control, ipywidgets.Button):
            control.click()
        elif isinstance(control, ipywidgets.ToggleButton):
            control.value = not control.value
        elif isinstance(control, ipywidgets.Combobox):
            place = control.options.index(control.value) + 1
            control.value = control.options[place % len(control.options)]
        elif hasattr(control, "options"):
            count = len(control.options)
            control.index = ((control.index or 0) + 1) % count
        elif isinstance(control, ipywidgets.Text):
            control.value = control.value[:-1] or "()"
        else:
            up = control.value + control.step
            control.value = up if up <= control.max else control.min


def look(widget: Any) -> tuple:
    """All that a widget shows besides its controls."""
    return tuple(bytes(part.value) if isinstance(part, ipywidgets.Image) else part.value
                 for part in parts(widget, (ipywidgets.Image, ipywidgets.HTML)))  # fmt: skip
