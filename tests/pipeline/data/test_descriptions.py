"""Test the list of data sets."""

from __future__ import annotations

from singlepass.pipeline.data import describe, expand, open_stream
from singlepass.pipeline.data.catalogue.generators import GENERATORS


def test_describe_says_what_each_set_is() -> None:
    rows = {row.name: row for row in describe()}
    generators = list(GENERATORS)
    assert list(rows)[: len(generators) + 5] == [
        "digits", "breast-cancer", *generators, "mnist", "usps", "a9a",
    ]  # fmt: skip
    # A family is one row; its members are not listed.
    assert rows["enron-spam"].tasks[:2] == ("users", "users:enron1")
    assert not [name for name in rows if "/" in name]
    assert rows["enron-spam"].shape[0] == 33_716
    assert "comp" in rows["20newsgroups"].tasks
    assert rows["20newsgroups"].state == "can be fetched"
    for name in ("enron-a", "nytimes-desk", "rcv1-industries", "amazon"):
        assert rows[name].state.startswith("needs your copy: put ")
        assert rows[name].source in rows[name].state
    for name in ("digits", "breast-cancer"):
        stream = open_stream(expand(name=name)[0])
        assert rows[name].shape == stream.X.shape
        assert rows[name].classes == stream.classes
    for name in GENERATORS:
        stream = open_stream(expand(name=name)[0])
        n_test = 0 if stream.X_test is None else stream.X_test.shape[0]
        assert rows[name].shape == (stream.X.shape[0] + n_test, stream.X.shape[1])
    assert rows["mnist"].shape == (70_000, 784)
    assert rows["mnist"].official_split
    assert rows["mnist"].state == "can be fetched"
    assert "round" in rows["mnist"].tasks
    # The names of these classes are only known from the user's files, their number is published.
    for name in ("avazu-app", "avazu-site", "kdd2010-algebra", "kdd2010-bridge", "kdd2012"):
        assert rows[name].tasks == ("binary",)
    assert "one-vs-rest" in rows["insects-abrupt-balanced"].tasks
