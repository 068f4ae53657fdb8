# Written from the table of learners: python -m singlepass.learners
from .active import Greedy as Greedy
from .active import QueryAll as QueryAll
from .baselines import MajorityClass as MajorityClass
from .baselines import NoChange as NoChange
from .contract import StreamLearner as StreamLearner
from .deployment.hosts import to_capymoa as to_capymoa
from .deployment.hosts import to_river as to_river
from .deployment.saving import load as load
from .deployment.saving import save as save
from .estimator.online_classifier import OnlineClassifier as OnlineClassifier
from .estimator.pieces import Passage as Passage
from .estimator.pieces import learn_in_pieces as learn_in_pieces
from .grid import learn_grid as learn_grid
from .kernel.alma import KernelALMA as KernelALMA
from .kernel.bogd import BOGD as BOGD
from .kernel.bpas import BPAS as BPAS
from .kernel.bsgd import BSGD as BSGD
from .kernel.budget_perceptron import RandomizedBudgetPerceptron as RandomizedBudgetPerceptron
from .kernel.budget_perceptron import RemoveOldestPerceptron as RemoveOldestPerceptron
from .kernel.distill_cache import DistillCacheMIRA as DistillCacheMIRA
from .kernel.distill_cache import DistillCachePerceptron as DistillCachePerceptron
from .kernel.fogd import FOGD as FOGD
from .kernel.forgetron import Forgetron as Forgetron
from .kernel.kernel_classifier import KernelClassifier as KernelClassifier
from .kernel.mira import KernelMIRA as KernelMIRA
from .kernel.nogd import NOGD as NOGD
from .kernel.norma import NORMA as NORMA
from .kernel.passive_aggressive import KernelPassiveAggressive as KernelPassiveAggressive
from .kernel.perceptron import KernelPerceptron as KernelPerceptron
from .kernel.projectron import Projectron as Projectron
from .kernel.projectron import ProjectronPlusPlus as ProjectronPlusPlus
from .kernel.second_order import KernelAROW as KernelAROW
from .kernel.second_order import KernelSecondOrderPerceptron as KernelSecondOrderPerceptron
from .linear.adagrad_rda import AdaGradRDA as AdaGradRDA
from .linear.ader import Ader as Ader
from .linear.alma import ALMA as ALMA
from .linear.arow import AROW as AROW
from .linear.bbq import BBQ as BBQ
from .linear.confidence_weighted import ConfidenceWeighted as ConfidenceWeighted
from .linear.feature_selection import OFS as OFS
from .linear.feature_selection import SOFS as SOFS
from .linear.gradient.adagrad_fobos import AdaGradFOBOS as AdaGradFOBOS
from .linear.gradient.coin_betting import COCOB as COCOB
from .linear.gradient.coin_betting import COCOBBackprop as COCOBBackprop
from .linear.gradient.coin_betting import CoordinateKT as CoordinateKT
from .linear.gradient.cost_sensitive import CSOGD as CSOGD
from .linear.gradient.dadaptation import DAdaptationSGD as DAdaptationSGD
from .linear.gradient.dog import DoG as DoG
from .linear.gradient.dog import DoWG as DoWG
from .linear.gradient.freegrad import FreeGrad as FreeGrad
from .linear.gradient.ftrl_proximal import FTRLProximal as FTRLProximal
from .linear.gradient.kt import KT as KT
from .linear.gradient.mechanic import Mechanic as Mechanic
from .linear.gradient.online_gradient_descent import OnlineGradientDescent as OnlineGradientDescent
from .linear.gradient.online_newton_step import OnlineNewtonStep as OnlineNewtonStep
from .linear.gradient.rda import RDA as RDA
from .linear.gradient.sketched_newton import SketchedOnlineNewton as SketchedOnlineNewton
from .linear.gradient.tracking import RestartedGradientDescent as RestartedGradientDescent
from .linear.gradient.tracking import RMSProp as RMSProp
from .linear.gradient.truncated_gradient import FOBOS as FOBOS
from .linear.gradient.truncated_gradient import TruncatedGradient as TruncatedGradient
from .linear.gradient.unbiased_loss import UnbiasedLoss as UnbiasedLoss
from .linear.gradient.vowpal_wabbit_coin import VowpalWabbitCoin as VowpalWabbitCoin
from .linear.iellip import IELLIP as IELLIP
from .linear.linear_classifier import MulticlassClassifier as MulticlassClassifier
from .linear.margin_perceptron import MarginPerceptron as MarginPerceptron
from .linear.narow import NAROW as NAROW
from .linear.nherd import NHERD as NHERD
from .linear.passive_aggressive import PassiveAggressive as PassiveAggressive
from .linear.perceptron import Perceptron as Perceptron
from .linear.romma import ROMMA as ROMMA
from .linear.second_order_perceptron import SecondOrderPerceptron as SecondOrderPerceptron
from .linear.shifting_perceptron import ShiftingPerceptron as ShiftingPerceptron
from .linear.soft_confidence_weighted import SoftConfidenceWeighted as SoftConfidenceWeighted
from .numeric.lanes import LANES as LANES
from .numeric.margins import count_wrong as count_wrong
from .numeric.orders import ordered_rows as ordered_rows
from .numeric.orders import take_rows as take_rows
from .numeric.references import BaselineCounts as BaselineCounts
from .numeric.references import References as References
from .numeric.rows import as_rows as as_rows
from .numeric.rows import row_range as row_range
from .numeric.scaling import RunningScale as RunningScale
from .numeric.tallies import mistakes_of_both as mistakes_of_both
from .numeric.tallies import pairs_in_order as pairs_in_order
from .numeric.tallies import sum_losses as sum_losses
from .numeric.tallies import tally_classes as tally_classes
from .numeric.tallies import tied_predictions as tied_predictions
from .numeric.tallies import wrong_predictions as wrong_predictions
from .readings import can_read_once as can_read_once
from .readings import learn_together as learn_together
from .readings import reading_of as reading_of
from .registry import available as available
from .registry import load_plugin as load_plugin
from .resetting import Resetting as Resetting
from .selective import AdaptiveSelectiveSampling as AdaptiveSelectiveSampling
from .selective import RandomQueries as RandomQueries
from .selective import SelectiveSampling as SelectiveSampling
from .svm.incremental_svm import IncrementalSVM as IncrementalSVM
from .svm.lasvm import LASVM as LASVM
from .svm.model_selection import OnlineModelSelection as OnlineModelSelection
from .svm.offline_ramp_svm import OfflineRampSVM as OfflineRampSVM
from .svm.ramp_svm import ActiveRampSVM as ActiveRampSVM
from .svm.ramp_svm import OnlineRampSVM as OnlineRampSVM
from .svm.ramp_svm import RetrainedRampSVM as RetrainedRampSVM
from .tuned import ExponentialWeights as ExponentialWeights
from .tuned import FollowTheLeader as FollowTheLeader

__all__ = [
    "ALMA",
    "AROW",
    "BBQ",
    "BOGD",
    "BPAS",
    "BSGD",
    "COCOB",
    "CSOGD",
    "FOBOS",
    "FOGD",
    "IELLIP",
    "KT",
    "LANES",
    "LASVM",
    "NAROW",
    "NHERD",
    "NOGD",
    "NORMA",
    "OFS",
    "RDA",
    "ROMMA",
    "SOFS",
    "ActiveRampSVM",
    "AdaGradFOBOS",
    "AdaGradRDA",
    "AdaptiveSelectiveSampling",
    "Ader",
    "BaselineCounts",
    "COCOBBackprop",
    "ConfidenceWeighted",
    "CoordinateKT",
    "DAdaptationSGD",
    "DistillCacheMIRA",
    "DistillCachePerceptron",
    "DoG",
    "DoWG",
    "ExponentialWeights",
    "FTRLProximal",
    "FollowTheLeader",
    "Forgetron",
    "FreeGrad",
    "Greedy",
    "IncrementalSVM",
    "KernelALMA",
    "KernelAROW",
    "KernelClassifier",
    "KernelMIRA",
    "KernelPassiveAggressive",
    "KernelPerceptron",
    "KernelSecondOrderPerceptron",
    "MajorityClass",
    "MarginPerceptron",
    "Mechanic",
    "MulticlassClassifier",
    "NoChange",
    "OfflineRampSVM",
    "OnlineClassifier",
    "OnlineGradientDescent",
    "OnlineModelSelection",
    "OnlineNewtonStep",
    "OnlineRampSVM",
    "Passage",
    "PassiveAggressive",
    "Perceptron",
    "Projectron",
    "ProjectronPlusPlus",
    "QueryAll",
    "RMSProp",
    "RandomQueries",
    "RandomizedBudgetPerceptron",
    "References",
    "RemoveOldestPerceptron",
    "Resetting",
    "RestartedGradientDescent",
    "RetrainedRampSVM",
    "RunningScale",
    "SecondOrderPerceptron",
    "SelectiveSampling",
    "ShiftingPerceptron",
    "SketchedOnlineNewton",
    "SoftConfidenceWeighted",
    "StreamLearner",
    "TruncatedGradient",
    "UnbiasedLoss",
    "VowpalWabbitCoin",
    "as_rows",
    "available",
    "can_read_once",
    "count_wrong",
    "learn_grid",
    "learn_in_pieces",
    "learn_together",
    "load",
    "load_plugin",
    "mistakes_of_both",
    "ordered_rows",
    "pairs_in_order",
    "reading_of",
    "row_range",
    "save",
    "sum_losses",
    "take_rows",
    "tally_classes",
    "tied_predictions",
    "to_capymoa",
    "to_river",
    "wrong_predictions",
]
