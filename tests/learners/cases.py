"""The settings with which tests run each learner of the table, and the golden runs that it reproduces."""

import itertools
from typing import NamedTuple

from singlepass.learners.table import TABLE


class Cases(NamedTuple):
    """What the tests of all learners need to know of one."""

    #: Settings: one for each path through the learner's code.
    variants: tuple = ({},)
    #: Further settings, for tests with more than two classes.
    many_classes: tuple = ()
    #: Runs of other implementations that the learner reproduces, each with the learner's settings. They are
    #: recorded in tests/learners/golden under names "ALG.WHO" (algorithm and implementation).
    golden: dict = {}  # noqa: RUF012
    #: Whether the learner's steps depend on the number of earlier rows, including rows without an update.
    counts_rounds: bool = False


def _grid(**choices):
    """Return every combination of values as settings; a value that is a dict contains several settings."""
    made = []
    for values in itertools.product(*choices.values()):
        settings = {}
        for name, value in zip(choices, values, strict=True):
            settings |= value if isinstance(value, dict) else {name: value}
        made.append(settings)
    return tuple(made)


_FULL = {"covariance": "full"}
_DIAGONAL = {"covariance": "diagonal", "projection": "covariance"}
_PRECISION = {"covariance": "diagonal", "projection": "precision"}
_SHAPES = (_FULL, _DIAGONAL, _PRECISION)
_LOSSES = ("squared_hinge", "hinge")
# Parameters of the recorded runs of the learner CW. They have ``eta=0.7`` (those of SCW 0.9), because with
# 0.9 noise makes the covariance Σ of CW with the stdev constraint collapse.
_VARIANCE, _STDEV = {"eta": 0.7, "constraint": "variance"}, {"eta": 0.7, "constraint": "stdev"}

# A small budget of kernel learners, so that they soon have to remove support vectors.
_SMALL = {"budget": 12, "gamma": 0.1}

CASES = {
    "Perceptron": Cases(
        variants=({}, {"average": True}),
        golden={"perceptron.ref": {}, "mc_perceptron_max.ref": {}},
    ),
    "PassiveAggressive": Cases(
        variants=_grid(variant=("PA", "PA-I", "PA-II"), C=(0.5,)),
        golden={"pa.ref": {"variant": "PA"}, "pa1.ref": {"variant": "PA-I"}, "pa2.ref": {"variant": "PA-II"},
                "pa1_weighted_C0.1_2_1.ref": {"variant": "PA-I", "C": 0.1, "class_weight": {1: 2.0}},
                "mc_pa1.ref": {"variant": "PA-I"}, "mc_pa2.ref": {"variant": "PA-II"}},
    ),
    "SecondOrderPerceptron": Cases(
        variants=_grid(a=(0.5,), covariance=("full", "diagonal")),
        golden={"sop.ref": _FULL, "sop_diag.sol": {}},
    ),
    "ConfidenceWeighted": Cases(
        variants=(*_SHAPES, *({**_STDEV, **shape} for shape in _SHAPES)),
        golden={"cw_var_full.ref": _VARIANCE | _FULL, "cw_stdev_full.ref": _STDEV | _FULL,
                "cw_var_diag_cov.ref": _VARIANCE | _DIAGONAL, "cw_stdev_diag_cov.ref": _STDEV | _DIAGONAL,
                "cw_var_diag_inv.ref": _VARIANCE | _PRECISION, "mc_cw_var_diag.sol": _VARIANCE | _PRECISION},
    ),
    "AROW": Cases(
        variants=_grid(r=(0.5,), loss=_LOSSES, shape=_SHAPES),
        # With these values of `constraints`, one update changes the weights of several wrong classes.
        many_classes=_grid(
            r=(0.5,), loss=_LOSSES, projection=("covariance", "precision"), constraints=(2, "all")
        ),
        golden={"arow_full.ref": _FULL, "arow_hinge_full.ref": {"loss": "hinge", **_FULL},
                "arow_diag_cov.ref": _DIAGONAL, "arow_hinge_diag_cov.ref": {"loss": "hinge", **_DIAGONAL},
                "arow_diag_inv.ref": _PRECISION, "arow_hinge_diag_inv.ref": {"loss": "hinge", **_PRECISION},
                "arow_full_weighted_2_0.5.ref": {**_FULL, "class_weight": {1: 2.0, -1: 0.5}},
                "mc_arow_top1_full.ref": _FULL, "mc_arow_top1_diag_inv.ref": _PRECISION,
                "mc_arow_all_diag_inv.ref": {"constraints": "all", **_PRECISION}},
    ),
    "AdaGradRDA": Cases(
        variants=({"eta": 0.5}, {"l1": 0.005}),
        golden={"adagrad_rda.ref": {}, "adagrad_rda_l1_0.01.ref": {"l1": 0.01}},
    ),
    "ROMMA": Cases(
        variants=({}, {"aggressive": True}),
        golden={"romma.ref": {}, "aromma.ref": {"aggressive": True},
                "mc_romma.ref": {}, "mc_aromma.ref": {"aggressive": True}},
    ),
    "ALMA": Cases(
        variants=({"alpha": 0.9}, {"alpha": 1.0}),
        golden={"alma_a0.9.ref": {"alpha": 0.9}},
    ),
    "OnlineGradientDescent": Cases(
        variants=({"eta": 0.5}, {"loss": "logistic", "average": True, "l2": 0.01},
                  {"eta": 0.3, "rate": "adagrad", "average": True},
                  {"eta": 0.3, "rate": "adagrad", "l2": 0.01}),
        golden={"ogd_hinge.ref": {"eta": 1.0}, "ogd_hinge_weighted_2_1.ref": {"class_weight": {1: 2.0}},
                "ogd_hinge_l2_0.01.ref": {"l2": 0.01},
                "ogd_logistic.ref": {"loss": "logistic"},
                "ogd_logistic_average.ref": {"loss": "logistic", "average": True},
                "ogd_logistic_constant_eta0.1.ref": {"loss": "logistic", "rate": "constant", "eta": 0.1},
                "ogd_logistic_adagrad_eta0.1.ref": {"loss": "logistic", "rate": "adagrad", "eta": 0.1},
                "ogd_squared_hinge_eta0.02.ref": {"loss": "squared_hinge", "eta": 0.02},
                "ogd_modified_huber_eta0.1.ref": {"loss": "modified_huber", "eta": 0.1},
                "ogd_sigmoid_eta0.1.ref": {"loss": "sigmoid", "eta": 0.1},
                "ogd_ramp_eta0.02.ref": {"loss": "ramp", "eta": 0.02},
                "ogd_unhinged.ref": {"loss": "unhinged"},
                "ogd_savage_eta0.05.ref": {"loss": "savage", "eta": 0.05},
                "ogd_tangent_eta0.1.ref": {"loss": "tangent", "eta": 0.1},
                "mc_ogd_hinge.ref": {}, "mc_ogd_softmax.ref": {"loss": "logistic"},
                "mc_ogd_softmax_adagrad_eta0.1.ref": {"loss": "logistic", "rate": "adagrad", "eta": 0.1}},
        counts_rounds=True,
    ),
    "UnbiasedLoss": Cases(
        variants=({"rho_plus": 0.2, "rho_minus": 0.1},),
        golden={"unbiased_hinge_0.1_0.1.ref": {"rho_plus": 0.1, "rho_minus": 0.1, "loss": "hinge"},
                "unbiased_logistic_0.3_0.1.ref": {"rho_plus": 0.3, "rho_minus": 0.1}},
        counts_rounds=True,
    ),
    "CSOGD": Cases(
        variants=({}, {"variant": "CSOGD-II", "rho": 0.5}),
        golden={"csogd1_rho2.ref": {}, "csogd2_rho2.ref": {"variant": "CSOGD-II"}},
    ),
    "FTRLProximal": Cases(
        variants=({"alpha": 0.5, "l2": 0.01}, {"alpha": 0.5, "l1": 0.2, "loss": "hinge"}),
        golden={"ftrl_logistic_alpha0.5_l1_0.5_l2_0.1.ref": {"alpha": 0.5, "l1": 0.5, "l2": 0.1},
                "ftrl_logistic_alpha0.5_l1_0.5_l2_0.1.vw": {"alpha": 0.5, "l1": 0.5, "l2": 0.1},
                "mc_ftrl_softmax.ref": {}},
    ),
    "TruncatedGradient": Cases(
        variants=({}, {"theta": 0.3, "K": 3, "rate": "constant"}),
        golden={"truncated_gradient.ref": {}, "mc_truncated_gradient_softmax.ref": {"loss": "logistic"}},
        counts_rounds=True,
    ),
    "FOBOS": Cases(
        variants=({"loss": "logistic"},),
        golden={"fobos.ref": {}, "mc_fobos_hinge.ref": {}},
        counts_rounds=True,
    ),
    "RDA": Cases(
        variants=({"rho": 0.1},),
        golden={"rda_l1.ref": {}, "rda_l1_enhanced.ref": {"l1": 0.001, "gamma": 5.0, "rho": 0.1},
                "rda_l1_mixed.ref": {"gamma": 0.0, "sigma": 1.0}, "mc_rda_l1_hinge.ref": {}},
        counts_rounds=True,
    ),
    "AdaGradFOBOS": Cases(
        golden={"adagrad_fobos_l1.ref": {}, "mc_adagrad_fobos_l1_softmax.ref": {"loss": "logistic"}},
        counts_rounds=True,
    ),
    "OFS": Cases(
        variants=({"B": 5},),
        golden={"ofs_B10.ref": {}},
    ),
    "SOFS": Cases(
        variants=({"B": 6},),
        golden={"sofs_B10.ref": {}},
    ),
    "RestartedGradientDescent": Cases(
        variants=({"period": 40},),
        golden={"restarted_ogd.ref": {}, "restarted_ogd_reset.ref": {"forget": True}},
        counts_rounds=True,
    ),
    "RMSProp": Cases(
        variants=({"eta": 0.1},),
        golden={"rmsprop_ogd.ref": {}},
    ),
    "KT": Cases(
        variants=({}, {"loss": "logistic", "scale": "instance"}),
        golden={"kt_hinge.ref": {}, "mc_kt_hinge.ref": {}},
        counts_rounds=True,
    ),
    "CoordinateKT": Cases(
        variants=({"epsilon": 10.0},),
        golden={"kt_coordinate_hinge.ref": {}, "mc_kt_coordinate_hinge.ref": {}},
    ),
    "COCOB": Cases(
        variants=({"loss": "logistic"},),
        golden={"cocob_hinge.ref": {}, "mc_cocob_hinge.ref": {}},
    ),
    "COCOBBackprop": Cases(
        variants=({"alpha": 1.0},),
        golden={"cocob_backprop_hinge.ref": {}, "mc_cocob_backprop_softmax.ref": {"loss": "logistic"}},
    ),
    "FreeGrad": Cases(
        golden={"freegrad_logistic.ref": {}, "freegrad_logistic.vw": {}, "mc_freegrad_softmax.ref": {}},
    ),
    "DoG": Cases(
        variants=({}, {"average": True}),
        golden={"dog.ref": {}, "dog_average.ref": {"average": True},
                "mc_dog_softmax.ref": {"loss": "logistic"}},
    ),
    "DoWG": Cases(golden={"dowg.ref": {}, "mc_dowg_hinge.ref": {}}),
    "DAdaptationSGD": Cases(golden={"dadapt_sgd.ref": {}, "mc_dadapt_sgd_softmax.ref": {"loss": "logistic"}}),
    "Mechanic": Cases(golden={"mechanic.ref": {}, "mc_mechanic_softmax.ref": {"loss": "logistic"}}),
    "VowpalWabbitCoin": Cases(
        golden={"coin_vw_logistic.ref": {}, "coin_vw_logistic.vw": {}},
        counts_rounds=True,
    ),
    "OnlineNewtonStep": Cases(
        variants=({"covariance": "full"}, {"covariance": "diagonal", "gamma": 0.1}),
        golden={"ons_logistic_full.ref": {}, "ons_logistic_diag.ref": {"covariance": "diagonal"}},
    ),
    "SketchedOnlineNewton": Cases(
        variants=({"m": 4, "C": None}, {"m": 4, "C": None, "sketch": "oja"}),
        golden={"son_fd.ref": {}, "son_oja.ref": {"sketch": "oja"}},
    ),
    "SoftConfidenceWeighted": Cases(
        variants=_grid(variant=("SCW-I", "SCW-II"), C=(0.5,), shape=_SHAPES),
        golden={"scw1_full.ref": {"variant": "SCW-I", "eta": 0.9, **_FULL},
                "scw1_diag_cov.ref": {"variant": "SCW-I", "eta": 0.9, **_DIAGONAL},
                "scw2_full.ref": {"variant": "SCW-II", "eta": 0.9, **_FULL},
                "scw2_diag_cov.ref": {"variant": "SCW-II", "eta": 0.9, **_DIAGONAL},
                "mc_scw1_diag_cov.ref": {"variant": "SCW-I", "eta": 0.9, **_DIAGONAL},
                "mc_scw2_diag_cov.ref": {"variant": "SCW-II", "eta": 0.9, **_DIAGONAL}},
    ),
    "NAROW": Cases(
        variants=_grid(b=(2.0,), covariance=("full", "diagonal")),
        golden={"narow.ref": _FULL},
    ),
    "NHERD": Cases(
        variants=_grid(C=(0.5,), shape=_SHAPES),
        golden={"nherd_full.ref": _FULL, "nherd_diag_drop.ref": _DIAGONAL,
                "mc_nherd_diag_cov.ref": _DIAGONAL},
    ),
    "MarginPerceptron": Cases(
        # Options that exist for two classes only, such as `output` "voted", have separate tests.
        variants=({}, {"output": "average"}),
        golden={"margin_perceptron_tau1.ref": {}, "mc_margin_perceptron_tau1.ref": {},
                "paum_tau1_0.1.ref": {"tau_minus": 0.1},
                "voted_perceptron.ref": {"tau_plus": 0.0, "tau_minus": 0.0, "output": "voted"},
                "longest_survivor_perceptron.ref": {"tau_plus": 0.0, "tau_minus": 0.0, "output": "longest"},
                "noise_perceptron_alphabound2_passes3.ref": {
                    "tau_plus": 0.0, "tau_minus": 0.0, "alpha_bound": 2, "epochs": 3}},
    ),
    "ShiftingPerceptron": Cases(golden={"shifting_perceptron_lam1.ref": {}}),
    "Ader": Cases(golden={"ader.ref": {}}),
    "IELLIP": Cases(
        variants=({"c": 0.3, "b": 0.95},),
        golden={"iellip.ref": {}},
        counts_rounds=True,
    ),
    "BBQ": Cases(
        variants=({"kappa": 0.7},),
        golden={"bbq_kappa0.5.ref": {}},
        counts_rounds=True,
    ),
    "KernelPerceptron": Cases(
        variants=({"gamma": 0.1}, {"kernel": "linear"}, {"gamma": 0.1, "margin": 0.5}),
        golden={"kernel_perceptron_rbf.dogma": {}},
    ),
    "KernelPassiveAggressive": Cases(
        variants=({"C": 0.5, "kernel": "poly", "gamma": 0.5, "degree": 2},),
        golden={"kernel_pa1_rbf.dogma": {"C": 1.0}},
    ),
    "KernelMIRA": Cases(variants=({"beta": 0.5, "gamma": 0.1},)),
    "RandomizedBudgetPerceptron": Cases(
        variants=(_SMALL,),
        golden={"rbp_rbf.dogma": {"budget": 50}},
    ),
    "RemoveOldestPerceptron": Cases(variants=(_SMALL,)),
    "Forgetron": Cases(
        variants=(_SMALL,),
        # The library DOGMA may choose a wrong root for φ, above 1, so its recorded run is not compared.
        golden={"forgetron_rbf.ref": {"budget": 50}},
    ),
    "DistillCachePerceptron": Cases(
        variants=({"beta": 0.5, "gamma": 0.1}, {"beta": 0.5, **_SMALL}),
        golden={"budget_perceptron_b0.1_rbf.ref": {"beta": 0.1}},
    ),
    "DistillCacheMIRA": Cases(
        variants=({"beta": 0.5, "gamma": 0.1}, {"beta": 0.5, "budget": 12, "kernel": "linear"}),
    ),
    "Projectron": Cases(
        variants=({"eta": 0.5, "gamma": 0.1}, {"U": 2.0, "gamma": 0.1}),
        # The library DOGMA compares δ² with its parameter eta, which is 0.1 in the recorded run. This package
        # compares δ with eta, so eta is the square root of 0.1 here.
        golden={"projectron_norm_rbf.ref": {"eta": 0.1**0.5}, "projectron_rbf.dogma": {"eta": 0.1**0.5}},
    ),
    "ProjectronPlusPlus": Cases(
        variants=({"eta": 0.5, "gamma": 0.1}, {"U": 2.0, "gamma": 0.1}),
        golden={"projectronpp_norm_rbf.ref": {"eta": 0.1**0.5}},
    ),
    "KernelSecondOrderPerceptron": Cases(
        variants=({"a": 0.5, "gamma": 0.1},),
        golden={"kernel_sop_rbf.dogma": {"a": 1.0}},
    ),
    "KernelAROW": Cases(variants=({"r": 0.5, "gamma": 0.1},)),
    "KernelALMA": Cases(
        variants=({"gamma": 0.1},),
        golden={"kernel_alma2_rbf.dogma": {"alpha": 0.0, "B": 1.0, "C": 0.41421356237309515}},
    ),
    "NORMA": Cases(
        variants=({"eta0": 0.3, "gamma": 0.1}, {"eta0": 0.3, "decay": True, "gamma": 0.1}),
        golden={"norma_rbf.ref": {"eta0": 0.2, "lam": 0.01}},
    ),
    "BOGD": Cases(
        variants=_grid(
            projection=("clip", "scale"), rest=({"eta": 0.5, "lam": 0.1, "gamma_max": 2.0, **_SMALL},)
        ),
        golden={"bogd_rbf.ref": {"budget": 50, "eta": 0.2, "lam": 0.01}},
    ),
    "BPAS": Cases(
        variants=({"C": 0.5, **_SMALL},),
        golden={"bpas_rbf.ref": {"budget": 50}},
    ),
    "BSGD": Cases(
        variants=_grid(maintenance=("merging", "removal"), small=(_SMALL,)),
        golden={"bsgd_merging_rbf.ref": {"budget": 50},
                "bsgd_removal_rbf.ref": {"budget": 50, "maintenance": "removal"}},
    ),
    "NOGD": Cases(
        variants=({"rank": 5, **_SMALL},),
        golden={"nogd_rbf.ref": {"budget": 50, "rank": 10}},
    ),
    "FOGD": Cases(
        variants=({"D": 50, "gamma": 0.1},),
        golden={"fogd_rbf.ref": {"eta": 1.0}},
    ),
    "LASVM": Cases(
        variants=(
            {"C": 0.5, "gamma": 0.1},
            {"C": 0.5, "fit_intercept": False, "finish": True, "kernel": "poly", "gamma": 0.5, "degree": 2},
        ),
    ),
    "OnlineModelSelection": Cases(
        variants=(
            {"p_value": 0.5, "min_examples": 3},
            {"p_value": 0.5, "min_examples": 3, "kernel": "poly", "fit_intercept": False},
            {"p_value": 0.5, "min_examples": 3, "test": "printed"},
        ),
    ),
    "IncrementalSVM": Cases(
        variants=(
            {"C": 0.5, "gamma": 0.1},
            {"fit_intercept": False, "kernel": "poly", "gamma": 0.5, "degree": 2},
        ),
    ),
    "OnlineRampSVM": Cases(
        variants=({"gamma": 0.1}, {"max_non_support": 12, "kernel": "poly", "gamma": 0.1, "degree": 2}),
    ),
    "ActiveRampSVM": Cases(variants=({"gamma": 0.1},)),
    "RetrainedRampSVM": Cases(variants=({"gamma": 0.1},)),
}  # fmt: skip

_TESTED = {row.name for row in TABLE if row.kind in ("linear", "kernel", "features", "svm")}
assert {*CASES} == _TESTED, f"CASES of {__file__}: add or remove {', '.join({*CASES} ^ _TESTED)}"
