"""Results have the same bits on every processor."""

import os
import subprocess
import sys

import pytest

OUTCOME = """
import hashlib
import numpy as np
import scipy.sparse as sp
from singlepass.learners import AROW, BSGD, FOGD, NOGD

def outcome():
    random = np.random.RandomState(0)
    X, y = random.standard_normal((150, 9)), random.randint(2, size=150)
    found = []
    for rows, learners in (
        (X.astype(np.float32), [FOGD(D=37, gamma=0.1), FOGD(D=37, gamma=1e5)]),
        (X, [FOGD(D=37, gamma=0.1), FOGD(D=37, gamma=1e5), BSGD(20, gamma=0.1), NOGD(20, 9, gamma=0.1)]),
    ):
        found += [f"{learner} {rows.dtype} {learner.learn(rows, y).tolist()}" for learner in learners]
    X = random.standard_normal((70, 90)) * (random.uniform(size=(70, 90)) < np.linspace(0.1, 1, 70)[:, None])
    for rows in (X, sp.csr_matrix(X)):
        model = AROW(covariance="full")
        scores = model.learn(rows, y[:70])
        found.append(f"{model} {scores.tolist()} {hashlib.sha256(model.sigma_.tobytes()).hexdigest()}")
    return "\\n".join(found)
"""


@pytest.mark.slow
def test_every_machine_gives_the_same_bits():
    """Compare with a processor without 64-byte vectors and without fused multiply-add."""
    here = {}
    exec(OUTCOME, here)
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    command = [sys.executable, "-c", OUTCOME + "print(outcome())"]
    run = subprocess.run(command, env=os.environ | generic, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == here["outcome"]().splitlines()
