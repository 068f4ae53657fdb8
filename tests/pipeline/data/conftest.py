"""Give every test a separate cache and no data folder, so that nothing outside is read or written."""

from __future__ import annotations

import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from singlepass.pipeline.data.resolve import shared_stream
from singlepass.pipeline.data.sources import shared_table


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SINGLEPASS_CACHE", str(folder))
    monkeypatch.delenv("SINGLEPASS_DATA", raising=False)
    monkeypatch.delenv("SINGLEPASS_MIRROR", raising=False)
    forget()
    return folder


def forget() -> None:
    """Clear all caches of this process, as if it had just started."""
    shared_stream.cache_clear()
    shared_table.cache_clear()


@pytest.fixture
def new_process() -> Callable[[], None]:
    return forget


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file into the test's folder."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def pack(tmp_path: Path) -> Callable[..., Path]:
    """Write a tar archive of (name, content) pairs, or of given headers, into the test's folder."""

    def pack_members(name: str, *members: tuple[str, bytes] | tarfile.TarInfo, mode: str = "w:gz") -> Path:
        with tarfile.open(tmp_path / name, mode) as archive:  # type: ignore[call-overload]
            for member in members:
                if isinstance(member, tarfile.TarInfo):
                    archive.addfile(member)
                else:
                    info = tarfile.TarInfo(member[0])
                    info.size = len(member[1])
                    archive.addfile(info, io.BytesIO(member[1]))
        return tmp_path / name

    return pack_members


class Server:
    """Run a web server on this machine.

    `files` maps paths to bytes; responses for paths in `cut` break off half-way. Those for
    paths in `encoded` are declared to be a compressed form of their content.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.encoded: set[str] = set()
        self.requests: list[str] = []
        self.encodings: set[str | None] = set()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append(self.path)
                server.encodings.add(self.headers["Accept-Encoding"])
                content = server.files.get(self.path)
                if content is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("ETag", hashlib.sha256(content).hexdigest())
                if self.path in server.encoded:
                    self.send_header("Content-Encoding", "gzip")
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if self.path in server.cut else content)

            def log_message(self, format: str, *args: object) -> None:
                """Print nothing, to keep the test output short."""

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Server()
    yield running
    running.close()
