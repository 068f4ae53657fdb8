"""Why a scheduler that listens does not talk to us: TLS on one side only, or a certificate is refused."""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import Any
from urllib.parse import urlsplit

# A handshake on a network takes milliseconds.
_SECONDS = 2.0


def refusal(address: str, security: Any) -> str | None:
    """Return why a scheduler refuses this client, with the remedy; None where that is not to be told.

    Parameters
    ----------
    address : str
        Such as ``"tls://10.0.0.1:8786"``.
    security : distributed.Security

    Returns
    -------
    str or None
        None also where nobody listens.
    """
    place = urlsplit(address)
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
    """Return whether an error is an alert, which only a side that speaks TLS sends."""
    return isinstance(error, ssl.SSLError) and "ALERT" in str(error.reason)


def _handshake(host: str, port: int, context: ssl.SSLContext) -> OSError | None:
    """Return the error of a handshake, None where it succeeds."""
    try:
        with (
            socket.create_connection((host, port), timeout=_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host) as wrapped,
            contextlib.suppress(TimeoutError),
        ):
            # With TLS 1.3 a client's certificate is refused after its handshake, in place of the first bytes.
            wrapped.recv(1)
    except OSError as error:
        return error
    return None
