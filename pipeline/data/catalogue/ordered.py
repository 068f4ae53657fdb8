"""Sets whose order of rows matters: streams of the drift literature, as they were distributed."""

from __future__ import annotations

from ..public.declarations import NO_LICENCE, UCI_LICENCE, PublicFile, PublicSet
from .uci import UCI, delimited_columns

# The copies that scikit-multiflow's users have.
_MULTIFLOW = (
    "https://raw.githubusercontent.com/scikit-multiflow/streaming-datasets/"
    "f1eb9f068c3450233721c3beac6fb0e880e9e7d7"
)

# Rows of each, as River's `Insects` has them; no checksum is published.
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
