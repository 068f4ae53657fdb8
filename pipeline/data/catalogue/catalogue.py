"""List the public data sets by name: MNIST, the sets of this folder and those of the corpora.

Files are taken from ``SINGLEPASS_DATA`` under their public names, from the cache, or downloaded (see
`locate`). Whatever their origin, a file is refused by name if its rows, features, class counts or content
differ from the published ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..corpora.bags import NYTIMES
from ..corpora.newsgroups import MAIL, MAIL_FAMILIES, NEWSGROUPS
from ..corpora.rcv1 import RCV1, RCV1_FAMILIES
from ..corpora.reuters import REUTERS, REUTERS_FAMILIES
from ..corpora.reviews import ACL_FAMILIES, ACL_REVIEWS, FDU_FAMILIES, FDU_REVIEWS
from ..formats.arrays import read_idx
from ..public.declarations import Family, PublicFile, PublicSet
from ..tables.stream import Table
from .bundled import DIGITS, ROUND_DIGITS
from .public_sets import LIBSVM_SETS, ORDERED_SETS, UCI_SETS

# The author's page no longer serves the files; these two servers have the original bytes.
_MNIST = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
)


def _parse_mnist(paths: Sequence[Path]) -> Table:
    """Return images as rows of 784 pixels divided by 255, float32; the labels are the codes."""
    images, labels, images_test, labels_test = (read_idx(path) for path in paths)
    parts: list[Any] = []
    for pixels, digits, path in ((images, labels, paths[0]), (images_test, labels_test, paths[2])):
        if pixels.ndim != 3 or digits.ndim != 1 or len(pixels) != len(digits):
            raise InputError(f"{path}: {pixels.shape} images beside {digits.shape} labels")
        X = pixels.reshape(len(pixels), -1).astype(np.float32)
        X /= np.float32(255.0)
        parts += [X, digits.astype(np.int32)]
    return Table(parts[0], parts[1], DIGITS, parts[2], parts[3])


_MNIST_SET = PublicSet(
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
    source="Y. LeCun's page, by its mirrors",
    fingerprints=("2ef3853125434f43e2bf146fe29969b7569d71910eb0cd06cbd55f84a2a0d7a8",),
)

CATALOGUE: dict[str, PublicSet] = {
    entry.name: entry
    for entry in (
        _MNIST_SET,
        *LIBSVM_SETS,
        *UCI_SETS,
        *ORDERED_SETS,
        *NEWSGROUPS,
        *REUTERS,
        *RCV1,
        *FDU_REVIEWS,
        *ACL_REVIEWS,
        *MAIL,
        *NYTIMES,
    )
}

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (*REUTERS_FAMILIES, *RCV1_FAMILIES, *FDU_FAMILIES, *ACL_FAMILIES, *MAIL_FAMILIES)
}

ALIASES: dict[str, str] = {"adult": "a9a"}
