"""Test composed streams: the source of each row, and the positions of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.data import expand, fingerprint, is_drawn, look, open_stream
from singlepass.pipeline.errors import InputError

SEA = [{"name": "sea", "concept": 1}, {"name": "sea", "concept": 4}]


def composed(parts: list[dict[str, Any]], seed: int = 0, **how: Any) -> Any:
    options = how.pop("options", {})
    return open_stream(expand(label="c", compose=parts, options=options, **how)[0], seed=seed)


def file_of(folder: Path, name: str, value: float, n: int, header: str = "a,b,class") -> dict[str, Any]:
    path = folder / name
    width = header.count(",")
    lines = [",".join([f"{value + i}"] * width + ["xy"[i % 2]]) for i in range(n)]
    path.write_text("\n".join([header, *lines]) + "\n")
    return {"path": name, "target": "class"}


def test_an_abrupt_change() -> None:
    stream = composed(SEA, at=[0.3], options={"n_train": 1000})
    sums = np.asarray(stream.X[:, :2]).sum(axis=1)
    assert stream.changes == (300,)
    assert np.array_equal(stream.y[:300] == 1, sums[:300] <= 8.0)
    assert np.array_equal(stream.y[300:] == 1, sums[300:] <= 9.5)
    assert len(stream.y) == 1000


def test_a_gradual_change_has_the_share_of_its_definition() -> None:
    # These rows reveal their source: two STAGGER concepts label the same attributes differently.
    n, width = 20_000, 4_000
    stream = composed(SEA, at=[0.5], width=width, options={"n_train": n})
    sums = np.asarray(stream.X[:, :2]).sum(axis=1)
    t = np.arange(1, n + 1)
    p = 1 / (1 + np.exp(-4 * (t - n / 2) / width))
    # Only the second source labels these rows positive.
    telling = (sums > 8.0) & (sums <= 9.5)
    for low, high in ((0, 6000), (8000, 9500), (9500, 10_500), (10_500, 12_000), (14_000, n)):
        part = telling & (low < t) & (t <= high)
        share, expected = stream.y[part].mean(), p[part].mean()
        assert abs(share - expected) <= 4 * np.sqrt(p[part].mean() * (1 - p[part].mean()) / part.sum()) + 1e-3
    assert stream.changes == (n // 2,)


def test_several_changes_are_equally_far_apart() -> None:
    parts = [{"name": "stagger", "concept": i} for i in (1, 2, 3)]
    stream = composed(parts, options={"n_train": 900})
    assert stream.changes == (300, 600)
    shares = [stream.y[start : start + 300].mean() for start in (0, 300, 600)]
    assert np.allclose(shares, [1 / 9, 5 / 9, 2 / 3], atol=0.12)
    assert len(composed(parts).y) == 10_000


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    parts = [file_of(tmp_path, "first.csv", 0.0, 40), file_of(tmp_path, "second.csv", 1000.0, 100)]
    ref = expand(label="c", compose=parts, at=[0.4], base=tmp_path)[0]
    stream = open_stream(ref)
    assert not is_drawn(ref)
    assert np.asarray(stream.X)[:, 0].tolist() == [*range(40), *range(1000, 1060)]
    assert stream.changes == (40,)
    # During a gradual change each source continues with its next row; the stream ends when one has no more
    # rows.
    gradual = expand(label="c", compose=parts, at=[0.4], width=20, base=tmp_path)[0]
    assert is_drawn(gradual)
    rows = np.asarray(open_stream(gradual).X)[:, 0]
    for own in (rows[rows < 1000], rows[rows >= 1000] - 1000):
        assert own.tolist() == list(range(len(own)))
    assert len(rows) <= 100


def test_seeds_draw_anew_and_content_names_it() -> None:
    first, again, other = (composed(SEA, seed, options={"n_train": 50}) for seed in (0, 0, 1))
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    prints = {
        fingerprint(expand(label="c", compose=parts, **how)[0])
        for parts, how in ((SEA, {}), (SEA, {"at": [0.2]}), (SEA, {"width": 5}), (SEA[::-1], {}))
    }
    assert len(prints) == 4


@pytest.mark.parametrize(
    ("parts", "how", "message"),
    [
        (SEA[:1], {}, "two sources"),
        (SEA, {"at": [1.5]}, "relative positions"),
        (SEA, {"at": [0.2, 0.4]}, "relative positions"),
        ([{"name": "sea"}, {"concept": 1}], {}, "'name' or a 'path'"),
        ([{"name": "sea"}, {"name": "stagger"}], {}, "classes"),
        ([{"name": "sea"}, {"name": "see"}], {}, "unknown data set 'see'"),
        ([{"name": "sea", "concept": 9}, {"name": "sea"}], {}, "concept"),
        (SEA, {"options": {"n_trian": 5}}, "n_trian"),
    ],
)
def test_what_cannot_be_composed_is_one_line(parts: Any, how: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        composed(parts, **how)
    assert "\n" not in str(caught.value)
    assert not look(label="c", compose=parts, **how).ready


def test_features_must_agree(tmp_path: Path) -> None:
    parts = [file_of(tmp_path, "two.csv", 0.0, 40), file_of(tmp_path, "three.csv", 0.0, 40, "a,b,c,class")]
    with pytest.raises(InputError, match=r"the same number of features, found \[2, 3\]"):
        composed(parts, base=tmp_path)


def test_what_is_known_before_it_is_drawn() -> None:
    found = look(label="c", compose=SEA, options={"n_train": 500})
    assert (found.ready, found.rows, found.tasks) == (True, 500, 1)
