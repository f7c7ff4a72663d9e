"""The tokeniser against the library `tokenizers`, made of the same tokens and merges."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from transformers.convert_slow_tokenizer import bytes_to_unicode

from course.data.language_model.tokenizer import Tokenizer, smollm_words
from course.reference.tokens import bpe_encode
from tests.data.language_model import small

tokenizers = pytest.importorskip("tokenizers")
OURS = Tokenizer(small.tokens(), (" ".join(pair) for pair in small.MERGES), [3] * 3 + [1] * 259)


def library_of(ours: Tokenizer):
    """The same tokeniser in the library, by GPT-2's map of bytes to characters."""
    shown = bytes_to_unicode()
    written = [
        token.decode() if number in ours.control.values() else "".join(shown[byte] for byte in token)
        for number, token in enumerate(ours.tokens)
    ]
    merges = [tuple("".join(shown[byte] for byte in piece) for piece in pair) for pair in ours.merges]
    numbers = {token: number for number, token in enumerate(written)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=numbers, merges=merges))
    digits = tokenizers.pre_tokenizers.Digits(individual_digits=True)
    words = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([digits, words])
    return made


THEIRS = library_of(OURS)
TRICKY = st.text(st.sampled_from("the a'srldmv 12½Ⅷ٣一é́_.\n\t\x1c\x1d\x85\xa0\u3000👩\u200d"), max_size=30)


@given(st.one_of(TRICKY, st.text(max_size=20)))
@example("It's we'll DON'T")
@example("in 1969 and x² = ½, Ⅷ 一 ٣")
@example("a \n\n  b\t\tc \u3000 d_e__f \x1c\x1d \x85 \xa0 ")
def test_any_text_is_cut_as_the_library_cuts_it(text: str) -> None:
    assert OURS.encode(text) == THEIRS.encode(text).ids
    assert "".join(smollm_words(text)) == text
    assert OURS.decode(OURS.encode(text)) == text.replace(chr(small.LACKING), "")


def test_topic_13_cuts_with_its_merges() -> None:
    pieces = bpe_encode("the theatre and a bath", OURS.merges)
    assert [OURS.tokens[token] for token in OURS.encode("the theatre and a bath")] == pieces
