"""Test the declared counts: each has columns, metrics and, if it is plotted, a description."""

from __future__ import annotations

import pyarrow as pa
import pytest

from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.counts import COUNTS, Count
from singlepass.pipeline.store.schema import CELLS, CURVES


@pytest.mark.parametrize("count", COUNTS.values(), ids=list(COUNTS))
def test_a_count_is_a_column_that_may_be_null(count: Count) -> None:
    assert COUNTS[count.name] is count
    for schema in (CELLS, CURVES):
        assert schema.field(count.name).type == pa.int64()
        assert schema.field(count.name).nullable


def test_measures_are_metrics_of_one_name_each() -> None:
    measures = [measure for count in COUNTS.values() for measure in count.measures]
    assert len({measure.name for measure in measures}) == len(measures)
    assert len({measure.label for measure in measures}) == len(measures)
    for measure in measures:
        metric = METRICS[measure.name]
        assert (metric.label, metric.direction) == (measure.label, "lower")
        assert (metric.percent, metric.decimals) == (measure.percent, measure.decimals)
        # A share is a fraction of the examples.
        assert measure.per_example or not measure.percent
        assert measure.unit > 0


def test_a_trace_has_a_title_of_its_own_and_a_note_in_whole_sentences() -> None:
    traces = [count.trace for count in COUNTS.values() if count.trace is not None]
    assert traces
    assert len({trace.title for trace in traces}) == len(traces)
    for trace in traces:
        assert trace.note.endswith(".")
        assert not (trace.log and trace.steps)
