"""Test what a user sees while files are read and cells are computed."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from singlepass.workflows import progress
from singlepass.workflows.progress import Bar, LineProgress


def screen() -> tuple[Bar, io.StringIO]:
    shown = io.StringIO()
    return Bar(Console(file=shown, force_terminal=True, width=120, color_system=None)), shown


def last_lines(shown: io.StringIO) -> str:
    return shown.getvalue().rpartition("\x1b[2K")[2]


def test_a_file_has_a_bar_in_bytes_and_the_cells_one_in_cells() -> None:
    bar, shown = screen()
    with bar:
        bar.read("a[1].svm", 500_000, 2_000_000)
        bar.bar.refresh()
        assert "a[1].svm" in last_lines(shown)
        assert "0.5/2.0 MB" in last_lines(shown)
        bar.read("b.csv", 100, 0)
        bar.bar.refresh()
        assert "b.csv" in last_lines(shown)
        assert "a[1].svm" not in last_lines(shown)
        bar.start(28, 3)
        bar.advance(4)
        bar.bar.refresh()
        assert "-:--:--" in last_lines(shown)
        bar.expect(3723.4)
        bar.bar.refresh()
    assert "elapsed 0:00:0" in last_lines(shown)
    assert "left 1:02:03" in last_lines(shown)
    assert "cells" in last_lines(shown)
    assert "7/28" in last_lines(shown)
    assert "b.csv" not in last_lines(shown)


def test_the_bar_of_cells_never_counts_bytes() -> None:
    bar, shown = screen()
    with bar:
        bar.start(28, 3)
    assert "3/28" in shown.getvalue()
    assert "bytes" not in shown.getvalue()


def test_the_time_left_is_counted_down_and_never_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    bar, shown = screen()
    with bar:
        bar.start(28, 3)
        bar.expect(60.0)
        for now, left in ((1000.0, "left 0:01:00"), (1045.0, "left 0:00:15"), (1070.0, "left -:--:--")):
            # No cell has ended meanwhile.
            clock[0] = now
            bar.bar.refresh()
            assert left in last_lines(shown)


def test_the_dashboard_stays_visible() -> None:
    shown = io.StringIO()
    bar = Bar(Console(file=shown, force_terminal=True, width=160, color_system="standard"))
    with bar:
        bar.start(28, 3)
        bar.bar.refresh()
        assert "dashboard" not in shown.getvalue()
        bar.note("dashboard: http://127.0.0.1:8787/status")
        bar.bar.refresh()
    assert "dashboard: http://127.0.0.1:8787/status\n" in shown.getvalue()
    # A terminal link: the address, then the shown text.
    assert ";http://127.0.0.1:8787/status\x1b\\dashboard" in last_lines(shown)


def test_lines_are_printed_at_intervals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    lines = LineProgress()
    for second in range(26):
        clock[0] = float(second)
        lines.read("f.svm", second * 1_000_000, 40_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "f.svm: 10.0 MB of 40.0 MB, about 30 s left",
        "f.svm: 20.0 MB of 40.0 MB, about 20 s left",
    ]
    # The time for reading files does not count as time for cells.
    clock[0] = 100.0
    lines.start(10, 0)
    clock[0] = 104.0
    lines.expect(None)
    lines.advance(2)
    assert capsys.readouterr().err.splitlines() == ["2/10 cells"]
    clock[0] = 115.0
    lines.expect(3723.4)
    lines.advance(1)
    assert capsys.readouterr().err.splitlines() == ["3/10 cells, about 1:02:03 left"]
    # The expected time is over, but cells are left: no estimate is shown.
    clock[0] = 126.0
    lines.expect(0.0)
    lines.advance(2)
    assert capsys.readouterr().err.splitlines() == ["5/10 cells"]
    clock[0] = 137.0
    lines.read("unknown.bin", 3_000_000, 0)
    assert capsys.readouterr().err.splitlines() == ["unknown.bin: 3.0 MB"]


@pytest.mark.slow
@pytest.mark.parametrize("command", [["run", "s.toml"], ["data", "convert", "f.svm"]])
def test_commands_show_the_conversion(
    singlepass: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(progress, "PLAIN_INTERVAL", 0.0)
    (tmp_path / "f.svm").write_text("1 1:1\n-1 2:1\n" * 10)
    (tmp_path / "s.toml").write_text(
        'name = "s"\nseeds = 1\n[[datasets]]\npath = "f.svm"\n[[algorithms]]\nname = "Perceptron"\n'
    )
    result = singlepass(*command)
    assert result.returncode == 0, result.stderr
    assert "f.svm: 130 bytes of 130 bytes, about 0 s left" in result.stderr.splitlines()
    # The file was converted before, so it is not read again.
    assert "f.svm" not in singlepass(*command).stderr
