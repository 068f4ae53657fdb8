"""Test which workers are refused because they cannot run a study's learners of other packages."""

from __future__ import annotations

from importlib import metadata

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study import Study
from singlepass.pipeline.workers.cluster.on_worker import PlannedGuest, Preparation, guest_problem, prepare
from singlepass.workflows.running.workers import guests_of

SGD = "sklearn.linear_model:SGDClassifier"
VERSION = f"scikit-learn {metadata.version('scikit-learn')}"


def test_only_learners_of_other_packages_are_asked_for() -> None:
    table = {"name": "mixed", "datasets": [{"name": "breast-cancer"}]}
    table["algorithms"] = [{"name": "AROW"}, {"name": SGD, "label": "SGD"}]
    guests = guests_of(make_plan(Study.model_validate(table)))
    assert guests == (PlannedGuest(SGD, VERSION, None),)
    assert not guest_problem(guests)


@pytest.mark.parametrize(
    ("guest", "line"),
    [
        (
            (SGD, "scikit-learn 0.1", None),
            f"algorithm '{SGD}': planned with scikit-learn 0.1, but has {VERSION}",
        ),
        (("no_such_module:Class", "theirs 1.0", None), "module 'no_such_module' is not installed"),
        (("Absent", "theirs 1.0", None), "algorithm 'Absent' is unknown"),
    ],
)
def test_a_worker_that_lacks_a_learner_is_refused(guest: tuple[str, str, None], line: str) -> None:
    preparation = Preparation("run", (), (), 60.0, guests=(PlannedGuest(*guest),))
    with pytest.raises(InputError) as caught:
        prepare(preparation)
    assert line in str(caught.value)
    assert str(caught.value).endswith("; give it the client's packages and code, and restart it")
