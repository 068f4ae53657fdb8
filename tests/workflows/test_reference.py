"""Test the reference cells: whether the code names them, and how they are made, listed and downloaded."""

from __future__ import annotations

import hashlib
import http.server
import json
import lzma
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest

from singlepass.learners import AROW
from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.data import expand
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store import archive, bases
from singlepass.pipeline.store import reference as reference_module
from singlepass.pipeline.store.bases import Base
from singlepass.pipeline.store.reference import (
    FOLDER,
    MOST_BYTES,
    POINTS,
    ReferenceIndex,
    archive_name,
    read_index,
)
from singlepass.pipeline.store.schema import SCHEMA_VERSION
from singlepass.pipeline.study.plan import data_id, make_plan
from singlepass.workflows import reference
from singlepass.workflows.running import provenance
from singlepass.workflows.running.run import run_study
from singlepass.workflows.shipped import find_study

from .conftest import Silent

Call = Callable[..., Any]
STUDIES = [entry.study for entry in read_index().studies if not entry.url]


# Naming many cells takes seconds.
LARGE = {entry.study for entry in read_index().studies if entry.cells > 10_000}


def unnamed(base: Base, study: str) -> Counter[str]:
    """Count, by algorithm, the cells of a base whose keys are no longer in the plan of the current code."""
    # The fingerprints in the reference stand for data that are not here or not parsed.
    plan = make_plan(find_study(study)[0], known=base.fingerprints, parse=False)
    lost = sorted(base.keys - set(reference.named_keys(plan, base)))
    return Counter(base.table("cells", lost)["algorithm"].to_pylist())


@pytest.mark.parametrize(
    "study", [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in STUDIES]
)
def test_the_present_code_names_the_cells(study: str) -> None:
    base = Base(str(read_index().fetch(study)))
    lost = unnamed(base, study)
    assert not lost, (
        f"{study}: the code no longer names {dict(lost)} of its reference cells: run the study again, and "
        "add it (CONTRIBUTING.md), or remove its folder and its entry in index.json"
    )


@pytest.mark.parametrize("study", STUDIES)
def test_the_reference_knows_the_data_of_its_studies(study: str) -> None:
    """Otherwise a comparison needs data that are not on this machine."""
    base = Base(str(read_index().fetch(study)))
    datasets = find_study(study)[0].datasets
    tasks = [task for each in datasets for task in expand(**each.entry, base=Path())]
    assert {data_id(task) for task in tasks} <= base.fingerprints.keys()


def test_the_index_declares_what_is_there() -> None:
    index = read_index()
    assert {path.name for path in FOLDER.iterdir()} == {"index.json", *map(archive_name, STUDIES)}
    for entry in index.studies:
        if not entry.url:
            archive = FOLDER / archive_name(entry.study)
            assert described(archive) == (entry.bytes, entry.sha256), "make it again (CONTRIBUTING.md)"
            assert len(Base(str(index.fetch(entry.study))).keys) == entry.cells
    assert sum(entry.bytes for entry in index.studies if not entry.url) <= MOST_BYTES


def described(archive: Path) -> tuple[int, str]:
    content = archive.read_bytes()
    return len(content), hashlib.sha256(content).hexdigest()


def test_a_shipped_study_takes_all_its_cells_from_the_reference(tmp_path: Path) -> None:
    study, _ = find_study("quickstart")
    summary = run_study(study, str(tmp_path), progress=Silent(), bases=["reference"])
    assert (summary.computed, summary.reused) == (0, 3192)
    assert summary.from_bases == {read_index().name: 3192}
    assert read_index().name.startswith("reference-20")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReferenceIndex:
    """Return an empty index in another folder, with another cache."""
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "reference_cells"
    folder.mkdir()
    content = {"release": "2000.01", "schema": SCHEMA_VERSION, "studies": []}
    (folder / "index.json").write_text(json.dumps(content))
    read = partial(read_index, folder)
    for module in (bases, reference, reference_module):
        monkeypatch.setattr(module, "read_index", read)
    monkeypatch.setattr(reference, "FOLDER", folder)
    return read()


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a small study be a shipped one, and return the path of its file."""
    study, _ = find_study("quickstart")
    keep = ("Perceptron", "AROW")
    small = study.model_copy(
        update={
            "datasets": [each for each in study.datasets if each.label == "breast-cancer"],
            "algorithms": [each for each in study.algorithms if each.label in keep],
            "seeds": [0, 1],
        }
    )
    monkeypatch.setattr(reference, "find_study", lambda name: (small, None))
    return Path("quickstart")


def finished(out: Path) -> Path:
    run_study(reference.find_study("quickstart")[0], str(out), progress=Silent())
    return out


def made(arguments: list[str]) -> None:
    reference.make(arguments, standalone_mode=False)


@pytest.mark.slow
def test_a_copy_has_all_cells_and_short_curves(tmp_path: Path, index: ReferenceIndex, shipped: Path) -> None:
    whole = finished(tmp_path / "whole")
    made([str(whole)])
    [entry] = reference.read_index().studies
    assert (entry.bytes, entry.sha256) == described(index.folder / archive_name("quickstart"))
    out = tmp_path / "out"
    summary = run_study(reference.find_study("")[0], str(out), progress=Silent(), bases=["reference"])
    assert (summary.computed, summary.from_bases) == (0, {"reference-2000.01": entry.cells})
    found, full = read_results(str(out)), read_results(str(whole))
    assert found.tuning == full.tuning
    left_out = ["total_seconds", "started", "worker", "fit_seconds"]
    pd.testing.assert_frame_equal(
        found.cells.drop(columns=["base", *left_out]), full.cells.drop(columns=left_out)
    )
    pd.testing.assert_series_equal(found.cells["fit_seconds"], full.cells["fit_seconds"], rtol=0.005)
    points = found.curves.groupby("key")["t"]
    whole_points = full.curves.groupby("key")["t"]
    assert points.count().max() == POINTS < whole_points.count().max()
    final = full.cells.loc[full.cells["stage"] == "run", "key"]
    assert set(points.groups) == set(final)
    assert (points.max() == whole_points.max()[points.max().index]).all()
    assert (points.min() == whole_points.min()[points.min().index]).all()


def test_cells_that_the_code_no_longer_names_are_counted(
    tmp_path: Path, index: ReferenceIndex, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made([str(finished(tmp_path / "whole"))])
    base = Base("reference")
    assert not unnamed(base, "quickstart")
    monkeypatch.setattr(AROW, "algorithm_version", 99)
    lost = unnamed(base, "quickstart")
    # Seven points of a grid at three noise levels, and two seeds; the other learner keeps its cells.
    assert lost == {"AROW": 3 * (7 + 2)}


def test_unfinished_results_are_not_added(tmp_path: Path, index: ReferenceIndex, shipped: Path) -> None:
    study = reference.find_study("")[0]
    run_study(study.model_copy(update={"seeds": [0]}), str(tmp_path / "part"), progress=Silent())
    with pytest.raises(InputError, match=r"6 of 33 cells of quickstart are missing: run it again"):
        made([str(tmp_path / "part")])
    assert [path.name for path in index.folder.iterdir()] == ["index.json"]


def test_cells_that_take_too_much_space_are_not_added(
    tmp_path: Path, index: ReferenceIndex, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (index.folder / "index.json").read_bytes()
    monkeypatch.setattr(reference, "MOST_BYTES", 100)
    results = str(finished(tmp_path / "whole"))
    with pytest.raises(InputError, match=r"more than 100 bytes, so nothing is written: give --archives"):
        made([results])
    assert [path.name for path in index.folder.iterdir()] == ["index.json"]
    assert (index.folder / "index.json").read_bytes() == before


def test_archives_do_not_go_into_the_packages_folder(index: ReferenceIndex) -> None:
    with pytest.raises(click.UsageError, match=r"^--archives must not be the package's folder"):
        made(["results", "--archives", f"{index.folder}/../{index.folder.name}", "--url", "https://u"])


def test_a_replaced_archive_is_removed(
    tmp_path: Path,
    index: ReferenceIndex,
    shipped: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(provenance, "_git_commit", lambda: "0123-dirty")
    results = str(finished(tmp_path / "whole"))
    made([results])
    assert (index.folder / "quickstart.zip.xz").is_file()
    made([results, "--archives", str(tmp_path / "archives"), "--url", "https://u"])
    assert (tmp_path / "archives" / "quickstart.zip.xz").is_file()
    assert [path.name for path in index.folder.iterdir()] == ["index.json"]
    assert "warning: quickstart was run with uncommitted changes: run it again" in capsys.readouterr().err


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}", folder
        serving.shutdown()
        thread.join()


def test_an_archive_is_downloaded_and_verified(
    tmp_path: Path,
    index: ReferenceIndex,
    shipped: Path,
    server: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, served = server
    made([str(finished(tmp_path / "whole")), "--archives", str(served), "--url", url])
    monkeypatch.delenv("SINGLEPASS_MIRROR", raising=False)
    declared = reference.read_index()
    [entry] = declared.studies
    assert entry.url == f"{url}/quickstart.zip.xz"
    with pytest.raises(InputError, match=r"^base reference: no results here"):
        Base("reference")
    content = (served / "quickstart.zip.xz").read_bytes()
    (served / "quickstart.zip.xz").write_bytes(content[:-1])
    with pytest.raises(InputError, match=r"the download failed \(.*does not have the checksum"):
        declared.fetch("quickstart")
    (served / "quickstart.zip.xz").write_bytes(content)
    place = declared.fetch("quickstart")
    assert place == declared.fetch("quickstart")
    assert place.is_relative_to(tmp_path / "cache/reference/2000.01")
    assert [path.name for path in place.parent.iterdir()] == ["quickstart"]
    assert len(Base("reference").keys) == entry.cells
    with pytest.raises(InputError, match="reference 'quickstrat': no such study: did you mean 'quickstart'"):
        declared.fetch("quickstrat")


def test_another_schema_is_one_line(index: ReferenceIndex) -> None:
    content = {"release": "2000.01", "schema": SCHEMA_VERSION - 1, "studies": []}
    (index.folder / "index.json").write_text(json.dumps(content))
    with pytest.raises(
        InputError, match=f"^base reference: its cells have schema version {SCHEMA_VERSION - 1}, this"
    ):
        Base("reference")


def test_an_archive_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text("{}")
    for name in ("../study.json", "/study.json", "cells/../../x.parquet", "plugins/.hidden.py", "other.json"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with archive.zipfile.ZipFile(tmp_path / "bad.zip", "w") as bad:
            bad.writestr(name, b"{}")
        with pytest.raises(InputError, match=r"bad\.zip: contains '.*', which no archive of results has"):
            archive.unpack(tmp_path / "bad.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    whole = lzma.compress((tmp_path / "bad.zip").read_bytes())
    for name, content in (("bad.zip", b"PK"), ("bad.zip.xz", b"PK"), ("bad.zip.xz", whole[:-1])):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=rf"{name}: damaged, or no archive"):
            archive.unpack(tmp_path / name, tmp_path / "out")
    (tmp_path / "bad.zip.xz").write_bytes(whole)
    with pytest.raises(InputError, match=r"bad\.zip\.xz: contains 'other\.json'"):
        archive.unpack(tmp_path / "bad.zip.xz", tmp_path / "out")


def test_the_command_lists_the_studies(singlepass: Call) -> None:
    listed = singlepass("reference", "list")
    assert listed.returncode == 0
    assert all(study in listed.stdout for study in STUDIES)
    place = Path(singlepass("reference", "fetch", "quickstart").stdout.strip())
    assert (place / "study.json").is_file()
