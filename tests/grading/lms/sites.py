"""What both servers share: a server of HTTP on a free port, which records requests and fails where a test wants it."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

TOKEN = "7~s3cr3tT0k3nThatNobodyMayEverSee0123456789"

Fault = str
"""`429`, `limit` (Canvas's 403), `500`, `503`, `cut` (nothing is done), `lost` (done, without an answer), `half`."""

ANSWERS: dict[Fault, tuple[int, dict[str, str], bytes]] = {
    "429": (429, {"Retry-After": "7"}, b"429 Too Many Requests (Rate Limit Exceeded)\n"),
    "limit": (403, {"X-Rate-Limit-Remaining": "0.0"}, b"403 Forbidden (Rate Limit Exceeded)\n"),
    "500": (500, {}, b'{"errors":[{"message":"An error occurred."}]}'),
    "503": (503, {"Retry-After": "3"}, b"<html>Service Unavailable</html>"),
}


@dataclass
class Asked:
    """A request: its fields are those of the address and of the form, and `files` what was uploaded, by field."""

    method: str
    path: str
    query: dict[str, list[str]]
    form: list[tuple[str, str]]
    files: dict[str, tuple[str, bytes]]
    headers: dict[str, str]

    def one(self, name: str, default: str = "") -> str:
        """The last value of a field."""
        return next((value for field, value in reversed(self.form) if field == name), default)


Answer = tuple[int, dict[str, str], bytes]


def as_json(what: Any, status: int = 200, **headers: str) -> Answer:
    return status, {"Content-Type": "application/json", **headers}, json.dumps(what).encode()


@dataclass
class Site:
    """A server: `fault` says for each request, by its number from 1, what goes wrong; `seen` are methods and paths."""

    fault: Callable[[int, Asked], Fault | None] = lambda number, asked: None
    before: Callable[[int, Asked], None] = lambda number, asked: None
    after: Callable[[int, Asked], None] = lambda number, asked: None
    seen: list[Asked] = field(default_factory=list)
    address: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, asked: Asked) -> Answer:
        raise NotImplementedError

    def count(self, method: str, path: str = "") -> int:
        """How many requests of a method had a path with this in it."""
        return sum(one.method == method and path in one.path for one in self.seen)

    @contextmanager
    def running(self) -> Iterator[Site]:
        """Answer until the block ends."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        self.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _handler(site: Site) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 20

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._do()

        def do_POST(self) -> None:
            self._do()

        def do_PUT(self) -> None:
            self._do()

        def _do(self) -> None:
            asked = _asked(self)
            with site.lock:
                site.seen.append(asked)
                number = len(site.seen)
                site.before(number, asked)
                fault = site.fault(number, asked)
                if fault == "cut":
                    self._hang_up()
                    return
                status, headers, body = ANSWERS[fault] if fault in ANSWERS else site.answer(asked)
                site.after(number, asked)
            if fault == "lost":
                self._hang_up()
                return
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if fault == "half" else body)
            if fault == "half":
                self._hang_up()

        def _hang_up(self) -> None:
            self.close_connection = True

    return Handler


def _asked(handler: http.server.BaseHTTPRequestHandler) -> Asked:
    parts = urlsplit(handler.path)
    body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    kind = handler.headers.get("Content-Type", "")
    form: list[tuple[str, str]] = []
    files: dict[str, tuple[str, bytes]] = {}
    if kind.startswith("multipart/form-data"):
        message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
        for part in message.iter_parts():
            name = str(part.get_param("name", header="content-disposition"))
            content = part.get_payload(decode=True) or b""
            if part.get_filename() is not None:
                files[name] = (str(part.get_filename()), bytes(content))
            else:
                form.append((name, bytes(content).decode()))
    else:
        form = parse_qsl(body.decode(), keep_blank_values=True)
    headers = {name.title(): value for name, value in handler.headers.items()}
    return Asked(handler.command, parts.path, parse_qs(parts.query), form, files, headers)
