"""Declarations of the sets with columns of numbers: UCI, Statlog, Rätsch's benchmark, LIBSVM's codings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.delimited import read_delimited
from ..formats.labelled_columns import combine
from ..formats.svmlight import read_svmlight
from ..tables.stream import Table
from .bundled import DIGITS, ROUND_DIGITS
from .declarations import PublicFile, PublicSet, StandIn

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_UCI_LICENCE = "UCI repository set; UCI now lists CC BY 4.0"
_NO_LICENCE = "no licence stated by the distributor, research use is customary"
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


def libsvm(n_features: int, *, dense: bool) -> Callable[[Sequence[Path]], Table]:
    """Return a parser of LIBSVM text, with or without a test file; classes in the order of their labels."""

    def parse(paths: Sequence[Path]) -> Table:
        test = paths[1] if len(paths) > 1 else None
        return read_svmlight(paths[0], test, n_features=n_features, dense=dense)

    return parse


def _columns(
    target: str, *, delimiter: str = ",", header: bool = False, dtype: type[np.floating[Any]] = np.float64
) -> Callable[[Sequence[Path]], Table]:
    """Return a parser of delimited text, dense; the classes in the numerical order of their labels."""

    def parse(paths: Sequence[Path]) -> Table:
        parts = [read_delimited(path, delimiter=delimiter, target=target, header=header) for path in paths]
        table = combine(parts[0], parts[1] if len(parts) > 1 else None)
        X: Any = np.asarray(table.X).astype(dtype, copy=False)
        X_test: Any = None if table.X_test is None else np.asarray(table.X_test).astype(dtype, copy=False)
        return Table(X, table.y, table.classes, X_test, table.y_test)

    return parse


TABULAR: tuple[PublicSet, ...] = (
    PublicSet(
        name="usps",
        title="USPS handwritten digits (LIBSVM)",
        files=(
            PublicFile("usps.bz2", (f"{LIBSVM}/multiclass",)),
            PublicFile("usps.t.bz2", (f"{LIBSVM}/multiclass",)),
        ),
        # LIBSVM's labels 1..10 are digit + 1, so their numerical order is that of the digits.
        parse=libsvm(256, dense=True),
        classes=DIGITS,
        n_features=256,
        counts=(1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
        counts_test=(359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
        licence="Hull 1994; no licence stated by the distributor, research use is customary",
        note="pixels as distributed, in [-1, 1]; rows in the published (mixed) order",
        groupings={"round": ROUND_DIGITS},
        source="LIBSVM data page",
    ),
    PublicSet(
        name="a9a",
        title="Adult, LIBSVM's binary coding a9a",
        files=(
            PublicFile("a9a", (f"{LIBSVM}/binary",)),
            PublicFile("a9a.t", (f"{LIBSVM}/binary",)),
        ),
        # The test file never uses feature 123: the number has to be given.
        parse=libsvm(123, dense=False),
        classes=("-1", "1"),
        n_features=123,
        counts=(24720, 7841),
        counts_test=(12435, 3846),
        licence="UCI Adult (CC BY 4.0), coded by J. Platt",
        note="binary features, CSR, as distributed; rows in the published (mixed) order",
        source="LIBSVM data page",
    ),
    PublicSet(
        name="covtype",
        title="Forest cover type",
        files=(
            PublicFile(
                "covtype.data.gz",
                (f"{_UCI}/covtype",),
                "sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
                also=("covtype.data", "covtype.sample92962.data.gz"),
                urls=("https://ndownloader.figshare.com/files/5976039",),
            ),
        ),
        # Small integers: exact in float32, at half the memory of the 581,012 rows.
        parse=_columns("55", dtype=np.float32),
        classes=tuple("1234567"),
        n_features=54,
        counts=(211840, 283301, 35754, 2747, 9493, 17367, 20510),
        counts_test=(),
        licence=_UCI_LICENCE,
        note="original integer units, dense (standardize = true for linear learners); the sample is in "
        "random order, the full file is not; LIBSVM's binary task is one-vs-rest:2",
        stand_ins={
            "covtype.sample92962.data.gz": StandIn(
                (33894, 45328, 5721, 439, 1519, 2779, 3282),
                "a stratified 16 % sample: 92,962 of the 581,012 rows",
            )
        },
        source="UCI repository",
    ),
    PublicSet(
        name="dna",
        title="DNA splice junctions (Statlog)",
        files=(
            PublicFile("dna.scale", (f"{LIBSVM}/multiclass",)),
            PublicFile("dna.scale.t", (f"{LIBSVM}/multiclass",)),
        ),
        parse=libsvm(180, dense=False),
        classes=("1", "2", "3"),
        n_features=180,
        counts=(464, 485, 1051),
        counts_test=(303, 280, 603),
        licence=_UCI_LICENCE,
        note="binary features, CSR, as distributed; rows in the published (mixed) order",
        source="LIBSVM data page",
    ),
    PublicSet(
        name="banana",
        title="Banana (Rätsch's benchmark)",
        files=(PublicFile("banana.csv", also=("banana.csv.gz",)),),
        parse=_columns("Y", header=True),
        classes=("-1", "1"),
        n_features=2,
        counts=(2924, 2376),
        counts_test=(),
        licence=_NO_LICENCE,
        note="features as distributed; rows mixed (not in the order of KEEL's copy)",
        source="Rätsch's benchmark repository; CSV with the header X1,X2,Y",
    ),
    PublicSet(
        name="waveform",
        title="Waveform (Breiman 1984), the UCI file",
        files=(PublicFile("waveform.data", also=("waveform.data.gz",)),),
        parse=_columns("22"),
        classes=("0", "1", "2"),
        n_features=21,
        counts=(1657, 1647, 1696),
        counts_test=(),
        licence=_UCI_LICENCE,
        note="features as distributed; rows in the published (mixed) order",
        source="UCI repository (there compressed with `compress`: unpack it)",
    ),
    *(
        PublicSet(
            name=name,
            title=f"{name.capitalize()} (Breiman 1996, DELVE)",
            files=(PublicFile(f"{name}.csv", also=(f"{name}.csv.gz",)),),
            parse=_columns("21"),
            classes=("0", "1"),
            n_features=20,
            counts=counts,
            counts_test=(),
            licence=_NO_LICENCE,
            note="columns standardised by the distributor; rows mixed",
            source="DELVE; CSV without header, label (0, 1) last",
        )
        for name, counts in (("ringnorm", (3664, 3736)), ("twonorm", (3703, 3697)))
    ),
    PublicSet(
        name="letter",
        title="Letter recognition (Statlog)",
        files=(
            PublicFile("letter.scale", (f"{LIBSVM}/multiclass",), also=("letter.scale.bz2",)),
            PublicFile("letter.scale.t", (f"{LIBSVM}/multiclass",), also=("letter.scale.t.bz2",)),
        ),
        parse=libsvm(16, dense=True),
        classes=_LETTERS,
        n_features=16,
        counts=_LETTER_COUNTS,
        counts_test=_LETTER_COUNTS_TEST,
        licence=_UCI_LICENCE,
        note="features scaled to [-1, 1] by LIBSVM; rows in the published (mixed) order",
        source="LIBSVM data page",
    ),
    PublicSet(
        name="ijcnn1",
        title="IJCNN 2001 challenge, problem 1",
        files=(
            PublicFile("ijcnn1.bz2", (f"{LIBSVM}/binary",)),
            PublicFile("ijcnn1.t.bz2", (f"{LIBSVM}/binary",)),
        ),
        parse=libsvm(22, dense=False),
        classes=("-1", "1"),
        n_features=22,
        counts=(45137, 4853),
        counts_test=(82989, 8712),
        licence=f"D. Prokhorov 2001; {_NO_LICENCE}",
        note="CSR, as distributed; a time series in time order: the classes follow a pattern, so shuffle "
        "unless the order is the point",
        source="LIBSVM data page",
    ),
    PublicSet(
        name="shuttle",
        title="Shuttle (Statlog)",
        files=(
            PublicFile("shuttle.trn", also=("shuttle.trn.gz",)),
            PublicFile("shuttle.tst", (f"{_UCI}/statlog/shuttle",), also=("shuttle.tst.gz",)),
        ),
        parse=_columns("10", delimiter=" "),
        classes=tuple("1234567"),
        n_features=9,
        counts=(34108, 37, 132, 6748, 2458, 6, 11),
        counts_test=(11478, 13, 39, 2155, 809, 4, 2),
        licence=_UCI_LICENCE,
        note="original integers (standardize = true for linear learners); rows in the published "
        "(randomised) order",
        source="UCI repository (the training file is compressed with `compress` there: unpack it)",
    ),
    PublicSet(
        name="satimage",
        title="Landsat satellite image (Statlog)",
        files=(
            PublicFile("sat.trn", (f"{_UCI}/statlog/satimage",), also=("sat.trn.gz",)),
            PublicFile("sat.tst", (f"{_UCI}/statlog/satimage",), also=("sat.tst.gz",)),
        ),
        parse=_columns("37", delimiter=" "),
        classes=("1", "2", "3", "4", "5", "7"),
        n_features=36,
        counts=(1072, 479, 961, 415, 470, 1038),
        counts_test=(461, 224, 397, 211, 237, 470),
        licence=_UCI_LICENCE,
        note="original integers (standardize = true for linear learners); neighbouring pixels follow each "
        "other, so the rows are clustered by class: shuffle them",
        source="UCI repository",
    ),
    PublicSet(
        name="vehicle",
        title="Vehicle silhouettes (Statlog)",
        files=(PublicFile("vehicle.scale", (f"{LIBSVM}/multiclass",)),),
        parse=libsvm(18, dense=True),
        classes=("1", "2", "3", "4"),
        n_features=18,
        counts=(212, 217, 218, 199),
        counts_test=(),
        licence=_UCI_LICENCE,
        note="features scaled to [-1, 1] by LIBSVM; rows in the published (mixed) order",
        source="LIBSVM data page",
    ),
    PublicSet(
        name="spambase",
        title="Spambase",
        files=(PublicFile("spambase.data", (f"{_UCI}/spambase",), also=("spambase.data.gz",)),),
        parse=_columns("58"),
        classes=("0", "1"),
        n_features=57,
        counts=(2788, 1813),
        counts_test=(),
        licence=_UCI_LICENCE,
        note="word frequencies and run lengths as distributed (standardize = true for linear learners); "
        "sorted by class, all spam (1) first: shuffle the rows",
        source="UCI repository",
    ),
)
