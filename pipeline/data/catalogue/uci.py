"""Sets in delimited columns: UCI's, Statlog's, and those of Rätsch's benchmark and DELVE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.delimited import read_delimited
from ..formats.labelled_columns import combine
from ..public.declarations import NO_LICENCE, UCI_LICENCE, PublicFile, PublicSet, StandIn
from ..tables.stream import Table

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


def delimited_columns(
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
        # Small integers: exact in float32, at half the memory of the 581,012 rows.
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
