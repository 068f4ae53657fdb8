"""Test the security of clusters: TLS through Dask's settings, and local runs that listen only on loopback."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from .certificates import make_authority, openssl
from .poison import slow
from .processes import Processes, Running, free_port
from .studies import assert_same, narrow_study, run_in_threads, stored_keys

LONGEST = 300.0


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(narrow_study('name = "Perceptron"', 'name = "AROW"\nr = [0.1, 1.0]'))
    return path


@pytest.fixture
def certified(tmp_path: Path) -> dict[str, str]:
    """Make certificates and return Dask's settings for a process of the cluster."""
    if openssl() is None:
        pytest.skip("needs openssl to make certificates")
    return make_authority(tmp_path / "certificates")


@pytest.mark.slow
def test_a_cluster_with_tls(
    processes: Processes, study: Path, tmp_path: Path, certified: dict[str, str]
) -> None:
    """A TLS cluster computes the same as threads, and refuses clients with no or a foreign certificate."""
    port = free_port()
    address = f"tls://127.0.0.1:{port}"
    processes.scheduler(port, options=["--protocol", "tls"], env=certified)
    processes.worker(address, options=["--protocol", "tls"], env=certified)
    run = ["run", str(study), "--out"]
    client = processes.client(*run, str(tmp_path / "out"), "--scheduler", address, env=certified)
    run_in_threads(study, tmp_path / "threads")
    assert client.wait(LONGEST) == 0, client.said
    assert_same(tmp_path / "threads", tmp_path / "out")

    stranger = make_authority(tmp_path / "stranger")
    authority = {name: value for name, value in certified.items() if "CA_FILE" in name}
    strangers_certificate = stranger | authority
    for name, scheme, env, line in [
        ("none", "tls", {}, "Dask's settings name no certificate: set ca-file"),
        ("plain", "tcp", {}, f"it speaks TLS: give its address as tls://127.0.0.1:{port}"),
        ("other", "tls", stranger, "its certificate is not one that we trust"),
        ("half", "tls", strangers_certificate, "it does not accept our certificate"),
    ]:
        # The refusal must come long before the patience ends.
        where = ["--scheduler", f"{scheme}://127.0.0.1:{port}", "--patience", "600"]
        refused = processes.client(*run, str(tmp_path / name), *where, env=env)
        assert refused.wait(LONGEST) == 2, refused.said
        assert line in refused.stderr
        lines = refused.stderr.strip().splitlines()
        assert lines, "a client that is refused says nothing"
        assert lines[-1].startswith("singlepass: error:"), refused.stderr
        assert str(port) in lines[-1]
        assert "Traceback" not in refused.said
        assert stored_keys(tmp_path / name) == []


@pytest.mark.slow
def test_tls_to_a_plain_port(
    processes: Processes, study: Path, tmp_path: Path, certified: dict[str, str]
) -> None:
    port = free_port()
    processes.scheduler(port)
    where = ["--scheduler", f"tls://127.0.0.1:{port}", "--patience", "600"]
    refused = processes.client("run", str(study), "--out", str(tmp_path / "out"), *where, env=certified)
    assert refused.wait(LONGEST) == 2, refused.said
    assert f"it does not speak TLS: give its address as tcp://127.0.0.1:{port}" in refused.stderr


def _listening(running: Running) -> set[str]:
    """Return the addresses on which a process and its descendants listen."""
    root = psutil.Process(running.popen.pid)
    found = set()
    for each in (root, *root.children(recursive=True)):
        try:
            connections = each.net_connections(kind="inet")
        except psutil.NoSuchProcess:
            continue
        found |= {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}
    return found


def _watch(client: Running, out: Path) -> set[str]:
    """Return the addresses on which the client listened while it ran."""
    found: set[str] = set()

    def under_way() -> bool:
        found.update(_listening(client))
        return len(stored_keys(out)) > 4

    client.wait_for(under_way, LONGEST, "a few cells")
    found |= _listening(client)
    assert client.wait(LONGEST) == 0, client.said
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "expected"),
    [(["--threads", "2"], set()), (["--cluster", "local:2"], {"127.0.0.1"})],
    ids=["threads", "local"],
)
def test_ports_of_local_runs(
    processes: Processes, tmp_path: Path, where: list[str], expected: set[str]
) -> None:
    (tmp_path / "slow.py").write_text(slow(0.3))
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(narrow_study('name = "Slow"', seeds=30))
    arguments = ["run", str(study), "--out", str(out), "--plugin", str(tmp_path / "slow.py"), *where]
    assert _watch(processes.client(*arguments), out) == expected
