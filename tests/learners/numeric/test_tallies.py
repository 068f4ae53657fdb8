"""Counts behind metrics: by class, losses and pairs, against plain loops and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, hinge_loss, log_loss, roc_auc_score

from singlepass.learners import count_wrong, pairs_in_order, sum_losses, tally_classes
from singlepass.learners.numeric.references import count_baselines
from singlepass.learners.numeric.tallies import N_SUMS


def stream(seed, n, n_classes):
    """Return scores with many ties, given labels and clean labels."""
    rng = np.random.RandomState(seed)
    scores = rng.randint(-3, 4, n if n_classes == 2 else (n, n_classes)) / 2
    given_codes, clean = (rng.randint(0, n_classes, n).astype(np.int32) for _ in range(2))
    return scores, given_codes, clean


STREAMS = st.builds(stream, st.integers(0, 10_000), st.integers(1, 60), st.sampled_from([2, 3, 5]))


def classes_of(scores):
    return 2 if scores.ndim == 1 else scores.shape[1]


def predictions_of(scores):
    """Return the classes that scores predict, as scikit-learn does."""
    return scores.argmax(axis=1) if scores.ndim == 2 else scores > 0


def plain_references(given_codes, labels, n_classes, delay):
    """Return the right predictions of the most frequent class so far and of the previous label."""
    seen, last, right = [0] * n_classes, 0, [0, 0]
    for t, judged in enumerate(labels.tolist()):
        right[0] += seen.index(max(seen)) == judged
        right[1] += last == judged
        if t >= delay:
            last = given_codes[t - delay]
            seen[last] += 1
    return right


@settings(deadline=None, max_examples=60)
@given(STREAMS, st.data())
def test_counts_by_class_are_those_of_the_confusion_matrix_wherever_the_stream_is_cut(made, data):
    scores, given_codes, clean = made
    n, n_classes = len(clean), classes_of(scores)
    delay = data.draw(st.sampled_from([0, 0, 1, 7, 70]))
    stops = np.unique([data.draw(st.integers(1, n)), n])
    predicted = predictions_of(scores)
    cut = data.draw(st.integers(0, n))
    table = np.zeros((5, n_classes), np.int64)
    so_far, baselines = np.zeros(n_classes, np.int64), np.zeros(6, np.int64)
    # The references get labels late.
    told = np.concatenate([np.full(min(delay, n), -1, np.int32), given_codes[: n - min(delay, n)]])
    tables = tally_classes(scores, given_codes, clean, stops, table)
    at_stops = count_baselines(given_codes, clean, told, stops, so_far, baselines)
    pieces, pieces_so_far, pieces_baselines = (np.zeros_like(each) for each in (table, so_far, baselines))
    for part in (slice(0, cut), slice(cut, n)):
        nowhere = np.empty(0, np.int64)
        labels = given_codes[part], clean[part]
        tally_classes(scores[part], *labels, nowhere, pieces)
        count_baselines(*labels, told[part], nowhere, pieces_so_far, pieces_baselines)
    assert pieces.tolist() == table.tolist()
    assert pieces_so_far.tolist() == so_far.tolist()
    assert pieces_baselines.tolist() == baselines.tolist()
    for at, found, references in zip(stops, tables, at_stops, strict=True):
        by_given, by_clean = (
            confusion_matrix(labels[:at], predicted[:at], labels=range(n_classes))
            for labels in (given_codes, clean)
        )
        assert found[0].tolist() == by_clean.sum(axis=0).tolist() == by_given.sum(axis=0).tolist()
        assert found[1].tolist() == by_given.diagonal().tolist()
        assert found[2].tolist() == by_given.sum(axis=1).tolist()
        assert found[3].tolist() == by_clean.diagonal().tolist()
        assert found[4].tolist() == by_clean.sum(axis=1).tolist()
        for place, labels in ((0, given_codes), (1, clean)):
            most, before = plain_references(given_codes[:at], labels[:at], n_classes, delay)
            assert (references[place], references[2 + place]) == (most, before)
    assert tables[-1].tolist() == table.tolist()


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0, 1, 7, 300]), st.lists(st.integers(1, 1999), max_size=4))
def test_references_of_long_streams_whose_frequent_class_changes(seed, delay, cuts):
    # Classes gain and lose leads of hundreds of rows.
    rng, n = np.random.RandomState(seed), 2000
    shares = np.repeat(rng.choice([0.0, 0.05, 0.5, 0.95, 1.0], 5), n // 5)
    given_codes, clean = ((rng.random_sample(n) < shares).astype(np.int32) for _ in range(2))
    told = np.concatenate([np.full(delay, -1, np.int32), given_codes[: n - delay]])
    so_far, baselines = np.zeros(2, np.int64), np.zeros(6, np.int64)
    stops = np.unique([*cuts, n])
    references = count_baselines(given_codes, clean, told, stops, so_far, baselines)
    for at, found in zip(stops, references, strict=True):
        for place, labels in ((0, given_codes), (1, clean)):
            most, before = plain_references(given_codes[:at], labels[:at], 2, delay)
            assert (found[place], found[2 + place]) == (most, before)
    assert so_far.tolist() == np.bincount(told[told >= 0], minlength=2).tolist()
    # The next predictions of the two references.
    assert baselines[4] == (so_far[1] > so_far[0])
    assert baselines[5] == told[-1]


@settings(deadline=None, max_examples=60)
@given(STREAMS)
def test_wrong_predictions_are_those_of_scikit_learn(made):
    scores, codes, _ = made
    wrong = np.count_nonzero(predictions_of(scores) != codes)
    assert count_wrong(scores.reshape(len(codes), -1), codes) == wrong


@settings(deadline=None, max_examples=60)
@given(STREAMS, st.integers(0, 60))
def test_losses_are_scikit_learns_and_the_same_wherever_the_stream_is_cut(made, cut):
    scores, given_codes, clean = made
    n, labels = len(clean), list(range(classes_of(scores)))
    sums, pieces = np.zeros((2, N_SUMS)), np.zeros((2, N_SUMS))
    at = sum_losses(scores, given_codes, clean, True, np.array([n]), sums)
    for part in (slice(0, cut), slice(cut, n)):
        sum_losses(scores[part], given_codes[part], clean[part], True, np.empty(0, np.int64), pieces)
    # Without a stop, the sums since the last one are those so far.
    assert at[-1].tolist() == pieces.tolist() == [sums[0].tolist()] * 2
    assert not sums[1].any()
    if scores.ndim == 1:
        probabilities = 1 / (1 + np.exp(-scores))
        probabilities = np.column_stack([1 - probabilities, probabilities])
    else:
        probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    for place, codes in enumerate((given_codes, clean)):
        # If labels have one class of two, scikit-learn takes it for the negative class.
        if scores.ndim == 2 or len(set(codes.tolist())) == 2:
            assert sums[0, place] / n == pytest.approx(hinge_loss(codes, scores, labels=labels))
        assert sums[0, 2 + place] / n == pytest.approx(log_loss(codes, probabilities, labels=labels))


def test_a_loss_that_is_no_number_makes_the_sum_none():
    sums = np.zeros((2, N_SUMS))
    codes = np.array([0, 1], np.int32)
    sum_losses(np.array([1.0, np.nan]), codes, codes, False, np.empty(0, np.int64), sums)
    assert np.isnan(sums[:, :2]).all()
    assert not sums[:, 2:].any()


def test_a_loss_that_is_not_added_up_is_refused():
    codes = np.array([0, 1], np.int32)
    with pytest.raises(AssertionError, match="add each further loss up in `_lose`"):
        sum_losses(np.array([1.0, 2.0]), codes, codes, True, np.empty(0, np.int64), np.zeros((2, N_SUMS + 1)))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.builds(stream, st.integers(0, 10_000), st.integers(2, 60), st.just(2)))
def test_pairs_in_order_make_the_area_under_the_curve(made):
    scores, codes, _ = made
    stops = np.arange(1, len(codes) + 1)
    ranks = np.unique(scores, return_inverse=True)[1]
    for at, won in zip(stops, pairs_in_order(ranks, codes, stops), strict=True):
        positive = int(codes[:at].sum())
        pairs = 2 * positive * (at - positive)
        if pairs:
            assert won / pairs == pytest.approx(roc_auc_score(codes[:at], scores[:at]), abs=1e-12)
        else:
            assert won == 0
