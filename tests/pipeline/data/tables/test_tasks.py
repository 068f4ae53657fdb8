"""Test the derivation of tasks: their number, names, rows and signs."""

from __future__ import annotations

import pickle
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.data.tables.tasks import TaskRef, derive, listed, name_tasks, task_fingerprint
from singlepass.pipeline.errors import InputError

ABC = ("a", "b", "c")
GROUPS = {"vowels": ("a",)}


def table(y: list[int], classes: tuple[str, ...] = ABC, y_test: list[int] | None = None) -> Table:
    X = np.arange(2.0 * len(y)).reshape(len(y), 2)
    test = None if y_test is None else np.array(y_test, dtype=np.int32)
    X_test = None if y_test is None else np.zeros((len(y_test), 2))
    return Table(X, np.array(y, dtype=np.int32), classes, X_test, test)


@given(k=st.integers(2, 12))
def test_pairs_are_every_unordered_pair_once(k: int) -> None:
    classes = [f"c{i}" for i in range(k)]
    tasks = name_tasks("d", classes, "pairs")
    assert len({task for _, task in tasks}) == len({label for label, _ in tasks}) == comb(k, 2)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("one-vs-rest", [("d[a-vs-rest]", "one-vs-rest:a"), ("d[b-vs-rest]", "one-vs-rest:b"),
                         ("d[c-vs-rest]", "one-vs-rest:c")]),
        ("one-vs-rest:b", [("d[b-vs-rest]", "one-vs-rest:b")]),
        ("pair:c,a", [("d[c-vs-a]", "pair:c,a")]),
        ("group:vowels", [("d[vowels]", "group:vowels")]),
        ("vowels", [("d[vowels]", "group:vowels")]),
        ("multiclass", [("d", "multiclass")]),
        ("auto", [("d", "multiclass")]),
    ],
)  # fmt: skip
def test_names(task: str, expected: list[tuple[str, str]]) -> None:
    assert name_tasks("d", ABC, task, groupings=GROUPS) == expected


def test_auto_is_binary_for_two_classes() -> None:
    assert name_tasks("d", ["n", "p"], "auto") == [("d", "binary")]
    assert name_tasks("d", ["n", "p"], "auto", positive="n") == [("d", "binary:n")]


def test_class_names_may_hold_commas() -> None:
    classes = ["a", "a,b", "b"]
    for _, task in name_tasks("d", classes, "pairs"):
        stream = derive(TaskRef("d", "s", task, "d"), table([0, 1, 2], tuple(classes)), "f", {})
        assert set(stream.classes) <= set(classes)
        assert len(stream.y) == 2
    names = ("a", "b", "c", "a,b", "b,c")
    for task in ("pairs", "pair:a,b,c"):
        with pytest.raises(InputError, match=r"'pair:a,b,c' may mean 'a' and 'b,c' or 'a,b' and 'c'; rename"):
            name_tasks("d", names, task)
    assert name_tasks("d", names, "pair:a,b") == [("d[a-vs-b]", "pair:a,b")]


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("binary", ["needs two classes, found 3: a, b, c", "'one-vs-rest' or 'pairs'"]),
        ("pears", ["unknown task 'pears'", "did you mean 'pairs'?"]),
        ("group:vowel", ["unknown task", "vowels"]),
        ("one-vs-rest:z", ["has no class 'z': a, b, c"]),
        ("pair:a,z", ["task 'pair:a,z': there is no class 'z'; classes: a, b, c"]),
        ("pair:a,a", ["two different classes"]),
        ("pair:a", ["two different classes"]),
    ],
)
def test_tasks_that_do_not_fit(task: str, words: list[str]) -> None:
    with pytest.raises(InputError) as error:
        name_tasks("d", ABC, task, groupings=GROUPS)
    assert "\n" not in str(error.value)
    assert "'d'" in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_one_against_the_rest_of_two_is_refused() -> None:
    with pytest.raises(InputError, match="task = 'binary', not 'one-vs-rest'"):
        name_tasks("d", ["n", "p"], "one-vs-rest")


def test_positive_needs_a_binary_task() -> None:
    with pytest.raises(InputError, match="positive = 'a' needs task = 'binary', found 'pairs'"):
        name_tasks("d", ABC, "pairs", positive="a")
    with pytest.raises(InputError, match="has no class 'q': n, p"):
        name_tasks("d", ["n", "p"], "binary", positive="q")


@pytest.mark.parametrize(
    ("task", "classes", "y", "rows"),
    [
        ("one-vs-rest:b", ("rest", "b"), [0, 1, 0, 1], None),
        ("pair:a,c", ("c", "a"), [1, 0], [0, 2]),
        ("pair:c,a", ("a", "c"), [0, 1], [0, 2]),
        ("group:vowels", ("rest", "vowels"), [1, 0, 0, 0], None),
        ("multiclass", ABC, [0, 1, 2, 1], None),
    ],
)
def test_derived_labels(task: str, classes: tuple[str, ...], y: list[int], rows: list[int] | None) -> None:
    source = table([0, 1, 2, 1], y_test=[2, 0])
    stream = derive(TaskRef("d[x]", "s", task, "d"), source, "f", GROUPS)
    assert stream.classes == classes
    assert stream.y.tolist() == y
    assert stream.y.dtype == np.int32
    assert (None if stream.rows is None else stream.rows.tolist()) == rows
    assert stream.X is source.X
    assert not stream.y.flags.writeable
    assert stream.name == "d[x]"
    assert stream.fingerprint == "f"


def test_binary_takes_the_last_class_as_positive_unless_told() -> None:
    source = table([0, 1, 1], ("n", "p"))
    assert derive(TaskRef("d", "s", "binary", "d"), source, "f", {}).classes == ("n", "p")
    turned = derive(TaskRef("d", "s", "binary:n", "d"), source, "f", {})
    assert (turned.classes, turned.y.tolist()) == (("p", "n"), [1, 0, 0])


def test_the_test_part_is_relabelled_alike() -> None:
    stream = derive(TaskRef("d", "s", "pair:a,b", "d"), table([0, 1, 2], y_test=[2, 1, 0, 1]), "f", {})
    assert stream.rows_test is not None
    assert stream.y_test is not None
    assert stream.rows_test.tolist() == [1, 2, 3]
    assert stream.rows_test.dtype == np.int64
    assert stream.y_test.tolist() == [0, 1, 0]


@given(y=st.lists(st.integers(0, 3), min_size=1, max_size=30), a=st.integers(0, 3), b=st.integers(0, 3))
def test_a_pair_is_the_rows_of_its_two_classes(y: list[int], a: int, b: int) -> None:
    names = ("w", "x", "y", "z")
    if a == b:
        return
    stream = derive(TaskRef("d", "s", f"pair:{names[a]},{names[b]}", "d"), table(y, names), "f", {})
    assert stream.rows is not None
    assert [y[row] for row in stream.rows] == [a if code else b for code in stream.y]
    assert len(stream.y) == y.count(a) + y.count(b)


@pytest.mark.parametrize("task", ["bogus", "group:none", "pair:a,q", "one-vs-rest:q", "binary"])
def test_a_forged_reference_is_refused(task: str) -> None:
    with pytest.raises(InputError):
        derive(TaskRef("d", "s", task, "d"), table([0, 1, 2]), "f", GROUPS)


def test_fingerprints_tell_tasks_and_groupings_apart() -> None:
    prints = {
        task_fingerprint("t", "pair:a,b", {}),
        task_fingerprint("t", "pair:b,a", {}),
        task_fingerprint("u", "pair:a,b", {}),
        task_fingerprint("t", "group:g", {"g": ("a",)}),
        task_fingerprint("t", "group:g", {"g": ("b",)}),
    }
    assert len(prints) == 5


def test_a_reference_is_small_and_hashable() -> None:
    ref = TaskRef("usps[3-vs-5]", "/data/folder/some-file.csv.gz", "pair:3,5", "usps", (("target", "label"),))
    assert len(pickle.dumps(ref)) < 400
    assert pickle.loads(pickle.dumps(ref)) == ref
    assert len({ref, pickle.loads(pickle.dumps(ref))}) == 1


def test_long_listings_are_cut() -> None:
    assert listed([str(i) for i in range(26)], limit=3) == "0, 1, 2, … (26 in all)"
