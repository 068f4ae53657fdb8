"""Read RCV1-v2 (LYRL2004): four general topics, three pairs of industries, and a small fragment of CCAT.

The files are those that scikit-learn's `fetch_rcv1` downloads. Its cache is not used, because it consists of
pickles, which are unsafe to open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..io.text import lines
from ..public.declarations import Family, PublicFile, PublicSet
from ..tables.stream import Table
from .bags import as_csr

_LICENCE = "Reuters / LYRL2004 vectors; free for research use"
_FIGSHARE = "https://ndownloader.figshare.com/files"
_N_FEATURES = 47_236
_VECTORS = tuple(
    PublicFile(
        f"lyrl2004_vectors_{part}.dat.gz", checksum=f"sha256:{digest}", urls=(f"{_FIGSHARE}/{number}",)
    )
    for part, number, digest in (
        ("train", 5976057, "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae"),
        ("test_pt0", 5976069, "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374"),
        ("test_pt1", 5976066, "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6"),
        ("test_pt2", 5976063, "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5"),
        ("test_pt3", 5976060, "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39"),
    )
)
_TOPICS = PublicFile(
    "rcv1v2.topics.qrels.gz",
    checksum="sha256:2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
    urls=(f"{_FIGSHARE}/5976048",),
    also=("rcv1-v2.topics.qrels.gz",),
)
# Appendix 9 of LYRL2004; no stable address distributes it.
_INDUSTRIES = PublicFile("rcv1-v2.industries.qrels.gz", also=("rcv1.industries.qrels.gz",))

# The paper's classes (§5.4): corporate, economic, government and markets.
_GENERAL = ("CCAT", "ECAT", "GCAT", "MCAT")
# The paper's pairs of industries (§5.3).
_INDUSTRY_PAIRS = {
    "insurance": ("I82002", "I82003"),
    "business-services": ("I81000", "I83000"),
    "retail-distribution": ("I65400", "I65600"),
}


def _codes_of(path: Path, codes: Sequence[str]) -> dict[int, int]:
    """Map each document with exactly one of the `codes` to the position of that code."""
    found: dict[int, int] = {}
    several: set[int] = set()
    for number, text in lines(path):
        fields = text.split()
        if len(fields) < 2 or not fields[1].isdecimal():
            raise InputError(f"{path}, line {number}: not of the form 'code document 1'")
        document = int(fields[1])
        if fields[0] in codes:
            if document in found:
                several.add(document)
            found[document] = codes.index(fields[0])
    return {document: code for document, code in found.items() if document not in several}


def _vectors(path: Path, wanted: dict[int, int]) -> Iterator[tuple[int, Any, Any]]:
    """Yield (document, indices from 0, values) of the wanted documents from ``document  i:v i:v …``."""
    for number, text in lines(path):
        document, _, fields = text.partition(" ")
        if not document.isdecimal():
            raise InputError(f"{path}, line {number}: {document!r} is not a document number")
        if int(document) not in wanted:
            continue
        try:
            flat = np.array(fields.replace(":", " ").split(), dtype=np.float64)
        except ValueError:
            flat = np.zeros(1)
        pairs = fields.split()
        formed = len(flat) == 2 * len(pairs) and all(pair.count(":") == 1 for pair in pairs)
        if not formed or not _is_row(flat[::2], flat[1::2]):
            raise InputError(f"{path}, line {number}: not of the form document index:value index:value …")
        yield int(document), flat[::2].astype(np.int64) - 1, flat[1::2]


def _is_row(indices: Any, values: Any) -> bool:
    """Return whether indices are distinct valid features and all values are finite in float32."""
    return bool(
        ((indices >= 1) & (indices <= _N_FEATURES) & (indices == np.floor(indices))).all()
        and len(np.unique(indices)) == len(indices)
        and (np.abs(values) <= np.finfo(np.float32).max).all()
    )


def _parse(paths: Sequence[Path], codes: tuple[str, ...], classes: tuple[str, ...], binary: bool) -> Table:
    """Return the documents with exactly one of `codes`; the qrels file is the last of `paths`."""
    from scipy.sparse import csr_array

    wanted = _codes_of(paths[-1], codes)
    indptr, indices, values, y = [0], [], [], []
    for path in paths[:-1]:
        for document, columns, row in _vectors(path, wanted):
            indices.append(columns)
            values.append(np.ones(len(row)) if binary else row)
            indptr.append(indptr[-1] + len(row))
            y.append(wanted[document])
    if not y:
        raise InputError(f"{paths[-1]}: names no document of {paths[0].name} with one of {', '.join(codes)}")
    X = csr_array((np.concatenate(values), np.concatenate(indices), indptr), shape=(len(y), _N_FEATURES))
    return Table(as_csr(X), np.array(y, dtype=np.int32), classes)


def _parse_vw(paths: Sequence[Path]) -> Table:
    """Read a training and a test fragment of Vowpal Wabbit text: ``label |namespace index:value …``."""
    from scipy.sparse import csr_array

    parts: list[Any] = []
    for path in paths:
        indptr, indices, values, y = [0], [], [], []
        for number, text in lines(path):
            label, bar, features = text.partition("|")
            fields = features.split()[1:]
            if not bar or label.strip() not in ("1", "-1"):
                raise InputError(f"{path}, line {number}: no label 1 or -1 before '|'")
            for field in fields:
                index, colon, value = field.partition(":")
                if not index.isdecimal() or not 1 <= int(index) <= _N_FEATURES:
                    raise InputError(f"{path}, line {number}: {field!r} is no feature 1..{_N_FEATURES}")
                indices.append(int(index) - 1)
                try:
                    values.append(float(value) if colon else 1.0)
                except ValueError:
                    raise InputError(f"{path}, line {number}: {value!r} is no number") from None
            if not _is_row(np.array(indices[indptr[-1] :]) + 1, np.array(values[indptr[-1] :])):
                raise InputError(f"{path}, line {number}: a feature twice, or a value that is not finite")
            indptr.append(len(indices))
            y.append(int(label.strip() == "1"))
        X = csr_array((values, indices, indptr), shape=(len(y), _N_FEATURES))
        parts += [as_csr(X), np.array(y, dtype=np.int32)]
    return Table(parts[0], parts[1], ("-1", "1"), parts[2], parts[3])


RCV1: tuple[PublicSet, ...] = (
    PublicSet(
        name="rcv1-small",
        title="RCV1 CCAT, a fragment of 1,500 documents",
        files=(
            PublicFile("rcv1_small.dat", also=("rcv1_small.dat.gz",)),
            PublicFile("rcv1_small_test.data", also=("rcv1_small_test.data.gz",)),
        ),
        parse=_parse_vw,
        classes=("-1", "1"),
        n_features=_N_FEATURES,
        counts=(541, 459),
        counts_test=(255, 245),
        licence="Reuters / LYRL2004 vectors; files with Vowpal Wabbit (BSD-3-Clause)",
        note="cosine-normalised tf-idf as distributed, CSR, float32; rows mixed",
        source="Vowpal Wabbit's test sets",
        fingerprints=("c15bb5f59b6258af429625ce080a30830fa81ea9d09772e43195022010591bf6",),
    ),
    PublicSet(
        name="rcv1",
        title="RCV1-v2, the four general topics",
        files=(*_VECTORS, _TOPICS),
        parse=partial(
            _parse,
            codes=_GENERAL,
            classes=("corporate", "economic", "government", "markets"),
            binary=True,
        ),
        classes=("corporate", "economic", "government", "markets"),
        n_features=_N_FEATURES,
        counts=(),
        counts_test=(),
        licence=_LICENCE,
        note="documents with one of the four topics alone; binary bag of words, CSR; rows by date",
        source="the files of scikit-learn's fetch_rcv1 (650 MB)",
    ),
    *(
        PublicSet(
            name=f"rcv1-industries/{name}",
            title=f"RCV1-v2, {codes[0]} against {codes[1]}",
            files=(*_VECTORS, _INDUSTRIES),
            parse=partial(_parse, codes=codes, classes=codes, binary=True),
            classes=codes,
            n_features=_N_FEATURES,
            counts=(),
            counts_test=(),
            licence=_LICENCE,
            note="documents with one of the two industries alone; binary bag of words, CSR; rows by date",
            family="rcv1-industries",
            source="LYRL2004 online appendix 9 (industry labels) beside the files of scikit-learn's fetcher",
        )
        for name, codes in _INDUSTRY_PAIRS.items()
    ),
)

RCV1_FAMILIES: tuple[Family, ...] = (
    Family(
        name="rcv1-industries",
        title="RCV1-v2, the AROW paper's three pairs of industries",
        task="industries",
        members={name: f"rcv1-industries/{name}" for name in _INDUSTRY_PAIRS},
    ),
)
