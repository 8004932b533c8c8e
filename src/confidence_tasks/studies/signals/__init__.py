"""Confidence signals: the discrimination, calibration and cost of every signal of confidence in one answer."""

from __future__ import annotations

from confidence_tasks.studies.signals import measures, replies, simulated_replies, trials
from confidence_tasks.studies.signals.table import REASONING_SIGNALS, SIGNALS, short_name
from confidence_tasks.study import (
    BINARY,
    STRUCTURED,
    ConditionRules,
    Design,
    Domain,
    Parameter,
    Pooling,
    Scoring,
    Simulation,
    Study,
    Viewer,
    source_parameters,
)

NLI_MODEL = "microsoft/deberta-large-mnli"
"""The model of Kuhn, Gal & Farquhar (2023, arXiv:2302.09664); it takes 2 GB of memory."""

STUDY = Study(
    name="signals",
    title="Confidence signals",
    module=__name__,
    stages=replies.signal_stages,
    questions=replies.signal_questions,
    conditions=tuple(SIGNALS),
    condition_rules=ConditionRules(
        select=replies.chosen_signals, absent_without_values=frozenset(REASONING_SIGNALS)
    ),
    read=trials.read_signal,
    parameters=(
        *source_parameters("arithmetic"),
        Parameter(
            "signals",
            str | list[str] | None,
            None,
            "Signals, such as stated,p_true; by default those without a further call.",
        ),
        Parameter("samples", int, 10, "Number of samples of the answer.", low=2, high=100),
        Parameter("temperature", float, 1.0, "Temperature of the samples.", low=0.01, high=2.0),
        Parameter(
            "one_request",
            bool,
            False,
            "Request all samples of a question by one call, as its choices.",
        ),
        Parameter(
            "entailment",
            str,
            "match",
            "Rule by which short texts mean the same: the grader, a model role, or a local model.",
            choices=("match", "judge", "nli"),
        ),
        Parameter("panel", str | list[str], "panel", "Model roles of the judges of the signal panel."),
        Parameter("nli_model", str, NLI_MODEL, "Name or folder of the model for entailment='nli'."),
        STRUCTURED,
    ),
    trial=trials.SignalTrial,
    measures=measures.MEASURES,
    pooled_measures=measures.POOLED,
    scoring=Scoring(metrics=measures.signal_metrics),
    designs={
        "signals": Design(
            "Confidence signals",
            "Which signal of one answer discriminates best between right and wrong answers?",
            baseline="stated",
            conditions=tuple(name for name, signal in SIGNALS.items() if signal.on_lm_eval),
        )
    },
    headline_measures=(
        "auroc",
        "prr",
        "prr_50",
        "ece",
        "brier",
        "ece_recalibrated",
        "brier_recalibrated",
        "parse_rate",
        "calls",
        "tokens",
    ),
    tested_measures=("auroc", "auarc"),
    viewer=Viewer(
        explain=trials.explain,
        columns=("calls",),
        short_condition=short_name,
    ),
    domains={
        "correct": BINARY,
        "probability": Domain(0.0, 1.0),
        "value": Domain(-1e6, 1e6),
        **dict.fromkeys(("samples", "meanings", "calls", "input_tokens", "output_tokens"), Domain(0.0, 1e9)),
    },
    pooling=Pooling(subset_parameters=frozenset({"source", "signals"})),
    simulation=Simulation(reply=simulated_replies.respond, roles=simulated_replies.SIMULATED_ROLES),
    report=f"{__name__}.report:REPORT",
)
