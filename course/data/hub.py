"""Load other data than the course's own: from the Hugging Face hub and from files."""

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
"""`load_dataset`'s readers by the extension of a file, in lower or upper case."""


def from_hub(identifier: str, **options: Any) -> Dataset | DatasetDict:
    """Return `load_dataset(identifier, **options)`: a data set of the Hugging Face hub, downloaded once.

    Raises:
        ConnectionError: the hub is switched off (`HF_HUB_OFFLINE`, as in grading) and the set is not on disk.
        ValueError: the identifier is empty.
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
    """Return whether `name` means files: it has a slash or a known extension, or it exists."""
    return "/" in name or bool(_reader(Path(name))) or Path(name).expanduser().exists()


def _reader(file: Path) -> str:
    """Return the reader for a file of this name, or an empty string."""
    return READERS.get(file.suffix.lower(), "")


def from_files(path: str, **options: Any) -> Dataset | DatasetDict:
    """Load the file at `path`, or all files of one kind in that folder, or a folder written by `save_to_disk`.

    Raises:
        FileNotFoundError: there is nothing at `path`.
        ValueError: no file there has a readable kind, or there are several kinds.
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
