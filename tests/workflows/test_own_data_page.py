"""Test the page on users' own data: its files are read as it says, and it quotes real output."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import read_study

PAGE = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```text (\S+)\n(.*?)^```$", PAGE, re.M | re.S))
STUDIES = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)
HEAD = 'name = "s"\nseeds = 1\nfolds = 2\ntest_fraction = 0.4\n'
TAIL = '\n[[algorithms]]\nname = "AROW"\n'


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output quiet."""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the page's files, and start a local server in place of OpenML."""
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SINGLEPASS_DATA", raising=False)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "days").mkdir()
    for day in range(3):
        table = pa.table({"a": [1.0 * day, 2.0, 4.0, 3.0], "b": [1, 2, 3, day], "label": list("xyxy")})
        parquet.write_table(table, tmp_path / "days" / f"{day}.parquet")
    bucket = fsspec.filesystem("memory")
    bucket.pipe("/my-bucket/trips.csv", b"a,label\n1,x\n2,y\n3,x\n4,y\n")
    served = tmp_path / "served" / "api" / "v1" / "json" / "data"
    served.mkdir(parents=True)
    content = FILES["weather.arff"].replace("?", "70")
    (tmp_path / "served" / "electricity.arff").write_text(content)
    told = {
        "name": "electricity",
        "version": "1",
        "format": "ARFF",
        "url": "https://api.openml.org/electricity.arff",
        "md5_checksum": hashlib.md5(content.encode()).hexdigest(),
        "default_target_attribute": "play",
    }
    (served / "151").write_text(json.dumps({"data_set_description": told}))
    handler = partial(_Quiet, directory=str(tmp_path / "served"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("SINGLEPASS_MIRROR", f"http://127.0.0.1:{server.server_port}")
    yield tmp_path
    server.shutdown()
    server.server_close()
    thread.join()
    bucket.rm("/my-bucket", recursive=True)


def write_study(folder: Path, entries: str, keys: str = "") -> Path:
    path = folder / "s.toml"
    path.write_text(HEAD + keys + entries.replace("s3://", "memory://") + TAIL)
    return path


@pytest.mark.parametrize(("protocol", "number"), [("prequential", 3), ("crossval", 1)])
def test_every_example_streams(files: Path, protocol: str, number: int) -> None:
    assert len(STUDIES) == 3
    # Four rows are too few for folds with every class.
    for entries in STUDIES[:number]:
        plan = make_plan(read_study(write_study(files, entries, f'protocol = "{protocol}"\n')), base=files)
        assert len(plan.tasks) == entries.count("[[datasets]]")
        for cell in plan.evaluation_cells({}):
            row = run_cell(cell).row
            assert row["status"] == "ok", row["error"]


def test_the_page_describes_its_examples(files: Path) -> None:
    magic, jobs, others = (
        make_plan(read_study(write_study(files, each)), base=files).tasks for each in STUDIES
    )
    assert data.open_stream(magic[0]).X.shape == (6, 5)
    assert data.open_stream(magic[0]).classes == ("g", "h")
    # age; clerk, cook; again, bad, food, good, late, work; indicators of missing age and job.
    stream = data.open_stream(jobs[0])
    assert stream.X.shape == (4, 11)
    assert stream.X[:, 0].tolist() == pytest.approx([121 / 3, 50, 30, 41])
    assert [ref.label for ref in others] == ["weather", "days", "trips", "openml-151"]


def said(files: Path, entries: str) -> str:
    with pytest.raises(InputError) as error:
        make_plan(read_study(write_study(files, entries)), base=files)
    return str(error.value).replace(f"{files}/", "")


JOBS = '[[datasets]]\npath = "jobs.csv"\nignore = ["id", "when"]\n'
SORTED = '[[datasets]]\npath = "jobs.csv"\nignore = ["id"]\norder_by = "when"\n'
NAMED = 'categorical = ["job"]\ntext = ["note"]\n'


@pytest.mark.parametrize(
    ("name", "before", "after", "entries"),
    [
        ("", "", "", JOBS),
        ("", "", "", JOBS + NAMED),
        ("", "", "", '[[datasets]]\npath = "magic.data"\nformat = "csv"\n'),
        ("weather.arff", "overcast,83", "foggy,83", '[[datasets]]\npath = "weather.arff"\ntarget = "play"\n'),
        (
            "jobs.csv",
            "2024-01-02",
            "soon",
            SORTED + NAMED + 'missing = "mean"\n',
        ),
        ("jobs.csv", "30", "1e39", f'{JOBS}{NAMED}missing = "mean"\ndtype = "float32"\n'),
        ("jobs.csv", "job,note", "note,note", JOBS),
    ],
)
def test_the_page_quotes_real_messages(files: Path, name: str, before: str, after: str, entries: str) -> None:
    if name:
        (files / name).write_text((files / name).read_text().replace(before, after, 1))
    lines = re.findall(r"\| `(\S+[:,] .*)` \|$", PAGE, re.M)
    assert len(lines) == 7
    found = said(files, entries)
    assert "\n" not in found
    assert any(found.startswith(line.removesuffix("…").rstrip()) for line in lines), found
