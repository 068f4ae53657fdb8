"""Test composed streams: the source of each row, and the positions of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.data import (
    cautions,
    composition,
    differs_by_seed,
    expand,
    feature_fit,
    fingerprint,
    fitted,
    is_drawn,
    look,
    notes,
    open_stream,
    own_sources,
)
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
    assert not differs_by_seed(ref)
    assert np.asarray(stream.X)[:, 0].tolist() == [*range(40), *range(1000, 1060)]
    assert stream.changes == (40,)
    # During a gradual change each source continues with its next row.
    gradual = expand(label="c", compose=parts, at=[0.4], width=20, base=tmp_path)[0]
    assert differs_by_seed(gradual)
    # The seeds read the same rows, so rows of the tuning seed are reported, too.
    assert not is_drawn(gradual)
    streams = [np.asarray(open_stream(gradual, seed=seed).X)[:, 0] for seed in range(6)]
    for rows in streams:
        for own, n in ((rows[rows < 1000], 40), (rows[rows >= 1000] - 1000, 60)):
            assert own.tolist() == list(range(n))
    assert len({tuple(rows) for rows in streams}) == 6


def test_an_edited_file_is_another_stream(tmp_path: Path) -> None:
    parts = [file_of(tmp_path, "first.csv", 0.0, 3), file_of(tmp_path, "second.csv", 1000.0, 3)]
    ref = expand(label="c", compose=parts, base=tmp_path)[0]
    before = fingerprint(ref), np.asarray(open_stream(ref).X)[:, 0].tolist()
    file_of(tmp_path, "second.csv", 2000.0, 3)
    assert np.asarray(open_stream(ref).X)[:, 0].tolist() == [0, 1, 2, 2000, 2001, 2002]
    assert fingerprint(ref) != before[0]
    assert before[1] == [0, 1, 2, 1000, 1001, 1002]


def test_shares_of_several_files_with_overlapping_changes(tmp_path: Path) -> None:
    parts = [file_of(tmp_path, f"{i}.csv", 1000.0 * i, 30) for i in range(4)]
    for seed in range(5):
        stream = composed(parts, seed, width=60, base=tmp_path)
        assert sorted(np.asarray(stream.X)[:, 0]) == [1000.0 * i + j for i in range(4) for j in range(30)]


def test_shares_of_three_files_are_rounded_to_their_rows(tmp_path: Path) -> None:
    parts = [file_of(tmp_path, f"{i}.csv", 1000.0 * i, 101) for i in range(3)]
    stream = composed(parts, at=[0.25, 0.75], base=tmp_path)
    assert (len(stream.y), stream.changes) == (201, (50, 151))


@pytest.mark.parametrize(
    ("lengths", "at", "n", "before"),
    [((100,) * 3, [], 300, 299), ((70, 30), [0.7], 100, 99), ((123, 400), [0.3], 410, 410)],
)
def test_files_are_used_as_far_as_their_shares_allow(
    lengths: tuple[int, ...],
    at: list[float],
    n: int,
    before: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = [file_of(tmp_path, f"{i}.csv", 1000.0 * i, length) for i, length in enumerate(lengths)]
    ref = expand(label="c", compose=parts, at=at, base=tmp_path)[0]
    assert len(open_stream(ref).y) == n
    found = fingerprint(ref)
    # The fingerprint differs from that of an earlier version only if the number of rows does.
    monkeypatch.setattr(composition, "_rows_of_files", lambda *_, **__: before)
    assert (fingerprint(ref) != found) == (n != before)


def test_more_rows_than_files_allow_are_refused_before_any_cell(tmp_path: Path) -> None:
    parts = [file_of(tmp_path, f"{i}.csv", 1000.0 * i, length) for i, length in enumerate((20, 90))]
    how: dict[str, Any] = {"base": tmp_path, "options": {"n_train": 40}}
    assert composed(parts, **how).changes == (20,)
    # Half of 41 rows is rounded to 20.
    assert len(composed(parts, **how | {"options": {"n_train": 41}}).y) == 41
    more = expand(label="c", compose=parts, base=tmp_path, options={"n_train": 42})[0]
    for opened in (fingerprint, open_stream):
        with pytest.raises(InputError, match=r"'c': n_train = 42, but .*; set n_train = 40 or less"):
            opened(more)


@pytest.mark.parametrize(
    ("names", "how", "newer"),
    [
        (["sea", "sea"], {"width": 9}, False),
        (["digits", "digits"], {}, False),
        (["digits", "digits"], {"width": 9}, True),
        (["digits", "digits"], {"options": {"standardize": True}}, True),
        (["digits", "digits", "digits"], {}, True),
        # A part that is standardized by default is opened in raw units.
        (["breast-cancer", "breast-cancer"], {"options": {"standardize": False}}, True),
        # These rows do not count as drawn again for each seed.
        (["sea", "own.csv"], {}, True),
    ],
)
def test_compositions_with_other_rows_have_another_version(
    names: list[str], how: dict[str, Any], newer: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.csv").write_text("a,b,c,class\n1,2,3,above\n2,3,4,below\n")
    parts = [{"path" if name.endswith("csv") else "name": name} for name in names]
    ref = expand(label="c", compose=parts, base=tmp_path, **how)[0]
    before = fingerprint(ref)
    monkeypatch.setattr(composition, "_FILES_VERSION", 3)
    assert (fingerprint(ref) != before) == newer


def test_seeds_draw_anew_and_content_names_it() -> None:
    first, again, other = (composed(SEA, seed, options={"n_train": 50}) for seed in (0, 0, 1))
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    prints = {
        fingerprint(expand(label="c", compose=parts, **how)[0])
        for parts, how in ((SEA, {}), (SEA, {"at": [0.2]}), (SEA, {"width": 5}), (SEA[::-1], {}))
    }
    assert len(prints) == 4


def test_sparse_rows_of_a_generator_are_refused_before_they_are_drawn() -> None:
    with pytest.raises(InputError, match="the rows of 'clicks' are sparse, which cannot be composed; remove"):
        expand(label="c", compose=[{"name": "clicks"}] * 2)


def test_a_part_may_have_an_alias() -> None:
    alias, name = ([{"name": name}, {"name": "a9a"}] for name in ("adult", "a9a"))
    assert expand(compose=alias) == expand(compose=name)


@pytest.mark.parametrize(
    ("parts", "how", "message"),
    [
        (SEA[:1], {}, "two sources"),
        (SEA, {"at": [1.5]}, "one position for each change of source"),
        (SEA, {"at": [0.2, 0.4]}, "one position for each change of source"),
        ([{"name": "sea"}, {"concept": 1}], {}, "'name' or a 'path'"),
        (
            [{"name": "openml:31"}, {"name": "openml:32"}],
            {},
            "'openml:31' is a data set of OpenML, .*give its path",
        ),
        ([{"name": "sea"}, {"name": "stagger"}], {}, "classes"),
        ([{"name": "sea"}, {"name": "see"}], {}, "unknown data set 'see'"),
        (
            [{"name": "a9a"}, {"name": "reuters21578"}],
            {},
            "'reuters21578' is a group of data sets; give the name of one, such as 'reuters21578/earn'",
        ),
        ([{"name": "sea", "concept": 9}, {"name": "sea"}], {}, "concept"),
        (SEA, {"options": {"n_trian": 5}}, "n_trian"),
        ([{"name": "sea", "standardize": True}, *SEA], {}, "standardize applies to the whole stream"),
        ([{"path": "a.csv", "test": "b.csv"}, *SEA], {}, "'a.csv' has test = 'b.csv', but .*: remove test"),
        ([{**SEA[0], "n_test": 9}, SEA[1]], {}, "'sea' has n_test = 9, but .*: remove n_test"),
        ([{**SEA[0], "n_train": 9}, SEA[1]], {}, "'sea' has n_train = 9, but .*: set n_train next"),
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


@pytest.mark.parametrize(
    ("texts", "options", "line"),
    [
        (("b,a,class\n1,2,x\n3,4,y", "a,b,class\n1,2,x\n3,4,y"), {}, "column 1 of the features is 'b'"),
        (
            ("a,class\ncook,x\nclerk,y", "a,class\ncook,x\nnurse,y"),
            {"categorical": ["a"]},
            "has a feature for clerk, nurse in column 'a'; ignore the column, or hash it",
        ),
        (
            ("a,b,class\n1,?,x\n3,4,y", "a,b,class\n?,2,x\n3,4,y"),
            {"missing": "indicator"},
            "column 'a' has missing values, and so an indicator, in only one",
        ),
    ],
)
def test_columns_must_be_the_same_features(
    tmp_path: Path, texts: tuple[str, str], options: dict[str, Any], line: str
) -> None:
    parts = []
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.csv").write_text(text + "\n")
        parts.append({"path": f"{i}.csv", **options})
    with pytest.raises(InputError, match=line) as caught:
        composed(parts, base=tmp_path)
    assert "\n" not in str(caught.value)
    same = [parts[0], parts[0]]
    assert len(composed(same, base=tmp_path).y) == 4


def test_columns_of_files_are_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jobs.csv").write_text("a,class\nsmith,x\nbaker,y\n")
    parts = [{"path": "jobs.csv", "categorical": ["a"]}] * 2
    expand(label="c", compose=parts, base=tmp_path)
    monkeypatch.setattr(own_sources, "survey", None)
    expand(label="c", compose=parts, base=tmp_path)


def test_hashed_categories_are_the_same_features(tmp_path: Path) -> None:
    hashed = {"categorical": ["a"], "one_hot": 0, "hash_bits": 4, "dense": True}
    parts = []
    for i, job in enumerate(("clerk", "nurse")):
        (tmp_path / f"{i}.csv").write_text(f"a,class\n{job},x\ncook,y\n")
        parts.append({"path": f"{i}.csv", **hashed})
    X = np.asarray(composed(parts, base=tmp_path).X)
    assert X[1].tolist() == X[3].tolist() != X[0].tolist()


def test_notes_and_cautions_of_parts(tmp_path: Path) -> None:
    for name, gap in (("f", ""), ("g", "3")):
        (tmp_path / f"{name}.csv").write_text(f"a,store,class\n1,1,x\n{gap},1.0,y\n")
    parts = [{"path": f"{name}.csv", "categorical": ["store"], "missing": "mean"} for name in "fg"]
    ref = expand(label="c", compose=parts, base=tmp_path)[0]
    open_stream(ref)
    f, g = (str(tmp_path / f"{name}.csv") for name in "fg")
    of_store = [
        "column 'store': 2 categories, a feature each",
        "column 'store': '1' and '1.0' are equal as numbers, but two categories; if they mean the same, "
        "write them in one form",
    ]
    gap = "column 'a': 1 of 2 values missing, replaced by"
    assert list(notes(ref)) == [
        f"{f}: {of_store[0]}",
        f"{f}: {gap} the mean of the training part",
        f"{f}: {of_store[1]}",
        *(f"{g}: {line}" for line in of_store),
    ]
    assert cautions([ref]) == [("c", f"{name}: {of_store[1]}") for name in (f, g)]
    online = expand(label="c", compose=parts, base=tmp_path, options={"standardize": "online"})[0]
    assert notes(online)[1] == f"{f}: {gap} 0, the mean so far"
    assert [notes(online)[i] for i in (0, 2, 3, 4)] == [notes(ref)[i] for i in (0, 2, 3, 4)]
    twice = expand(label="c", compose=parts[:1] * 2, base=tmp_path)[0]
    assert notes(twice) == notes(ref)[:3]
    assert notes(expand(label="c", compose=SEA)[0]) == ()


def test_gaps_are_filled_from_training_rows_of_the_stream(tmp_path: Path) -> None:
    lines = [f"{'' if i % 4 == 0 else i},{'xy'[i % 2]}" for i in range(12)]
    (tmp_path / "gaps.csv").write_text("\n".join(["a,class", *lines]) + "\n")
    ref = expand(label="c", compose=[{"path": "gaps.csv", "missing": "mean"}] * 2, base=tmp_path)[0]
    assert feature_fit(ref) == "on training rows"
    raw = open_stream(ref, raw=True).X
    assert np.isnan(np.asarray(raw)[[0, 12]]).all()
    filled = np.asarray(fitted(ref, raw, np.array([0, 1, 2])))
    assert (filled[[0, 12, 20]] == 1.5).all()
    assert np.asarray(open_stream(ref).X)[0] == np.nanmean(np.asarray(raw))


def test_a_part_that_is_standardized_by_itself_standardizes_the_stream() -> None:
    parts = [{"name": "breast-cancer"}] * 2
    X = np.asarray(composed(parts).X)
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    assert feature_fit(expand(label="c", compose=parts)[0]) == "on training rows"


def test_what_is_known_before_it_is_drawn() -> None:
    found = look(label="c", compose=SEA, options={"n_train": 500})
    assert (found.ready, found.rows, found.tasks) == (True, 500, 1)
