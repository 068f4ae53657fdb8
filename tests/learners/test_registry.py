"""Learners by name: built in, installed, and from a user's file."""

import importlib.metadata
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.svm import SVC

from singlepass.learners import AROW, OnlineClassifier, Perceptron, available, load_plugin, registry
from singlepass.learners.registry import is_batch, is_linear
from singlepass.learners.table import NAMES, TABLE

PLUGIN = """
from singlepass.learners import AROW, Perceptron

class Timid(AROW):
    pass

class _Hidden(Perceptron):
    pass

class NotALearner:
    def fit(self): ...
"""


@pytest.fixture(autouse=True)
def _forget_plugins(monkeypatch):
    monkeypatch.setattr(registry, "_plugins", {})
    registry._installed.cache_clear()
    yield
    registry._installed.cache_clear()


def _install(monkeypatch, *points):
    group = registry.ENTRY_POINT_GROUP
    found = [importlib.metadata.EntryPoint(name, value, group) for name, value in points]
    monkeypatch.setattr(registry, "entry_points", lambda group: found)


def test_built_in_learners_are_estimators():
    assert list(available()) == sorted(NAMES)
    for row in TABLE:
        if row.kind in ("batch", "strategy"):
            continue
        learner = available()[row.name]
        assert issubclass(learner, OnlineClassifier)
        assert learner.algorithm_version >= 1
        assert learner().epochs == 1


def test_batch_baselines_are_those_without_learn():
    assert available()["SVC"] is SVC
    assert [name for name, learner in available().items() if is_batch(learner)] == ["OfflineRampSVM", "SVC"]
    assert is_batch(SVC())
    assert not is_batch(AROW())


def test_linear_learners_are_those_of_the_table():
    assert [name for name, learner in available().items() if is_linear(learner)] == sorted(
        row.name for row in TABLE if row.kind == "linear"
    )
    assert not is_linear(type("AROW", (AROW,), {}))


def test_installed_learners(monkeypatch):
    _install(monkeypatch, ("Mine", "singlepass.learners.linear.perceptron:Perceptron"))
    assert available()["Mine"] is Perceptron


@pytest.mark.parametrize(
    ("point", "reason"),
    [
        (("AROW", "singlepass.learners:Perceptron"), "the name is taken"),
        (("Gone", "no_such_package:Learner"), r"cannot be imported \(ModuleNotFoundError"),
        (
            ("Odd", "numpy:ndarray"),
            "a learner is a class with the methods predict and learn, predict and partial_fit",
        ),
    ],
)
def test_broken_installed_learners_are_left_out(monkeypatch, point, reason):
    _install(monkeypatch, point)
    with pytest.warns(UserWarning, match=f"learner '{point[0]}' of entry point .* is left out: .*{reason}"):
        found = available()
    assert found["AROW"] is AROW
    assert sorted(found) == sorted(NAMES)


def test_plugin_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    loaded = load_plugin(path)
    assert list(loaded) == ["Timid"]
    Timid = available()["Timid"]
    model = Timid(r=10.0).fit([[1.0], [-1.0]], [1, 0])
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(np.array([[2.0]])).tolist() == [1]
    assert load_plugin(str(path))["Timid"] is Timid
    path.write_text(PLUGIN.replace("    pass", "    algorithm_version = 2", 1))
    assert load_plugin(path)["Timid"].algorithm_version == 2
    assert available()["Timid"].algorithm_version == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "defines no class with the methods predict and learn, predict and partial_fit"),
        ("def f(:", "cannot be run: SyntaxError"),
        ("1 / 0", "cannot be run: ZeroDivisionError"),
        (PLUGIN.replace("Timid", "Perceptron"), "the learner name 'Perceptron' is taken"),
    ],
)
def test_bad_plugin_files(tmp_path, text, message):
    path = tmp_path / "mine.py"
    path.write_text(text)
    before = available()
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            load_plugin(path)
    assert available() == before


def test_two_plugin_files_of_one_name(tmp_path):
    (tmp_path / "a.py").write_text(PLUGIN)
    (tmp_path / "b.py").write_text(PLUGIN)
    load_plugin(tmp_path / "a.py")
    with pytest.raises(ValueError, match=r"b\.py: the learner name 'Timid' is taken"):
        load_plugin(tmp_path / "b.py")


def test_files_that_are_no_plugin(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"plugin file .*gone\.py does not exist"):
        load_plugin(tmp_path / "gone.py")
    (tmp_path / "mine.txt").write_text(PLUGIN)
    with pytest.raises(ValueError, match=r"mine\.txt must be a Python file"):
        load_plugin(tmp_path / "mine.txt")


def test_threads_that_load_one_file_at_once(tmp_path):
    """None of them finds a module that is half run."""
    path = tmp_path / "slow.py"
    path.write_text(f"import time\ntime.sleep(0.2)\n{PLUGIN}")
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(registry.learners_in, [path] * 4))
    assert {learners["Timid"] for learners in found} == {found[0]["Timid"]}


def test_an_edited_plugin_file_is_another_learner(tmp_path):
    path, elsewhere = tmp_path / "mine.py", tmp_path / "moved.py"
    contents = []
    for text in (PLUGIN, PLUGIN + "\n# edited\n"):
        path.write_text(text)
        elsewhere.write_text(text)
        # What is in the file, wherever it lies; nothing is registered.
        here, there = (registry.learners_in(each)["Timid"] for each in (path, elsewhere))
        assert registry.content_of(here) == registry.content_of(there)
        contents.append(registry.content_of(here))
    assert len(set(contents)) == 2
    assert "Timid" not in available()
    assert registry.content_of(AROW) is None
