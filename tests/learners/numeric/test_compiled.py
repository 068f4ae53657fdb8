"""Compiled code is cached on disk under a hash of its sources, and importing the package compiles nothing."""

import errno
import importlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import cloudpickle
import filelock
import numba
import numpy as np
import pytest

from singlepass.learners.guests.given import digest_of
from singlepass.learners.numeric import compiled as module
from singlepass.learners.numeric.compiled import compiled

# CSR and dense rows and two kernels; each calls overloads and intrinsics.
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
folder = compiled._folder_of("singlepass.learners")
print(json.dumps([weights, hits, misses, str(folder), before == numba.config.CACHE_DIR]))
"""


def run(cache):
    """Run `SCRIPT` in a subprocess."""
    environment = os.environ | {"SINGLEPASS_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert folder == tmp_path / "singlepass" / "numba" / module._source_hash("singlepass.learners")
    assert folder.is_dir()
    monkeypatch.setattr(module, "_source_hash", lambda package: "other")
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


def test_a_cache_folder_below_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("SINGLEPASS_CACHE", "~/caches")
    monkeypatch.chdir(tmp_path)
    assert module.cache_folder().is_relative_to(tmp_path / "caches")
    assert [path.name for path in tmp_path.iterdir()] == ["caches"]


def tripling(monkeypatch, folder):
    """Return a compiled function of the project, with its cache in a folder, and the index of that cache."""
    monkeypatch.setattr(module, "_folder_of", lambda package: folder)

    def triple(x):
        return 3 * x

    triple.__module__ = module.__name__
    return compiled(triple), lambda: list(folder.rglob("*.nbi"))


def test_code_still_runs_where_the_folder_is_gone(tmp_path, monkeypatch):
    triple, _ = tripling(monkeypatch, tmp_path / "folder")
    shutil.rmtree(tmp_path / "folder")
    assert triple(14) == 42


def test_code_that_cannot_be_saved_still_runs(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(module.FunctionCache, "save_overload", refused)
    triple, saved = tripling(monkeypatch, tmp_path)
    assert triple(14) == 42
    assert not saved()


def test_code_that_keeps_the_gil_is_not_code_that_releases_it(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_folder_of", lambda package: tmp_path)

    def double(x):
        return 2 * x

    double.__module__ = module.__name__
    keeping, releasing, again = compiled(double, nogil=False), compiled(double), compiled(double)
    assert [function(21) for function in (keeping, releasing, again)] == [42, 42, 42]
    loaded = [sum(function.stats.cache_hits.values()) for function in (keeping, releasing, again)]
    assert loaded == [0, 0, 1]


def test_code_is_saved_under_a_lock(tmp_path, monkeypatch):
    triple, saved = tripling(monkeypatch, tmp_path)
    assert triple(14) == 42
    assert saved()
    assert (tmp_path / "lock").exists()
    with filelock.FileLock(tmp_path / "lock", timeout=0.0):
        pass
    assert tmp_path not in module._WITHOUT_LOCKS


# An index begins with the version of Numba.
@pytest.mark.parametrize(
    ("kind", "begin"), [("*.nbi", pickle.dumps(numba.__version__)), ("*.nbc", b"")], ids=["index", "code"]
)
@pytest.mark.parametrize("damaged", [b"", b"no pickle", b"cmodule_that_is_gone\nRule\n."])
def test_what_cannot_be_read_is_compiled_again(tmp_path, monkeypatch, kind, begin, damaged):
    triple, _ = tripling(monkeypatch, tmp_path)
    assert triple(14) == 42
    (file,) = tmp_path.rglob(kind)
    file.write_bytes(begin + damaged)
    hits = []
    for _ in range(2):
        triple, _ = tripling(monkeypatch, tmp_path)
        assert triple(14) == 42
        hits.append(sum(triple.stats.cache_hits.values()))
    assert hits == [0, 1]


class Rule(NamedTuple):
    """A rule of another package."""

    eta: float


class ProjectRule(NamedTuple):
    """A rule of the project."""

    eta: float


ProjectRule.__module__ = module.__name__


def test_code_for_rules_of_others_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_folder_of", lambda package: tmp_path)

    def eta_of(rule):
        return rule[0]

    eta_of.__module__ = module.__name__
    eta_of = compiled(eta_of)
    for rule in (Rule(2.0), (Rule(2.0), 1.0), ((1.0, Rule(2.0)), 1.0)):
        for _ in range(2):
            assert eta_of(rule) == rule[0]
    assert not list(tmp_path.rglob("*.nb?"))
    assert sum(eta_of.stats.cache_misses.values()) == 3
    assert eta_of(ProjectRule(2.0)) == 2.0
    assert len(list(tmp_path.rglob("*.nbc"))) == 1


def test_functions_of_others_are_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_folder_of", lambda package: tmp_path)

    @compiled
    def double(x):
        return 2 * x

    assert double(21) == 42
    assert not list(tmp_path.iterdir())


# A learner with its own rule, and what a learner learns.
OWN_RULE = """
from dataclasses import dataclass
from typing import NamedTuple
from singlepass.learners.linear.first_order import FirstOrderClassifier

class Rule(NamedTuple):
    eta: float
    def step(self, y, m, squares, weight):
        return m <= 0.0, self.eta

@dataclass(eq=False, repr=False)
class Own(FirstOrderClassifier):
    epochs: int = 1
    def _rule(self):
        return Rule(1.0)
"""
FITTED = "import numpy as np; from {} import {} as Own; print(*Own().fit(np.eye(3), [0, 1, 0]).coef_[0])"


# A kernel learner with its own rule.
OWN_KERNEL_RULE = """
from typing import NamedTuple
from singlepass.learners import KernelPerceptron

class Rule(NamedTuple):
    eta: float
    def step(self, m, own, squares):
        return m <= 0.0, self.eta, 0

class Own(KernelPerceptron):
    def _rule(self):
        return Rule(1.0)
"""


@pytest.mark.parametrize("source", [OWN_RULE, pytest.param(OWN_KERNEL_RULE, marks=pytest.mark.slow)])
def test_a_rule_defined_again_runs_its_own_code(source):
    """Each rule gets a name for Numba, which takes classes of one name for the same; no key depends on it."""
    scores, digests = [], []
    for rule in (source, source.replace("self.eta", "2 * self.eta")):
        names = {"__name__": "__main__"}
        exec(rule, names)
        digests.append(digest_of(names["Own"]))
        scores.append(names["Own"]().fit(np.eye(3), [0, 1, 0]).decision_function(np.eye(3)))
        assert digest_of(names["Own"]) == digests[-1]
    assert scores[0].any()
    assert scores[1].tolist() == (2.0 * scores[0]).tolist()
    assert digests[0] != digests[1]


DIGEST = """
import pickle, sys
from singlepass.learners.guests.given import digest_of
print(digest_of(pickle.load(open(sys.argv[1], "rb")))[0])
"""


@pytest.mark.slow
def test_a_learner_sent_after_it_ran_is_the_same(tmp_path):
    names = {"__name__": "__main__"}
    exec(OWN_RULE, names)
    names["Own"]().fit(np.eye(3), [0, 1, 0])
    (tmp_path / "own.pickle").write_bytes(cloudpickle.dumps(names["Own"]))
    command = [sys.executable, "-c", DIGEST, str(tmp_path / "own.pickle")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest_of(names["Own"])[0]


# A learner whose weights are computed by its own rule when they are read.
OWN_LAZY_RULE = """
from dataclasses import dataclass
from typing import NamedTuple
from singlepass.learners.linear.gradient.lazy_learner import LazyLearner

class Rule(NamedTuple):
    eta: float
    size: int = 1
    def now(self, clock):
        return (1.0 * self.eta,)
    @staticmethod
    def weight(stored, factor):
        return stored * factor
    @staticmethod
    def step(stored, w, g, factor):
        return [stored - g]

@dataclass(eq=False, repr=False)
class Own(LazyLearner):
    loss: str = "hinge"
    epochs: int = 1
    def _rule(self):
        return Rule(1.0)
"""
LOADED = """
import pickle
import numpy as np
for name in ("first", "second"):
    with open(name, "rb") as file:
        print(*pickle.load(file).decision_function(np.eye(3)))
"""


@pytest.mark.slow
def test_rules_of_one_name_stay_apart_in_loaded_learners(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for name, module_name, factor in (("first", "own_first", "1.0"), ("second", "own_second", "2.0")):
        (tmp_path / f"{module_name}.py").write_text(OWN_LAZY_RULE.replace("1.0 *", f"{factor} *"))
        own = importlib.import_module(module_name).Own().fit(np.eye(3), [0, 1, 0])
        (tmp_path / name).write_bytes(pickle.dumps(own))
    command = [sys.executable, "-c", LOADED]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    first, second = ([float(each) for each in line.split()] for line in done.stdout.splitlines())
    assert second == [2.0 * each for each in first]
    assert any(first)


@pytest.mark.slow
def test_an_edited_and_then_removed_rule_of_another_module(tmp_path):
    environment = os.environ | {"SINGLEPASS_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    mine, printed = tmp_path / "mine.py", []

    def fit(of, name):
        code = FITTED.format(of, name)
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        printed.append(done.stdout.split())

    for rule in (OWN_RULE, OWN_RULE.replace("self.eta", "2 * self.eta")):
        mine.write_text(rule)
        fit("mine", "Own")
    mine.unlink()
    fit("singlepass.learners", "Perceptron")
    assert printed == [["-1.0", "1.0", "-1.0"], ["-2.0", "2.0", "-2.0"], ["-1.0", "1.0", "-1.0"]]


# The child saves compiled code after its parent has saved some.
FORKED = """
import multiprocessing, sys
from pathlib import Path
from singlepass.learners.numeric import compiled
folder = Path(sys.argv[1])
compiled._folder_of = lambda package: folder

def triple(x):
    return 3 * x

triple.__module__ = compiled.__name__
triple = compiled.compiled(triple)

def child():
    assert triple(0.5) == 1.5
    assert folder not in compiled._WITHOUT_LOCKS
    assert sum(triple.stats.cache_misses.values()) == 2

assert triple(14) == 42
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
print(process.exitcode, len(list(folder.rglob("*.nbc"))))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_saves_too(tmp_path):
    script, folder = tmp_path / "forked.py", tmp_path / "folder"
    script.write_text(FORKED)
    folder.mkdir()
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "2"], done.stderr


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOLCK, "none"), NotImplementedError("none"), RuntimeError("inherited")]
)
def test_a_file_system_without_locks(tmp_path, monkeypatch, error):
    def refused(lock, *_, **__):
        raise error

    monkeypatch.setattr(filelock.BaseFileLock, "acquire", refused)
    triple, saved = tripling(monkeypatch, tmp_path)
    assert triple(14) == 42
    assert saved()


def test_a_lock_that_is_never_given_back_is_waited_for_once(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LOCK_SECONDS", 0.2)
    with filelock.FileLock(tmp_path / "lock"):
        triple, saved = tripling(monkeypatch, tmp_path)
        assert triple(14) == 42
        assert len(saved()) == 1
        monkeypatch.setattr(module, "_LOCK_SECONDS", 60.0)
        started = time.monotonic()
        assert triple(0.5) == 1.5
        assert time.monotonic() - started < 30.0
        assert len(list(tmp_path.rglob("*.nbc"))) == 2


# A compiled function in another package of the project, and the file of the function that it calls.
CALLER = """
from ..learners.numeric.compiled import compiled
from .called import factor

@compiled
def scaled(x):
    return factor(x) * x
"""
CALLED = """
from ..learners.numeric.compiled import compiled

@compiled
def factor(x):
    return 2
"""


@pytest.mark.slow
def test_an_edit_of_what_a_function_of_another_package_calls(tmp_path):
    project = tmp_path / "singlepass"
    (project / "pipeline").mkdir(parents=True)
    (project / "learners").symlink_to(Path(module.__file__).parents[1])
    (project / "pipeline" / "__init__.py").write_text("")
    (project / "pipeline" / "caller.py").write_text(CALLER)
    environment = os.environ | {"SINGLEPASS_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    # Python itself does not notice an edit within a second that keeps the length.
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    code = (
        "from singlepass.pipeline.caller import scaled; print(scaled(3), *scaled.stats.cache_hits.values())"
    )
    printed = []
    for called in (CALLED, CALLED, CALLED.replace("2", "5")):
        (project / "pipeline" / "called.py").write_text(called)
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        printed.append(done.stdout.split())
    assert printed == [["6"], ["6", "1"], ["15"]]


def test_users_own_functions_are_left_alone():
    assert str(module._folder_of("singlepass.learners")) != numba.config.CACHE_DIR

    def function(x):
        return x

    dispatcher = compiled(function)
    assert dispatcher.targetoptions["nogil"] is True
    assert "fastmath" not in dispatcher.targetoptions
    assert str(module._folder_of("singlepass.learners")) != numba.config.CACHE_DIR


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
