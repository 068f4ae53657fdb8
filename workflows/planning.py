"""Implement `singlepass plan`: estimate a study's cells, memory and time, and list missing data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import joblib
import psutil
from rich.filesize import decimal

from ..learners import LANES
from ..pipeline import data
from ..pipeline.errors import InputError
from ..pipeline.store.store import Store
from ..pipeline.study.learner_factory import missing_learners, with_dataset_parameters
from ..pipeline.study.plan import Plan, data_id
from ..pipeline.study.specs import TUNERS, DatasetSpec
from ..pipeline.study.study import Study
from .report.words.wording import count
from .running.run import plan_of, refused_splits
from .running.stages import Matched, stages
from .running.trials import Kind, Trial, kind_of, trials
from .running.work import COSTS, Costs
from .status import span
from .terminal import plain, put, table

STAGES = ("tuning", "evaluation", "matched")

# A pair for which cells are counted: index of the data set in the study, and label of the algorithm.
Pair = tuple[int, str]


@dataclass(frozen=True)
class Finished:
    """The planned cells that are in the store or in its bases, counted by stage, data set and algorithm."""

    done: Counter[tuple[str, Pair]]
    # Numbers of cells with the status "failed", "crashed" or "stopped".
    failed: Counter[tuple[str, Pair]]
    # Estimates of the seconds that a cell takes, by data set and algorithm.
    costs: Costs
    # Number of finished cells in each base (other results, `--base`), by the base's name.
    from_bases: Counter[str]
    # The times of trial cells by kind of algorithm; empty if cells are finished, or if no trial could run.
    tried: Mapping[Kind, Trial] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyOutline:
    """Describe a study's cells, data, memory and time."""

    study: Study
    # Folder or URL of the results, which may not exist yet.
    out: str
    outlooks: list[data.Outlook]
    # Numbers of cells by stage, data set and algorithm; none for a data set whose number of tasks is unknown.
    planned: Counter[tuple[str, Pair]]
    # Largest number of seeds that a data set runs with, at any noise level; 1 if all give the same result.
    repetitions: int
    finished: Finished
    # Bytes that a model's full covariance matrix takes, by a text that names its algorithm and data set.
    covariances: dict[str, int]
    # Bytes that the models of a parameter grid take in a thread, by a text that names algorithm and data set.
    grids: dict[str, int]
    # Probable mistakes in data sets: labels of data sets, and a line each.
    cautions: list[tuple[str, str]]
    # Warnings of features whose scales differ, by the label of their data set.
    scales: Mapping[str, str]
    # A class that is tested but not learned, and the limits of rows that are set, by its data set's label.
    unlearned: Mapping[str, tuple[str, str]]
    # The error with which a run would stop before its first cell; empty if it can start.
    refusal: str
    # A message for each algorithm whose learner cannot be loaded: its cells would fail.
    unloadable: list[str]
    # Whether there are results, whose cells of data sets that are not parsed cannot be counted.
    stored: bool

    def left(self) -> Counter[tuple[str, Pair]]:
        """Return how many cells a run would compute, by stage, data set and algorithm."""
        return self.planned - self.finished.done - self.finished.failed

    def seconds_left(self) -> float | None:
        """Return the seconds of one thread for the remaining cells, or None if unknown."""
        costs, tried, total = self.finished.costs, self.finished.tried, 0.0
        if not (costs or tried):
            return None
        kinds = {each.label: kind_of(each) for each in self.study.algorithms}
        for (stage, pair), n in self.left().items():
            dataset = self.study.datasets[pair[0]]
            rows = rows_of_task(self.study, dataset, self.outlooks[pair[0]])
            if costs:
                total += n * (costs.seconds(pair, rows) or 0.0)
                continue
            if stage == "tuning":
                rows = min(rows, dataset.max_tune or self.study.max_tune or rows)
            own = kinds[pair[1]]
            # Other kinds of the same learner are nearer than other learners.
            alike = [trial for kind, trial in tried.items() if kind[0] == own[0]]
            found = [tried[own]] if own in tried else alike or [*tried.values()]
            expected = sum(each.seconds_with(rows) for each in found) / len(found)
            total += n * min(expected, self.study.time_limit or expected)
        return total


def outline(
    study: Study,
    out: str,
    *,
    file: Path | None = None,
    plugins: tuple[str, ...] = (),
    bases: Sequence[str] = (),
) -> StudyOutline:
    """Estimate what a run of a study into `out` would need; download, parse and write nothing.

    `bases` are as for `run_study`. Errors of the study's data sets are in the outline; any other error raises
    InputError.
    """
    base = Path() if file is None else file.parent
    store = Store(out)
    store.use_bases(bases)
    outlooks = [_with_base(data.look(**each.entry, base=base), each, base, store) for each in study.datasets]
    ready = [each for each, outlook in zip(study.datasets, outlooks, strict=True) if outlook.ready]
    plan = plan_of(study.model_copy(update={"datasets": ready}), file, plugins, store, parse=False)
    numbers = {id(each): number for number, each in enumerate(study.datasets)}
    places = {label: numbers[id(each)] for label, each in plan.datasets.items()}
    finished = _finished(plan, places, store)
    if not finished.costs:
        rows = {
            task.label: rows_of_task(study, plan.datasets[task.label], outlooks[places[task.label]])
            for task in plan.here
        }
        finished = replace(finished, tried=trials(plan, rows))
    problems = [outlook.problem for outlook in outlooks if outlook.missing]
    refusal, unlearned = (
        ((f"{file}: " if file else "") + problems[0], {}) if problems else refused_splits(plan)
    )
    return StudyOutline(
        study,
        out,
        outlooks,
        _planned(study, plan, outlooks),
        max(n for dataset in study.datasets for n in _repetitions(plan, dataset)),
        finished,
        _covariances(study, plan, outlooks),
        _grids(study, plan, outlooks),
        data.cautions(plan.here),
        data.scales_apart(plan.here),
        unlearned,
        refusal,
        missing_learners(plan.learners),
        stored=bool(store.bases or store.exists()),
    )


def rows_of_task(study: Study, dataset: DatasetSpec, outlook: data.Outlook) -> int:
    """Estimate how many rows a cell learns; 0 if unknown.

    For tasks of two classes out of several (task "pairs"), all classes count as equally frequent.
    """
    rows = outlook.n_learned
    if dataset.task == "pairs" and outlook.tasks:
        # K classes have K(K - 1)/2 pairs, and a pair has 2/K of the rows.
        rows = round(rows * 4 / (1 + math.sqrt(1 + 8 * outlook.tasks)))
    rows = min(rows, dataset.max_examples or study.max_examples or rows)
    protocol = study.protocol_of(dataset)
    if rows and protocol == "holdout" and not outlook.n_test:
        rows -= max(1, round(rows * (dataset.test_fraction or study.test_fraction)))
    elif protocol == "crossval":
        rows -= rows // study.folds
    return min(rows, study.max_train or rows)


def _with_base(outlook: data.Outlook, entry: DatasetSpec, folder: Path, store: Store) -> data.Outlook:
    """Return a data set's preview, marked as ready for a plan if bases have results on all its tasks."""
    if outlook.ready or not store.bases:
        return outlook
    known = store.known_data()
    try:
        tasks = data.expand(**entry.entry, base=folder) if outlook.tasks else []
    except InputError:
        return outlook
    if not tasks or any(data_id(task) not in known for task in tasks):
        return outlook
    here = all(map(data.is_here, tasks))
    state = outlook.state if here else "not here, its results come from --base"
    return replace(outlook, ready=True, missing=False, state=state, problem="")


def _planned(study: Study, plan: Plan, outlooks: list[data.Outlook]) -> Counter[tuple[str, Pair]]:
    planned: Counter[tuple[str, Pair]] = Counter()
    for number, (dataset, outlook) in enumerate(zip(study.datasets, outlooks, strict=True)):
        repeated = (outlook.tasks or 0) * sum(_repetitions(plan, dataset))
        tuned = repeated if study.tune_each else (outlook.tasks or 0) * len(study.noise)
        for each in study.algorithms:
            if not each.runs_on(dataset.label):
                continue
            algorithm = with_dataset_parameters(each, dataset, plan.learners[each.label])
            pair = number, algorithm.label
            if algorithm.grid:
                planned["tuning", pair] += tuned * math.prod(map(len, algorithm.grid.values()))
            planned["matched" if algorithm.support_of else "evaluation", pair] += repeated
    return planned


def _repetitions(plan: Plan, dataset: DatasetSpec) -> list[int]:
    """Return the number of repetitions of a data set's tasks, for each level of noise."""
    tasks = [task for task in plan.tasks if plan.datasets[task.label] is dataset]
    # Data that are not parsed yet have no tasks in the plan. Their rows are in files, so they are not drawn
    # by seed.
    drawn = any(data.differs_by_seed(task) for task in tasks)
    return [len(plan.repetitions(dataset, noise, drawn=drawn)) for noise in plan.study.noise]


def _finished(plan: Plan, places: Mapping[str, int], store: Store) -> Finished:
    """Count the planned cells that are in the store; `places` has the indices of data sets by label."""
    found = Finished(Counter(), Counter(), Costs(), Counter())
    if not (store.bases or store.exists()):
        return found
    store.check_version()
    for stage, read in stages(plan, store):
        rows, origin = read(), store.base_of(stage.keys)
        kept = dict(zip(rows["key"], rows[list(COSTS)].to_dict("records"), strict=True))
        found.from_bases.update(origin[key].name for key in stage.keys if key in origin)
        name = "matched" if isinstance(stage, Matched) else "evaluation" if stage.counts else "tuning"
        for group in stage.groups:
            place, algorithm = places[group.spec.dataset.label], group.spec.algorithm
            there = {key: kept[key] for key in group.cell_keys() if key in kept}
            for row in there.values():
                (found.done if row["status"] == "ok" else found.failed)[name, (place, algorithm)] += 1
            # Times of a base's cells do not count: they ran on another machine, or under another load.
            found.costs.learn(row | {"dataset": place} for key, row in there.items() if key not in origin)
    return found


def _covariances(study: Study, plan: Plan, outlooks: list[data.Outlook]) -> dict[str, int]:
    """Return the bytes of the full covariance of each algorithm that has one, on each data set."""
    found = {}
    for dataset, outlook in zip(study.datasets, outlooks, strict=True):
        for each in study.algorithms if outlook.features else ():
            learner = plan.learners[each.label]
            if not each.runs_on(dataset.label) or "covariance" not in learner.parameters:
                continue
            algorithm = with_dataset_parameters(each, dataset, learner)
            default = learner.make({}).get_params().get("covariance")
            chosen = algorithm.lists.get("covariance", [algorithm.fixed.get("covariance", default)])
            if "full" in chosen:
                # With more than two classes, each class has its own block of rows and columns in the
                # covariance.
                side = (outlook.features or 0) * (outlook.classes if outlook.classes > 2 else 1)
                found[f"{each.label} on {outlook.label}, {side:,} × {side:,}"] = 8 * side**2
    return found


# The memory of a grid's models is shown if it is at least this many bytes; tables and the interpreter alone
# take as much.
_SHOWN_BYTES = 1 << 28


def _grids(study: Study, plan: Plan, outlooks: list[data.Outlook]) -> dict[str, int]:
    """Return the bytes that the models of each large parameter grid take at a time, on each data set.

    Up to LANES points of a grid learn together in one pass over the rows, with two copies of their models in
    memory. A learner that tunes its grid along the stream keeps the models of all points, and second copies
    of those that learn together. A model of a kernel learner stores rows, at most all that a cell learns;
    while models learn together, their rows are stored once more.
    """
    found = {}
    for dataset, outlook in zip(study.datasets, outlooks, strict=True):
        for each in study.algorithms if outlook.features else ():
            learner = plan.learners[each.label]
            stores_rows = learner.built_in and getattr(learner.factory, "only_adds", False)
            if not ((learner.linear or stores_rows) and each.lists and each.runs_on(dataset.label)):
                continue
            lists = with_dataset_parameters(each, dataset, learner).lists
            n = math.prod(len(values) for name, values in lists.items() if name != "epochs")
            first = {name: values[0] for name, values in lists.items()}
            model = learner.make({**each.fixed, **first}, classes=None)
            if getattr(model, "covariance", "diagonal") == "full":
                continue
            alive, shared = (n, -(-n // LANES)) if each.tune in TUNERS else (min(n, LANES), 1)
            if stores_rows:
                rows = 1 - outlook.n_test / max(outlook.rows or 1, 1)
                table = max(outlook.n_bytes.values(), default=0)
                n_bytes = int((alive + shared) * rows * table) if n > 1 else 0
            else:
                n_models = alive + min(n, LANES)
                n_bytes = n_models * model.state_bytes(outlook.classes, outlook.features)
            if n_bytes >= _SHOWN_BYTES:
                what = ", stored rows alone" if stores_rows else ""
                found[f"{each.label} on {outlook.label}, {n:,} points{what}"] = n_bytes
    return found


# Largest number of data sets listed.
DATASETS_SHOWN = 20


def show_outline(found: StudyOutline) -> None:
    """Print the outline of a study: its cells, data sets, memory and time, and warnings."""
    study = found.study
    counts = {
        "data set": len(found.outlooks),
        "algorithm": len(study.algorithms),
        "noise level": len(study.noise),
        "seed": found.repetitions,
    }
    counted = ", ".join(count(n, name) for name, n in counts.items())
    if repeats := len(study.seeds) - found.repetitions:
        counted += f" ({repeats} more would give equal results: rows in their given order, without noise)"
    put(f"{study.name}: {counted}; results in {found.out}\n")
    _show_cells(found)
    if from_bases := found.finished.from_bases:
        total = f"{found.planned.total():,}"
        put(" and ".join(f"{n:,} of {total} cells from {name}" for name, n in from_bases.items()) + "\n")
    _show_data(found)
    for line in (
        *_memory(found),
        *_random_reads(found),
        *(f"values   {label}: {line}" for label, line in found.cautions),
        *_scales(found),
        *_time(found),
        *_missing(found),
        *_budgets(found),
        *_untuned_queries(found),
        *_late_labels(found),
        *_unlearned(found),
        *(f"failing  {line}" for line in found.unloadable),
    ):
        put(line)


def _show_cells(found: StudyOutline) -> None:
    columns = ("planned", "done", "failed", "left")
    lines = table("cells", *columns, right=columns)
    counters = (found.planned, found.finished.done, found.finished.failed, found.left())
    for stage in STAGES:
        sums = [sum(n for (name, _), n in counter.items() if name == stage) for counter in counters]
        if sums[0]:
            lines.add_row(*plain(stage, *(f"{n:,}" for n in sums)))
    lines.add_row(*plain("together", *(f"{counter.total():,}" for counter in counters)))
    put(lines)
    put()


def _show_data(found: StudyOutline) -> None:
    right = ("tasks", "rows", "features", "in memory")
    lines = table("data set", *right, "state", right=right)
    for outlook, entry in [*zip(found.outlooks, found.study.datasets, strict=True)][:DATASETS_SHOWN]:
        name = outlook.label if entry.task == "auto" else f"{outlook.label}, {entry.task}"
        size = decimal(sum(outlook.n_bytes.values())) if outlook.n_bytes else "?"
        numbers = ("?" if n is None else f"{n:,}" for n in (outlook.tasks, outlook.rows, outlook.features))
        lines.add_row(*plain(name, *numbers, size, outlook.state.partition(":")[0]))
    more = len(found.outlooks) - DATASETS_SHOWN
    put(lines)
    put(f"… and {more:,} more\n" if more > 0 else "")


def _memory(found: StudyOutline) -> Iterator[str]:
    kept: dict[str, int] = {}
    own: dict[str, int] = {}
    for outlook in found.outlooks:
        if outlook.by_number:
            size = decimal(sum(outlook.n_bytes.values()))
            yield (
                f"memory   {outlook.label}: {size} in the cache folder, unless cells draw the rows while "
                'they learn (order = "given", no noise, the metric error alone)'
            )
        else:
            (kept if outlook.kept else own).update(outlook.n_bytes)
    if kept:
        yield (
            f"memory   tables of {decimal(sum(kept.values()))}, the largest {decimal(max(kept.values()))}: "
            "mapped files, which all workers of a machine share"
        )
    if own:
        yield (
            f"memory   bundled and generated tables of up to {decimal(max(own.values()))}: each worker keeps "
            "a copy of the one that it used last"
        )
    if unknown := sum(not outlook.n_bytes for outlook in found.outlooks):
        yield f"memory   of {count(unknown, 'data set')} unknown until parsed"
    if found.covariances:
        name, largest = max(found.covariances.items(), key=lambda item: item[1])
        yield f"memory   full covariances, one in each thread: about {decimal(largest)} at most ({name})"
    if found.grids:
        name, largest = max(found.grids.items(), key=lambda item: item[1])
        yield f"memory   models of a grid, in each thread: about {decimal(largest)} at most ({name})"


def _random_reads(found: StudyOutline) -> Iterator[str]:
    """Yield a warning for each data set whose table exceeds memory and is read in random order."""
    memory = psutil.virtual_memory().total
    for outlook, entry in zip(found.outlooks, found.study.datasets, strict=True):
        size = max(outlook.n_bytes.values(), default=0)
        if outlook.kept and size > memory and found.study.order_of(entry) == "shuffled":
            yield (
                f"memory   {outlook.label}: its table of {decimal(size)} does not fit into this machine's "
                f"{decimal(memory)}, and a shuffled order reads the disk at random, row by row: set "
                'order = "blocks" or "given"'
            )


def _scales(found: StudyOutline) -> Iterator[str]:
    for label, text in found.scales.items():
        yield f"scales   {label}: {text}"


def _time(found: StudyOutline) -> Iterator[str]:
    left = found.left()
    if not left and not any(outlook.tasks is None for outlook in found.outlooks):
        yield "time     all cells are finished"
        return
    seconds = found.seconds_left()
    if seconds is None:
        unread = found.stored and any(not outlook.ready for outlook in found.outlooks)
        yield f"time     unknown: no {'counted cell has finished' if unread else 'cell has finished yet'}"
        return
    cores = joblib.cpu_count()
    pairs = {pair for _, pair in left}
    tried = found.finished.tried
    how, guessed = "estimated from finished cells", sum(pair not in found.finished.costs for pair in pairs)
    if tried:
        kinds = {each.label: kind_of(each) for each in found.study.algorithms}
        covered = sum(kind in tried for kind in kinds.values())
        number = f"{covered:,} of {count(len(kinds), 'algorithm')}"
        how = f"roughly estimated from short trial cells of {number}"
        guessed = sum(kinds[label] not in tried for _, label in pairs)
    if guessed:
        how += f"; {guessed:,} of {count(len(pairs), 'pair')} of data set and algorithm from times of others"
    about = f"about {span(seconds)} of one thread, {span(seconds / cores)} with this machine's {cores}"
    yield f"time     {about if seconds >= 1 else 'less than a second'}, {how}"


def _missing(found: StudyOutline) -> Iterator[str]:
    for outlook in found.outlooks:
        if outlook.missing:
            stored = "; its finished cells, if any, are not counted" if found.stored else ""
            yield f"missing  {outlook.label}: {outlook.state}{stored}"
        elif outlook.tasks is None:
            yield f"unknown  {outlook.label}: number of tasks, until it is parsed; its cells are not counted"
        elif found.stored and not outlook.ready:
            yield f"unread   {outlook.label}: its finished cells, if any, are not counted until it is parsed"


def _budgets(found: StudyOutline) -> Iterator[str]:
    """Yield a line for each budget of support vectors that exceeds the number of rows."""
    for outlook in found.outlooks:
        for each in found.study.algorithms if outlook.rows else ():
            given = each.lists.get("budget", [each.fixed.get("budget", 0)])
            large = [value for value in given if isinstance(value, int) and value > (outlook.rows or 0)]
            if large and each.runs_on(outlook.label):
                yield (
                    f"budget   {each.label}: {max(large):,} is more than the {outlook.rows:,} rows of "
                    f"{outlook.label}, so no support vector is ever removed; set a smaller budget"
                )


def _untuned_queries(found: StudyOutline) -> Iterator[str]:
    """Yield a line for each algorithm with a query whose grid does not follow the study's `tune`."""
    tuned = {label for stage, (_, label) in found.planned if stage == "tuning"}
    for each in found.study.algorithms if found.study.tune in TUNERS else ():
        if each.query is not None and each.tune is None and each.label in tuned:
            yield (
                f"tune     {each.label}: tune = {found.study.tune!r} does not work with query, so its grid "
                "is tuned as with tune = 'seed'; set that for the algorithm"
            )


def _late_labels(found: StudyOutline) -> Iterator[str]:
    """Yield a line for each data set without a label before its last prediction, or before that of grids."""
    study = found.study
    tuned = {number for stage, (number, _) in found.planned if stage == "tuning"}
    for number, (outlook, entry) in enumerate(zip(found.outlooks, study.datasets, strict=True)):
        rows, late = rows_of_task(study, entry, outlook), study.late
        judging = study.course_of(entry, tuned=True).prefix(rows)
        judging = judging or min(rows, entry.max_tune or study.max_tune or rows)
        # The label of the first row is learned after row `late`, counted from 0.
        if late and 0 < rows <= late + 1:
            yield (
                f"delay    {outlook.label}: no prediction along a stream of {rows:,} rows uses a label "
                f"(delay = {study.delay:,}); set a smaller delay"
            )
        elif late and number in tuned and study.judge_of(entry) == "online" and 0 < judging <= late + 1:
            key = "tune_fraction" if study.order_of(entry) == "given" else "max_tune"
            yield (
                f"delay    {outlook.label}: grids are judged on {judging:,} rows that are predicted before "
                f"any label comes (delay = {study.delay:,}), so their winners say nothing; set a smaller "
                f"delay, or a larger {key}"
            )


def _unlearned(found: StudyOutline) -> Iterator[str]:
    for label, (name, limits) in found.unlearned.items():
        yield (
            f"classes  {label}: class {name!r} is tested but not learned, because {limits} leaves none of "
            f"its rows; set a larger {limits}"
        )
