"""Learners by name: built in, installed, and from a user's file."""

import importlib.metadata
import os
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.svm import SVC

from singlepass.learners import AROW, OnlineClassifier, Perceptron, available, load_plugin, registry
from singlepass.learners.guests.names import find_guest
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


@pytest.mark.parametrize("points", [(), (("Mine", "singlepass.learners:Perceptron"),)])
def test_javas_arguments_are_set_only_for_installed_learners(monkeypatch, points):
    """Their packages may import CapyMOA, which starts Java."""
    monkeypatch.setenv("CAPYMOA_JVM_ARGS", "-Xmx1g")
    _install(monkeypatch, *points)
    available()
    assert os.environ["CAPYMOA_JVM_ARGS"] == ("-Xmx1g -Xrs" if points else "-Xmx1g")


@pytest.mark.parametrize(
    ("point", "reason"),
    [
        (
            ("AROW", "singlepass.learners:Perceptron"),
            "the name is taken by package 'singlepass'; a study can name it 'singlepass",
        ),
        (("Gone", "no_such_package:Learner"), r"cannot be imported \(ModuleNotFoundError"),
        (
            ("Odd", "numpy:ndarray"),
            "a learner is a class with the methods predict and learn, predict and partial_fit",
        ),
    ],
)
def test_broken_installed_learners_are_left_out(monkeypatch, point, reason):
    _install(monkeypatch, point)
    with pytest.warns(
        UserWarning, match=rf"learner '{point[0]}' \(.*\) of package 'unknown' is left out: .*{reason}"
    ):
        found = available()
    assert found["AROW"] is AROW
    assert sorted(found) == sorted(NAMES)


def test_a_module_that_ends_python_does_not_end_the_command(tmp_path, monkeypatch):
    (tmp_path / "unguarded_script.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(tmp_path)
    line = r"imported.*it ended Python \(sys\.exit\) when imported: put that code under `if __name__ =="
    with pytest.raises(ValueError, match=line):
        find_guest("unguarded_script:Learner")
    _install(monkeypatch, ("Mine", "unguarded_script:Learner"))
    with pytest.warns(UserWarning, match=line):
        assert "Mine" not in available()


def test_a_name_taken_twice_names_both_packages(monkeypatch, tmp_path):
    found = []
    for package, learner in (("first", "Perceptron"), ("second", "AROW")):
        folder = tmp_path / f"{package}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: {package}\n")
        (folder / "entry_points.txt").write_text(f"[learners]\nMine = singlepass.learners:{learner}\n")
        found += importlib.metadata.Distribution.at(folder).entry_points
    monkeypatch.setattr(registry, "entry_points", lambda group: found)
    line = r"learner 'Mine' \(.*\) of package 'second' is left out: the name is taken by package 'first';"
    with pytest.warns(UserWarning, match=line):
        assert available()["Mine"] is Perceptron


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


def test_classes_left_out_are_those_of_the_loaded_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN + "\nclass Half:\n    def predict(self, X): ...\n")
    load_plugin(path)
    path.write_text(PLUGIN)
    assert list(registry.left_out(path)) == ["Half"]


def test_an_edited_plugin_file_of_the_same_size_and_second_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path, found = tmp_path / "mine.py", []
    for version in (1, 2):
        path.write_text(PLUGIN.replace("    pass", f"    algorithm_version = {version}", 1))
        os.utime(path, (1e9, 1e9))
        found.append(load_plugin(path)["Timid"].algorithm_version)
    assert found == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "defines no class with the methods predict and learn, predict and partial_fit"),
        ("def f(:", r"mine\.py: SyntaxError: .*line 1"),
        ("x = 1\n1 / 0", r"mine\.py, line 2: ZeroDivisionError"),
        ("import sys\nsys.exit()", r"mine\.py, line 2: it ended Python \(sys\.exit\) when imported"),
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


def test_an_interrupted_plugin_file_is_run_again(tmp_path, monkeypatch):
    path = tmp_path / "mine.py"
    path.write_text(f"import os\nif 'INTERRUPTED' in os.environ:\n    raise KeyboardInterrupt\n{PLUGIN}")
    monkeypatch.setenv("INTERRUPTED", "1")
    with pytest.raises(KeyboardInterrupt):
        load_plugin(path)
    monkeypatch.delenv("INTERRUPTED")
    assert list(load_plugin(path)) == ["Timid"]


def test_two_plugin_files_of_one_name(tmp_path):
    (tmp_path / "a.py").write_text(PLUGIN)
    (tmp_path / "b.py").write_text(PLUGIN)
    load_plugin(tmp_path / "a.py")
    with pytest.raises(ValueError, match=r"b\.py: the learner name 'Timid' is taken"):
        load_plugin(tmp_path / "b.py")


def test_files_that_are_no_plugin(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"plugin file .*gone\.py does not exist"):
        load_plugin(tmp_path / "gone.py")
    with pytest.raises(FileNotFoundError, match=r"is not a file: name one \.py file"):
        load_plugin(tmp_path)
    (tmp_path / "mine.txt").write_text(PLUGIN)
    with pytest.raises(ValueError, match=r"mine\.txt must be a Python file"):
        load_plugin(tmp_path / "mine.txt")


def test_threads_that_load_one_file_at_once(tmp_path):
    """No thread finds a partly executed module."""
    path = tmp_path / "slow.py"
    path.write_text(f"import time\ntime.sleep(0.2)\n{PLUGIN}")
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(registry.learners_in, [path] * 4))
    assert {learners["Timid"] for learners in found} == {found[0]["Timid"]}


TWO_CLASSES = """
\"\"\"Two learners.\"\"\"
from singlepass.learners import AROW, Perceptron

RATE = 2.0

def bold(r):
    return RATE * r

class Timid(AROW):
    pass

def unused(): ...

@staticmethod
def decorated(): ...

class Bold(Perceptron):
    def _rate(self):
        return bold(1.0)
"""


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("    pass", "    margin = 1", {"Timid"}),
        ("RATE = 2.0", "RATE = 3.0", {"Bold"}),
        ("bold(1.0)", "bold(2.0)", {"Bold"}),
        ("RATE * r", "RATE + r", {"Bold"}),
        ("def unused(): ...", "def unused(): pass", set()),
        ("def decorated(): ...", "def decorated(): pass", {"Timid", "Bold"}),
        ("Two learners.", "A pair of learners.", set()),
        ("class Timid", "# A comment.\nclass Timid", set()),
        ("RATE = 2.0", "RATE = 2.0\nprint()", {"Timid", "Bold"}),
        ("RATE = 2.0", "RATE = 2.0\nAROW.r = 1", {"Timid", "Bold"}),
        ("import AROW, Perceptron", "import *", {"Timid", "Bold"}),
    ],
)
def test_an_edit_of_a_plugin_file_is_of_the_classes_that_use_it(tmp_path, monkeypatch, old, new, changed):
    monkeypatch.setattr(AROW, "r", 1.0, raising=False)
    path, elsewhere = tmp_path / "mine.py", tmp_path / "moved.py"
    path.write_text(TWO_CLASSES)
    elsewhere.write_text(TWO_CLASSES)
    before = registry.learners_in(path)
    contents = {name: registry.content_of(learner) for name, learner in before.items()}
    # The file's location does not matter, and nothing is registered.
    moved = registry.learners_in(elsewhere)
    assert {name: registry.content_of(learner) for name, learner in moved.items()} == contents
    assert "Timid" not in available()
    assert TWO_CLASSES.count(old) == 1
    path.write_text(TWO_CLASSES.replace(old, new))
    after = registry.learners_in(path)
    assert {name for name in before if registry.content_of(after[name]) != contents[name]} == changed


def test_a_function_that_a_decorator_registers_is_used(tmp_path):
    path, contents = tmp_path / "registered.py", set()
    for rate in (1.0, 2.0):
        path.write_text(
            "from singlepass.learners import AROW\nRULES = {}\n"
            "def register(rule):\n    RULES[rule.__name__] = rule\n    return rule\n"
            f"@register\ndef rate(): return {rate}\n"
            "class Mine(AROW):\n    def rate(self): return RULES['rate']()\n"
        )
        contents.add(registry.content_of(registry.learners_in(path)["Mine"]))
    assert len(contents) == 2


def test_a_decorated_class_does_not_use_the_whole_file(tmp_path):
    path, contents = tmp_path / "decorated.py", set()
    for text in ("", "def unused(): ...\n"):
        path.write_text(
            "from functools import total_ordering\nfrom singlepass.learners import AROW\n"
            f"{text}@total_ordering\nclass Mine(AROW):\n    def __lt__(self, other): return False\n"
        )
        contents.add(registry.content_of(registry.learners_in(path)["Mine"]))
    assert len(contents) == 1


def test_a_class_that_no_statement_names_uses_the_whole_file(tmp_path):
    path, contents = tmp_path / "made.py", set()
    for text in ("", "\n# edited\n"):
        path.write_text(f"from singlepass.learners import AROW\nMine = type('Own', (AROW,), {{}})\n{text}")
        contents.add(registry.content_of(registry.learners_in(path)["Mine"]))
    assert len(contents) == 2
    assert registry.content_of(AROW) is None
