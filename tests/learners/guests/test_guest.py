"""Test what adapters read of learners from outside this package."""

import sys

from singlepass.learners.guests.guest import signature_of

SOURCE = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from elsewhere import Rate

class Mine:
    def __init__(self, eta: Rate = 1.0): ...
"""


def test_annotations_may_use_names_that_only_type_checkers_import():
    # Before Python 3.14 such a class needs this import.
    first = "" if sys.version_info >= (3, 14) else "from __future__ import annotations"
    names = {"__name__": "mine"}
    exec(first + SOURCE, names)
    assert list(signature_of(names["Mine"]).parameters) == ["eta"]
