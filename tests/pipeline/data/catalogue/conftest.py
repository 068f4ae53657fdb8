"""Real data sets with one cache for all tests of this folder, since parsing takes seconds."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("real")


@pytest.fixture
def real(real_data: Path, shared_cache: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use the folder of real data and return it."""
    monkeypatch.setenv("SINGLEPASS_DATA", str(real_data))
    monkeypatch.setenv("SINGLEPASS_CACHE", str(shared_cache))
    return real_data
