"""Versions of packages and of a user's own modules, which are part of the keys of cells."""

import importlib
import importlib.metadata
import json
import os
import sys

import pytest

from singlepass.learners import registry
from singlepass.learners.guests import versions
from singlepass.learners.guests.given import give
from singlepass.learners.guests.names import find_guest
from singlepass.learners.guests.versions import imports_of, is_local, missing_imports, version_of

LEARNER = "class Own:\n    def partial_fit(self, X, y): ...\n    def predict(self, X): return rate()\n"
HELPED = f"from sp_helper import rate\n{LEARNER}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder on the path with a helper, a module and a package that use it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(versions, "_versions", {})
    monkeypatch.setattr(versions, "_imported", {})
    (tmp_path / "sp_package").mkdir()
    for name, text in {
        "sp_helper.py": "def rate(): return 1\n",
        "sp_module.py": HELPED,
        "sp_single.py": LEARNER,
        "sp_package/__init__.py": "",
        "sp_package/rule.py": "def rate(): return 1\n",
        "sp_package/core.py": f"from .rule import rate\n{LEARNER}",
    }.items():
        (tmp_path / name).write_text(text)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("sp_")]:
        del sys.modules[name]


def forget():
    """Imitate a new process."""
    for name in [name for name in sys.modules if name.startswith("sp_")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    versions._versions.clear()
    versions._imported.clear()


def edit(path):
    path.write_text(path.read_text() + "# edited\n")


def test_versions_of_other_learners_stay(folder):
    """Keys of stored cells contain these; the hashes are those of earlier versions."""
    sklearn = f"scikit-learn {importlib.metadata.version('scikit-learn')}"
    assert find_guest("sklearn.linear_model:SGDClassifier").package == sklearn
    assert find_guest("sp_single:Own").package == "sp_single ba2b6a8217802b23"
    (folder / "mine.py").write_text(f"import numpy as np\nimport sklearn\n{LEARNER}")
    own = registry.learners_in(folder / "mine.py")["Own"]
    assert registry.content_of(own) == "b2c563ee0fb45b9a5e8eb738d23769453ff4cd22bef8f664925986e4758e3a22"
    names = {"__name__": "__main__"}
    exec(f"import json\nimport numpy as np\nimport sklearn\ndef rate(): return sklearn\n{LEARNER}", names)
    assert give(names["Own"]).package == sklearn
    assert version_of(["singlepass"]).startswith("singlepass ")


@pytest.mark.parametrize(
    ("name", "edited"),
    [
        ("sp_package.core:Own", "sp_package/rule.py"),
        ("sp_module:Own", "sp_helper.py"),
        ("sp_module:Own", "sp_module.py"),
    ],
)
def test_an_edit_of_imported_code_is_another_version(folder, name, edited):
    before = find_guest(name).package
    assert find_guest(name, again=True).package == before
    edit(folder / edited)
    with pytest.raises(
        ValueError, match=rf"{edited} has changed since '.*' was imported: restart Python, or"
    ):
        find_guest(name, again=True)
    # Cells of the run go on with the code that was planned.
    assert find_guest(name).package == before
    forget()
    assert find_guest(name).package != before


def test_an_edit_of_a_plugins_helper_is_another_version(folder):
    path, contents = folder / "mine.py", []
    path.write_text(HELPED)
    contents.append(registry.content_of(registry.learners_in(path)["Own"]))
    edit(folder / "sp_helper.py")
    with pytest.raises(ValueError, match=r"mine.py: code that it imports has changed \(sp_helper\): restart"):
        registry.load_plugin(path)
    forget()
    del sys.modules[registry._module_name(path, path.read_bytes())]
    contents.append(registry.content_of(registry.learners_in(path)["Own"]))
    assert contents[0] != contents[1]


@pytest.mark.parametrize("code", [f"from sp_package.rule import rate\n{LEARNER}", LEARNER.replace(
    "return", "from sp_package.rule import rate; return")])  # fmt: skip
def test_an_edit_of_a_notebook_classs_package_is_another_version(folder, code):
    found = []
    for _ in range(2):
        names = {"__name__": "__main__"}
        exec(code, names)
        given = give(names["Own"])
        found.append((given.name, given.package))
        assert not given.changed
        edit(folder / "sp_package/rule.py")
        forget()
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]


def test_a_reload_gives_the_new_class(folder):
    before = find_guest("sp_single:Own")
    edit(folder / "sp_single.py")
    module = importlib.reload(sys.modules["sp_single"])
    after = find_guest("sp_single:Own")
    assert after.cls is module.Own is not before.cls
    assert after.package != before.package


def test_modules_that_import_a_reloaded_one_are_reloaded_too(folder):
    find_guest("sp_module:Own")
    edit(folder / "sp_helper.py")
    importlib.reload(sys.modules["sp_helper"])
    with pytest.raises(ValueError, match=r"sp_helper.py has changed since 'sp_module' was imported"):
        find_guest("sp_module:Own")
    importlib.reload(sys.modules["sp_module"])
    find_guest("sp_module:Own", again=True)


def test_an_edit_before_the_first_use_is_noticed(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    importlib.import_module("sp_single")
    edit(folder / "sp_single.py")
    with pytest.raises(ValueError, match=r"sp_single.py has changed since 'sp_single' was imported"):
        find_guest("sp_single:Own")
    importlib.reload(sys.modules["sp_single"])
    find_guest("sp_single:Own")


def test_a_touched_file_is_the_same_version(folder):
    before = find_guest("sp_package.core:Own").package
    os.utime(folder / "sp_package/rule.py", (1, 1))
    (folder / "sp_package/.ipynb_checkpoints").mkdir()
    (folder / "sp_package/.ipynb_checkpoints/rule.py").write_text("")
    assert find_guest("sp_package.core:Own", again=True).package == before


def test_an_editable_package_and_one_of_another_name_are_local(folder, monkeypatch):
    monkeypatch.setattr(versions, "_distributions", lambda: {"sp_single": ["numpy"]})
    # numpy's package is in another folder than this module.
    versions._installed.cache_clear()
    assert is_local("sp_single")
    site = folder / "sp_editable-1.0.dist-info"
    site.mkdir()
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: sp_editable\nVersion: 1.0\n")
    monkeypatch.setattr(versions, "_distributions", lambda: {"sp_single": ["sp_editable"]})
    for editable in (False, True):
        (site / "direct_url.json").write_text(json.dumps({"dir_info": {"editable": editable}}))
        versions._installed.cache_clear()
        assert is_local("sp_single") == editable
    versions._installed.cache_clear()


def test_imports(folder):
    code = b"import os, numpy.linalg, a.b\nfrom c.d import e\nfrom . import f\nif a:\n    import sp_helper\n"
    assert imports_of(code) == {"a", "c", "sp_helper"}
    assert imports_of(b"def f(:") == frozenset()
    assert missing_imports(code + b"try:\n    import g\nexcept ImportError: ...\n") == ["a", "c", "sp_helper"]
