"""The public names of the package and their modules: learners, and functions that the pipeline uses."""

from .table import TABLE

#: The module of each public name of the package: learners, and other names.
MODULES = {row.name: row.module for row in TABLE if row.is_public} | {
    "BaselineCounts": ".numeric.references",
    "KernelClassifier": ".kernel.kernel_classifier",
    "MulticlassClassifier": ".linear.linear_classifier",
    "OnlineClassifier": ".estimator.online_classifier",
    "Passage": ".estimator.pieces",
    "References": ".numeric.references",
    "RunningScale": ".numeric.scaling",
    "StreamLearner": ".contract",
    "as_rows": ".numeric.rows",
    "LANES": ".numeric.lanes",
    "available": ".registry",
    "can_read_once": ".readings",
    "count_wrong": ".numeric.margins",
    "mistakes_of_both": ".numeric.tallies",
    "pairs_in_order": ".numeric.tallies",
    "sum_losses": ".numeric.tallies",
    "tally_classes": ".numeric.tallies",
    "tied_predictions": ".numeric.tallies",
    "wrong_predictions": ".numeric.tallies",
    "learn_grid": ".grid",
    "learn_in_pieces": ".estimator.pieces",
    "learn_together": ".readings",
    "load": ".deployment.saving",
    "load_plugin": ".registry",
    "ordered_rows": ".numeric.orders",
    "reading_of": ".readings",
    "row_range": ".numeric.rows",
    "save": ".deployment.saving",
    "take_rows": ".numeric.orders",
    "to_capymoa": ".deployment.hosts",
    "to_river": ".deployment.hosts",
}
