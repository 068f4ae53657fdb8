"""Compiled code: kept on disk under a hash of the sources, and the package imports at no cost."""

import json
import os
import subprocess
import sys
import time

import numba
import pytest

from singlepass.learners.numeric import compiled as module
from singlepass.learners.numeric.compiled import compiled

# CSR and dense, two kernels: overloads and intrinsics are called in each.
SCRIPT = """
import json, sys
import numba
import numpy as np
import scipy.sparse as sp
before = numba.config.CACHE_DIR
from singlepass.learners import Perceptron
from singlepass.learners.numeric import compiled
X, y = np.eye(3), [0, 1, 0]
weights = [
    Perceptron().fit(sp.csr_matrix(X), y).coef_.tolist(),
    Perceptron(average=True).fit(X, y).coef_.tolist(),
]
hits = misses = 0
for name, module in list(sys.modules.items()):
    if name.startswith("singlepass.learners"):
        for value in vars(module).values():
            if isinstance(value, numba.core.dispatcher.Dispatcher):
                hits += sum(value.stats.cache_hits.values())
                misses += sum(value.stats.cache_misses.values())
print(json.dumps([weights, hits, misses, str(compiled._CACHE_FOLDER), before == numba.config.CACHE_DIR]))
"""


def run(cache):
    """Run `SCRIPT` in a process of its own."""
    environment = os.environ | {"SINGLEPASS_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_second_process_compiles_nothing(tmp_path):
    weights, _, misses, folder, restored = run(tmp_path)
    assert misses > 0
    assert folder.startswith(str(tmp_path))
    assert restored
    again, hits, misses_again, same_folder, _ = run(tmp_path)
    assert misses_again == 0
    assert hits == misses
    assert again == weights
    assert same_folder == folder


def test_cache_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    weights, hits, _, folder, restored = run(tmp_path / "file")
    assert folder == "None"
    assert hits == 0
    assert restored
    assert len(weights) == 2


def test_cache_folder_is_named_by_the_sources(tmp_path, monkeypatch):
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path))
    folder = module.cache_folder()
    assert folder == tmp_path / "singlepass" / "numba" / module._source_hash()
    assert folder.is_dir()
    monkeypatch.setattr(module, "_source_hash", lambda: "other")
    assert module.cache_folder().name == "other"


def test_folders_nobody_uses_any_more_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path))
    parent = tmp_path / "singlepass" / "numba"
    for name, days in (("old", 31), ("recent", 29)):
        (parent / name / "sub").mkdir(parents=True)
        (parent / name / "sub" / "code.nbc").write_text("x")
        then = time.time() - days * 24 * 3600
        os.utime(parent / name, (then, then))
    folder = module.cache_folder()
    assert {path.name for path in parent.iterdir()} == {"recent", folder.name}


def test_code_that_cannot_be_saved_still_runs(tmp_path, monkeypatch):
    @compiled
    def double(x):
        return 2 * x

    monkeypatch.setattr(module, "_CACHE_FOLDER", tmp_path / "gone")
    assert double(21) == 42


def test_users_own_functions_are_left_alone():
    assert str(module._CACHE_FOLDER) != numba.config.CACHE_DIR

    def function(x):
        return x

    dispatcher = compiled(function)
    assert dispatcher.targetoptions["nogil"] is True
    assert "fastmath" not in dispatcher.targetoptions
    assert str(module._CACHE_FOLDER) != numba.config.CACHE_DIR


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, singlepass.learners; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numba", "sklearn", "scipy", "pandas", "dask", "matplotlib", "pyarrow"}


def test_learners_load_neither_dask_nor_matplotlib():
    code = "import sys; from singlepass.learners import AROW; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"dask", "distributed", "matplotlib"}


def test_unknown_name():
    import singlepass.learners as learners

    with pytest.raises(AttributeError, match="has no attribute 'Arow'"):
        _ = learners.Arow
    assert "AROW" in dir(learners)
