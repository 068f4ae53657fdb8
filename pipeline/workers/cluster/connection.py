"""Reaching a scheduler: where it is, and waiting for it, with a line that says so and an end to patience."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from .handshake import refusal

if TYPE_CHECKING:
    from distributed import Client

    from .jobs import Starting

# One try to connect; a scheduler that answers does so in milliseconds.
_CONNECT_SECONDS = 5.0
# Between two tries.
_PAUSE_SECONDS = 0.5
# What a client may take to say goodbye to a scheduler that may be gone.
_CLOSE_SECONDS = 5.0


class Lost(Exception):
    """The scheduler does not answer any more."""


@dataclass(frozen=True)
class SchedulerPlace:
    """Where a scheduler is.

    Attributes
    ----------
    address : str or None
        Such as ``"tcp://10.0.0.1:8786"``.
    file : str or None
        JSON file that ``dask scheduler --scheduler-file`` wrote; one of the two.
    security : distributed.Security or None
        None: what Dask's own configuration says, TLS included.
    starting : Starting or None
        The workers that this process has asked its own cluster for; None: they are started elsewhere.
    leftovers : dict of str to str
        What outlives this process when it is killed, for the store: the cluster's class, with the name of its
        jobs or the address of a scheduler elsewhere. Empty: nothing does.
    """

    address: str | None = None
    file: str | None = None
    security: Any = None
    starting: Starting | None = None
    leftovers: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"scheduler {self.address}" if self.address else f"scheduler file {self.file}"

    def current(self) -> str:
        """Return the address; a scheduler that comes back may write another one to its file.

        Raises
        ------
        OSError
            The file is not there, or not what a scheduler writes.
        """
        if self.address is not None:
            return self.address
        text = Path(str(self.file)).read_text()
        try:
            return str(json.loads(text)["address"])
        except (ValueError, KeyError, TypeError):
            # It may be being written.
            raise OSError("not the JSON file that `dask scheduler --scheduler-file` writes") from None


def message_of(error: BaseException) -> str:
    """Return an error in a line: what a queue's command has printed, if it is the error of one."""
    text = str(error).strip()
    printed = [line.strip() for line in text.partition("stderr:\n")[2].splitlines() if line.strip()]
    if printed:
        return "; ".join(printed)
    return f"{type(error).__name__}: {text.partition(chr(10))[0]}"


class _LastError(logging.Filter):
    """Keeps the last error that a logger was told of, and shows none."""

    message: str | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[1]:
            # The error itself has the jobs in its frames, and a cluster waits for jobs that are alive.
            self.message = message_of(record.exc_info[1])
        return record.levelno >= logging.CRITICAL


# Errors of callbacks, such as the one that submits jobs, reach these loggers and nothing else.
_CALLBACK_LOGGERS = ("tornado.application", "asyncio")
_last_error = _LastError()


def hush() -> None:
    """Keep what Dask logs of connections that come and go from the terminal: it is told in one line here."""
    # Imported first: it sets up its logging when it is.
    import distributed  # noqa: F401

    for name in (*_CALLBACK_LOGGERS, "distributed", *logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in _CALLBACK_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
        logging.getLogger(name).addFilter(_last_error)


def last_error() -> str | None:
    """Return the message of the last error of a callback since `forget_errors`, or None."""
    return _last_error.message


def forget_errors() -> None:
    """Forget the errors of a cluster before."""
    _last_error.message = None


@contextlib.asynccontextmanager
async def connected(
    place: SchedulerPlace, patience: float, note: Callable[[str], None]
) -> AsyncIterator[Client]:
    """Connect to a scheduler, however often that takes.

    Parameters
    ----------
    place : SchedulerPlace
    patience : float
        Seconds.
    note : callable
        Told, in a line, what is waited for, and that it has come.

    Yields
    ------
    distributed.Client
        Asynchronous.

    Raises
    ------
    InputError
        Nobody answers for `patience` seconds, or what answers is not for us.
    """
    hush()
    began, said = time.monotonic(), False
    while True:
        try:
            client = await _connect(place)
            break
        except (OSError, TimeoutError) as error:
            reason = _first_line(error)
            if why := await asyncio.to_thread(_refusal, place):
                raise InputError(f"{place}: {why}") from None
        if time.monotonic() - began > patience:
            raise InputError(
                f"{place}: did not answer for {patience:g} s ({reason}); is one started (`dask scheduler`), "
                "and is it reached from here?"
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
    security = place.security or Security()
    if address.startswith("tls://") and not security.get_connection_args("client").get("ssl_context"):
        raise InputError(
            f"{place}: Dask's settings name no certificate: set ca-file, client.cert and client.key of "
            "distributed.comm.tls"
        )
    try:
        client = Client(
            address,
            asynchronous=True,
            timeout=_CONNECT_SECONDS,
            security=security,
            set_as_default=False,
        )
    except (ValueError, TypeError, RuntimeError) as error:
        # An address that is none.
        raise InputError(f"{place}: {_first_line(error)}") from None
    try:
        connected_client: Client = await client
        return connected_client
    except BaseException as error:
        # A client that is half made has tasks, too.
        await _close(client)
        if isinstance(error, ValueError | TypeError | RuntimeError):
            raise InputError(f"{place}: {_first_line(error)}") from None
        raise


async def _close(client: Client) -> None:
    with contextlib.suppress(Exception):
        await asyncio.wait_for(client.close(), _CLOSE_SECONDS)


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
