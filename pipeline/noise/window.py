"""Label noise in a stretch of the stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .uniform import Circumstances, Codes, Noise


@dataclass(frozen=True)
class WindowNoise(Noise):
    """Uniform label noise between two relative positions of the stream, none before and after.

    Attributes
    ----------
    rate, level
        As in `Noise`; the rate is that between the two positions.
    start, stop : float in [0, 1]
        Example i of n, counted from 0, is among those meant where ``start * n <= i < stop * n``.

    Examples
    --------
    >>> noise = WindowNoise(0.3, start=0.25, stop=0.5)
    >>> noise.slug, noise.short, noise.label
    ('window_0.3_from=0.25_to=0.5', '30% window 25–50%', '30% label noise from 25% to 50% of the stream')
    """

    start: float = 0.0
    stop: float = 1.0

    model: ClassVar[str] = "window"
    place: ClassVar[int] = 4

    @property
    def further(self) -> dict[str, Any]:
        """Both positions, and the level."""
        return {"from": self.start, "to": self.stop, **super().further}

    @property
    def kind(self) -> str:
        """Its model and positions."""
        return f"{super().kind} {100 * self.start:.6g}–{100 * self.stop:.6g}%"

    @property
    def label(self) -> str:
        """Its rate and positions."""
        noise = "class-level noise" if self.level == "class" else "label noise"
        between = f"from {100 * self.start:.6g}% to {100 * self.stop:.6g}% of the stream"
        return f"{100 * self.rate:.6g}% {noise} {between}"

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64]:
        """Return the rate between the two positions, 0 elsewhere."""
        n = len(codes)
        place = np.arange(n)
        return np.where((self.start * n <= place) & (place < self.stop * n), self.rate, 0.0)
