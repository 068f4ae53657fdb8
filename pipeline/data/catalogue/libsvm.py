"""Sets as the LIBSVM data page distributes them, in its text format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..formats.svmlight import read_svmlight
from ..public.declarations import LIBSVM, NO_LICENCE, UCI_LICENCE, PublicFile, PublicSet
from ..tables.stream import Table
from .bundled import DIGITS, ROUND_DIGITS

_LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
# fmt: off
_LETTER_COUNTS = (
    594, 567, 554, 598, 565, 565, 547, 538, 567, 575, 572, 560, 607,
    605, 574, 597, 594, 568, 563, 599, 606, 581, 576, 583, 602, 543,
)
_LETTER_COUNTS_TEST = (
    195, 199, 182, 207, 203, 210, 226, 196, 188, 172, 167, 201, 185,
    178, 179, 206, 189, 190, 185, 197, 207, 183, 176, 204, 184, 191,
)
# fmt: on


def _parser(n_features: int, *, dense: bool) -> Callable[[Sequence[Path]], Table]:
    """Return a parser of LIBSVM text, with or without a test file; classes in the order of their labels."""

    def parse(paths: Sequence[Path]) -> Table:
        test = paths[1] if len(paths) > 1 else None
        return read_svmlight(paths[0], test, n_features=n_features, dense=dense)

    return parse


LIBSVM_SETS: tuple[PublicSet, ...] = (
    PublicSet(
        name="usps",
        title="USPS handwritten digits (LIBSVM)",
        files=(
            PublicFile("usps.bz2", (f"{LIBSVM}/multiclass",)),
            PublicFile("usps.t.bz2", (f"{LIBSVM}/multiclass",)),
        ),
        # LIBSVM's labels 1..10 are digit + 1, so their numerical order is that of the digits.
        parse=_parser(256, dense=True),
        classes=DIGITS,
        n_features=256,
        counts=(1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
        counts_test=(359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
        licence="Hull 1994; no licence stated by the distributor, research use is customary",
        note="pixels as distributed, in [-1, 1]; rows in the published (mixed) order",
        groupings={"round": ROUND_DIGITS},
        source="LIBSVM data page",
        fingerprints=("8694eba4ccea5384dbb3181f79dc1d18fa9b876b7842ae51e6ae308c40407ed7",),
    ),
    PublicSet(
        name="a9a",
        title="Adult, LIBSVM's binary coding a9a",
        files=(
            PublicFile("a9a", (f"{LIBSVM}/binary",)),
            PublicFile("a9a.t", (f"{LIBSVM}/binary",)),
        ),
        # The test file never uses feature 123: the number has to be given.
        parse=_parser(123, dense=False),
        classes=("-1", "1"),
        n_features=123,
        counts=(24720, 7841),
        counts_test=(12435, 3846),
        licence="UCI Adult (CC BY 4.0), coded by J. Platt",
        note="binary features, CSR, as distributed; rows in the published (mixed) order",
        source="LIBSVM data page",
        fingerprints=("2eb7d731f3de18e2718899514767643d38c19df1106c65836c13a0356f86abb4",),
    ),
    PublicSet(
        name="dna",
        title="DNA splice junctions (Statlog)",
        files=(
            PublicFile("dna.scale", (f"{LIBSVM}/multiclass",)),
            PublicFile("dna.scale.t", (f"{LIBSVM}/multiclass",)),
        ),
        parse=_parser(180, dense=False),
        classes=("1", "2", "3"),
        n_features=180,
        counts=(464, 485, 1051),
        counts_test=(303, 280, 603),
        licence=UCI_LICENCE,
        note="binary features, CSR, as distributed; rows in the published (mixed) order",
        source="LIBSVM data page",
        fingerprints=("abb4c9994f4acd6f26419bf63ad00b2251277e8cd14f29cf225a6d285e66f2c1",),
    ),
    PublicSet(
        name="letter",
        title="Letter recognition (Statlog)",
        files=(
            PublicFile("letter.scale", (f"{LIBSVM}/multiclass",), also=("letter.scale.bz2",)),
            PublicFile("letter.scale.t", (f"{LIBSVM}/multiclass",), also=("letter.scale.t.bz2",)),
        ),
        parse=_parser(16, dense=True),
        classes=_LETTERS,
        n_features=16,
        counts=_LETTER_COUNTS,
        counts_test=_LETTER_COUNTS_TEST,
        licence=UCI_LICENCE,
        note="features scaled to [-1, 1] by LIBSVM; rows in the published (mixed) order",
        source="LIBSVM data page",
        fingerprints=("e1442ccea550d69fdc1409747fb4e33b64a4431619be05d51d79f79d7316fe9b",),
    ),
    PublicSet(
        name="ijcnn1",
        title="IJCNN 2001 challenge, problem 1",
        files=(
            PublicFile("ijcnn1.bz2", (f"{LIBSVM}/binary",)),
            PublicFile("ijcnn1.t.bz2", (f"{LIBSVM}/binary",)),
        ),
        parse=_parser(22, dense=False),
        classes=("-1", "1"),
        n_features=22,
        counts=(45137, 4853),
        counts_test=(82989, 8712),
        licence=f"D. Prokhorov 2001; {NO_LICENCE}",
        note="CSR, as distributed; a time series in time order: the classes follow a pattern, so shuffle "
        "unless the order is the point",
        source="LIBSVM data page",
        fingerprints=("9b6d2aab37f859c297ab00eda95f415f9f13d166442ceec4e6991f3ede97025f",),
    ),
    PublicSet(
        name="vehicle",
        title="Vehicle silhouettes (Statlog)",
        files=(PublicFile("vehicle.scale", (f"{LIBSVM}/multiclass",)),),
        parse=_parser(18, dense=True),
        classes=("1", "2", "3", "4"),
        n_features=18,
        counts=(212, 217, 218, 199),
        counts_test=(),
        licence=UCI_LICENCE,
        note="features scaled to [-1, 1] by LIBSVM; rows in the published (mixed) order",
        source="LIBSVM data page",
        fingerprints=("07335dbeb11a2fe9cd21f325b4aab3e0b3884452f067358a0822006c86c8b5cf",),
    ),
)
