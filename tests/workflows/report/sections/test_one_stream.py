"""Test the section on single streams."""

from __future__ import annotations

from typing import Any

from singlepass.workflows.report.page.blocks import Text
from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.sections import one_stream

from .test_latest_errors import DATASETS, view_of

STREAMS = [DATASETS[0] | {"n_train": 600}, {"name": "gauss", "n_train": 700}]
ALGORITHMS = [{"name": "Perceptron"}, {"name": "AROW"}]


def section_of(**study: Any) -> tuple[str, TableBlock | None]:
    section = one_stream.section(view_of(algorithms=ALGORITHMS, **study))
    if section is None:
        return "", None
    text, *rest = section.blocks
    assert isinstance(text, Text)
    return text.text, rest[0] if rest and isinstance(rest[0], TableBlock) else None


def test_the_leader_of_each_stream_is_compared() -> None:
    text, table = section_of(checkpoints=20, datasets=STREAMS)
    assert "not whether it would on others" in text
    assert table is not None
    assert [[cell.text for cell in row[:2]] for row in table.rows] == [
        ["drift", "0%"],
        ["gauss", "0%"],
    ]
    for row in table.rows:
        assert {row[2].text, row[3].text} == {"Perceptron", "AROW"}
        assert sum(int(part) for part in row[6].text.split("–")) == 20
        assert row[5].best == (float(row[5].text.lstrip("<")) <= 0.05)


def test_the_leader_is_found_by_the_labels_that_rank() -> None:
    for metric, labels in (("given_error", "given"), ("mistakes", "given"), ("clean_error", "clean")):
        _, table = section_of(checkpoints=20, datasets=STREAMS[1:], metrics=[metric], seeds=1)
        assert table is not None
        assert table.note.endswith(f"Mistakes count against the {labels} labels; means over seeds.")


def test_log_spaced_curves_say_what_to_set() -> None:
    text, table = section_of(datasets=STREAMS[1:])
    assert "checkpoints = 30" in text
    assert table is None


def test_short_streams_say_how_long_they_are() -> None:
    text, table = section_of(datasets=DATASETS[:2], checkpoints=30)
    assert text.endswith("at least 10 blocks of 30 rows: the longest stream has 200 rows.")
    assert table is None


def test_other_protocols_and_studies_with_tests_have_none() -> None:
    assert section_of(protocol="holdout", datasets=DATASETS[2:], checkpoints=20)[0] == ""
    names = ["gauss", "checkerboard", "sea", "hyperplane", "stagger", "agrawal"]
    many = [{"name": name, "n_train": 300} for name in names]
    assert section_of(datasets=many, checkpoints=20, seeds=1)[0] == ""
    assert "errs less on this stream" in section_of(datasets=many[:5], checkpoints=20, seeds=1)[0]
