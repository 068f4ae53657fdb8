"""Test options of data sets: defaults, types, ranges, unknown names."""

from __future__ import annotations

from typing import Any

import pytest

from singlepass.pipeline.data.catalogue.generators import GENERATORS
from singlepass.pipeline.data.catalogue.public import PUBLIC_OPTIONS
from singlepass.pipeline.data.formats.files import FORMATS
from singlepass.pipeline.data.tables.options import TABLE_KEYS, Option, resolve_options
from singlepass.pipeline.errors import InputError

DECLARED = {
    "bias": Option("flag", False),
    "n_train": Option("count", 10, minimum=1),
    "target": Option("text", ""),
    "dtype": Option("text", "", choices=("float32", "float64")),
}


def test_defaults_fill_in() -> None:
    assert resolve_options("d", {"bias": True, "target": 3}, DECLARED) == {
        "bias": True,
        "n_train": 10,
        "target": "3",
        "dtype": "",
    }


_ALL_OPTIONS = {
    "public sets": PUBLIC_OPTIONS,
    **{f"generator {name}": each.options for name, each in GENERATORS.items()},
    **{f"format {name}": each.options for name, each in FORMATS.items()},
}


@pytest.mark.parametrize("owner", _ALL_OPTIONS)
def test_no_option_has_the_name_of_another_key(owner: str) -> None:
    taken = {*_ALL_OPTIONS[owner]} & {*TABLE_KEYS}
    assert not taken, f"{owner}: rename {taken}; the study takes these keys, so they never become options"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"n_trian": 3}, "data set 'd' has no option 'n_trian'; did you mean 'n_train'?"),
        ({"bias": 1}, "data set 'd': bias must be true or false, not 1"),
        ({"n_train": 0}, "data set 'd': n_train must be a whole number >= 1, not 0"),
        ({"n_train": True}, "data set 'd': n_train must be a whole number >= 1, not True"),
        ({"n_train": 2.5}, "data set 'd': n_train must be a whole number >= 1, not 2.5"),
        ({"target": True}, "data set 'd': target must be a string, not True"),
        ({"target": ["a"]}, "data set 'd': target must be a string, not ['a']"),
        ({"dtype": "float16"}, "data set 'd': dtype = 'float16'; did you mean 'float64'?"),
    ],
)
def test_wrong_options(given: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as error:
        resolve_options("d", given, DECLARED)
    assert str(error.value).startswith(line)
