"""A recurrent translator as a baseline: topic 05's interface on torch's own GRU layers.

All target words are read at once, as in M.-T. Luong et al., "Effective Approaches to Attention-based Neural Machine
Translation", EMNLP 2015. So attention comes after the decoder's step, and not before it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .attention import attention_weights


class AttentionSeq2Seq(nn.Module):
    """A translator: `model(src (B, S), src_lengths (B,), tgt (B, T))` -> logits (B, T, V). `tgt` has eos and no sos.

    Args:
        src_vocab: words of the source.
        tgt_vocab: words of the target, V.
        embed: width of an embedded word.
        hidden: width of the decoder's state, an even number. Each direction of the encoder has half of it.
        attention: width A in which states and source words are compared. With 0 there is no attention, and the decoder
            sees only the encoder's last states.
        pad: the id of padding.
        sos: the id that the decoder begins from.
        eos: the id that ends a sentence.

    Raises:
        ValueError: `hidden` is odd.
    """

    def __init__(
        self,
        src_vocab: int,
        tgt_vocab: int,
        embed: int,
        hidden: int,
        attention: int,
        pad: int = 0,
        sos: int = 1,
        eos: int = 2,
    ) -> None:
        super().__init__()
        if hidden % 2:
            raise ValueError(f"two directions cannot share a state of width {hidden} equally, so choose an even one")
        self.pad, self.sos, self.eos = pad, sos, eos
        self.read, self.say = nn.Embedding(src_vocab, embed), nn.Embedding(tgt_vocab, embed)
        self.reader = nn.GRU(embed, hidden // 2, batch_first=True, bidirectional=True)
        self.writer = nn.GRU(embed, hidden, batch_first=True)
        self.look = nn.ModuleDict()
        if attention:
            self.look.update({part: nn.Linear(hidden, attention, bias=False) for part in ("ask", "offer")})
        self.out = nn.Linear(2 * hidden, tgt_vocab)

    def forward(self, src: Tensor, src_lengths: Tensor, tgt: Tensor) -> Tensor:
        """Predict each word of `tgt` from those before it (teacher forcing)."""
        words, state = self._understood(src, src_lengths)
        before = F.pad(tgt, (1, -1), value=self.sos)
        logits, _, _ = self._continued(before, state, words, src_lengths)
        return logits

    @torch.no_grad()
    def decode_greedy(self, src: Tensor, src_lengths: Tensor, max_len: int) -> tuple[Tensor, Tensor]:
        """Return ids (B, max_len), pad after eos, and their attention weights over the source (B, max_len, S)."""
        words, state = self._understood(src, src_lengths)
        word, ids, looks = src.new_full((len(src), 1), self.sos), [], []
        for _ in range(max_len):
            logits, state, weights = self._continued(word, state, words, src_lengths)
            word = logits.argmax(-1)
            ids.append(word)
            looks.append(weights)
        said = torch.cat(ids, dim=1)
        ended = (said == self.eos).long().cumsum(1) - (said == self.eos).long()  # number of eos before each word
        return said.masked_fill(ended > 0, self.pad), torch.cat(looks, dim=1)

    def _understood(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Encode the source: return its words (B, S, H), and the initial state of the decoder (1, B, H)."""
        packed = nn.utils.rnn.pack_padded_sequence(self.read(src), lengths.cpu(), True, enforce_sorted=False)
        words, last = self.reader(packed)
        whole, _ = nn.utils.rnn.pad_packed_sequence(words, True, total_length=src.shape[1])
        return whole, last.transpose(0, 1).flatten(1)[None]

    def _continued(self, ids: Tensor, state: Tensor, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits (B, T, V) after reading `ids` from `state`, the new state, and the weights (B, T, S)."""
        states, after = self.writer(self.say(ids), state)
        there = torch.arange(words.shape[1], device=ids.device) < lengths[:, None]  # (B, S)
        if self.look:
            weights = attention_weights(self.look["ask"](states), self.look["offer"](words), there[:, None], None)
        else:
            weights = F.one_hot(lengths - 1, words.shape[1]).to(words)[:, None].expand(-1, ids.shape[1], -1)
        return self.out(torch.cat([states, weights @ words], dim=-1)), after, weights
