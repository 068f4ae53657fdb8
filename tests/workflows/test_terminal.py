"""Test tables and lines on a terminal, and piped."""

from __future__ import annotations

import pytest

from singlepass.workflows.terminal import plain, put, table

NAME = "20newsgroups[comp-vs-sci]"


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    found = table("data set", "rows", "[bold]what", right=("rows",))
    found.add_row(*plain(NAME, "7", "a :smile:\nand more\u2028of it"))
    found.add_row(*plain("usps", "12,345", "word " * 60))
    put(found)
    put()
    put(f"{NAME} [bold]:smile: {'word ' * 60}end")
    return capsys.readouterr().out.splitlines()


def test_piped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    heading, first, second, empty, line = printed(capsys)
    assert heading == "data set                     rows  [bold]what"
    assert first == f"{NAME}       7  a :smile: and more of it"
    assert second == f"usps                       12,345  {('word ' * 60).rstrip()}"
    assert empty == ""
    assert line == f"{NAME} [bold]:smile: {'word ' * 60}end"


def test_without_columns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "0")
    assert len(printed(capsys)) == 5


def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    heading, first, second, *lines = printed(capsys)
    assert heading.rstrip().endswith("[bold]what")
    assert first.startswith(f"{NAME}  ")
    assert "a :smile: and" in first
    assert second.startswith("usps ")
    # Folded, because a dumb terminal has 80 columns.
    assert len(lines) > 4
    assert max(map(len, [heading, first, second, *lines])) <= 80
    assert any(line.startswith(f"{NAME} [bold]:smile: word") for line in lines)
