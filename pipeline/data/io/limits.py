"""What a file of a user's may come to before it is refused: it may be damaged, or made to fill memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Limits that are watched while a file is read; the options of the same names raise them.

    Attributes
    ----------
    max_line : int
        Bytes of a line, the header's too. 16 MB are a million numbers of 16 digits.
    max_expansion : int
        How many times as many bytes a compressed file may come to. Text compresses 3 to 20 times, rows of
        zeros with a few ones some 100 times; gzip can do 1,032, the others far more.
    max_features : int
        Features, where `n_features` does not say how many. The widest sets that are commonly learnt from have
        some 30 million; a weight of each takes 8 bytes or more.
    """

    max_line: int = 1 << 24
    max_expansion: int = 250
    max_features: int = 1 << 25

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Limits:
        """Return the limits that resolved options say."""
        return cls(**{name: options[name] for name in cls.__dataclass_fields__ if name in options})


USUAL = Limits()
# A file that comes to less harms nobody, whatever it was made of.
HARMLESS_BYTES = 1 << 20
