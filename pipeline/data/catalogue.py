"""Public data sets, each a declaration: files, what they must contain, terms, order and scaling.

The official files are found in ``SINGLEPASS_DATA`` under their public names, in the cache, or downloaded
(see `locate`). Whatever their origin, their rows, features and class counts are those published, or the file
is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .bundled import DIGITS, ROUND_DIGITS
from .idx import read_idx
from .options import FEATURE_OPTIONS, Option
from .stream import Codes, Matrix, Table
from .svmlight import read_svmlight

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
# The author's own page stopped serving the files; these two hold the original bytes.
_MNIST = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
)


@dataclass(frozen=True)
class PublicFile:
    """One file of a public set.

    Attributes
    ----------
    name : str
        Its public name.
    bases : tuple of str
        URLs of folders that hold it, tried in order; empty when it cannot be downloaded.
    checksum : str or None
        ``"md5:…"`` or ``"sha256:…"`` of the public file, where it is known for certain.
    """

    name: str
    bases: tuple[str, ...]
    checksum: str | None = None


@dataclass(frozen=True)
class PublicSet:
    """Declaration of a public set.

    Attributes
    ----------
    name, title : str
        Name in a study; what it is.
    files : tuple of PublicFile
        In the order that `parse` takes them: those of the training part, then as many of the test part.
    parse : callable
        ``parse(paths) -> Table``, features already scaled as `note` says.
    classes : tuple of str
        Class names, in code order.
    n_features : int
        Published number of features.
    counts, counts_test : tuple of int
        Published number of rows of each class; empty `counts_test`: no official test part.
    licence, note : str
        Terms of use; scaling and order of the rows.
    version : int
        Raised whenever `parse` gives something else.
    options, groupings : mapping
        As in `BundledSet`.
    """

    name: str
    title: str
    files: tuple[PublicFile, ...]
    parse: Callable[[Sequence[Path]], Table]
    classes: tuple[str, ...]
    n_features: int
    counts: tuple[int, ...]
    counts_test: tuple[int, ...]
    licence: str
    note: str
    version: int = 1
    options: Mapping[str, Option] = field(default_factory=lambda: FEATURE_OPTIONS)
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def read(self, paths: Sequence[Path]) -> Table:
        """Parse the files and compare them with what is published.

        Raises
        ------
        InputError
            When a file is damaged, cut short, or not the public one.
        """
        table = self.parse(paths)
        half = len(paths) // 2 if self.counts_test else len(paths)
        _check_part(paths[:half], table.X, table.y, self.n_features, self.counts)
        if table.X_test is not None and table.y_test is not None:
            _check_part(paths[half:], table.X_test, table.y_test, self.n_features, self.counts_test)
        return Table(table.X, table.y, self.classes, table.X_test, table.y_test)


def _check_part(paths: Sequence[Path], X: Matrix, y: Codes, n_features: int, counts: tuple[int, ...]) -> None:
    found = tuple(np.bincount(y, minlength=len(counts)).tolist())
    fault = ""
    if X.shape[0] != sum(counts):
        fault = f"{X.shape[0]:,} rows instead of {sum(counts):,}"
    elif X.shape[1] != n_features:
        fault = f"{X.shape[1]:,} features instead of {n_features:,}"
    elif found != counts:
        fault = f"class counts {found} instead of {counts}"
    if fault:
        where = " with ".join(str(path) for path in paths)
        raise InputError(f"{where}: not the public data: {fault}; damaged or cut short?")


def _parse_mnist(paths: Sequence[Path]) -> Table:
    """Images as rows of 784 pixels divided by 255, float32; the labels are the codes."""
    images, labels, images_test, labels_test = (read_idx(path) for path in paths)
    parts: list[Any] = []
    for pixels, digits, path in ((images, labels, paths[0]), (images_test, labels_test, paths[2])):
        if pixels.ndim != 3 or digits.ndim != 1 or len(pixels) != len(digits):
            raise InputError(f"{path}: {pixels.shape} images beside {digits.shape} labels")
        X = pixels.reshape(len(pixels), -1).astype(np.float32)
        X /= np.float32(255.0)
        parts += [X, digits.astype(np.int32)]
    return Table(parts[0], parts[1], DIGITS, parts[2], parts[3])


def _parse_libsvm(n_features: int, *, dense: bool) -> Callable[[Sequence[Path]], Table]:
    """Training and test file in LIBSVM text; the classes in the numerical order of their labels."""

    def parse(paths: Sequence[Path]) -> Table:
        test = paths[1] if len(paths) > 1 else None
        return read_svmlight(paths[0], test, n_features=n_features, dense=dense)

    return parse


CATALOGUE: dict[str, PublicSet] = {
    entry.name: entry
    for entry in (
        PublicSet(
            name="mnist",
            title="MNIST handwritten digits",
            files=(
                PublicFile("train-images-idx3-ubyte.gz", _MNIST, "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873"),
                PublicFile("train-labels-idx1-ubyte.gz", _MNIST, "md5:d53e105ee54ea40749a09fcbcd1e9432"),
                PublicFile("t10k-images-idx3-ubyte.gz", _MNIST, "md5:9fb629c4189551a2d022fa330f9573f3"),
                PublicFile("t10k-labels-idx1-ubyte.gz", _MNIST, "md5:ec29112dd5afa0611ce80d1b7f02629c"),
            ),
            parse=_parse_mnist,
            classes=DIGITS,
            n_features=784,
            counts=(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
            counts_test=(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
            licence="Y. LeCun and C. Cortes; usually given as CC BY-SA 3.0",
            note="pixels divided by 255, float32; rows in the published (mixed) order",
            groupings={"round": ROUND_DIGITS},
        ),
        PublicSet(
            name="usps",
            title="USPS handwritten digits (LIBSVM)",
            files=(
                PublicFile("usps.bz2", (f"{_LIBSVM}/multiclass",)),
                PublicFile("usps.t.bz2", (f"{_LIBSVM}/multiclass",)),
            ),
            # LIBSVM's labels 1..10 are digit + 1, so their numerical order is that of the digits.
            parse=_parse_libsvm(256, dense=True),
            classes=DIGITS,
            n_features=256,
            counts=(1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
            counts_test=(359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
            licence="Hull 1994; no licence stated by the distributor, research use is customary",
            note="pixels as distributed, in [-1, 1]; rows in the published (mixed) order",
            groupings={"round": ROUND_DIGITS},
        ),
        PublicSet(
            name="a9a",
            title="Adult, LIBSVM's binary coding a9a",
            files=(
                PublicFile("a9a", (f"{_LIBSVM}/binary",)),
                PublicFile("a9a.t", (f"{_LIBSVM}/binary",)),
            ),
            # The test file never uses feature 123: the number has to be given.
            parse=_parse_libsvm(123, dense=False),
            classes=("-1", "1"),
            n_features=123,
            counts=(24720, 7841),
            counts_test=(12435, 3846),
            licence="UCI Adult (CC BY 4.0), coded by J. Platt",
            note="binary features, CSR, as distributed; rows in the published (mixed) order",
        ),
    )
}

ALIASES: dict[str, str] = {"adult": "a9a"}
