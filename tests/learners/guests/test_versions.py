"""Versions of packages and of a user's own modules, which are part of the keys of cells."""

import importlib
import importlib.metadata
import os
import sys
import zipfile

import pytest

from singlepass.learners import registry
from singlepass.learners.guests import versions
from singlepass.learners.guests.given import give
from singlepass.learners.guests.names import find_guest
from singlepass.learners.guests.versions import imports_of, is_local, version_of

LEARNER = "class Own:\n    def partial_fit(self, X, y): ...\n    def predict(self, X): return rate()\n"
HELPED = f"from sp_helper import rate\n{LEARNER}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder on the path with a helper, a module and a package that use it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(versions, "_versions", {})
    monkeypatch.setattr(versions, "_seen", {})
    monkeypatch.setattr(versions, "_edited", {})
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
    versions._seen.clear()
    versions._edited.clear()


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
        ValueError, match=rf"{edited} has changed since sp_\w*(\.\w*)? was imported: restart Python$"
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
    with pytest.raises(ValueError, match=r"mine\.py: .*sp_helper\.py has changed since .*: restart"):
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


def test_an_edit_after_a_reload_is_noticed(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    find_guest("sp_single:Own")
    original = (folder / "sp_single.py").read_text()
    edit(folder / "sp_single.py")
    importlib.reload(sys.modules["sp_single"])
    find_guest("sp_single:Own")
    for text in (original, f"{original}# edited again\n"):
        (folder / "sp_single.py").write_text(text)
        with pytest.raises(ValueError, match=r"sp_single\.py has changed since"):
            find_guest("sp_single:Own", again=True)


def test_a_module_is_known_by_the_file_that_was_imported(folder):
    find_guest("sp_single:Own")
    edit(folder / "sp_single.py")
    # Among other packages, too.
    with pytest.raises(ValueError, match=r"sp_single\.py has changed since"):
        version_of({"sp_single", "sklearn"})
    (folder / "sp_single.py").unlink()
    with pytest.raises(ValueError, match=r"sp_single\.py: cannot be read \(No such file"):
        find_guest("sp_single:Own", again=True)


def test_a_module_that_is_imported_later_is_not_a_reloaded_one(folder):
    version_of({"sp_single"})
    importlib.import_module("sp_single")
    before = version_of({"sp_single"})
    edit(folder / "sp_single.py")
    with pytest.raises(ValueError, match=r"sp_single\.py has changed since"):
        version_of({"sp_single"}, again=True)
    assert version_of({"sp_single"}) == before


def test_a_reload_is_not_enough_for_several_modules(folder):
    find_guest("sp_module:Own")
    edit(folder / "sp_helper.py")
    for name, problem in {
        "sp_module": "has changed since sp_helper was imported",
        # The first module still has the function that it imported from the second.
        "sp_helper": "was edited and reloaded, but sp_module may have its old values",
    }.items():
        importlib.reload(sys.modules[name])
        with pytest.raises(ValueError, match=rf"sp_helper\.py {problem}: restart Python$"):
            find_guest("sp_module:Own", again=True)


def test_a_reloaded_module_that_another_one_imports_is_refused(folder):
    find_guest("sp_module:Own")
    edit(folder / "sp_helper.py")
    importlib.reload(sys.modules["sp_helper"])
    # This alone is right, but sp_module still has what it imported before.
    version_of({"sp_helper"}, again=True)
    with pytest.raises(ValueError, match=r"reloaded, but sp_module may have its old values: restart Python$"):
        find_guest("sp_module:Own", again=True)
    importlib.reload(sys.modules["sp_module"])
    find_guest("sp_module:Own", again=True)


def test_modules_and_plugins_that_are_imported_after_a_reload_have_the_new_values(folder):
    importlib.import_module("sp_helper")
    version_of({"sp_helper"})
    edit(folder / "sp_helper.py")
    importlib.reload(sys.modules["sp_helper"])
    version_of({"sp_helper"}, again=True)
    find_guest("sp_module:Own")
    (folder / "mine.py").write_text(f"import sp_single\n{HELPED}")
    registry.load_plugin(folder / "mine.py")
    importlib.import_module("sp_package.core")
    assert version_of({"sp_helper", "sp_package"}, again=True)


def test_an_edit_before_the_first_use_is_noticed(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    importlib.import_module("sp_single")
    edit(folder / "sp_single.py")
    with pytest.raises(ValueError, match=r"sp_single\.py has changed since sp_single was imported: restart"):
        find_guest("sp_single:Own")
    importlib.reload(sys.modules["sp_single"])
    find_guest("sp_single:Own")


def test_a_touched_file_is_the_same_version(folder):
    before = find_guest("sp_package.core:Own").package
    os.utime(folder / "sp_package/rule.py", (1, 1))
    (folder / "sp_package/.ipynb_checkpoints").mkdir()
    (folder / "sp_package/.ipynb_checkpoints/rule.py").write_text("")
    assert find_guest("sp_package.core:Own", again=True).package == before


def test_what_is_local(folder, monkeypatch):
    (folder / "site-packages").mkdir()
    monkeypatch.syspath_prepend(folder / "site-packages")
    # Some tools install packages as symbolic links.
    (folder / "site-packages/sp_linked").symlink_to(folder / "sp_package")
    (folder / "site-packages/sp_compiled.cpython-311-x86_64-linux-gnu.so").write_bytes(b"")
    (folder / "target/sp_target-1.0.dist-info").mkdir(parents=True)
    (folder / "target/sp_target-1.0.dist-info/METADATA").write_text("Name: sp-target\nVersion: 1.0\n")
    (folder / "target/sp_target-1.0.dist-info/RECORD").write_text("sp_target.py,,\n")
    for name in ("sp_target", "sp_beside"):
        (folder / f"target/{name}.py").write_text("")
    monkeypatch.syspath_prepend(folder / "target")
    versions._distributions.cache_clear()
    for name in ("sp_target", "sp_linked", "sp_compiled", "sklearn", "test", "json", "numpy", "sp_no"):
        assert not is_local(name)
    # Modules of the user can be in the same folder as installed packages.
    for name in ("sp_single", "sp_package", "sp_beside"):
        assert is_local(name)
    versions._distributions.cache_clear()


def test_a_module_in_a_zip_file_is_not_read(folder, monkeypatch):
    with zipfile.ZipFile(folder / "sp.zip", "w") as archive:
        archive.writestr("sp_zipped.py", LEARNER)
    monkeypatch.syspath_prepend(folder / "sp.zip")
    assert find_guest("sp_zipped:Own").package == "sp_zipped"


def test_linked_folders_of_a_package_are_read_once(folder):
    (folder / "linked").mkdir()
    (folder / "linked/__init__.py").write_text("")
    (folder / "sp_package/sub").symlink_to(folder / "linked")
    (folder / "sp_package/again").symlink_to(folder / "sp_package")
    before = version_of({"sp_package"})
    edit(folder / "linked/__init__.py")
    assert version_of({"sp_package"}, again=True) != before


def test_links_to_data_and_to_parents_of_a_package_are_not_followed(folder):
    before = version_of({"sp_package"})
    (folder / "data/sub").mkdir(parents=True)
    (folder / "data/sub/module.py").write_text("")
    (folder / "sp_package/data").symlink_to(folder / "data")
    (folder / "sp_package/up").symlink_to("..")
    assert version_of({"sp_package"}, again=True) == before


def test_the_first_folder_of_a_package_counts(folder, monkeypatch):
    for place in ("one", "two"):
        (folder / place / "sp_parts").mkdir(parents=True)
        (folder / place / "sp_parts/core.py").write_text("")
        monkeypatch.syspath_prepend(folder / place)
    before = version_of({"sp_parts"})
    edit(folder / "one/sp_parts/core.py")
    assert version_of({"sp_parts"}, again=True) == before
    edit(folder / "two/sp_parts/core.py")
    assert version_of({"sp_parts"}, again=True) != before


def test_odd_files_of_a_package_are_no_code(folder):
    before = find_guest("sp_package.core:Own").package
    (folder / "sp_package/gone.py").symlink_to(folder / "nothing.py")
    (folder / "sp_package/folder.py").mkdir()
    (folder / "sp_package/env").mkdir()
    (folder / "sp_package/env/pyvenv.cfg").write_text("")
    (folder / "sp_package/env/other.py").write_text("")
    assert find_guest("sp_package.core:Own", again=True).package == before
    (folder / "sp_package/deep.py").write_text(f"{'(' * 5000}1{')' * 5000}")
    forget()
    assert find_guest("sp_package.core:Own").package != before


def test_imports(folder):
    code = b"import os, numpy.linalg, a.b\nfrom c.d import e\nfrom . import f\nif a:\n    import sp_helper\n"
    assert imports_of(code) == {"a", "c", "sp_helper"}
    assert imports_of(b"def f(:") == frozenset()
