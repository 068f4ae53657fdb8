"""Test that objects and classes of a notebook run on threads and in processes, and that cells are reused."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from nbclient import NotebookClient
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

from singlepass.learners.guests.given import Given, digest_of, give
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.schema import PROVENANCE
from singlepass.pipeline.study.cell import Execution
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.workers.subprocess_runner import run_in_subprocess
from singlepass.workflows import Results, Study, compare, load, run
from singlepass.workflows.report import write_report

linear_model = pytest.importorskip("river.linear_model", reason="needs river: the extra `test`")
forest = pytest.importorskip("river.forest")
preprocessing = pytest.importorskip("river.preprocessing")
ensemble = pytest.importorskip("river.ensemble")
compat = pytest.importorskip("river.compat")
river_base = pytest.importorskip("river.base")
river_compose = pytest.importorskip("river.compose")

X, Y = load_breast_cancer(return_X_y=True)
DATA = {"mine": (X, Y)}
# A minimal learner that uses a helper and a global value of the notebook.
CELL = """
import numpy as np

SHARE = 0.5

def votes(labels):
    return np.mean(labels) > SHARE

class Majority:
    def __init__(self, last=10):
        self.last, self.labels = last, []

    def partial_fit(self, X, y):
        self.labels = [*self.labels, *y][-self.last:]

    def predict(self, X):
        return np.full(len(X), int(votes(self.labels)) if self.labels else 0)
"""


def cell(source: str = CELL) -> dict[str, Any]:
    """Execute a cell as a notebook does, so that nothing in it can be imported."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(source, names)
    return names


def three() -> dict[str, Any]:
    return {
        "river": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        "pipeline": make_pipeline(Normalizer(), StandardScaler(), SGDClassifier(loss="log_loss")),
        "class": cell()["Majority"],
    }


def found(algorithms: Any, out: Path | None = None, **keys: Any) -> Results:
    return compare(DATA, algorithms, seeds=2, noise=0.1, out=out, progress=False, **keys)


def in_order(results: Results) -> pd.DataFrame:
    return results.cells.drop(columns=[*PROVENANCE]).sort_values("key", ignore_index=True)


def computed(first: Results, again: Results) -> int:
    """Return how many cells the second run computed."""
    before, after = (each.cells.set_index("key")["started"] for each in (first, again))
    return sum(key not in before or before[key] != started for key, started in after.items())


@pytest.fixture(scope="module")
def on_threads(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return found(three(), tmp_path_factory.mktemp("threads"))


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_notebook_objects_run_on_threads(on_threads: Results) -> None:
    cells = on_threads.cells
    assert (cells["status"] == "ok").all()
    assert len(cells) == 6
    assert {name.partition("-")[0] for name in cells["learner"]} == {
        "object:LogisticRegression",
        "object:SGDClassifier",
        "object:Majority",
    }
    # The learners learn: always predicting the majority class errs on a third.
    errors = (cells["mistakes_clean"] / cells["n_examples"]).groupby(cells["algorithm"]).mean()
    assert errors["river"] < 0.1
    assert errors["pipeline"] < 0.2
    assert errors["class"] < 0.5


@pytest.mark.slow
def test_notebook_objects_run_in_other_processes(on_threads: Results, client: Client) -> None:
    there = found(three(), client=client)
    assert (there.cells["status"] == "ok").all()
    pd.testing.assert_frame_equal(in_order(there), in_order(on_threads), check_exact=True)


def test_a_river_object_counts_as_by_its_own_loop() -> None:
    results = compare({"mine": {"X": X, "y": Y}}, three()["river"], seeds=1, order="given", progress=False)
    model, mistakes = three()["river"], 0
    for row, label in zip(X.tolist(), Y, strict=True):
        features = dict(enumerate(row))
        mistakes += bool(model.predict_one(features)) != bool(label)
        model.learn_one(features, bool(label))
    assert results.cells["mistakes_clean"].tolist() == [mistakes]


def voting() -> Any:
    return ensemble.VotingClassifier([linear_model.LogisticRegression(), linear_model.Perceptron()])


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        voting,
        lambda: preprocessing.StandardScaler() | voting(),
        lambda: ensemble.StackingClassifier([linear_model.Perceptron()] * 2, linear_model.Perceptron()),
        lambda: compat.SKL2RiverClassifier(SGDClassifier(random_state=0), [False, True]),
    ],
)
def test_models_in_a_trained_river_object_start_untrained(make: Any) -> None:
    trained = make()
    for row, label in zip(X[:50].tolist(), Y[:50], strict=True):
        trained.learn_one(dict(enumerate(row)), bool(label))
    fresh, again = (
        in_order(compare(DATA, each, order="given", seeds=1, progress=False)) for each in (make(), trained)
    )
    assert again.equals(fresh)


def test_models_in_a_list_get_the_seeds_of_the_study() -> None:
    model = ensemble.VotingClassifier([forest.ARFClassifier(n_models=3), forest.ARFClassifier(seed=7)])
    given = give(model)
    assert not given.changed
    assert given.name != give(ensemble.VotingClassifier([forest.ARFClassifier(3, seed=0), model[1]])).name
    assert list(given.factory.__signature__.parameters) == ["random_state"]
    copied, again = given.factory(random_state=5), given.factory(random_state=5)
    assert copied[0].seed == again[0].seed is not None
    assert copied[1].seed == 7
    # Members of nested ensembles differ, too.
    pair = ensemble.VotingClassifier([forest.ARFClassifier(), forest.ARFClassifier()])
    nested = give(ensemble.VotingClassifier([pair, forest.ARFClassifier()])).factory(random_state=5)
    assert len({nested[0][0].seed, nested[0][1].seed, nested[1].seed, None}) == 4


def test_a_model_listed_twice_remains_one_model() -> None:
    model = linear_model.LogisticRegression()
    twice, separate = (ensemble.VotingClassifier([model, each]) for each in (model, model.clone()))
    copied = give(twice).factory()
    assert copied[0] is copied[1] is not model
    assert give(twice).name != give(separate).name


def test_the_classes_of_steps_in_a_river_pipeline_are_in_its_name() -> None:
    def own(constant: int) -> Any:
        class Own(river_base.Classifier):  # type: ignore[misc]
            def learn_one(self, x: Any, y: Any) -> None: ...

            def predict_one(self, x: Any) -> Any:
                return constant

        return preprocessing.MinMaxScaler() | Own()

    def named(scaler: Any) -> Any:
        return river_compose.Pipeline(("scale", scaler), ("model", linear_model.LogisticRegression()))

    minmax, maxabs = preprocessing.MinMaxScaler, preprocessing.MaxAbsScaler
    for make, first, other in ((own, 1, 2), (named, minmax(), maxabs())):
        one, same, two = (make(each) for each in (first, first, other))
        assert give(one).name == give(same).name != give(two).name
        bagged = [ensemble.BaggingClassifier(each, n_models=2, seed=1) for each in (one, same, two)]
        assert give(bagged[0]).name == give(bagged[1]).name != give(bagged[2]).name


def test_an_own_river_model_may_have_a_parameter_steps() -> None:
    class Own(river_base.Classifier):  # type: ignore[misc]
        def __init__(self, steps: Any) -> None:
            self.steps = steps

        def learn_one(self, x: Any, y: Any) -> None: ...

        def predict_one(self, x: Any) -> Any:
            return self.steps

    assert give(Own(3)).name == give(Own(3)).name != give(Own([1, 2])).name


class Models(NamedTuple):
    first: Any
    second: Any


class Several(river_base.Classifier):  # type: ignore[misc]
    def __init__(self, models: Any) -> None:
        self.models = models

    def learn_one(self, x: Any, y: Any) -> None: ...

    def predict_proba_one(self, x: Any) -> Any: ...


@pytest.mark.parametrize(
    "models",
    [
        Models(linear_model.LogisticRegression(), 1),
        OrderedDict(first=linear_model.LogisticRegression()),
        defaultdict(int, first=linear_model.LogisticRegression()),
    ],
)
def test_containers_of_models_keep_their_class(models: Any) -> None:
    copied = give(Several(models)).factory().models
    assert type(copied) is type(models)
    assert len(copied) == len(models)


def test_models_of_scikit_learn_in_river_objects_get_the_seed_of_the_study() -> None:
    model = compat.SKL2RiverClassifier(SGDClassifier(), [False, True])
    factory = give(model).factory
    assert list(factory.__signature__.parameters) == ["random_state"]
    first, again, other = (factory(random_state=state).estimator.random_state for state in (5, 5, 6))
    assert first == again != other
    # Its cells of earlier versions, whose draws no seed repeats, have another key.
    earlier = digest_of([type(model), model._get_params()])[0]
    assert give(model).name != f"object:SKL2RiverClassifier-{earlier[:16]}"


RANDOM = """
import numpy as np

class Coin:
    def __init__(self, random_state=None):
        self.random_state = random_state

    def partial_fit(self, X, y):
        self.rng = getattr(self, "rng", None) or np.random.default_rng(self.random_state)

    def predict(self, X):
        return self.rng.integers(2, size=len(X)) if hasattr(self, "rng") else [0] * len(X)
"""


def test_an_object_without_a_seed_gets_that_of_the_study() -> None:
    Coin = cell(RANDOM)["Coin"]
    given, as_class = (
        compare(DATA, each, order="given", seeds=3, progress=False).cells["mistakes"].tolist()
        for each in (Coin(), Coin)
    )
    assert len(set(given)) == 3
    assert given == as_class
    # Its cells of earlier versions, whose draws no seed repeats, have another key.
    assert give(Coin()).name != f"object:Coin-{digest_of(Coin())[0][:16]}"
    assert give(Coin(3)).factory().random_state == 3


SEALED = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Frozen:
    seed: int | None = None
    def partial_fit(self, X, y): ...
    def predict(self, X): ...

class Fixed:
    seed = property(lambda self: None)
    def __init__(self, seed=None): ...
    partial_fit, predict = Frozen.partial_fit, Frozen.predict
"""


@pytest.mark.parametrize("name", ["Frozen", "Fixed"])
def test_an_object_whose_seed_cannot_be_set_is_copied(name: str) -> None:
    made = cell(SEALED)[name]()
    given = give(made)
    assert not given.factory.__signature__.parameters
    assert given.factory().seed is None
    assert given.name == f"object:{name}-{digest_of(made)[0][:16]}"


@pytest.mark.slow
def test_a_pipeline_counts_as_by_its_own_loop() -> None:
    results = compare(
        {"mine": {"X": X, "y": Y}},
        make_pipeline(StandardScaler(), SGDClassifier(random_state=3)),
        seeds=1,
        order="given",
        progress=False,
    )
    scaler, learner, mistakes = StandardScaler(), SGDClassifier(random_state=3), 1
    for t in range(len(Y)):
        row = X[t : t + 1]
        if t:
            mistakes += int(learner.predict(scaler.transform(row))[0] != Y[t])
        learner.partial_fit(scaler.partial_fit(row).transform(row), Y[t : t + 1], classes=[0, 1])
    assert results.cells["mistakes_clean"].tolist() == [mistakes]


def test_unchanged_code_is_reused(on_threads: Results) -> None:
    out = Path(on_threads.out)
    assert computed(on_threads, found(three(), out)) == 0
    # Whether the object was trained before does not matter.
    trained = three()
    trained["river"].learn_one({0: 1.0}, True)
    assert computed(on_threads, found(trained, out)) == 0
    # A comment and other line numbers change nothing.
    moved = three() | {"class": cell("# Moved.\n\n" + CELL)["Majority"]}
    assert computed(on_threads, found(moved, out)) == 0


@pytest.mark.parametrize(
    ("label", "changed"),
    [
        ("river", lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(l2=0.1)),
        ("pipeline", lambda: make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss"))),
        ("class", lambda: cell(CELL.replace("SHARE = 0.5", "SHARE = 0.4"))["Majority"]),
        ("class", lambda: cell(CELL.replace("> SHARE", ">= SHARE"))["Majority"]),
        ("class", lambda: cell(CELL.replace("last=10", "last=11"))["Majority"]),
        ("class", lambda: cell()["Majority"](11)),
    ],
)
def test_changed_code_is_another_learner(label: str, changed: Any) -> None:
    before, after = ({e.label: e.name for e in Study(datasets=DATA, algorithms=each).valid.algorithms}
                     for each in (three(), three() | {label: changed()}))  # fmt: skip
    assert {name for name in before if before[name] != after[name]} == {label}


DECORATED = """
import functools

def rule(x, k=0):
    return k * x

class Times:
    def __init__(self, function, k):
        functools.update_wrapper(self, function)
        self.k = k

    def __call__(self, x):
        return self.k * x
"""


@pytest.mark.parametrize(
    "code",
    [
        "vote = functools.update_wrapper(functools.partial(rule, k={}), rule)",
        "vote = Times(rule, {})",
        "import numba\nvote = numba.njit(rule, fastmath={} == 2)",
        "import numba\nvote = numba.njit(rule, fastmath={{('nnan', 'ninf')[{} - 1]}})",
        "import numba\nvote = numba.njit(rule, error_model=('python', 'numpy')[{} - 1])",
    ],
)
def test_all_values_of_a_wrapper_count(code: str) -> None:
    source = CELL.replace("int(votes", "int(vote(1) + votes") + DECORATED
    names = [give(cell(f"{source}{code.format(k)}\n")["Majority"]).name for k in (1, 1, 2)]
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize(
    "codes",
    [
        ("import numpy\nMajority.rule = numpy.abs", "import numpy\nMajority.rule = numpy.log1p"),
        ("from scipy.special import expit\nMajority.rule = expit", "import numpy\nMajority.rule = numpy.exp"),
        ("import re\nMajority.rule = re.compile('a')", "import re\nMajority.rule = re.compile('b')"),
        ("Majority.rule = int | None", "Majority.rule = float | None"),
    ],
)
def test_values_that_pickle_has_a_function_for_count(codes: tuple[str, str]) -> None:
    names = [give(cell(f"{CELL}\n{code}\n")["Majority"]).name for code in (*codes, codes[0])]
    assert names[0] == names[2] != names[1]


def test_the_order_in_which_a_set_was_filled_does_not_matter() -> None:
    """Objects of one hash are in this order, others in that of hashes, which differ between processes."""
    code = CELL + "class P:\n    def __init__(self, n): self.n = n\n    def __hash__(self): return 0\n"
    names = [
        give(cell(f"{code}Majority.tags = frozenset([P({a}), P({b})])")["Majority"]).name
        for a, b in ((1, 2), (2, 1), (1, 3))
    ]
    assert names[0] == names[1] != names[2]


def test_objects_with_sets_of_each_other_are_named() -> None:
    """The time must not grow factorially, as it would if the elements of all their sets were listed."""
    code = """
class P:
    def __init__(self, n): self.n = n

points = [P(n) for n in range(12)]
for point in points:
    point.others = set(points) - {point}
Majority.points = set(points)
"""
    assert give(cell(CELL + code)["Majority"]).name == give(cell(CELL + code)["Majority"]).name


def test_calls_that_a_decorator_counts_do_not_change_a_learner() -> None:
    code = """
import functools

def counted(function):
    @functools.wraps(function)
    def inner(*args):
        inner.calls = getattr(inner, "calls", 0) + 1
        return function(*args)
    return inner

votes = counted(votes)
"""
    names = cell(CELL + code)
    given = give(names["Majority"])
    names["votes"]([0, 1])
    assert not given.changed


@pytest.mark.slow
def test_names_are_equal_in_every_process(tmp_path: Path) -> None:
    page = CELL + (
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.linear_model import SGDClassifier\n"
        "from sklearn.preprocessing import FunctionTransformer\n"
        "from singlepass.learners.guests.given import give\n"
        "learner = make_pipeline(FunctionTransformer(lambda X: X / {1.0, 2.0, 3.0}.pop()), SGDClassifier())\n"
        "print(give(Majority).name, give(Majority(3)).name, give(learner).name)\n"
        "import enum\n"
        "kind = enum.Enum('kind', 'a b c d')\n"
        "Majority.sets = {frozenset([each, kind.a]) for each in kind}, set(kind), {('a', 1), ('b', 2)}\n"
        "print(give(Majority).name)\n"
    )
    (tmp_path / "page.py").write_text(page)
    said = {
        subprocess.run(
            [sys.executable, "page.py"],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(said) == 1


@pytest.mark.slow
def test_results_are_read_without_the_objects(on_threads: Results, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from singlepass.workflows import load\n"
        "from singlepass.workflows.report import write_report\n"
        "write_report(sys.argv[1], sys.argv[2])\n"
        "print(load(sys.argv[1]).ranks().to_csv())\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, on_threads.out, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == load(on_threads.out).ranks().to_csv().strip()
    assert "pipeline" in (tmp_path / "report.html").read_text()
    write_report(on_threads.out, tmp_path)


@pytest.mark.slow
def test_parameters_of_a_pipeline_and_of_a_class_have_grids(tmp_path: Path) -> None:
    results = found(
        [
            {"name": three()["pipeline"], "label": "tuned", "sgdclassifier__alpha": [1e-4, 1e-2]},
            {"name": cell()["Majority"], "last": [1, 20], "label": "votes"},
            {"name": three()["pipeline"], "label": "in batches", "batch": 32},
        ],
        tmp_path,
    )
    assert (results.cells["status"] == "ok").all()
    assert (results.cells["stage"] == "tune").sum() == 4


def test_draws_come_from_the_repetition() -> None:
    # Its trees draw random numbers, within a pipeline step.
    def drawing() -> Any:
        return preprocessing.StandardScaler() | forest.ARFClassifier(n_models=2)

    first, again = (
        compare({"mine": (X[:200], Y[:200])}, drawing(), order="given", noise=0.0, seeds=2, progress=False)
        for _ in range(2)
    )
    assert len(first.cells) == 2
    pd.testing.assert_frame_equal(in_order(first), in_order(again), check_exact=True)
    assert first.cells["mistakes_clean"].nunique() == 2


@pytest.mark.slow
def test_functions_of_a_cell_and_objects_within_objects(client: Client) -> None:
    shift = cell("def shift(X):\n    return X + 1.0")["shift"]
    algorithms = {
        "function": make_pipeline(FunctionTransformer(shift), SGDClassifier()),
        "within": OneVsRestClassifier(SGDClassifier()),
        "instance": cell()["Majority"](5),
        "last step": make_pipeline(StandardScaler(), cell()["Majority"](5)),
    }
    here, there = found(algorithms), found(algorithms, client=client)
    assert (here.cells["status"] == "ok").all()
    pd.testing.assert_frame_equal(in_order(there), in_order(here), check_exact=True)


def test_a_plain_object_is_written_as_in_a_study_file() -> None:
    study = Study(datasets=DATA, algorithms=[linear_model.LogisticRegression(l2=0.1), SGDClassifier()])
    assert [each.name for each in study.valid.algorithms] == [
        "river.linear_model:LogisticRegression",
        "sklearn.linear_model:SGDClassifier",
    ]


HOLDS_A_UFUNC = CELL + (
    "\ndef twice(x): return 2 * x\nclass Doubled(Majority):\n    rule = np.frompyfunc(twice, 1, 1)\n"
)
HOLDS_A_LOCK = CELL + "\nimport threading\nclass Locked(Majority):\n    lock = threading.Lock()\n"


@pytest.mark.parametrize(
    ("algorithm", "line"),
    [
        (make_pipeline(PCA(), SGDClassifier()), "step 'pca' (PCA) has no partial_fit"),
        (Pipeline([("one", StandardScaler())]), "step 'one': StandardScaler has no predict"),
        (make_pipeline(StandardScaler(), PCA()), "step 'pca': PCA has no predict"),
        (cell(HOLDS_A_LOCK)["Locked"], "Locked cannot be copied: TypeError: cannot pickle '_thread.lock'"),
        (cell(HOLDS_A_UFUNC)["Doubled"], "Doubled cannot be copied: TypeError: 'twice (vectorized)' of type"),
    ],
)
def test_unusable_objects_are_refused_in_one_line(algorithm: Any, line: str) -> None:
    with pytest.raises(InputError) as error:
        Study(datasets=DATA, algorithms=algorithm)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_study_made_before_its_code_changed_is_refused() -> None:
    names = cell()
    study = Study(datasets=DATA, algorithms=names["Majority"], seeds=1)
    names["SHARE"] = 0.4
    with pytest.raises(InputError, match="'Majority': code or values that it uses have changed"):
        run(study, progress=False)


# Objects of the learner contain an object of another class, which its code names.
HELPER = CELL.replace("self.last,", "self.own = Own(); self.last,") + "\nclass Own:\n    pass\n"


@pytest.mark.slow
@pytest.mark.parametrize("source", [CELL, HELPER, HELPER + "\nMajority.shared = Own()\n"])
@pytest.mark.parametrize("order", [("class", "object"), ("object", "class"), ("class",)])
def test_an_object_does_not_change_the_key_of_its_class(source: str, order: tuple[str, ...]) -> None:
    def made() -> dict[str, Any]:
        own = cell(source)["Majority"]
        return {"class": own, "object": own()}

    alone = {label: give(made()[label]).name for label in order}
    together = made()
    study = Study(datasets=DATA, algorithms={label: together[label] for label in order}, seeds=1)
    copy.deepcopy(together["object"])
    assert {each.label: each.name for each in study.valid.algorithms} == alone
    assert (run(study, progress=False).cells["status"] == "ok").all()


def test_a_missing_object_is_named() -> None:
    study = Study(datasets=DATA, algorithms=cell()["Majority"], seeds=1)
    table = study.table
    table["algorithms"][0]["name"] = "object:Majority-0000000000000000"
    with pytest.raises(InputError, match="run the cell that makes it"):
        run(table, progress=False)


def test_objects_are_copied() -> None:
    mine = cell()["Majority"](5)
    given = give(mine)
    mine.labels.append(1)
    assert given.factory().labels == []
    assert np.array_equal(given.factory().predict(X[:2]), [0, 0])


@pytest.mark.slow
def test_a_subprocess_receives_the_object() -> None:
    study = Study(datasets="breast-cancer", algorithms=cell()["Majority"], seeds=1).valid
    [planned] = make_plan(study).evaluation_cells({})
    here, apart = run_cell(planned), run_in_subprocess(planned)
    assert apart.row["status"] == "ok"
    assert apart.row["mistakes_clean"] == here.row["mistakes_clean"]


def test_objects_that_cannot_be_unpickled_fail_their_cells() -> None:
    study = Study(datasets="breast-cancer", algorithms=cell()["Majority"], seeds=1).valid
    [planned] = make_plan(study).evaluation_cells({})
    name = "object:Elsewhere-0123456789abcdef"
    # Imitate a class whose module exists only on the notebook's machine.
    given = Given(name, (), sent=pickle.dumps(Fraction(1)).replace(b"fractions", b"fractious"))
    spec = replace(planned.spec, learner=name)
    sent = pickle.loads(pickle.dumps(replace(planned, spec=spec, execution=Execution(given=given))))
    row = run_cell(sent).row
    assert row["status"] == "failed"
    assert "cannot be unpickled here: ModuleNotFoundError: No module named 'fractious'" in row["error"]


# Ignore warnings about Jupyter's own packages.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_cells_of_a_real_notebook(tmp_path: Path) -> None:
    begin = (
        "from distributed import Client, LocalCluster\n"
        "from river import linear_model, preprocessing\n"
        "from sklearn.linear_model import SGDClassifier\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import StandardScaler\n"
        "from singlepass.workflows import compare\n"
        "def again(**keys):\n"
        "    algorithms = {\n"
        "        'river': preprocessing.StandardScaler() | linear_model.LogisticRegression(),\n"
        "        'pipeline': make_pipeline(StandardScaler(), SGDClassifier()),\n"
        "        'class': Majority,\n"
        "    }\n"
        "    found = compare('breast-cancer', algorithms, seeds=1, progress=False, **keys)\n"
        "    assert (found.cells['status'] == 'ok').all(), found.cells['error'].tolist()\n"
        "    return set(found.cells['started']), set(found.cells['key'])\n"
    )
    sources = [
        begin,
        CELL,
        "first, keys = again(out='out')",
        # Execute the cell again.
        CELL,
        "assert again(out='out')[0] == first",
        "with LocalCluster(n_workers=1, dashboard_address=':0') as cluster, Client(cluster) as client:\n"
        "    assert again(client=client)[1] == keys",
        CELL.replace("SHARE = 0.5", "SHARE = 0.4"),
        "assert len(again(out='out')[0] - first) == 1",
    ]
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(
        page, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
