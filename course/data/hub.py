"""Data that is not the course's own: the Hugging Face hub, and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .cache import datasets_library

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

PREFIX = "hub:"
READERS = {
    ".txt": "text",
    ".md": "text",
    ".json": "json",
    ".jsonl": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
"""Which of `load_dataset`'s readers reads a file, by the end of its name, in small letters or capitals."""


def from_hub(identifier: str, **options: Any) -> Dataset | DatasetDict:
    """`load_dataset(identifier, **options)`: a data set of the Hugging Face hub, downloaded once.

    Raises:
        ConnectionError: the hub is switched off here (`HF_HUB_OFFLINE`, as in grading) and the set is not on disk.
        ValueError: no identifier is given.
    """
    if not identifier.strip():
        raise ValueError('a data set of the hub is asked for as "hub:<id>", such as "hub:wikitext"')
    library = datasets_library()
    try:
        return library.load_dataset(identifier, **options)
    except OSError as error:
        if library.config.HF_HUB_OFFLINE:
            raise ConnectionError(
                f"{identifier!r} is not on this machine, and the hub is switched off here (HF_HUB_OFFLINE)"
            ) from error
        raise


def is_path(name: str) -> bool:
    """Whether `name` means files: something with a slash, a known ending, or a name that exists."""
    return "/" in name or bool(_reader(Path(name))) or Path(name).expanduser().exists()


def _reader(file: Path) -> str:
    """What reads a file of this name; empty for what cannot be read."""
    return READERS.get(file.suffix.lower(), "")


def from_files(path: str, **options: Any) -> Dataset | DatasetDict:
    """The file at `path`, or all files of one kind in that folder; also a folder written by `save_to_disk`.

    Raises:
        FileNotFoundError: nothing is there.
        ValueError: no file there is of a kind that can be read, or there are several kinds.
    """
    place = Path(path).expanduser()
    if not place.exists():
        raise FileNotFoundError(f"there is no file or folder {path!r} here ({Path.cwd()})")
    library = datasets_library()
    if (place / "dataset_dict.json").is_file() or (place / "dataset_info.json").is_file():
        return library.load_from_disk(str(place), **options)
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    readable = [file for file in files if _reader(file) and file.is_file()]
    kinds = {_reader(file) for file in readable}
    if len(kinds) != 1:
        found = "no file" if not kinds else f"files of several kinds ({', '.join(sorted(kinds))})"
        raise ValueError(f"{path!r} holds {found} to read; one kind of {', '.join(READERS)} is needed")
    if any(file.suffix.lower() == ".tsv" for file in readable):
        options = {"delimiter": "\t", **options}
    return library.load_dataset(kinds.pop(), data_files=[str(file) for file in readable], **options)
