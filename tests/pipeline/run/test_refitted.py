"""Test that statistics of training rows never include the test part that a protocol cuts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from singlepass.pipeline import data
from singlepass.pipeline.noise import FeatureNoise, MarginNoise
from singlepass.pipeline.noise.margin import margin_chances, reference_margins
from singlepass.pipeline.randomness import random_state
from singlepass.pipeline.run.shared_inputs import SharedInputs, inputs_of
from singlepass.pipeline.run.splits import split
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study

N = 60


def numbers() -> NDArray[np.float64]:
    X = np.random.RandomState(0).normal(3.0, 5.0, (N, 3))
    X[:, 2] *= 1000
    return X


def write(path: Path, X: NDArray[np.float64], text: str = "") -> str:
    lines = [",".join("" if np.isnan(value) else repr(float(value)) for value in row) for row in X]
    header = f"a,b,c,{'word,' if text else ''}label"
    path.write_text("\n".join([header, *(f"{line},{text}{'xy'[i % 2]}" for i, line in enumerate(lines))]))
    return str(path)


def cells_of(
    path: str, protocol: str, *, algorithms: Any = None, noise: Any = (0.0, 0.2), **options: Any
) -> list[Cell]:
    table = {
        "name": "s",
        "seeds": 2,
        "folds": 3,
        "protocol": protocol,
        "noise": list(noise),
        "datasets": [{"path": path, **options}],
        "algorithms": algorithms or [{"name": "AROW"}],
    }
    return list(make_plan(parse_study(table)).evaluation_cells({}))


def rows_of(given: SharedInputs) -> tuple[Any, Any]:
    assert given.test is not None
    parts = [fold.X[fold.rows] for fold in (given.train, given.test)]
    return tuple(part if isinstance(part, np.ndarray) else part.toarray() for part in parts)  # type: ignore[return-value]


@pytest.mark.parametrize("protocol", ["holdout", "crossval"])
def test_standardised_on_the_rows_that_are_learnt(tmp_path: Path, protocol: str) -> None:
    X = numbers()
    path = write(tmp_path / "f.csv", X)
    for cell in cells_of(path, protocol, standardize=True, bias=True):
        plain = inputs_of(cells_of(path, protocol)[0].spec if cell.spec.seed == 0 else cell.spec)
        given = inputs_of(cell.spec)
        assert given.test is not None
        rows, held_out = given.train.rows, given.test.rows
        assert sorted([*rows, *held_out]) == list(range(N))
        scaler = StandardScaler().fit(X[rows])
        train, test = rows_of(given)
        # The memory of its own arrays is counted: many repetitions of a large table would not fit.
        assert given.own_bytes >= given.train.X.nbytes
        np.testing.assert_allclose(train, np.c_[scaler.transform(X[rows]), np.ones(len(rows))], atol=1e-12)
        np.testing.assert_allclose(test, np.c_[scaler.transform(X[held_out]), np.ones(len(test))], atol=1e-12)
        if cell.spec.seed == 0 and cell.spec.noise.rate == 0:
            # The split and order are the same as without standardisation.
            assert plain.train.rows.tolist() == rows.tolist()


@pytest.mark.parametrize("protocol", ["holdout", "crossval"])
@pytest.mark.parametrize(
    "options",
    [
        {"standardize": True},
        {"missing": "mean"},
        {"missing": "indicator", "standardize": True, "bias": True, "dtype": "float32"},
        {"missing": "mean", "categorical": ["word"], "one_hot": 0, "hash_bits": 3},
    ],
    ids=["standardised", "mean", "all at once", "sparse"],
)
def test_other_test_rows_change_nothing_that_is_learnt(
    tmp_path: Path, protocol: str, options: dict[str, Any]
) -> None:
    X = numbers()
    if "missing" in options:
        X[np.random.RandomState(1).uniform(size=X.shape) < 0.2] = np.nan
    text = "red," if "categorical" in options else ""
    cell = cells_of(write(tmp_path / "f.csv", X, text), protocol, **options)[0]
    train, test = rows_of(inputs_of(cell.spec))
    held_out = inputs_of(cell.spec).test
    assert held_out is not None
    X[held_out.rows] *= 7.0
    other = cells_of(write(tmp_path / "f.csv", X, text), protocol, **options)[0]
    assert other.spec.fingerprint != cell.spec.fingerprint
    others, changed = rows_of(inputs_of(other.spec))
    assert others.tolist() == train.tolist()
    assert not np.isnan(changed).any()
    assert changed.tolist() != test.tolist()


def test_filled_by_the_means_of_the_rows_that_are_learnt(tmp_path: Path) -> None:
    X = numbers()
    X[::4, 1] = np.nan
    cell = cells_of(write(tmp_path / "f.csv", X), "holdout", missing="mean")[0]
    given = inputs_of(cell.spec)
    assert given.test is not None
    mean = np.nanmean(X[given.train.rows], axis=0)
    for found, fold in zip(rows_of(given), (given.train, given.test), strict=True):
        expected = np.where(np.isnan(X[fold.rows]), mean, X[fold.rows])
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_only_cells_that_cut_a_test_part_have_another_key(tmp_path: Path) -> None:
    path = write(tmp_path / "f.csv", numbers())
    test = write(tmp_path / "t.csv", numbers()[:9])
    for protocol, options, refitted in (
        ("prequential", {"standardize": True}, False),
        ("holdout", {}, False),
        ("holdout", {"standardize": True, "test": test}, False),
        ("holdout", {"standardize": True}, True),
        ("crossval", {"standardize": True}, True),
        ("holdout", {"missing": "mean"}, True),
    ):
        spec = cells_of(path, protocol, **options)[0].spec
        assert bool(spec.features) is refitted
        assert ("features" in spec.document) is refitted


def test_the_whole_training_part_where_the_data_have_a_test_part(tmp_path: Path) -> None:
    X = numbers()
    test = write(tmp_path / "t.csv", X[:9])
    cell = cells_of(write(tmp_path / "f.csv", X), "holdout", standardize=True, test=test)[0]
    scaler = StandardScaler().fit(X)
    given = inputs_of(cell.spec)
    train, tested = rows_of(given)
    np.testing.assert_allclose(train, scaler.transform(X[given.train.rows]), atol=1e-12)
    np.testing.assert_allclose(tested, scaler.transform(X[:9]), atol=1e-12)


@pytest.mark.slow
def test_the_same_integers_kept_or_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "f.csv", numbers())
    algorithms = [{"name": "AROW"}, {"name": "KernelPerceptron"}, {"name": "Perceptron", "epochs": 2}]
    cells = cells_of(path, "holdout", standardize=True, algorithms=algorithms)
    first = [run_cell(cell).row for cell in cells]
    assert {row["status"] for row in first} == {"ok"}
    # Nothing is kept, and features are changed block by block on disk.
    monkeypatch.setattr("singlepass.pipeline.run.shared_inputs._FEATURES_BYTES", 0)
    monkeypatch.setattr("singlepass.pipeline.data.tables.features._WHOLE_BYTES", 0)
    monkeypatch.setattr("singlepass.pipeline.data.tables.features._BLOCK_BYTES", 64)
    data.open_stream(cells[0].spec.dataset)
    from singlepass.pipeline.run import shared_inputs as module

    module._source.cache.clear()
    again = [run_cell(cell).row for cell in reversed(cells)][::-1]
    for before, after in zip(first, again, strict=True):
        assert (before["mistakes"], before["test_mistakes"]) == (after["mistakes"], after["test_mistakes"])


@pytest.mark.parametrize("protocol", ["holdout", "crossval"])
def test_the_reference_of_noise_by_margin_is_fitted_to_the_same_features(
    tmp_path: Path, protocol: str
) -> None:
    X = numbers()
    X[::4, 1] = np.nan
    path = write(tmp_path / "f.csv", X)
    levels = [{"model": "margin", "rate": rate} for rate in (0.1, 0.3)]
    cells = cells_of(path, protocol, missing="mean", standardize=True, noise=levels)
    touched = 0
    for cell in cells:
        spec, given = cell.spec, inputs_of(cell.spec)
        assert isinstance(spec.noise, MarginNoise)
        rows, codes = given.train.rows, given.train.codes
        filled = np.where(np.isnan(X[rows]), np.nanmean(X[rows], axis=0), X[rows])
        margins = reference_margins(StandardScaler().fit_transform(filled), codes)
        rng = random_state(
            spec.root_seed, spec.dataset.label, seed=spec.seed, purpose="noise", noise=spec.noise
        )
        replaced = rng.random_sample(len(rows)) < margin_chances(margins, spec.noise.rate)
        assert (given.noisy != codes).tolist() == replaced.tolist()
        touched += int(replaced.sum())
    assert len(cells) == 4
    assert touched


@pytest.mark.parametrize("protocol", ["holdout", "crossval"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_noise_in_features_comes_after_what_the_clean_rows_decide(
    tmp_path: Path, protocol: str, sparse: bool
) -> None:
    X = numbers()
    X[::4, 1] = np.nan
    options: dict[str, Any] = {"missing": "mean", "standardize": True}
    if sparse:
        options = {"missing": "mean", "categorical": ["word"], "one_hot": 0, "hash_bits": 3}
    path = write(tmp_path / "f.csv", X, "red," if sparse else "")
    cell = cells_of(path, protocol, noise=[{"model": "features", "rate": 0.25}], **options)[0]
    assert isinstance(cell.spec.noise, FeatureNoise)
    assert cell.spec.features
    rows = split_rows(cell)
    train, test = rows_of(inputs_of(cell.spec))
    held_out = sorted(set(range(N)) - set(rows))
    clean, of_test = cleaned(X, rows, rows, options), cleaned(X, held_out, rows, options)
    # About a quarter of the rows are changed, and in them only the numeric features.
    changed = (np.abs(train[:, :3] - clean) > 1e-9).any(axis=1)
    assert 0 < changed.sum() < len(rows) / 2
    assert float(np.mean(changed)) == inputs_of(cell.spec).noise_realised
    found = inputs_of(cell.spec).test
    assert found is not None
    places = [held_out.index(row) for row in found.rows]
    np.testing.assert_allclose(test[:, :3], of_test[places], atol=1e-9)


def split_rows(cell: Cell) -> list[int]:
    stream = data.open_stream(cell.spec.dataset, raw=True)
    return [int(row) for row in split(cell.spec, stream)[0].rows]


def cleaned(X: NDArray[np.float64], rows: list[int], by: list[int], options: dict[str, Any]) -> Any:
    filled = np.where(np.isnan(X), np.nanmean(X[by], axis=0), X)
    scaled = StandardScaler().fit(filled[by]).transform(filled) if "standardize" in options else filled
    return scaled[rows]


def test_each_data_set_has_its_own_share_of_test_rows_and_its_own_fit(tmp_path: Path) -> None:
    X = numbers()
    path = write(tmp_path / "f.csv", X)
    for share, n_test in ((0.5, 30), (0.2, 12)):
        given = inputs_of(cells_of(path, "holdout", standardize=True, test_fraction=share)[0].spec)
        train, test = rows_of(given)
        assert (len(train), len(test)) == (N - n_test, n_test)
        scaler = StandardScaler().fit(X[given.train.rows])
        np.testing.assert_allclose(train, scaler.transform(X[given.train.rows]), atol=1e-12)
