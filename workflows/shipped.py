"""Find the studies that come with the package, by name."""

from __future__ import annotations

from pathlib import Path

from ..pipeline.errors import InputError, did_you_mean
from ..pipeline.study.study import Study
from ..pipeline.study.study_file import extension, read_study

FOLDER = Path(__file__).parent / "studies"


def shipped_studies() -> dict[str, Path]:
    """Return the files of the shipped studies, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def find_study(name_or_path: str) -> tuple[Study, Path | None]:
    """Return the shipped study of this name, or the study of a TOML file, and the file (None if shipped)."""
    shipped = shipped_studies()
    if name_or_path in shipped:
        return read_study(shipped[name_or_path], shipped), None
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.exists():
        return read_study(path, shipped), path
    raise InputError(
        f"study {name_or_path!r} is neither shipped nor a TOML file: {did_you_mean(name_or_path, shipped)}"
    )


def extension_of(file: Path | None) -> str:
    """Return a line that says what a file's study takes over from the one that it extends, or "" if none."""
    return "" if file is None else extension(file, shipped_studies())
