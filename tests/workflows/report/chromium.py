"""Drive a headless Chromium through its debugging pipe: load a page, evaluate, click, emulate."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium binary on the PATH")


class Browser:
    """One page of a browser; requests and errors of the page are recorded."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer, self._buffer = reader, writer, b""
        self._serials = itertools.count(1)
        self._session: str | None = None
        self.requests: list[str] = []
        self.problems: list[str] = []
        self._loads = 0
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            some = os.read(self._reader, 1 << 20)
            assert some, "the browser has ended"
            self._buffer += some
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._record(message.get("method"), message.get("params", {}))
        return message

    def _record(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(str(params["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        elif method == "Page.loadEventFired":
            self._loads += 1

    def send(self, method: str, **params: Any) -> Any:
        """Call a method of the browser's protocol and return its result."""
        serial = next(self._serials)
        session = {"sessionId": self._session} if self._session else {}
        text = json.dumps({"id": serial, "method": method, "params": params, **session}).encode() + b"\0"
        while text:
            text = text[os.write(self._writer, text) :]
        while (answer := self._receive()).get("id") != serial:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, url: str) -> None:
        """Load a page and wait until it has loaded."""
        before = self._loads
        # A change of the fragment alone would load nothing.
        self.send("Page.navigate", url="about:blank")
        while self._loads == before:
            self._receive()
        before = self._loads
        self.send("Page.navigate", url=url)
        while self._loads == before:
            self._receive()

    def run(self, script: str) -> Any:
        """Return the value of an expression, or of the promise that it gives."""
        answer = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def show(self, width: int, height: int = 900, *, scheme: str = "light", media: str = "") -> None:
        """Set the width of the window, the color scheme, and the medium ("print")."""
        size = {"width": width, "height": height}
        self.send("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)

    def point(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the mouse to a place of the window, and click there if wanted."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start a browser that keeps its profile in a folder, and end it afterwards."""
    assert CHROMIUM is not None
    commands, answers = os.pipe(), os.pipe()
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--remote-debugging-pipe",
    ]
    # The browser reads commands from file 3 and writes answers to file 4.
    script = f'exec "$0" "$@" 3<&{commands[0]} 4>&{answers[1]}'
    process = subprocess.Popen(
        ["bash", "-c", script, CHROMIUM, *options, f"--user-data-dir={folder}"],
        pass_fds=(commands[0], answers[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(commands[0])
    os.close(answers[1])
    try:
        yield Browser(answers[0], commands[1])
    finally:
        process.kill()
        process.wait()
        os.close(commands[1])
        os.close(answers[0])
