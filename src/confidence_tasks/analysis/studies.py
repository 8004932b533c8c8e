"""The studies, one entry each: a newcomer's study is one entry more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confidence_tasks.analysis import (
    checks,
    fermi_report,
    fermi_sizes,
    lifeeval_report,
    nlp_report,
    risk_report,
    scale_report,
)
from confidence_tasks.analysis.figures import general
from confidence_tasks.analysis.figures import nlp_metad as nlp_figures
from confidence_tasks.analysis.lifeeval import by_radius_sex_and_age
from confidence_tasks.analysis.study import Design, Paper, Study
from confidence_tasks.elicitation.nlp_prompts import temperature_of
from confidence_tasks.scorers import (
    fermieval,
    fermieval_logprob,
    fermieval_sampling,
    lifeeval,
    nlp_metad,
    question_sets,
    riskeval_measures,
    scales,
)
from confidence_tasks.scorers.riskeval import RiskTrial

SCALES = Study(
    name="scales",
    title="Confidence scales",
    paper=Paper("Dai", 2026, "2603.09309"),
    scorer="scale_scorer",
    trial=scales.ScaleTrial,
    measures=scales.MEASURES,
    designs={
        "scale_granularity": Design(
            "Granularity", "Does the number of steps on the scale matter?", baseline="0-100"
        ),
        "scale_boundary": Design(
            "Boundary placement", "Does the model use a scale whose lower bound is raised?", baseline="0-100"
        ),
        "scale_nonstandard": Design(
            "Non-standard ranges", "Does the model heed odd bounds?", baseline="0-100"
        ),
    },
    headline=("mratio", "auroc", "ece", "accuracy", "parse_rate"),
    condition_numbers=scale_report.bounds_of,
    alternatives=True,
    tested=("mratio", "meta_d", "auroc", "ece", "brier", "accuracy"),
    figures=(
        scale_report.histograms,
        general.reliability,
        general.type2_roc,
        general.selective,
        scale_report.efficiency_space,
        scale_report.ece_by_bins,
    ),
    tables=(scale_report.discretisation,),
    checks=(*checks.GENERAL, scale_report.unstable_m_ratio),
    subset_parameters=frozenset({"scales", "sources", "n", "mirror"}),
)

_LIFEEVAL_PAPER = Paper("Anonymous", 2026, "2605.23909")

LIFEEVAL = Study(
    name="lifeeval",
    title="LifeEval",
    paper=_LIFEEVAL_PAPER,
    scorer="lifeeval_scorer",
    trial=lifeeval.LifeEvalTrial,
    measures=lifeeval.MEASURES + lifeeval.TOKEN_MEASURES,
    designs={
        "lifeeval": Design("LifeEval", "Does confidence follow the difficulty of guessing an age at death?"),
    },
    headline=("ece", "score", "confidence", "overconfidence", "hard_easy"),
    condition_numbers=lifeeval_report.radius_column,
    required=("age",),
    bounds={"age": (0.0, 150.0), "difficulty": (0.0, 1.0)},
    grouping=by_radius_sex_and_age,
    figures=(general.reliability_of_scores, lifeeval_report.by_difficulty, lifeeval_report.by_age),
    tables=(lifeeval_report.overview, lifeeval_report.hard_easy, lifeeval_report.token_probabilities),
    checks=(*checks.GENERAL, lifeeval_report.memorised_table, lifeeval_report.mixed_windows),
    subset_parameters=frozenset({"radii", "n"}),
)

QUESTION_SETS = Study(
    name="question_sets",
    title="Calibration question sets",
    paper=_LIFEEVAL_PAPER,
    scorer="question_set_scorer",
    trial=question_sets.QuestionSetTrial,
    measures=question_sets.ALL_MEASURES,
    designs={
        "boolq": Design("BoolQ", "Is the confidence in true or false calibrated?"),
        "sciq": Design("SciQ", "Are the probabilities of the options of science questions calibrated?"),
        "lsat_ar": Design(
            "LSAT-AR", "Are the probabilities of the options of hard logical questions calibrated?"
        ),
        "sat_en": Design(
            "SAT-EN", "Are the probabilities of the options of questions on a passage calibrated?"
        ),
        "halueval": Design("HaluEval", "Does confidence tell right answers from hallucinated ones?"),
    },
    headline=("ece", "accuracy", "confidence", "overconfidence", "auroc"),
    tables=(lifeeval_report.token_probabilities,),
    bounds=dict.fromkeys(("answer_correct", "answer_confidence"), (0.0, 1.0)),
    binary=("stimulus",),
)

RISKEVAL = Study(
    name="riskeval",
    title="RiskEval",
    paper=Paper("Wang, Zhou, Devic & Fu", 2026, "2601.07767"),
    scorer="riskeval_scorer",
    trial=RiskTrial,
    measures=riskeval_measures.MEASURES + riskeval_measures.COUNTS,
    designs={
        "riskeval": Design(
            "RiskEval",
            "Does the model act on its confidence when wrong answers cost more?",
            baseline="lambda=0",
            reference="all",
        ),
    },
    headline=(
        "policy_consistency",
        "normalized_utility",
        "normalized_scaffold_gain",
        "abstention_rate",
        "accuracy_answered",
        "ece",
    ),
    tested=("abstention_rate", "confidence", "ece", "auarc", "brier"),
    pooled=risk_report.OVER_PENALTIES,
    condition_numbers=risk_report.penalty_column,
    bounds={"outcome": (0.0, 1.0)},
    binary=("answered", "available"),
    grouping=risk_report.by_penalty_and_regime,
    figures=(
        risk_report.decisions,
        risk_report.utilities,
        risk_report.thresholds,
        general.reliability_overall,
        general.selective_overall,
    ),
    tables=(risk_report.over_all_penalties, risk_report.over_high_penalties),
    checks=(*checks.GENERAL, risk_report.never_or_always, risk_report.without_confidence),
    subset_parameters=frozenset({"source", "penalties", "n", "mirror"}),
)

_FERMIEVAL_PAPER = Paper("Epstein, Winnicki, Sornwanee & Dwaraknath", 2025, "2510.26995")
_FERMIEVAL_SUBSET = frozenset({"levels", "split", "n", "mirror"})

FERMIEVAL = Study(
    name="fermieval",
    title="FermiEval",
    paper=_FERMIEVAL_PAPER,
    scorer="fermieval_scorer",
    trial=fermieval.IntervalTrial,
    measures=fermi_report.INTERVAL_MEASURES,
    designs={
        "fermieval": Design("FermiEval", "Do intervals hold the truth as often as they were asked to?"),
    },
    headline=(
        "coverage_gap",
        "coverage",
        "conformal_coverage",
        "conformal_jackknife_coverage",
        "mean_width",
        "winkler",
        "conformal_winkler",
        "conformal_jackknife_winkler",
    ),
    condition_numbers=fermi_report.level_column,
    bounds=fermi_report.EXPONENTS,
    ordered=(("lower", "upper"),),
    figures=(fermi_report.calibration, fermi_sizes.gap_by_size, fermi_report.winkler_by_method),
    tables=(fermi_sizes.by_size, fermi_report.method_scores, fermi_report.method_coverage),
    checks=(*checks.READING, fermi_report.degenerate, fermi_report.no_calibration_half),
    subset_parameters=_FERMIEVAL_SUBSET,
    # All questions are then judged, each by the others: beside a calibration half they would count for both.
    how_values=frozenset({("split", "cross")}),
)

FERMIEVAL_LOGPROB = Study(
    name="fermieval_logprob",
    title="FermiEval",
    paper=_FERMIEVAL_PAPER,
    scorer="fermieval_logprob_scorer",
    trial=fermieval_logprob.DistributionTrial,
    bounds={**fermi_report.EXPONENTS, "integer_mass": (0.0, 1.0 + 1e-6)},
    binary=("correct",),
    measures=fermi_report.DISTRIBUTION_MEASURES,
    designs={
        "fermieval_logprob": Design(
            "FermiEval by token probabilities", "Is the first token’s distribution over exponents calibrated?"
        ),
    },
    headline=("accuracy", "confidence", "ece", "integer_mass"),
    figures=(general.reliability, fermi_report.winkler_by_method),
    tables=(fermi_report.method_scores, fermi_report.method_coverage),
    subset_parameters=_FERMIEVAL_SUBSET,
)

FERMIEVAL_SAMPLING = Study(
    name="fermieval_sampling",
    title="FermiEval",
    paper=_FERMIEVAL_PAPER,
    scorer="fermieval_sampling_scorer",
    trial=fermieval_sampling.SampleTrial,
    bounds=fermi_report.EXPONENTS,
    ordered=(("lower", "upper"),),
    measures=fermi_report.SAMPLE_MEASURES,
    designs={
        "fermieval_sampling": Design(
            "FermiEval by sampling", "How often do single samples hold the truth, by temperature?"
        ),
    },
    headline=("share_right", "parse_rate"),
    figures=(fermi_report.winkler_by_method,),
    tables=(fermi_report.method_scores, fermi_report.method_coverage),
    checks=(*checks.READING, fermi_report.no_temperature),
    subset_parameters=_FERMIEVAL_SUBSET | {"temperatures", "ask", "asks", "samples"},
)

NLP_METAD = Study(
    name="nlp_metad",
    title="Log-probability metacognition",
    paper=Paper("Cacioli", 2026, "2603.25112"),
    scorer="nlp_metad_scorer",
    trial=nlp_metad.NlpTrial,
    measures=nlp_metad.MEASURES,
    designs={
        "nlp_metad": Design(
            "Log-probability metacognition",
            "Does the log-probability of a short answer tell whether it is right?",
            reference="T=1",
        ),
    },
    headline=("meta_information", "auroc2", "z_roc_slope", "d_a", "accuracy_50", "accuracy", "mratio_v1"),
    condition_numbers=lambda label: {"temperature": temperature_of(label)},
    bounds=dict.fromkeys(("nlp", "gold_nlp"), (-1e6, 1e6)),
    figures=(
        nlp_figures.by_quarter,
        general.type2_roc,
        general.selective,
        nlp_figures.by_domain,
        nlp_figures.efficiency_space,
        nlp_figures.by_temperature,
        nlp_figures.robustness,
    ),
    tables=(
        nlp_report.verdicts,
        nlp_report.valid_measures,
        nlp_report.quarters,
        nlp_report.by_domain,
        nlp_report.by_temperature,
        nlp_report.version_1,
        nlp_report.rankings,
        nlp_report.other_bins,
    ),
    checks=(
        *checks.GENERAL,
        nlp_report.m_ratio_by_construction,
        nlp_report.unequal_variance,
        nlp_report.no_reference_temperature,
    ),
    subset_parameters=frozenset({"source", "temperatures", "n", "mirror"}),
    conduct=nlp_report.conduct,
)

STUDIES: tuple[Study, ...] = (
    SCALES,
    LIFEEVAL,
    QUESTION_SETS,
    RISKEVAL,
    FERMIEVAL,
    FERMIEVAL_LOGPROB,
    FERMIEVAL_SAMPLING,
    NLP_METAD,
)


def study_of_scores(scores: Mapping[str, Any]) -> Study | None:
    """Return the study whose scorer gave one of the scores; None when there is none."""
    return next((study for study in STUDIES if study.scorer in scores), None)
