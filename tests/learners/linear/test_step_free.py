"""DoG, DoWG, D-Adaptation and Mechanic against plain NumPy, with norms and products of whole matrices."""

import numpy as np
import pytest

from singlepass.learners import DAdaptationSGD, DoG, DoWG, Mechanic

from ..streams import as_csr
from .test_parameter_free import chunked, gradient, streams

pytestmark = pytest.mark.slow


def distance(weighted):
    def step(w, g, kept):
        reach = kept["r"] ** 2 if weighted else kept["r"]
        kept["v"] = kept.get("v", 0) + (reach if weighted else 1) * (g**2).sum()
        return w - reach / np.sqrt(kept["v"]) * g

    return step


def adapted(w, g, kept):
    first = kept.setdefault("first", np.linalg.norm(g))
    a = kept.setdefault("d", 0.01) / first
    kept["N"] = kept.get("N", 0) - a * (g * w).sum()
    w = w - a * g
    kept["d"] = max(kept["d"], 2 * kept["N"] / np.linalg.norm(w))
    return w


def mechanic(w, g, kept, n=6, s_init=0.01, lam=0.01, eps=1e-8):
    beta = 1 - 10.0 ** -np.arange(1, n + 1)
    if not kept.get("k"):
        kept |= {"s": np.full(n, s_init), "delta": 0 * w, "k": 0}
        kept |= {name: np.zeros(n) for name in "mVR"}
    q = g + lam * kept["s"].sum() * np.linalg.norm(g) / (np.linalg.norm(w) + eps) * w
    h = (q * kept["delta"]).sum()
    kept["k"] += 1
    kept["delta"] = kept["delta"] + g / np.sqrt(kept["k"])
    kept["R"] = beta * kept["R"] + np.clip(h, -kept["m"], kept["m"]) * kept["s"]
    kept["m"] = np.maximum(beta * kept["m"], abs(h) + eps)
    kept["V"] = beta**2 * kept["V"] + h**2
    kept["s"] = (s_init * kept["m"] / n + np.maximum(0, kept["R"])) / (np.sqrt(kept["V"]) + eps)
    return -kept["s"].sum() * kept["delta"]


RULES = {
    "dog": (DoG(), distance(False)),
    "dog, mean": (DoG(average=True), distance(False)),
    "dowg, mean": (DoWG(average=True), distance(True)),
    "d-adaptation": (DAdaptationSGD(0.01), adapted),
    "mechanic": (Mechanic(s_init=0.01, rate="sqrt"), mechanic),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_by_definition(name, loss, convert):
    learner, step = RULES[name]
    for X, labels, K in streams():
        w, kept, expected = np.zeros((K, 6)), {"r": 0.1}, []
        shares = weighted = 0.0
        for x, label in zip(X, labels, strict=True):
            mean = weighted / shares if "mean" in name and shares else w
            expected.append(mean @ x)
            g = np.outer(gradient(loss, w @ x, label), x)
            kept["r"] = max(kept["r"], np.linalg.norm(w))
            share = kept["r"] ** 2 if "dowg" in name else kept["r"]
            shares, weighted = shares + share, weighted + share * w
            if g.any():
                w = step(w, g, kept)
        model = type(learner)(**learner.get_params() | {"loss": loss})
        scores = chunked(model, convert(X), labels)
        np.testing.assert_allclose(scores.reshape(len(X), K), expected, rtol=1e-8, atol=1e-10)
        final = weighted / shares if "mean" in name else w
        np.testing.assert_allclose(model.coef_, final, rtol=1e-8, atol=1e-10)
