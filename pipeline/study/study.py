"""Validate a study as a whole: its data sets, algorithms, noise and seeds."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from ..errors import did_you_mean
from ..scoring import METRIC_NAMES, can_rank, is_of_test_part
from .keys import StudyKeys
from .specs import Course, DatasetSpec, Order, ProtocolName, WinnerRule


class Study(StudyKeys):
    """Hold a whole study, whose keys are checked against each other."""

    @model_validator(mode="after")
    def _seeds_are_folds(self) -> Study:
        crossval = "crossval" in (self.protocol, *(entry.protocol for entry in self.datasets))
        if crossval and max(self.seeds) >= self.folds:
            raise ValueError(
                f"seeds: of crossval they are folds, 0 .. {self.folds - 1}, so {max(self.seeds)} is none"
            )
        return self

    @model_validator(mode="after")
    def _order_suits(self) -> Study:
        given = [entry for entry in self.datasets if self.order_of(entry) == "given"]
        for entry in given:
            if self.protocol_of(entry) == "crossval":
                raise ValueError(
                    f"order: data set {entry.label!r} is read in the given order, which folds of crossval "
                    "would break: take protocol 'prequential' or 'holdout', or order 'shuffled'"
                )
        if given and (self.max_tune is not None or any(entry.max_tune for entry in given)):
            raise ValueError(
                "max_tune: in the given order grids are judged on the first tune_fraction instead"
            )
        # A study that is read back contains the default explicitly.
        if not given and self.tune_fraction != type(self).model_fields["tune_fraction"].default:
            raise ValueError("tune_fraction: is of order 'given', which no data set is read in")
        return self

    @model_validator(mode="after")
    def _due_labels_are_delayed(self) -> Study:
        if self.label_due == "before" and not self.delay:
            raise ValueError("label_due: says when late labels come, and there is no delay: give one")
        return self

    @model_validator(mode="after")
    def _test_curve_has_tests(self) -> Study:
        if self.test_curve and all(self.protocol_of(entry) == "prequential" for entry in self.datasets):
            raise ValueError("test_curve: needs a test part, which protocol 'holdout' or 'crossval' has")
        return self

    @model_validator(mode="after")
    def _metrics_are_known(self) -> Study:
        tested = any(self.protocol_of(entry) != "prequential" for entry in self.datasets)
        for place, name in enumerate(self.metrics):
            if name not in METRIC_NAMES:
                raise ValueError(f"metrics: {name!r} is none: {did_you_mean(name, METRIC_NAMES)}")
            if name in self.metrics[:place]:
                raise ValueError(f"metrics: names {name!r} twice")
            if is_of_test_part(name) and not tested:
                raise ValueError(
                    f"metrics: {name!r} needs a test part, which protocol 'holdout' or 'crossval' has"
                )
        if self.rank_by is not None and self.rank_by not in self.metrics:
            hint = did_you_mean(self.rank_by, self.metrics) if self.metrics else "there are none"
            raise ValueError(f"rank_by: {self.rank_by!r} is none of the study's metrics: {hint}")
        if self.ranked_by is not None and not can_rank(self.ranked_by):
            raise ValueError(
                f"rank_by: {self.ranked_by!r} cannot rank: it compares each learner with weights of that "
                "learner's own norm, so that learning nothing has regret 0; name another metric first, or "
                "set rank_by to one"
            )
        return self

    @model_validator(mode="after")
    def _labels_differ(self) -> Study:
        labels = [entry.label for entry in self.algorithms]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ValueError(f"algorithms: two entries are called {twice[0]!r}: give one of them a 'label'")
        return self

    @model_validator(mode="after")
    def _support_sizes_name_algorithms(self) -> Study:
        free = [entry.label for entry in self.algorithms if not entry.support_of]
        for entry in self.algorithms:
            for key, label in entry.support_of.items():
                if label not in free:
                    raise ValueError(
                        f"algorithms: '{key}' of {entry.label!r} is the support size of {label!r}, which "
                        f"is no other algorithm with a size of its own: {did_you_mean(label, free)}"
                    )
        return self

    @model_validator(mode="after")
    def _grids_are_those_of_algorithms(self) -> Study:
        own = [entry.label for entry in self.algorithms if entry.tuned_as is None]
        for entry in self.algorithms:
            if entry.tuned_as is not None and entry.tuned_as not in own:
                raise ValueError(
                    f"algorithms: {entry.label!r} is tuned as {entry.tuned_as!r}, which is no other "
                    f"algorithm with a grid of its own: {did_you_mean(entry.tuned_as, own)}"
                )
        return self

    @model_validator(mode="after")
    def _bound_to_data_sets(self) -> Study:
        datasets = [entry.label for entry in self.datasets]
        models = {entry.label: entry for entry in self.algorithms}
        for entry in self.algorithms:
            for name in entry.datasets:
                if name not in datasets:
                    raise ValueError(
                        f"algorithms: datasets of {entry.label!r}: no data set is called {name!r}: "
                        f"{did_you_mean(name, datasets)}"
                    )
            needed = [*entry.support_of.values(), *([entry.tuned_as] if entry.tuned_as else [])]
            for name in filter(entry.runs_on, datasets):
                for label in needed:
                    if not models[label].runs_on(name):
                        raise ValueError(
                            f"algorithms: {entry.label!r} needs what {label!r} comes to on data set "
                            f"{name!r}, to which that one is not bound: give both the same datasets"
                        )
        return self

    @model_validator(mode="after")
    def _splits_are_seeded(self) -> Study:
        for i, entry in enumerate(self.datasets, 1):
            if entry.test_fraction is not None and self.protocol_of(entry) != "holdout":
                raise ValueError(
                    f"datasets[{i}]: test_fraction is the share of a seeded split, which protocol "
                    f"{self.protocol_of(entry)!r} has not: give the data set protocol = 'holdout'"
                )
        return self

    @model_validator(mode="after")
    def _rankings_name_parts(self) -> Study:
        labels = [entry.label for entry in self.algorithms]
        datasets = [entry.label for entry in self.datasets]
        for key, drawn in (("curves", self.curves), ("solutions", self.solutions)):
            for label in drawn:
                if label not in labels:
                    raise ValueError(
                        f"{key}: no algorithm is called {label!r}: {did_you_mean(label, labels)}"
                    )
        for ranking in self.rankings:
            for label in ranking.algorithms:
                if label not in labels:
                    raise ValueError(
                        f"rankings: no algorithm is called {label!r}: {did_you_mean(label, labels)}"
                    )
            for name in ranking.datasets:
                if name not in datasets:
                    raise ValueError(
                        f"rankings: no data set is called {name!r}: {did_you_mean(name, datasets)}"
                    )
            for noise in ranking.focus_noise:
                if noise not in self.noise:
                    raise ValueError(
                        f"rankings: focus_noise {noise.spec} is none of the study's noise rates "
                        f"{[each.spec for each in self.noise]}"
                    )
        return self

    def protocol_of(self, entry: DatasetSpec) -> ProtocolName:
        """Return the protocol of a data set."""
        return entry.protocol or self.protocol

    @property
    def ranked_by(self) -> str | None:
        """Return the metric that ranks, or None if the study sets no metrics."""
        return self.rank_by or (self.metrics[0] if self.metrics else None)

    @property
    def own_winners(self) -> dict[str, WinnerRule]:
        """Return the winner rules of the algorithms that set one, by label."""
        return {each.label: each.winner for each in self.algorithms if each.winner is not None}

    def order_of(self, entry: DatasetSpec) -> Order:
        """Return the order in which a data set is read."""
        return entry.order or self.order

    def course_of(self, entry: DatasetSpec, *, tuned: bool) -> Course:
        """Return how the streams of a data set run; `tuned` says whether grids are tuned on it."""
        judged = tuned and self.order_of(entry) == "given"
        return Course(
            order=self.order_of(entry),
            # A label due just before row t arrives just after row t-1, so the delay is one less.
            delay=self.delay - (self.label_due == "before"),
            window=self.window,
            fading=self.fading,
            tune_fraction=self.tune_fraction if judged else 0.0,
        )

    def judge_of(self, entry: DatasetSpec) -> Literal["online", "validation"]:
        """Return what judges grids on a data set, with the default resolved."""
        if self.tune_by is not None:
            return self.tune_by
        online = self.protocol_of(entry) == "prequential" or self.order_of(entry) == "given"
        return "online" if online else "validation"
