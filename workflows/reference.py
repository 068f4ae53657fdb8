"""List and download the reference cells (stored results of shipped studies), and make them before a release.

    python -m singlepass.workflows.reference results/quickstart results/projectron-small …

writes archives of the cells of finished shipped studies, which `--base reference` reads. With ``--archives
FOLDER --url URL`` the archives are written to FOLDER instead of the package, and must be uploaded to URL.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import click
from rich.filesize import decimal

from ..pipeline.errors import InputError
from ..pipeline.store.archive import pack
from ..pipeline.store.bases import Base
from ..pipeline.store.reference import (
    FOLDER,
    MOST_BYTES,
    ReferenceStudy,
    archive_name,
    compact_copy,
    read_index,
)
from ..pipeline.store.schema import SCHEMA_VERSION
from ..pipeline.store.store import Store
from ..pipeline.study.plan import Plan, make_plan
from .running.stages import stages
from .shipped import find_study
from .terminal import plain, put, table


def show_reference() -> None:
    """Print the studies whose cells are in the reference, and whether they are on this machine."""
    index = read_index()
    columns = ("cells", "size", "SHA-256", "commit")
    lines = table("study", *columns, "state", right=("cells", "size"))
    present = {entry.study for entry in index.present()}
    for entry in index.studies:
        here = "downloaded" if entry.url else "comes with the package"
        state = here if entry.study in present else f"singlepass reference fetch {entry.study}"
        # Results that an installed package computed record no commit: show the package's version instead.
        made_by = entry.commit or entry.versions["singlepass"]
        texts = f"{entry.cells:,}", decimal(entry.bytes), entry.sha256[:12], made_by, state
        lines.add_row(*plain(entry.study, *texts))
    put(lines)
    put(f"{index.name}, schema version {SCHEMA_VERSION}: --base reference takes these cells")


def named_keys(plan: Plan, base: Base) -> list[str]:
    """Return the keys of all cells of a plan; the tuning cells of a base decide which grid points win."""
    store = Store("")
    store.bases = (base,)
    return list(dict.fromkeys(key for stage, _ in stages(plan, store) for key in stage.keys))


def pack_study(results: Path, folder: Path, url: str) -> ReferenceStudy:
    """Pack the finished results of a shipped study into an archive in a folder; return its index entry."""
    name = str(Store(str(results)).read_json("study.json").get("name", ""))
    base = Base(str(results))
    plan = make_plan(find_study(name)[0], known=base.fingerprints)
    keys = named_keys(plan, base)
    lacking = len(set(keys) - base.keys)
    if lacking:
        raise InputError(f"{results}: {lacking:,} of {len(keys):,} cells of {name} are missing: run it again")
    run = Store(str(results)).read_json("provenance.json")["runs"][-1]
    if "packages" not in run:
        raise InputError(
            f"{results}: provenance.json lacks versions: give the results whose run computed the cells"
        )
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / name
        documents = {
            "study.json": plan.study.model_dump(mode="json"),
            "plan.json": {"planned": len(keys), "data": plan.data_fingerprints},
        }
        cells = compact_copy(str(results), keys, made, documents)
        files = [path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()]
        archive = folder / archive_name(name)
        pack(made, files, archive)
    content = archive.read_bytes()
    packages = {each: run["packages"][each] for each in ("singlepass", "numba", "numpy")}
    versions = {"python": run["python"], **packages}
    where = f"{url.rstrip('/')}/{archive.name}" if url else ""
    digest = hashlib.sha256(content).hexdigest()
    return ReferenceStudy(name, cells, len(content), digest, str(run.get("git") or ""), versions, where)


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--release", help="Name of the release, such as 2026.11.  [default: that of the index]")
@click.option("--archives", type=click.Path(path_type=Path), help="Write archives into this folder.")
@click.option("--url", default="", help="URL to which the archives will be uploaded.")
def make(results: tuple[Path, ...], release: str | None, archives: Path | None, url: str) -> None:
    """Add finished RESULTS of shipped studies to the reference cells."""
    if (archives is None) != (not url):
        raise click.UsageError("--archives and --url belong together: give both or neither")
    if archives is not None and archives.resolve() == FOLDER.resolve():
        raise click.UsageError("--archives must not be the package's folder: leave it and --url out")
    index = read_index()
    entries = {entry.study: entry for entry in index.studies}
    with tempfile.TemporaryDirectory() as scratch:
        made = [pack_study(each, Path(scratch), url) for each in results]
        entries |= {entry.study: entry for entry in made}
        shipped = sum(entry.bytes for entry in entries.values() if not entry.url)
        if shipped > MOST_BYTES:
            raise InputError(
                f"the reference cells in {FOLDER} would take {decimal(shipped)}, more than "
                f"{decimal(MOST_BYTES)}, so nothing is written: give --archives and --url"
            )
        folder = archives or FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for entry in made:
            shutil.copy(Path(scratch, archive_name(entry.study)), folder)
    studies = [asdict(entries[name]) for name in sorted(entries)]
    content = {"release": release or index.release, "schema": SCHEMA_VERSION, "studies": studies}
    (FOLDER / "index.json").write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    for entry in made:
        if archives is not None:
            # An archive that the index no longer names must not stay in the package.
            (FOLDER / archive_name(entry.study)).unlink(missing_ok=True)
        click.echo(f"{entry.study}: {entry.cells:,} cells, {decimal(entry.bytes)}")
        if entry.commit.endswith("-dirty"):
            click.echo(f"warning: {entry.study} was run with uncommitted changes: run it again", err=True)


if __name__ == "__main__":
    try:
        make()
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")
