"""Limit what a user's file may expand to before it is refused as damaged or malicious."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """Contain the limits checked while a file is read; the data set options of the same names raise them.

    Attributes
    ----------
    max_line : int
        Bytes in a line, including the header's. 16 MB are a million numbers of 16 digits.
    max_expansion : int
        Largest ratio of uncompressed to compressed bytes. Text compresses 3 to 20 times, rows of zeros with a
        few ones some 100 times; gzip can reach 1,032, the other formats far more.
    max_features : int
        Number of features, unless `n_features` gives it. The widest sets in common use have some 30 million;
        each feature's weight takes 8 bytes or more.
    """

    max_line: int = 1 << 24
    max_expansion: int = 250
    max_features: int = 1 << 25

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Limits:
        """Return the limits given by resolved options."""
        return cls(**{name: options[name] for name in cls.__dataclass_fields__ if name in options})


USUAL = Limits()
# A file that expands to less than this is harmless, whatever its ratio.
HARMLESS_BYTES = 1 << 20
