"""Right answers to `Transformer` that look nothing like the reference."""

from __future__ import annotations

import math
from functools import reduce

import torch
from torch import nn

from course import blocks
from tests.hidden.alternatives.encoder_decoder.scaffold import (
    BothBranches,
    DecoderBothBranches,
    DecoderInALoop,
    WithIdentities,
)


class _Sizes(nn.Module):
    """The constructor that the notebook gives."""

    encoder_layer, decoder_layer = BothBranches, DecoderBothBranches

    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm="post", pad=0, sos=1,
                 eos=2, max_len=64):  # fmt: skip
        super().__init__()
        self.pad, self.sos, self.eos, self.max_len, self.d_model = pad, sos, eos, max_len, d_model
        self.src_embed, self.tgt_embed = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.register_buffer("positions", blocks.sinusoids(max_len, d_model), persistent=False)
        sizes = (d_model, n_heads, d_ff, dropout, norm)
        self.encoder = nn.ModuleList([self.encoder_layer(*sizes) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([self.decoder_layer(*sizes) for _ in range(n_layers)])
        self.encoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.dropout = nn.Dropout(dropout)


class ByTheBook(_Sizes):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        S, T = src.shape[1], tgt_in.shape[1]
        src_mask = (src != self.pad).view(-1, 1, 1, S) if src_mask is None else src_mask
        if tgt_mask is None:
            tgt_mask = torch.ones(1, 1, T, T, device=src.device).tril() == 1  # padding stands behind every real word
        h = self.dropout(self.src_embed(src) * math.sqrt(self.d_model) + self.positions[:S])
        for layer in self.encoder:
            h = layer(h, src_mask)
        h = self.encoder_norm(h)
        x = self.dropout(self.tgt_embed(tgt_in) * math.sqrt(self.d_model) + self.positions[:T])
        for layer in self.decoder:
            x = layer(x, h, tgt_mask, src_mask)
        return nn.functional.linear(self.decoder_norm(x), self.tgt_embed.weight)


class OtherLayers(ByTheBook):
    encoder_layer, decoder_layer = WithIdentities, DecoderInALoop

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if tgt_mask is None:
            places = torch.arange(tgt_in.shape[1], device=tgt_in.device)
            tgt_mask = (places[:, None] >= places) & (tgt_in != self.pad)[:, None, None, :]
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class InAChain(ByTheBook):
    """Each tower folded into one value; the table of embeddings scaled instead of the words."""

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if src_mask is None:
            src_mask = src.ne(self.pad)[:, None, None, :]
        if tgt_mask is None:
            places = torch.arange(tgt_in.shape[1])
            tgt_mask = (places <= places[:, None])[None, None] & tgt_in.ne(self.pad)[:, None, None, :]
        memory = reduce(lambda h, layer: layer(h, src_mask), self.encoder, self.words(src, self.src_embed))
        memory = self.encoder_norm(memory)
        x = self.words(tgt_in, self.tgt_embed)
        x = reduce(lambda y, layer: layer(y, memory, tgt_mask=tgt_mask, src_mask=src_mask), self.decoder, x)
        return torch.einsum("btd,vd->btv", self.decoder_norm(x), self.tgt_embed.weight)

    def words(self, ids, table):
        scaled = nn.functional.embedding(ids, table.weight * self.d_model**0.5)
        return nn.functional.dropout(scaled + self.positions[None, : ids.shape[1]], self.dropout.p, self.training)


ALTERNATIVES = [ByTheBook, OtherLayers, InAChain]
