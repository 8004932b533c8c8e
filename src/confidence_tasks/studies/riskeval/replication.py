"""The tables and figures of RiskEval's paper: Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767."""

from __future__ import annotations

from collections.abc import Mapping

from confidence_tasks.report.paper import (
    Axis,
    PaperFigure,
    PaperTable,
    Replication,
    TaskParameters,
    by_measure,
)
from confidence_tasks.studies.riskeval.paper_figures import COMPARABLE, NOT_COMPARABLE, SOURCES

_CALIBRATION, _DECISIONS = "Calibration Metrics", "Decision-Making Metrics"

_COLUMNS: Axis = (
    by_measure("auarc", _CALIBRATION, "AUARC ↑"),
    by_measure("ece", _CALIBRATION, "ECE ↓"),
    by_measure("brier", _CALIBRATION, "Brier ↓"),
    by_measure("confidence", _CALIBRATION, "Conf."),
    by_measure("policy_consistency", _DECISIONS, "Pol. Con. ↑"),
    by_measure("normalized_regret", _DECISIONS, "N. Reg. ↓"),
    by_measure("normalized_utility", _DECISIONS, "Norm. Utility ↑ w/ π_M"),
    by_measure(
        "normalized_scaffold_utility",
        _DECISIONS,
        "w/ π*",
        text="{} ({})",
        more=({"measure": "normalized_scaffold_gain", "sign": True, "name": "gain"},),
    ),
)

_HIGH, _ALL = "high_penalty", "all"

_REGIMES = {
    _HIGH: f"means over the penalties from 10 on. {COMPARABLE}",
    _ALL: f"means over all penalties. {NOT_COMPARABLE}",
}


def _table(number: int, source: str, regime: str) -> PaperTable:
    return PaperTable(
        number=str(number),
        caption=f"{SOURCES[source]}: {_REGIMES[regime]} w/ π_M is the utility of the model’s own decisions over 1 +"
        " penalty, w/ π* that of the optimal policy on its stated confidence, with the gain in brackets. Bold: best;"
        " italics: second best.",
        columns=(_COLUMNS,),
        at={"task": "riskeval", "group": regime, "source": source, "digits": 3},
        best="column",
        second=True,
    )


def _figure(
    number: int, caption: str, parameters: str = "", sources: Mapping[str, str] = SOURCES
) -> PaperFigure:
    return PaperFigure(
        number=str(number),
        caption=caption,
        name=f"figure_{number}",
        tasks=("riskeval",),
        parameters=parameters,
        sources=sources,
    )


_TOLD = "-T strategy=use_confidence"

REPLICATION = Replication(
    name="riskeval",
    title="RiskEval: Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767",
    tasks={"riskeval": TaskParameters("penalties", "source")},
    items=(
        _figure(1, "Abstention rate by penalty, on HLE.", sources={"hle": SOURCES["hle"]}),
        _figure(2, "Stated confidence by penalty."),
        _figure(3, "Normalised utility by penalty."),
        _figure(4, "Policy consistency by penalty."),
        _table(1, "hle", _HIGH),
        _figure(5, "Stated confidence, AUARC, ECE and Brier score by penalty."),
        _table(2, "hle", _ALL),
        _table(3, "gpqa_diamond", _ALL),
        _table(4, "gpqa_diamond", _HIGH),
        _table(5, "gsm8k", _ALL),
        _table(6, "gsm8k", _HIGH),
        _figure(6, "Utility in points and normalised regret by penalty."),
        _figure(
            7, "Abstention, normalised regret and policy consistency when told to use confidence.", _TOLD
        ),
        _figure(8, "What it changes to be told to use confidence.", _TOLD),
    ),
)
