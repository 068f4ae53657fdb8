"""Test colors, marks and dashes of algorithms."""

from __future__ import annotations

import pytest

from singlepass.workflows.report.plots.svg import MARKERS, PALETTE, styles_of, swatch


def test_styles_differ_for_as_many_algorithms_as_a_study_has() -> None:
    styles = list(styles_of([str(index) for index in range(24)]).values())
    assert len(set(styles)) == 24
    assert len({(marker, dash) for _, marker, dash in styles}) == 24
    assert len(PALETTE) < len(MARKERS)


@pytest.mark.parametrize("endings", [("",), (" full", " diag")])
def test_styles_of_hundreds_of_algorithms_differ(endings: tuple[str, ...]) -> None:
    names = [f"{index}{ending}" for index in range(384 // len(endings)) for ending in endings]
    assert len(set(styles_of(names).values())) == len(names) == 384


def test_full_and_diagonal_versions_share_a_colour() -> None:
    names = ["PA", "SOP full", "SOP diagonal", "AROW-full", "AROW-diag", "CW full", "a full"]
    styles = styles_of(names)
    assert list(styles) == names
    for full, diagonal in (names[1:3], names[3:5]):
        assert styles[full][:2] == styles[diagonal][:2]
        assert (styles[full].dash, styles[diagonal].dash) == ("--", "-")
    # A version without its counterpart is styled like any other algorithm.
    assert [styles[name].dash for name in ("PA", "CW full", "a full")] == ["-"] * 3
    assert len({style.colour for style in styles.values()}) == 5
    assert len(set(styles.values())) == len(names)


def test_swatches_tell_styles_apart() -> None:
    style, other = styles_of(["A", "B"]).values()
    assert swatch(style) == swatch(style)
    assert swatch(style) != swatch(other)
