"""The learners of this package, one row each: a new learner needs a file, a row here and a test case.

The rows give the public names of `singlepass.learners`, the names that a study can use, the table in
``docs/learners.md`` and the names that type checkers read (``python -m singlepass.workflows.pages docs`` and
``python -m singlepass.learners`` write these). A learner's module is imported when the learner is first used.
"""

import functools
import importlib
import inspect
from dataclasses import dataclass
from typing import Any, Literal

# Parameters of all learners, and of all kernel learners.
_OF_ALL = ("epochs", "kernel", "gamma", "degree", "coef0")


@dataclass(frozen=True)
class Row:
    """A learner's entry in the table, which can be read without importing the learner's module."""

    name: str
    #: The module of the learner's class, relative to this package or absolute.
    module: str
    #: "features" learners are linear in features that approximate a kernel, and have no support set; a
    #: "baseline" reads labels only; "batch" learners are fitted to the whole training part at once and
    #: predict nothing along the stream; a "strategy" wraps another learner.
    kind: Literal["linear", "kernel", "features", "svm", "baseline", "batch", "strategy"]
    classes: Literal["two", "many"]
    #: Origin, for the table in docs/learners.md.
    source: str
    #: What the table says about the parameters if it says more than their names.
    about_parameters: str = ""
    #: The learner's earlier name, if it was renamed after results were stored; stored results keep that name.
    stored_as: str = ""

    @property
    def is_public(self) -> bool:
        """Whether users import the learner from `singlepass.learners`."""
        return self.module.startswith(".")

    @property
    def parameters(self) -> str:
        """The learner's parameters for the docs, without those that all learners of its kind have."""
        if self.about_parameters:
            return self.about_parameters
        names = [name for name in inspect.signature(self.load()).parameters if name not in _OF_ALL]
        return ", ".join(f"`{name}`" for name in names)

    def load(self) -> Any:
        """Import and return the class."""
        return _load(self.module, self.name)


@functools.cache
def _load(module: str, name: str) -> Any:
    # The result is cached, because every run of a study calls this function.
    return getattr(importlib.import_module(module, __package__), name)


TABLE = (
    Row(
        "Perceptron", ".linear.perceptron", "linear", "many",
        "Rosenblatt 1958; averaged: Freund & Schapire 1999",
    ),
    Row(
        "PassiveAggressive", ".linear.passive_aggressive", "linear", "many",
        "Crammer et al. 2006", '`variant` ("PA", "PA-I", "PA-II"), `C`, `class_weight`',
    ),
    Row(
        "SecondOrderPerceptron", ".linear.second_order_perceptron", "linear", "many",
        "Cesa-Bianchi, Conconi, Gentile 2005",
    ),
    Row(
        "ConfidenceWeighted", ".linear.confidence_weighted", "linear", "many",
        "Dredze, Crammer, Pereira 2008; Crammer, Dredze, Pereira 2008",
    ),
    Row(
        "AROW", ".linear.arow", "linear", "many",
        "Crammer, Kulesza, Dredze 2013",
        '`r`, `loss`, `covariance`, `projection`, `class_weight`, '
        '`constraints` (maximum number of wrong classes in one update: 1, k, "all")',
    ),
    Row("AdaGradRDA", ".linear.adagrad_rda", "linear", "many", "Duchi, Hazan, Singer 2011"),
    Row("ROMMA", ".linear.romma", "linear", "many", "Li, Long 2002"),
    Row("ALMA", ".linear.alma", "linear", "two", "Gentile 2001"),
    Row(
        "OnlineGradientDescent", ".linear.gradient.online_gradient_descent", "linear", "many",
        "Zinkevich 2003; rate \"adagrad\": Duchi, Hazan, Singer 2011",
        '`eta`, `loss` ("hinge", "squared_hinge", "modified_huber", "logistic", "sigmoid", "ramp", '
        '"unhinged", "savage", "tangent"), `rate` ("sqrt", "constant", "adagrad"), `average`, `l2`, `delta`, '
        "`form`, `class_weight`",
    ),
    Row(
        "UnbiasedLoss", ".linear.gradient.unbiased_loss", "linear", "two",
        "Natarajan, Dhillon, Ravikumar, Tewari 2013",
        "`rho_plus`, `rho_minus` (rates of flips), `eta`, `loss`, `rate`, `average`, `l2`, `delta`",
    ),
    Row(
        "CSOGD", ".linear.gradient.cost_sensitive", "linear", "two",
        "Wang, Zhao, Hoi 2014",
        '`variant` ("CSOGD-I", "CSOGD-II"), `rho` (cost of errors on the second class), `eta`',
    ),
    Row(
        "FTRLProximal", ".linear.gradient.ftrl_proximal", "linear", "many",
        "McMahan et al. 2013", '`alpha`, `beta`, `l1`, `l2`, `loss` ("logistic", "hinge")',
    ),
    Row(
        "TruncatedGradient", ".linear.gradient.truncated_gradient", "linear", "many",
        "Langford, Li, Zhang 2009",
    ),
    Row("FOBOS", ".linear.gradient.truncated_gradient", "linear", "many", "Duchi, Singer 2009"),
    Row(
        "RDA", ".linear.gradient.rda", "linear", "many",
        "Xiao 2010", "`l1`, `gamma`, `rho` (enhanced), `sigma` (mixed), `loss`",
    ),
    Row(
        "AdaGradFOBOS", ".linear.gradient.adagrad_fobos", "linear", "many",
        "Duchi, Hazan, Singer 2011 (mirror descent)",
    ),
    Row(
        "OFS", ".linear.feature_selection", "linear", "two",
        "Wang, Zhao, Hoi, Jin 2014", "`B` (features kept), `eta`, `l2`",
    ),
    Row(
        "SOFS", ".linear.feature_selection", "linear", "two",
        "Wu, Hoi, Mei, Yu 2017", "`B` (features kept), `r`",
    ),
    Row("RestartedGradientDescent", ".linear.gradient.tracking", "linear", "many", "Besbes, Gur, Zeevi 2015"),
    Row("RMSProp", ".linear.gradient.tracking", "linear", "many", "Tieleman, Hinton 2012"),
    Row(
        "KT", ".linear.gradient.kt", "linear", "many",
        "Orabona, Pál 2016", '`epsilon`, `scale` ("running", "instance", "none"), `loss`',
    ),
    Row(
        "CoordinateKT", ".linear.gradient.coin_betting", "linear", "many",
        "Orabona, Pál 2016", '`epsilon`, `scale` ("running", "none"), `loss`',
    ),
    Row(
        "COCOB", ".linear.gradient.coin_betting", "linear", "many",
        "Orabona, Tommasi 2017", '`scale` ("running", "none"), `loss`',
    ),
    Row("COCOBBackprop", ".linear.gradient.coin_betting", "linear", "many", "Orabona, Tommasi 2017"),
    Row("FreeGrad", ".linear.gradient.freegrad", "linear", "many", "Mhammedi, Koolen 2020"),
    Row("DoG", ".linear.gradient.dog", "linear", "many", "Ivgi, Hinder, Carmon 2023"),
    Row("DoWG", ".linear.gradient.dog", "linear", "many", "Khaled, Mishchenko, Jin 2023"),
    Row("DAdaptationSGD", ".linear.gradient.dadaptation", "linear", "many", "Defazio, Mishchenko 2023"),
    Row("Mechanic", ".linear.gradient.mechanic", "linear", "many", "Cutkosky, Defazio, Mehta 2023"),
    Row(
        "VowpalWabbitCoin", ".linear.gradient.vowpal_wabbit_coin", "linear", "two",
        "Orabona, Tommasi 2017; Vowpal Wabbit's `--coin`",
    ),
    Row(
        "OnlineNewtonStep", ".linear.gradient.online_newton_step", "linear", "two",
        "Hazan, Agarwal, Kale 2007", '`gamma`, `epsilon`, `loss` ("logistic", "squared_hinge"), `covariance`',
    ),
    Row(
        "SketchedOnlineNewton", ".linear.gradient.sketched_newton", "linear", "two",
        "Luo, Agarwal, Cesa-Bianchi, Langford 2016",
        '`m` (directions), `alpha`, `eta`, `C`, `sketch` ("fd", "oja"), `kappa`',
    ),
    Row(
        "SoftConfidenceWeighted", ".linear.soft_confidence_weighted", "linear", "many",
        "Wang, Zhao, Hoi 2012", '`variant` ("SCW-I", "SCW-II"), `eta`, `C`, `covariance`, `projection`',
    ),
    Row("NAROW", ".linear.narow", "linear", "two", "Orabona, Crammer 2010"),
    Row("NHERD", ".linear.nherd", "linear", "many", "Crammer, Lee 2010"),
    Row(
        "MarginPerceptron", ".linear.margin_perceptron", "linear", "many",
        "Krauth, Mézard 1987; Li et al. 2002 (PAUM); voted: Freund & Schapire 1999; Khardon, Wachman 2007",
        '`tau_plus`, `tau_minus`, `eta`, `output` ("last", "average", "longest", "voted"), '
        "`alpha_bound`, `lam`, `class_weight`",
    ),
    Row("ShiftingPerceptron", ".linear.shifting_perceptron", "linear", "two", "Cesa-Bianchi, Gentile 2006"),
    Row(
        "Ader", ".linear.ader", "linear", "two",
        "Zhang, Lu, Zhou 2018 (improved Ader)", "`T` (rows), `D`, `G`, `loss`",
    ),
    Row("IELLIP", ".linear.iellip", "linear", "two", "Yang, Jin, Ye 2009"),
    Row(
        "BBQ", ".linear.bbq", "linear", "two",
        "Cesa-Bianchi, Gentile, Orabona 2009", "`kappa`; asks for labels by itself",
    ),
    Row(
        "KernelPerceptron", ".kernel.perceptron", "kernel", "many",
        "Freund, Schapire 1999",
        '`margin`; as all kernel learners `kernel` ("rbf", "poly", "linear"), `gamma`, `degree`, `coef0`',
    ),
    Row(
        "KernelPassiveAggressive", ".kernel.passive_aggressive", "kernel", "many",
        "Crammer et al. 2006 (PA-I)",
    ),
    Row("KernelMIRA", ".kernel.mira", "kernel", "many", "Crammer, Singer 2003"),
    Row(
        "RandomizedBudgetPerceptron", ".kernel.budget_perceptron", "kernel", "two",
        "Cavallanti, Cesa-Bianchi, Gentile 2006",
    ),
    Row(
        "RemoveOldestPerceptron", ".kernel.budget_perceptron", "kernel", "two",
        "Dekel, Shalev-Shwartz, Singer 2008", stored_as="ShiftingPerceptron",
    ),
    Row("Forgetron", ".kernel.forgetron", "kernel", "two", "Dekel, Shalev-Shwartz, Singer 2008"),
    Row("DistillCachePerceptron", ".kernel.distill_cache", "kernel", "many", "Crammer, Kandola, Singer 2003"),
    Row("DistillCacheMIRA", ".kernel.distill_cache", "kernel", "many", "Crammer, Kandola, Singer 2003"),
    Row("Projectron", ".kernel.projectron", "kernel", "many", "Orabona, Keshet, Caputo 2008"),
    Row("ProjectronPlusPlus", ".kernel.projectron", "kernel", "two", "Orabona, Keshet, Caputo 2008"),
    Row(
        "KernelSecondOrderPerceptron", ".kernel.second_order", "kernel", "two",
        "Cesa-Bianchi, Conconi, Gentile 2005",
    ),
    Row("KernelAROW", ".kernel.second_order", "kernel", "two", "Crammer, Kulesza, Dredze 2013 (Lemma 1)"),
    Row("KernelALMA", ".kernel.alma", "kernel", "two", "Gentile 2001"),
    Row("NORMA", ".kernel.norma", "kernel", "two", "Kivinen, Smola, Williamson 2004"),
    Row(
        "BOGD", ".kernel.bogd", "kernel", "two",
        "Zhao, Wang, Wu, Jin, Hoi 2012",
        '`budget`, `eta`, `lam`, `gamma_max`, `projection` ("clip", "scale"), `random_state`',
    ),
    Row("BPAS", ".kernel.bpas", "kernel", "two", "Wang, Vucetic 2010 (BPA-S)"),
    Row(
        "BSGD", ".kernel.bsgd", "kernel", "two",
        "Wang, Crammer, Vucetic 2012", '`budget`, `lam`, `maintenance` ("merging", "removal")',
    ),
    Row("NOGD", ".kernel.nogd", "kernel", "two", "Lu, Hoi, Wang, Zhao, Liu 2016"),
    Row(
        "FOGD", ".kernel.fogd", "features", "two",
        "Lu, Hoi, Wang, Zhao, Liu 2016", "`D`, `eta`, `gamma`, `random_state`; rbf",
    ),
    Row("LASVM", ".svm.lasvm", "svm", "two", "Bordes, Ertekin, Weston, Bottou 2005"),
    Row(
        "OnlineModelSelection", ".svm.model_selection", "svm", "two",
        "Levi, Ullman 2009",
        "`C`, `p_value`, `test`, `min_examples`, `gamma_init`, `fit_intercept`, `tau`, `cache_mb`",
    ),
    Row(
        "IncrementalSVM", ".svm.incremental_svm", "svm", "two",
        "Cauwenberghs, Poggio 2000",
        "`C`, `fit_intercept`; exact after every row; its method `unlearn` removes a row",
    ),
    Row(
        "OnlineRampSVM", ".svm.ramp_svm", "svm", "two",
        "Wang, Vucetic 2010", "`C`, `tol`, `min_gain`, `cache_mb`, `max_non_support`",
    ),
    Row(
        "ActiveRampSVM", ".svm.ramp_svm", "svm", "two",
        "Wang, Vucetic 2010", "`C`, `tol`, `min_gain`, `cache_mb`; asks for labels by itself",
    ),
    Row(
        "RetrainedRampSVM", ".svm.ramp_svm", "svm", "two",
        "Wang, Vucetic 2010", "`C`, `tol`, `min_gain`, `cache_mb`, `initial`",
    ),
    Row("MajorityClass", ".baselines", "baseline", "many", "", "none; the most frequent class so far"),
    Row("NoChange", ".baselines", "baseline", "many", "Žliobaitė et al. 2015", "none; the previous label"),
    Row(
        "OfflineRampSVM", ".svm.offline_ramp_svm", "batch", "two",
        "Collobert, Sinz, Weston, Bottou 2006 (CCCP)", "`C`, `tol`, `min_gain`, `cache_mb`, `initial`",
    ),
    Row("SVC", "sklearn.svm", "batch", "many", "scikit-learn's LIBSVM", "as in scikit-learn"),
    Row(
        "QueryAll", ".active", "strategy", "two",
        "Wang, Vucetic 2010", "`learner`; in a study `query` of an algorithm",
    ),
    Row(
        "Greedy", ".active", "strategy", "two",
        "Wang, Vucetic 2010; Guillory, Chastain, Bilmes 2009", "`learner`, `h` (rows per label)",
    ),
    Row(
        "SelectiveSampling", ".selective", "strategy", "two",
        "Cesa-Bianchi, Gentile, Zaniboni 2006; around Passive-Aggressive: Lu, Zhao, Hoi 2016 (PAA)",
    ),
    Row(
        "AdaptiveSelectiveSampling", ".selective", "strategy", "two",
        "Cesa-Bianchi, Gentile, Zaniboni 2006", "`learner` (a linear one), `beta`, `random_state`",
    ),
    Row(
        "RandomQueries", ".selective", "strategy", "two",
        "", "`learner`, `q` (probability for every row), `random_state`",
    ),
    Row(
        "FollowTheLeader", ".tuned", "strategy", "many",
        "Cesa-Bianchi, Lugosi 2006", "`learner`, `grid`; in a study `tune` of an algorithm",
    ),
    Row(
        "ExponentialWeights", ".tuned", "strategy", "many",
        "Cesa-Bianchi, Lugosi 2006", "`learner`, `grid`, `eta`; in a study `tune` of an algorithm",
    ),
    Row(
        "Resetting", ".resetting", "strategy", "many",
        "DDM: Gama et al. 2004; ADWIN: Bifet, Gavaldà 2007",
        '`learner`, `detector` ("ddm", "adwin"); in a study `reset` of an algorithm',
    ),
)  # fmt: skip

#: The rows of the table by learner name, and the names of all learners that a study can use.
ROWS = {row.name: row for row in TABLE}
NAMES = tuple(row.name for row in TABLE if row.kind != "strategy")
