"""Learners in files: they predict and learn on as if they had never been saved."""

import inspect
import json
import subprocess
import sys
import typing
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from singlepass.learners import (
    AROW,
    FOGD,
    KernelPerceptron,
    MarginPerceptron,
    OnlineModelSelection,
    Perceptron,
    Resetting,
    load,
    save,
)
from singlepass.learners.table import TABLE

from ..cases import CASES, Cases
from ..streams import noisy_stream, tiered


def _options(kind):
    """Return settings that change one parameter each: choices, and what is off (0 or None) by default."""
    hints = typing.get_type_hints(kind)
    settings = []
    for name, parameter in inspect.signature(kind).parameters.items():
        default, choices = parameter.default, typing.get_args(hints.get(name))
        if isinstance(default, bool):
            settings.append({name: not default})
        elif typing.get_origin(hints.get(name)) is typing.Literal:
            settings += [{name: choice} for choice in choices]
        elif default in (0.0, None) and name not in ("class_weight", "random_state"):
            settings.append({name: 0.25 if default == 0.0 else 2})
    return settings


def every_learner(options=False):
    """Return each learner of streams; with `options` also in every variant and with each option.

    Strategies wrap a linear learner.
    """
    made = []
    for row in TABLE:
        settings, *others = map(dict, CASES.get(row.name, Cases()).variants)
        if row.kind == "batch":
            continue
        if row.kind == "strategy":
            settings["learner"] = Perceptron()
            if "grid" in row.parameters:
                settings["grid"] = {"average": [False, True]}
        changed = [] if row.kind == "strategy" else _options(row.load())
        others = [*others, *(settings | each for each in changed)] if options else []
        made += [row.load()(**each) for each in (settings, *others)]
    return list({repr(each): each for each in made}.values())


def _same(learner, other, X, y):
    """Compare two learners by their predictions, and by what they learn from further rows."""
    assert repr(learner) == repr(other)
    np.testing.assert_array_equal(learner.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(learner.learn(X, y), other.learn(X, y))
    assert learner.counters() == other.counters()
    assert learner.n_mistakes_ == other.n_mistakes_


@pytest.mark.parametrize("learner", tiered(every_learner(options=True)))
def test_a_loaded_learner_goes_on(learner, tmp_path):
    X, y = noisy_stream(0, 120, 6)
    learner.learn(X[:80], y[:80], classes=np.unique(y))
    save(learner, tmp_path / "learner.npz")
    _same(load(tmp_path / "learner.npz"), learner, X[80:], y[80:])


def test_counts_of_rows_are_saved(tmp_path):
    path = tmp_path / "learner.npz"
    X, y = noisy_stream(0, 60, 3)
    learner = MarginPerceptron(alpha_bound=2, lam=0.5, epochs=2).fit(X[:40], y[:40])
    save(learner, path)
    _same(load(path), learner, X[40:], y[40:])
    learner._number[0] = -1
    with pytest.raises(ValueError, match="the number of the next row is -1, below 0"):
        learner.check_state()


@pytest.mark.slow
def test_a_learner_of_two_models_keeps_their_identity(tmp_path):
    X, y = noisy_stream(0, 300, 6)
    learner = OnlineModelSelection(p_value=0.5, min_examples=3).fit(sp.csr_matrix(X[:200]), y[:200])
    save(learner, tmp_path / "learner.npz")
    _same(load(tmp_path / "learner.npz"), learner, sp.csr_matrix(X[200:]), y[200:])


@pytest.mark.slow
def test_sparse_rows_that_wait_for_their_model_are_saved(tmp_path):
    X, y = noisy_stream(0, 60, 6)
    learner = OnlineModelSelection().partial_fit(sp.csr_matrix(X[:40]), y[:40], np.unique(y))
    save(learner, tmp_path / "learner.npz")
    _same(load(tmp_path / "learner.npz"), learner, sp.csr_matrix(X[40:]), y[40:])


@pytest.mark.slow
def test_labels_weights_and_names_are_saved(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = noisy_stream(0, 60, 3)
    frame, labels = pandas.DataFrame(X, columns=["a", "b", "c"]), np.where(y > 0, "spam", "ham")
    learner = AROW(class_weight={"spam": 2.0}, covariance="full").fit(frame, labels)
    save(learner, tmp_path / "learner.npz")
    loaded = load(tmp_path / "learner.npz")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    assert loaded.class_weight == {"spam": 2.0}
    np.testing.assert_array_equal(loaded.predict(frame), learner.predict(frame))


def test_an_untrained_learner_can_be_saved(tmp_path):
    save(AROW(r=0.25), tmp_path / "learner.npz")
    assert repr(load(tmp_path / "learner.npz")) == "AROW(r=0.25)"


def test_another_process_predicts_the_same(tmp_path):
    X, y = noisy_stream(0, 60, 3)
    learner = AROW().fit(X, y)
    save(learner, tmp_path / "learner.npz")
    np.save(tmp_path / "rows.npy", X)
    code = (
        "import sys, numpy; from singlepass.learners import load; "
        "print(load(sys.argv[1]).decision_function(numpy.load(sys.argv[2])).tolist())"
    )
    arguments = [str(tmp_path / "learner.npz"), str(tmp_path / "rows.npy")]
    printed = subprocess.check_output([sys.executable, "-c", code, *arguments], text=True)
    assert json.loads(printed) == learner.decision_function(X).tolist()


def _changed(path, change):
    """Rewrite the document of a saved learner."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts["learner.json"])
    change(document)
    parts["learner.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d.update(format="other"), "its format is 'other'"),
        (
            lambda d: d["learner"].update(version=99),
            "version 2 here and 99 in the file: train it again",
        ),
        (lambda d: d["learner"].update(object="os:system"), "it names the module 'os'"),
        (lambda d: d["learner"].update(object=".nowhere:AROW"), "it names the module '.nowhere'"),
        (lambda d: d["learner"].update(object=".registry:load_plugin"), "it names the class"),
        (lambda d: d["learner"]["state"]["dict"].append(["r", -1.0]), "AROW: r must be"),
        (
            lambda d: d["learner"]["state"]["dict"].append(["n_features_in_", 9]),
            "does not fit the parameters",
        ),
        (lambda d: d.pop("learner"), "'learner'"),
        (lambda d: d.update(learner=5), "it contains an object of type int, not a learner"),
        (
            lambda d: d["learner"]["state"]["dict"].append(
                ["r", {"object": ".guests.vowpal_wabbit:VowpalWabbit", "state": {"dict": []}}]
            ),
            "it names the class '.guests.vowpal_wabbit:VowpalWabbit'",
        ),
    ],
)
def test_a_foreign_document_is_one_line(change, reason, tmp_path):
    path = tmp_path / "learner.npz"
    X, y = noisy_stream(0, 20, 3)
    save(AROW().fit(X, y), path)
    _changed(path, change)
    with pytest.raises(ValueError, match="saved by this version of singlepass, or damaged") as caught:
        load(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_damaged_byte_is_found_or_harmless(tmp_path):
    path = tmp_path / "learner.npz"
    X, y = noisy_stream(0, 20, 3)
    learner = AROW().fit(X, y)
    save(learner, path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 31):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            loaded = load(path)
        except ValueError:
            continue
        # A date or another field of the archive that nothing depends on.
        np.testing.assert_array_equal(loaded.decision_function(X), learner.decision_function(X))
    for content in (b"", whole[: len(whole) // 2], b"no archive"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a learner saved by this version of singlepass"):
            load(path)


def test_another_save_to_the_same_path_meanwhile_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "learner.npz"
    X, y = noisy_stream(0, 20, 3)
    first, second = AROW().fit(X, y), Perceptron().fit(X, y)
    write = np.lib.format.write_array

    def write_late(*arguments, **options):
        """Save another learner, as if in another thread, before the first array is written."""
        monkeypatch.setattr(np.lib.format, "write_array", write)
        save(second, path)
        _same(load(path), second, X, y)
        write(*arguments, **options)

    monkeypatch.setattr(np.lib.format, "write_array", write_late)
    save(first, path)
    _same(load(path), first, X, y)
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_saved_is_named(tmp_path):
    Derived = type("Derived", (AROW,), {})
    for learner, name in ((object(), "object"), (Derived(), "Derived: pickle it instead")):
        with pytest.raises(TypeError, match=f"takes a learner of singlepass, got {name}$"):
            save(learner, tmp_path / "learner.npz")
    learner = KernelPerceptron().fit([[0.0], [1.0]], [0, 1])
    learner.note = {1, 2}
    with pytest.raises(TypeError, match=r"type set cannot be saved: \{1, 2\}"):
        save(learner, tmp_path / "learner.npz")
    pytest.importorskip("river")
    learner = Resetting(Perceptron(), "adwin").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(
        TypeError, match=r"^a learner with a value of type .* cannot be saved: .*; pickle it instead$"
    ):
        save(learner, tmp_path / "learner.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"average": True}, "Perceptron: the array _u does not fit the parameters; if .* fit again"),
        ({"epochs": 0}, "epochs must be"),
    ],
)
def test_a_learner_with_a_changed_parameter_is_neither_saved_nor_widened(changed, reason, tmp_path):
    X, y = noisy_stream(0, 20, 3)
    learner = Perceptron().fit(X, y).set_params(**changed)
    for each in (learner, Resetting(Perceptron()).fit(X, y).set_params(learner=learner)):
        with pytest.raises(ValueError, match=f"^this learner cannot be saved: .*{reason}"):
            save(each, tmp_path / "learner.npz")
    with pytest.raises(ValueError, match=reason):
        learner.widen(5)
    assert list(tmp_path.iterdir()) == []
    save(learner.set_params(average=False, epochs=1), tmp_path / "learner.npz")
    _same(load(tmp_path / "learner.npz"), learner, X, y)


def test_a_map_of_random_features_keeps_what_it_was_drawn_by(tmp_path):
    X, y = noisy_stream(0, 20, 3)
    plain, changed = FOGD(D=8, gamma=0.1).fit(X, y), FOGD(D=8, gamma=0.1).fit(X, y)
    changed.set_params(D=9, gamma=50.0, random_state=7)
    with pytest.raises(
        ValueError, match=r"FOGD: D is 9, but the model has 8 frequencies; set it back or fit again$"
    ):
        save(changed, tmp_path / "learner.npz")
    plain.set_params(gamma=50.0, random_state=7)
    save(plain, tmp_path / "learner.npz")
    loaded, unchanged = load(tmp_path / "learner.npz"), FOGD(D=8, gamma=0.1).fit(X, y)
    for each in (loaded, unchanged):
        each.widen(5)
    np.testing.assert_array_equal(loaded.frequencies_, unchanged.frequencies_)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "learner.npz")


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    missing = tmp_path / "missing" / "learner.npz"
    with pytest.raises(FileNotFoundError, match=f"'{missing}'$"):
        save(AROW(), missing)
    folder = tmp_path / "learner.npz"
    folder.mkdir()
    with pytest.raises(OSError, match=f": '{folder}'$"):
        save(AROW(), folder)
    assert list(tmp_path.iterdir()) == [folder]
