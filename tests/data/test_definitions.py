"""The dictionary's texts: enough of them, apart from those that judge, and handed out with their rows."""

from __future__ import annotations

import torch

from course.data import definitions, wordnet


def test_texts_are_ids_of_the_dictionary_and_begin_with_its_end():
    for ids, n in ((definitions.texts(), definitions.TEXTS), (definitions.held_out(), definitions.HELD_OUT)):
        assert ids.shape == (n, definitions.PLACES) and ids.dtype == torch.long
        assert bool((ids[:, 0] == wordnet.END).all()) and int(ids.min()) >= 0 and int(ids.max()) < len(wordnet.pieces())
        assert "(" in wordnet.decode(ids[0, 1:].tolist())


def test_no_text_is_among_those_that_judge():
    together = torch.cat([definitions.texts(), definitions.held_out()])
    assert len(together.unique(dim=0)) == len(together)


def test_a_batch_names_its_rows_and_an_epoch_has_every_text_once():
    batches = definitions.batches(torch.Generator().manual_seed(0))
    texts, seen = definitions.texts(), []
    for _ in range(definitions.TEXTS // definitions.BATCH):
        rows, ids = next(batches)
        assert torch.equal(ids, texts[rows])
        seen += rows.tolist()
    assert sorted(seen) == list(range(definitions.TEXTS))
    assert next(batches)[0].shape == (definitions.BATCH,)


def test_who_writes_into_the_texts_changes_them_for_nobody_else():
    definitions.texts().zero_()
    assert int(definitions.texts().max()) > 0
