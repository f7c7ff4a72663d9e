"""Right answers to `bpe_decode` that look nothing like the reference."""

from __future__ import annotations

import codecs
import io


def with_a_reader(pieces):
    return io.TextIOWrapper(io.BytesIO(b"".join(pieces)), "utf-8", errors="replace", newline="").read()


def piece_after_piece(pieces):
    """Decode piece after piece with an incremental decoder, which waits for the rest of a character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return "".join([*(decoder.decode(piece) for piece in pieces), decoder.decode(b"", final=True)])


ALTERNATIVES = [with_a_reader, piece_after_piece]
