"""Public data sets: LIBSVM's, UCI's and others in columns, and ordered streams of the drift literature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.delimited import read_delimited
from ..formats.labelled_columns import combine
from ..formats.svmlight import read_svmlight
from ..public.declarations import LIBSVM, NO_LICENCE, UCI_LICENCE, PublicFile, PublicSet, StandIn
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
    """Return a parser of LIBSVM text, with or without a test file; classes are in label order."""

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
        # The test file never uses feature 123, so the number must be given.
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


UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


def delimited_columns(
    target: str, *, delimiter: str = ",", header: bool = False, dtype: type[np.floating[Any]] = np.float64
) -> Callable[[Sequence[Path]], Table]:
    """Return a parser of delimited text into dense features; classes are in numerical order of labels."""

    def parse(paths: Sequence[Path]) -> Table:
        parts = [read_delimited(path, delimiter=delimiter, target=target, header=header) for path in paths]
        table = combine(parts[0], parts[1] if len(parts) > 1 else None)
        X: Any = np.asarray(table.X).astype(dtype, copy=False)
        X_test: Any = None if table.X_test is None else np.asarray(table.X_test).astype(dtype, copy=False)
        return Table(X, table.y, table.classes, X_test, table.y_test)

    return parse


UCI_SETS: tuple[PublicSet, ...] = (
    PublicSet(
        name="covtype",
        title="Forest cover type",
        files=(
            PublicFile(
                "covtype.data.gz",
                (f"{UCI}/covtype",),
                "sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
                also=("covtype.data", "covtype.sample92962.data.gz"),
                urls=("https://ndownloader.figshare.com/files/5976039",),
            ),
        ),
        # Small integers are exact in float32, which halves the memory of the 581,012 rows.
        parse=delimited_columns("55", dtype=np.float32),
        classes=tuple("1234567"),
        n_features=54,
        counts=(211840, 283301, 35754, 2747, 9493, 17367, 20510),
        counts_test=(),
        licence=UCI_LICENCE,
        note="original integer units, dense (standardize = true for linear learners); the sample is in "
        "random order, the full file is not; LIBSVM's binary task is one-vs-rest:2",
        stand_ins={
            "covtype.sample92962.data.gz": StandIn(
                (33894, 45328, 5721, 439, 1519, 2779, 3282),
                "a stratified 16 % sample: 92,962 of the 581,012 rows",
            )
        },
        source="UCI repository",
        fingerprints=("96a1c2047555abe1368e860d3603872edb0d7eaa34abec5c89681f0036671f9d",),
    ),
    PublicSet(
        name="banana",
        title="Banana (Rätsch's benchmark)",
        files=(PublicFile("banana.csv", also=("banana.csv.gz",)),),
        parse=delimited_columns("Y", header=True),
        classes=("-1", "1"),
        n_features=2,
        counts=(2924, 2376),
        counts_test=(),
        licence=NO_LICENCE,
        note="features as distributed; rows mixed (not in the order of KEEL's copy)",
        source="Rätsch's benchmark repository; CSV with the header X1,X2,Y",
        fingerprints=("ca90a6b6dd29d5f9badd7d7fc65e5ee1da196f81d2bcbcce9d655210d0b0f1f8",),
    ),
    PublicSet(
        name="waveform",
        title="Waveform (Breiman 1984), the UCI file",
        files=(PublicFile("waveform.data", also=("waveform.data.gz",)),),
        parse=delimited_columns("22"),
        classes=("0", "1", "2"),
        n_features=21,
        counts=(1657, 1647, 1696),
        counts_test=(),
        licence=UCI_LICENCE,
        note="features as distributed; rows in the published (mixed) order",
        source="UCI repository (there compressed with `compress`: unpack it)",
        fingerprints=("5153139d359fc7582e166c2b11347c86617929f7e245143edf65e07c9bbee2d9",),
    ),
    *(
        PublicSet(
            name=name,
            title=f"{name.capitalize()} (Breiman 1996, DELVE)",
            files=(PublicFile(f"{name}.csv", also=(f"{name}.csv.gz",)),),
            parse=delimited_columns("21"),
            classes=("0", "1"),
            n_features=20,
            counts=counts,
            counts_test=(),
            licence=NO_LICENCE,
            note="columns standardised by the distributor; rows mixed",
            source="DELVE; CSV without header, label (0, 1) last",
            fingerprints=(fingerprint,),
        )
        for name, counts, fingerprint in (
            ("ringnorm", (3664, 3736), "9152c5a0b5aceb8807c47228ff26f9524d439bfe2953fae3d898e18494e46b4a"),
            ("twonorm", (3703, 3697), "38fe91e17a2050bb965234ba6d1f1b7c86657791fced03c6255efad6c1c943d7"),
        )
    ),
    PublicSet(
        name="shuttle",
        title="Shuttle (Statlog)",
        files=(
            PublicFile("shuttle.trn", also=("shuttle.trn.gz",)),
            PublicFile("shuttle.tst", (f"{UCI}/statlog/shuttle",), also=("shuttle.tst.gz",)),
        ),
        parse=delimited_columns("10", delimiter=" "),
        classes=tuple("1234567"),
        n_features=9,
        counts=(34108, 37, 132, 6748, 2458, 6, 11),
        counts_test=(11478, 13, 39, 2155, 809, 4, 2),
        licence=UCI_LICENCE,
        note="original integers (standardize = true for linear learners); rows in the published "
        "(randomised) order",
        source="UCI repository (the training file is compressed with `compress` there: unpack it)",
        fingerprints=("fa19d572ee8ba7361b44e1112442c53161e7c5ccd0acacc344dd221cda890208",),
    ),
    PublicSet(
        name="satimage",
        title="Landsat satellite image (Statlog)",
        files=(
            PublicFile("sat.trn", (f"{UCI}/statlog/satimage",), also=("sat.trn.gz",)),
            PublicFile("sat.tst", (f"{UCI}/statlog/satimage",), also=("sat.tst.gz",)),
        ),
        parse=delimited_columns("37", delimiter=" "),
        classes=("1", "2", "3", "4", "5", "7"),
        n_features=36,
        counts=(1072, 479, 961, 415, 470, 1038),
        counts_test=(461, 224, 397, 211, 237, 470),
        licence=UCI_LICENCE,
        note="original integers (standardize = true for linear learners); neighbouring pixels follow each "
        "other, so the rows are clustered by class: shuffle them",
        source="UCI repository",
        fingerprints=("c4822033ed439bc3c11e9c5db3a35c2ebf394229a07fa488a3dcc86178b37f48",),
    ),
    PublicSet(
        name="spambase",
        title="Spambase",
        files=(PublicFile("spambase.data", (f"{UCI}/spambase",), also=("spambase.data.gz",)),),
        parse=delimited_columns("58"),
        classes=("0", "1"),
        n_features=57,
        counts=(2788, 1813),
        counts_test=(),
        licence=UCI_LICENCE,
        note="word frequencies and run lengths as distributed (standardize = true for linear learners); "
        "sorted by class, all spam (1) first: shuffle the rows",
        source="UCI repository",
        fingerprints=("1afac48963f4daa50df0be0e02c3b8478e22d430581ba8f49891fda0ad39c5e0",),
    ),
)


# The copies that scikit-multiflow distributes.
_MULTIFLOW = (
    "https://raw.githubusercontent.com/scikit-multiflow/streaming-datasets/"
    "f1eb9f068c3450233721c3beac6fb0e880e9e7d7"
)

# Rows of each variant, as in River's `Insects`; no checksum is published.
_INSECTS = {
    "abrupt_balanced": 52_848,
    "abrupt_imbalanced": 355_275,
    "gradual_balanced": 24_150,
    "gradual_imbalanced": 143_323,
    "incremental_abrupt_balanced": 79_986,
    "incremental_reoccurring_balanced": 79_986,
    "incremental_balanced": 57_018,
}


def _insects(variant: str, rows: int) -> PublicSet:
    return PublicSet(
        name=f"insects-{variant.replace('_', '-')}",
        title="Flying insects under changing temperature (Souza et al. 2020)",
        files=(PublicFile(f"insects/{variant}.csv"),),
        parse=delimited_columns("34"),
        classes=(),
        n_features=33,
        counts=(),
        counts_test=(),
        licence=NO_LICENCE,
        note=f"{rows:,} insects of 6 classes in their order (order = 'given')",
        source="the USP DS repository's CSV without header, class last, which River fetches, too",
    )


ORDERED_SETS: tuple[PublicSet, ...] = (
    *(_insects(variant, rows) for variant, rows in _INSECTS.items()),
    PublicSet(
        name="electricity",
        title="Electricity market of New South Wales (Harries 1999)",
        files=(
            PublicFile(
                "elec.csv",
                (_MULTIFLOW,),
                "sha256:cdf901433885f29eca6911f70c0eeafb50d90596c879c30c5b99f5a2e8e734ff",
            ),
        ),
        parse=delimited_columns("class", header=True),
        classes=("0", "1"),
        n_features=6,
        counts=(26075, 19237),
        counts_test=(),
        licence=NO_LICENCE,
        note="half-hours in their order (order = 'given'), without date and day; scaled by the distributor; "
        "1: the price goes up",
        source="scikit-multiflow's streaming-datasets",
        fingerprints=("585753e37535352353dd208cc44172518113e4343a5842840a7f6ecdc6aca8f9",),
    ),
    PublicSet(
        name="weather",
        title="Weather at Bellevue, Nebraska (NOAA; Elwell, Polikar 2011)",
        files=(
            PublicFile(
                "weather.csv",
                (_MULTIFLOW,),
                "sha256:3c38f05bdc5c4cb115f122414c66976e3662c875d96d7199d9e47fc46aff150e",
            ),
        ),
        parse=delimited_columns("target", header=True),
        classes=("0", "1"),
        n_features=8,
        counts=(12461, 5698),
        counts_test=(),
        licence=NO_LICENCE,
        note="days of 1949 to 1999 in their order (order = 'given'), as measured (standardize = true for "
        "linear learners); 1: rain",
        source="scikit-multiflow's streaming-datasets",
        fingerprints=("af5f4ad108b43539bc21d28c472cf6a4a53d1b7e2b45247388499b471a9686d4",),
    ),
    PublicSet(
        name="airlines",
        title="Delayed flights (Ikonomovska's)",
        files=(PublicFile("airlines.csv"),),
        parse=delimited_columns("Delay", header=True),
        classes=("0", "1"),
        n_features=7,
        counts=(),
        counts_test=(),
        licence=NO_LICENCE,
        note="539,383 flights by departure (order = 'given'); categories as the numbers of the copy; "
        "1: delayed",
        source="CSV of numbers with the header Airline,Flight,AirportFrom,AirportTo,DayOfWeek,Time,Length,"
        "Delay",
    ),
    PublicSet(
        name="poker",
        title="Poker hands",
        files=(
            PublicFile("poker-hand-training-true.data", (f"{UCI}/poker",)),
            PublicFile("poker-hand-testing.data", (f"{UCI}/poker",)),
        ),
        parse=delimited_columns("11"),
        classes=tuple("0123456789"),
        n_features=10,
        counts=(),
        counts_test=(),
        licence=UCI_LICENCE,
        note="25,010 and 1,000,000 hands, suits and ranks of five cards as distributed; join = true reads "
        "both parts as one stream",
        source="UCI repository",
    ),
)
