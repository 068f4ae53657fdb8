"""Connect to a Dask scheduler: find its address, wait for it, and explain why it refuses a TLS connection."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...errors import InputError

if TYPE_CHECKING:
    from distributed import Client

    from .jobs import Starting


def run_to_its_end(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine until it ends; if this thread has a running event loop, run it in another thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine)
        return
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def held() -> None:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        await coroutine

    with ThreadPoolExecutor(1, thread_name_prefix="singlepass-cluster") as pool:
        future = pool.submit(lambda: asyncio.run(held()))
        try:
            future.result()
        except KeyboardInterrupt:
            # Ctrl-C interrupts only this thread: cancel the coroutine in the other one, unless it has ended.
            for loop, task in running:
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(task.cancel)
            raise


def raise_if_cancelled() -> None:
    """Raise CancelledError if this asyncio task was cancelled; `wait_for` of Python 3.11 may suppress it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


# Timeout of a TLS handshake, which takes milliseconds.
_SECONDS = 2.0


def refusal(address: str, security: Any) -> str | None:
    """Return why a scheduler's TLS settings refuse this client and what to do, or None if unknown.

    `address` is a URL such as ``"tls://10.0.0.1:8786"``; the result is also None if no server listens there.
    """
    place = urlsplit(_with_scheme(address))
    if place.scheme not in ("tcp", "tls") or not place.hostname or not place.port:
        return None
    if place.scheme == "tls":
        return _told(place.hostname, place.port, security.get_connection_args("client")["ssl_context"])
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
    error = _handshake(place.hostname, place.port, stranger)
    if error is not None and not _is_answer_of_tls(error):
        return None
    return f"it speaks TLS: give its address as tls://{place.hostname}:{place.port}"


def _with_scheme(address: str) -> str:
    """Return an address with the scheme that Dask assumes if it has none."""
    return address if "://" in address else f"tcp://{address}"


def _told(host: str, port: int, context: ssl.SSLContext) -> str | None:
    error = _handshake(host, port, context)
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not one that we trust ({error.verify_message}): "
            "distributed.comm.tls.ca-file must name the authority that signed it"
        )
    if not isinstance(error, ssl.SSLError):
        return None
    if _is_answer_of_tls(error):
        return (
            f"it does not accept our certificate ({error.reason}): distributed.comm.tls.client.cert must be "
            "signed by the authority that the scheduler trusts"
        )
    return f"it does not speak TLS: give its address as tcp://{host}:{port}"


def _is_answer_of_tls(error: OSError) -> bool:
    """Return whether an error is a TLS alert, which only a peer that speaks TLS sends."""
    return isinstance(error, ssl.SSLError) and "ALERT" in str(error.reason)


def _handshake(host: str, port: int, context: ssl.SSLContext) -> OSError | None:
    """Try a TLS handshake with a server; return its error, or None if it succeeds."""
    try:
        with (
            socket.create_connection((host, port), timeout=_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host) as wrapped,
            contextlib.suppress(TimeoutError),
        ):
            # Read once: in TLS 1.3, a rejection of the client's certificate arrives only after the handshake.
            wrapped.recv(1)
    except OSError as error:
        return error
    return None


# Timeout of one attempt to connect; a scheduler normally answers within milliseconds.
_CONNECT_SECONDS = 5.0
# Pause between two attempts.
_PAUSE_SECONDS = 0.5
# Timeout for closing a client whose scheduler may be gone.
_CLOSE_SECONDS = 5.0


class Lost(Exception):
    """Error: the connection to the scheduler is lost, because it no longer answers."""


@dataclass(frozen=True)
class SchedulerPlace:
    """The address of a scheduler, or the file that contains it."""

    # URL such as ``"tcp://10.0.0.1:8786"``; None if `file` is given.
    address: str | None = None
    # JSON file that ``dask scheduler --scheduler-file`` wrote.
    file: str | None = None
    # TLS settings; None uses Dask's own configuration.
    security: Any = None
    # The workers requested from a cluster of this process; None if they are started elsewhere.
    starting: Starting | None = None
    # What keeps running if this process is killed, so that the user can end it: the cluster's class, and the
    # name of its jobs or the address of its remote scheduler. Stored with the results; may be empty.
    leftovers: dict[str, str] = field(default_factory=dict)

    @property
    def worker_command(self) -> str:
        """A command that starts a worker of this scheduler."""
        return f"dask worker {self.address or f'--scheduler-file {self.file}'}"

    def __str__(self) -> str:
        return f"scheduler {self.address}" if self.address else f"scheduler file {self.file}"

    def current(self) -> str:
        """Return the scheduler's current address; raise OSError if the scheduler file contains none.

        The file is read at each call, because a restarted scheduler may have another address.
        """
        if self.address is not None:
            return self.address
        text = Path(str(self.file)).read_text()
        try:
            return str(json.loads(text)["address"])
        except (ValueError, KeyError, TypeError):
            # OSError lets the caller try again: the scheduler may be writing the file just now.
            raise OSError("not the JSON file that `dask scheduler --scheduler-file` writes") from None


def message_of(error: BaseException) -> str:
    """Return an error as one line: what a batch queue's failed command printed, else its type and text.

    The cause is added, because Dask's "Scheduler failed to start." gives no reason. It is the first error of
    the chain whose text the later ones do not repeat.
    """
    text = str(error).strip()
    printed = [line.strip() for line in text.partition("stderr:\n")[2].splitlines() if line.strip()]
    if printed:
        return "; ".join(printed)
    line, cause, chain = _with_type(error), "", [error]
    # The chain is a cycle if an error was raised again from one that it had led to.
    while (each := _reason(chain[-1])) and each not in chain:
        # Without quotes, the text of KeyError("x") is a part of "unknown unit x".
        text = str(each).strip().partition("\n")[0].strip("'\"")
        if text and not any(text in str(later) for later in chain):
            cause = _with_type(each)
        chain.append(each)
    return f"{line.rstrip('.')}; cause: {cause}" if cause else line


def _with_type(error: BaseException) -> str:
    """Return an error's type and the first line of its text."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def _reason(error: BaseException) -> BaseException | None:
    """Return the error that led to another one, or None if there is none or `from None` hides it."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


class _LastError(logging.Filter):
    """Logging filter that remembers the last error and drops everything below CRITICAL."""

    message: str | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[1]:
            # Keep only the text: a traceback would keep job objects alive, for whose end `close` would wait.
            self.message = message_of(record.exc_info[1])
        return record.levelno >= logging.CRITICAL


# Loggers that report errors of an event loop's callbacks. Failed submissions of jobs appear only there.
_CALLBACK_LOGGERS = ("tornado.application", "asyncio")
_last_error = _LastError()


def hush() -> None:
    """Silence Dask's log messages about connections; this package tells the user about connections itself."""
    # Import Dask first: the import configures its logging, and would overwrite the changes below.
    import distributed  # noqa: F401

    for name in (*_CALLBACK_LOGGERS, "distributed", *logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in _CALLBACK_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
        logging.getLogger(name).addFilter(_last_error)


def last_error() -> str | None:
    """Return the text of the last error in an event loop's callback since `forget_errors`, or None."""
    return _last_error.message


def forget_errors() -> None:
    """Forget the last error that `last_error` would return, because it belongs to an earlier cluster."""
    _last_error.message = None


@contextlib.asynccontextmanager
async def connected(
    place: SchedulerPlace, patience: float, note: Callable[[str], None]
) -> AsyncIterator[Client]:
    """Connect to a scheduler, trying again until it answers; yield an asynchronous Dask client.

    `patience` is the longest wait in seconds. `note` receives a line when the wait begins and when it ends.
    Raises InputError if the scheduler does not answer within `patience`, or refuses this client.
    """
    hush()
    began, said = time.monotonic(), False
    while True:
        try:
            client = await _connect(place)
            break
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            reason = _first_line(error)
            if why := await asyncio.to_thread(_refusal, place):
                raise InputError(f"{place}: {why}") from None
            if not isinstance(error, OSError):
                # The address is invalid: trying again does not help.
                raise InputError(f"{place}: {reason}") from None
        if time.monotonic() - began > patience:
            raise InputError(
                f"{place}: did not answer for {patience:g} s ({reason}): check that a scheduler runs "
                "there (`dask scheduler`) and that this machine can reach it"
            ) from None
        if not said:
            said = True
            note(f"{place}: does not answer ({reason}); waiting for it, {patience:g} s at most (--patience)")
        await asyncio.sleep(_PAUSE_SECONDS)
    if said:
        note(f"{place}: is there")
    try:
        yield client
    finally:
        await _close(client)


def _refusal(place: SchedulerPlace) -> str | None:
    from distributed import Security

    with contextlib.suppress(OSError):
        return refusal(place.current(), place.security or Security())
    return None


async def _connect(place: SchedulerPlace) -> Client:
    from distributed import Client, Security

    address = place.current()
    try:
        parts = urlsplit(_with_scheme(address))
        # Reading the port raises ValueError if it is not a number or out of range.
        if parts.port is None and parts.scheme in ("tcp", "tls"):
            raise ValueError("Port is missing")
    except ValueError as error:
        scheme = "tls" if address.startswith("tls://") else "tcp"
        raise InputError(f"{place}: {_first_line(error)}: give its address as {scheme}://HOST:PORT") from None
    security = place.security or Security()
    try:
        context = security.get_connection_args("client").get("ssl_context")
    except OSError as error:
        raise InputError(f"{place}: {_unusable(security, error)}") from None
    if address.startswith("tls://") and not context:
        raise InputError(
            f"{place}: Dask's settings name no certificate: set ca-file, client.cert and client.key of "
            "distributed.comm.tls"
        )
    client = Client(
        address, asynchronous=True, timeout=_CONNECT_SECONDS, security=security, set_as_default=False
    )
    try:
        connected_client: Client = await client
        return connected_client
    except BaseException:
        # Close the client that failed to connect, because its background tasks would go on.
        await _close(client)
        raise


def _unusable(security: Any, error: OSError) -> str:
    """Return why this machine's TLS settings cannot be used, with the files that they name."""
    settings = security.get_tls_config_for_role("client")
    named = {"ca-file": settings["ca_file"], "client.cert": settings["cert"], "client.key": settings["key"]}
    # A setting may also be the text of a certificate or key, which is not shown.
    files = ", ".join(f"{key} = {value}" for key, value in named.items() if value and "\n" not in value)
    reason = f"this machine's TLS settings cannot be used ({_first_line(error)})"
    return f"{reason}: check in distributed.comm.tls: {files}"


async def _close(client: Client) -> None:
    with contextlib.suppress(Exception):
        await asyncio.wait_for(client.close(), _CLOSE_SECONDS)


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
