"""Test what a run says if it cannot connect to a scheduler."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from distributed import Security

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.workers.cluster import connection
from singlepass.pipeline.workers.cluster.connection import SchedulerPlace, connected, refusal


@pytest.mark.parametrize(
    ("address", "reason", "scheme"),
    [
        ("tls://localhost:99999", "Port out of range", "tls"),
        ("tls://127.0.0.1", "Port is missing", "tls"),
        ("tcp://127.0.0.1", "Port is missing", "tcp"),
        ("localhost:99999", "Port out of range", "tcp"),
        ("localhost", "Port is missing", "tcp"),
    ],
)
def test_an_address_without_a_valid_port(address: str, reason: str, scheme: str) -> None:
    with pytest.raises(InputError) as error:
        asyncio.run(_connect(SchedulerPlace(address)))
    assert str(error.value).startswith(f"scheduler {address}: {reason}")
    assert str(error.value).endswith(f": give its address as {scheme}://HOST:PORT")


def test_an_address_without_a_scheme_of_a_scheduler_with_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_handshake", lambda *_: None)
    assert refusal("127.0.0.1:9", None) == "it speaks TLS: give its address as tls://127.0.0.1:9"


async def _connect(place: SchedulerPlace) -> None:
    async with connected(place, 600.0, lambda line: pytest.fail(line)):
        pass


@pytest.mark.parametrize("scheme", ["tls", "tcp"])
@pytest.mark.parametrize("content", [None, "no certificate"])
def test_unusable_tls_settings(tmp_path: Path, scheme: str, content: str | None) -> None:
    """The line names the files at once; without this check, the run would wait for a scheduler."""
    files = {name: str(tmp_path / name) for name in ("ca.pem", "own.pem", "own.key")}
    if content:
        for path in files.values():
            Path(path).write_text(content)
    ca_file, cert, key = files.values()
    security = Security(tls_ca_file=ca_file, tls_client_cert=cert, tls_client_key=key)
    with pytest.raises(InputError) as error:
        asyncio.run(_connect(SchedulerPlace(f"{scheme}://127.0.0.1:9", security=security)))
    assert str(error.value).startswith(
        f"scheduler {scheme}://127.0.0.1:9: this machine's TLS settings cannot "
    )
    assert f": ca-file = {ca_file}, client.cert = {cert}, client.key = {key}" in str(error.value)
    assert "\n" not in str(error.value)
