"""Hidden tests of `bpe_decode`: bytes joined first, and read as UTF-8 afterwards."""

from __future__ import annotations

from course.exercise import call, exercise
from course.hidden.tokens.scaffold import drawn_text
from course.reference import tokens as reference


@exercise(
    reference.bpe_decode,
    hints=(
        "The character `é` has two bytes. What is each of them alone?",
        "Begin with one string of bytes from all pieces. What does `bytes.decode` offer for bytes that are no text?",
    ),
    calls=(
        "bpe_decode([b'h', b'ug'])",
        "bpe_decode([b' a', b'b'])",
        "bpe_decode([b'n', b'\\xc3', b'\\xa9'])",
        "bpe_decode([b'n', b'\\xc3', b' n'])",
        "bpe_decode([])",
        "bpe_decode([b'a', b'', b'b'])",
    ),
)
def bpe_decode(rng):
    """Characters cut in two, three and four; bytes that no text has; what `bpe_encode` made of a text."""
    yield call("pieces of letters", [b"h", b"ug", b" p", b"un"], public=True)
    yield call("a character in two pieces", [b"n", b"\xc3", b"\xa9", b" n\xc3", b"\xa9e"], public=True)
    yield call("half a character", [b"n", b"\xc3", b" n"], public=True)
    yield call("white space at both ends", [b" a", b"\t\r\n", b"b ", b"\r\n"], public=True)
    yield call("characters that look like nothing, or like others", [b"\xef\xbb\xbfn\xcc\x83", b"\xc2\xa0\x00"])
    text = f"{drawn_text(rng, 'abé🙂', 23)}\n  10.5"
    merges = reference.train_bpe(drawn_text(rng, "abé🙂", 31), 9)
    yield call("what bpe_encode made of a text", reference.bpe_encode(text, merges), weight=2.0)
    yield call("all in single bytes", list(reference.as_bytes(drawn_text(rng, "é🙂ñ", 11))), weight=2.0)
    broken = [bytes(rng.integers(0, 256, 3).tolist()) for _ in range(29)]
    yield call("bytes of a model that has not learned yet", broken, weight=2.0)
    yield call("no pieces", [], weight=0.25).counts_with("pieces of letters")


@bpe_decode.misconception("Decode b'\\xc3' alone, and then b'\\xc3\\xa9'. When should bytes become text?")
def piece_by_piece(pieces):
    return "".join(piece.decode("utf-8", errors="replace") for piece in pieces)


@bpe_decode.misconception("What does your function do with half a character? A model may write any pieces.")
def strict(pieces):
    return b"".join(pieces).decode()


@bpe_decode.misconception("What does your function do with half a character? A model may write any pieces.")
def piece_by_piece_and_strict(pieces):
    return "".join(piece.decode() for piece in pieces)


@bpe_decode.misconception("Bytes that are no text should leave a sign in the answer. Print what b'n\\xc3 n' becomes.")
def broken_bytes_dropped(pieces):
    return b"".join(pieces).decode("utf-8", errors="ignore")


bpe_decode.mistakes(
    "Decode [b' a\\r\\n'] and compare it with the bytes, sign by sign. What has become of the spaces and line ends?",
    stripped=lambda pieces: b"".join(pieces).decode("utf-8", errors="replace").strip(),
    line_ends_changed=lambda pieces: "\n".join(
        b"".join(pieces).decode("utf-8", errors="replace").replace("\r\n", "\n").split("\r")
    ),
)


@bpe_decode.misconception("Where do the spaces of your text come from? The pieces bring their own.")
def spaces_between_pieces(pieces):
    return b" ".join(pieces).decode("utf-8", errors="replace")
