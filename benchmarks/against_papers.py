"""Recompute the papers' published numbers, and write them into docs/against_the_papers.md.

    CONFIDENCE_TASKS_MIRROR=.../hub python -m benchmarks.against_papers

The tables of the page stand between marks, ``<!-- numbers: NAME -->`` and ``<!-- end of numbers -->``; everything else
is written by hand and kept. Replies and questions come from the folder above the mirror. Without it, the tables that
need neither are written, and the others are left as they are.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import spearmanr
from tests.local_data import local_data
from tests.unit.sources.life_expectancy import PUBLISHED_AT_BIRTH, life_expectancy
from tests.unit.statistics.metad_reference import REFERENCE
from tests.unit.studies.published_figures import (
    DROPPED,
    KEPT,
    MODELS,
    SAT_EN_DIGITS,
    TABLE_2,
    TABLE_4,
    authors_parse,
    plain_ece,
    printed_round_share,
    published_sat_en,
    published_trials,
    sat_en_readings,
    stated_answers,
)

from confidence_tasks.replications.logprob_metacognition.octiles import ESTIMATORS
from confidence_tasks.sources import load
from confidence_tasks.sources.fermi import AUTHORS
from confidence_tasks.sources.generated import lifeeval_questions, load_life_table
from confidence_tasks.statistics import (
    bootstrap,
    ece,
    ece_interval,
    fit_meta_d,
    meta_information,
    optimal_threshold,
)
from confidence_tasks.statistics.calibration import confidence_correlation, convention_error, hard_easy_slope
from confidence_tasks.statistics.discretization import round_share
from confidence_tasks.statistics.life_table import Window
from confidence_tasks.studies.lifeeval.trials import maximum_score
from confidence_tasks.studies.logprob_metacognition.domains import DOMAINS, domain_of
from confidence_tasks.studies.riskeval.replies import PENALTIES

PAGE = Path(__file__).parents[1] / "docs" / "against_the_papers.md"

NAMES = dict(zip(MODELS, ("Claude Haiku 3", "DeepSeek-V3", "Llama-3.1-8B"), strict=True))
SETS = {
    "boolq": "BoolQ",
    "halueval": "HaluEval",
    "lsat_ar": "LSAT-AR",
    "lifeeval": "LifeEval",
    "sat_en": "SAT-EN",
    "sciq": "SciQ",
}
_HALF_A_DIGIT = 0.005 + 1e-9
"""Largest difference of a percentage from the same with two decimals."""

_BLOCK = re.compile(r"(<!-- numbers: ([a-z0-9-]+) -->\n).*?(<!-- end of numbers -->)", re.DOTALL)


def table(header: str, rows: Iterable[Iterable[Any]]) -> str:
    """Return a Markdown table; the header's columns are separated by ``|``."""
    columns = [name.strip() for name in header.split("|")]
    lines = [columns, ["---"] * len(columns), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def filled(page: str, tables: Mapping[str, str]) -> str:
    """Return the page with the tables that are given between their marks, and all else as it is.

    Raises
    ------
    ValueError
        If the page lacks the marks of a table, or has them twice.
    """
    marked = Counter(match[2] for match in _BLOCK.finditer(page))
    if wrong := [name for name in tables if marked[name] != 1]:
        raise ValueError(f"{PAGE.name} must have the marks of each table once: {', '.join(wrong)}")
    return _BLOCK.sub(
        lambda match: f"{match[1]}{tables[match[2]]}\n{match[3]}" if match[2] in tables else match[0], page
    )


# LifeEval -------------------------------------------------------------------------------------------------------


@cache
def _trials(data: Path) -> dict[str, pd.DataFrame]:
    return published_trials(data)


@cache
def _parse(data: Path) -> dict[tuple[str, str], dict[str, tuple[float, float]]]:
    return authors_parse(data)


def _with_limits(value: float, low: float, high: float, digits: int = 3) -> str:
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def lifeeval_table_4(data: Path) -> str:
    """Return tables 3 and 4 of the LifeEval paper for the models whose replies are public: all three are in table 4."""
    rows = []
    for (task, model), printed in TABLE_4.items():
        kept = _trials(data)[task].query("model == @model and kept == 1")
        if task == "sat_en":
            kept = published_sat_en(_trials(data)[task], model)
        found = stated_answers(kept)
        confidence = kept["answer_confidence" if "answer_confidence" in kept else "confidence"].dropna()
        pairs = _parse(data).get((task, model), {})
        ours, theirs, error, literal = "", "", "", ""
        if pairs:
            ours = f"{100 * found['correct'].mean():.2f}"
            limits = ece_interval(found["correct"], found["confidence"])
            error = _with_limits(ece(found["correct"], found["confidence"]), *limits)
            theirs = f"{plain_ece(*zip(*(pairs[id] for id in found['id']), strict=True)):.3f}"
            literal = f"{convention_error(found['correct'], found['confidence'], 'guo', bins=10):.3f}"
        rows.append(
            (
                SETS[task],
                NAMES[model],
                f"{KEPT[task]:,}",
                len(confidence),
                f"{printed.accuracy:.2f}",
                ours,
                f"{printed.confidence:.2f}",
                f"{100 * confidence.mean():.2f}",
                f"{printed.ece:.2f}",
                error,
                literal,
                theirs,
            )
        )
    return table(
        "set | model | n: paper | ours | accuracy, %: paper | ours | confidence, %: paper | ours | ECE: paper"
        " | ours, with 95% interval | ours, 0 in no bin | authors' parse of the same",
        rows,
    )


def lifeeval_sat_en() -> str:
    """Return SAT-EN's figures with all digits of the authors' repository, from readings that travel with the tests."""
    rows = []
    for model in MODELS:
        chosen = published_sat_en(sat_en_readings(), model)
        error = ece(chosen["answer_correct"], chosen["answer_confidence"])
        over = (chosen["answer_confidence"] - chosen["answer_correct"]).mean()
        values = zip(SAT_EN_DIGITS[model], (error, over), strict=True)
        rows.append([NAMES[model], *(f"{value:.12f}" for pair in values for value in pair)])
    return table("model | ECE: paper's repository | ours | overconfidence: paper's repository | ours", rows)


def sat_en_triples() -> int:
    """Return the number of triples of questions without which SAT-EN's accuracies and confidences are the published."""
    readings = sat_en_readings()
    kept = (readings.groupby("id")["kept"].transform("min") == 1) & (readings["id"] != DROPPED[0])
    fits = np.ones(1, dtype=bool)
    for model in MODELS:
        own = readings[kept & (readings["model"] == model)].sort_values("id")
        printed = TABLE_4["sat_en", model]
        for name, percent in (
            ("answer_correct", printed.accuracy),
            ("answer_confidence", printed.confidence),
        ):
            values = own[name].to_numpy()
            first, second, third = np.array(list(combinations(range(len(values)), 3))).T
            totals = values.sum() - values[first] - values[second] - values[third]
            fits = fits & (np.abs(100 * totals / (len(values) - 3) - percent) < _HALF_A_DIGIT)
    return int(fits.sum())


def lifeeval_text() -> str:
    """Return the numbers of the text that follow from readings, from the paper or from floating-point arithmetic."""
    return table(
        "number | value",
        [
            ("triples without which SAT-EN has the published accuracies and confidences", sat_en_triples()),
            (".6 / (.3 + .6 + .1), in floating point", 0.6 / (0.3 + 0.6 + 0.1)),
            ("100 * .55, in floating point", 100 * 0.55),
            (
                "correlation of Llama-3.1-8B that the means over five models and over four imply",
                f"{5 * MEAN_CORRELATION['with'] - 4 * MEAN_CORRELATION['without']:.2f}",
            ),
        ],
    )


MEAN_CORRELATION = {"without": 0.4825, "with": 0.396}
"""Mean correlation of confidence and score over the models that do not reason, without and with Llama-3.1-8B."""

RECORDED = (
    ("round confidences of Claude Sonnet 3.7 in LifeEval, %", "90.15", "92.28"),
    (
        "mean correlation of the models that do not reason, without Llama-3.1-8B",
        "0.48",
        f"{MEAN_CORRELATION['without']:.4f}",
    ),
    (
        "mean correlation of the models that do not reason, with Llama-3.1-8B",
        "",
        f"{MEAN_CORRELATION['with']:.3f}",
    ),
)
"""Numbers that were computed once from replies of models that are public and not among the data here."""


def lifeeval_recorded() -> str:
    """Return the recorded numbers; nothing here computes them again."""
    return table("number | paper | recorded", RECORDED)


def lifeeval_rounded(data: Path) -> str:
    """Return the share of round confidences by the authors' test and exactly, of what the authors read."""
    rows = []
    for (task, model), pairs in _parse(data).items():
        chosen = published_sat_en(sat_en_readings(), model)["id"] if task == "sat_en" else pairs
        confidences = [pairs[id][1] for id in chosen]
        exact = 100 * round_share(confidences, lower=0, upper=1, step=0.05)
        printed = TABLE_4[task, model].rounded
        rows.append(
            (
                SETS[task],
                NAMES[model],
                f"{printed:.2f}",
                f"{printed_round_share(confidences):.2f}",
                f"{exact:.2f}",
            )
        )
    return table("set | model | paper | ours, by the remainder of floats | ours, exact", sorted(rows))


def lifeeval_table_2(data: Path) -> str:
    """Return the hard-easy coefficients and the correlations of the three models."""
    trials = _trials(data)["lifeeval"]
    rows = []
    for model in MODELS:
        own = trials.query("model == @model").dropna(subset=["correct", "confidence"])
        columns = own["correct"], own["confidence"], own["difficulty"]
        line = bootstrap(hard_easy_slope, *columns, clusters=own["question_id"], method="student")
        correlation = confidence_correlation(own["correct"], own["confidence"])
        slope = _with_limits(line.estimate, line.low, line.high)
        error = f"{ece(own['correct'], own['confidence']):.3f}"
        printed = (f"{number:.3f}" for number in TABLE_2[model])
        rows.append(
            (NAMES[model], len(own), next(printed), error, next(printed), slope, f"{correlation:.2f}")
        )
    return table(
        "model | n | ECE: paper | ours | coefficient: paper | ours, with 95% interval | correlation: ours",
        rows,
    )


def lifeeval_limits() -> str:
    """Return the mean maximum achievable score by either window."""

    def mean_score(window: Window) -> str:
        cases = (
            replace(person, metadata={**person.metadata, "window": window}) for person in lifeeval_questions()
        )
        return f"{100 * float(np.mean([maximum_score(case) for case in cases])):.2f}"

    return table(
        "deaths counted | mean MAS, %: paper | ours, of 808 questions",
        [
            ("from k - r to k + r - 1 (the default)", "56.80", mean_score("half_open")),
            ("from k - r to k + r (the paper's formula)", "56.80", mean_score("inclusive")),
        ],
    )


def lifeeval_halueval(data: Path) -> str:
    """Return how often each model answers for itself where it should judge a given answer."""
    trials = _trials(data)["halueval"]
    own = trials["rules"].str.contains("own_answer").groupby(trials["model"]).mean()
    return table(
        "model | replies with an answer of their own, %", ((NAMES[m], f"{100 * own[m]:.0f}") for m in MODELS)
    )


# FermiEval ------------------------------------------------------------------------------------------------------

EXAMPLES = {
    "pennies would it take to cover the state of Pennsylvania": 13,
    "soup cans (2 inch radius, 6 inches tall)": 6,
    "pounds of ants are there on Earth": 11,
    "serves a ball at 120 mph": 3,
}
"""Table 1: words of the question, and its exponent."""

FIGURE_2 = {
    0.90: ((30.96, 27.92, 28.93), (21.57, 20.78, 23.32), 7.38, 25.2),
    0.95: ((63.73, 55.58, 59.25), (43.62, 42.68, 42.57), 16.56, 27.8),
    0.99: ((321.91, 237.57, 318.56), (122.24, 108.98, 125.31), 173.84, 59.4),
}
"""Base and conformal scores of the three models, then the mean drop and its share in % that the text gives."""


def fermieval_questions(data: Path) -> str:
    """Return the questions of the authors' split, and the examples of table 1."""
    questions = load("fermi", split=next(iter(AUTHORS)), mirror=data / "hub")
    halves = Counter(question.metadata["split"] for question in questions)
    beyond = sum(abs(int(question.gold or 0)) > 100 for question in questions)
    rows: list[tuple[str, Any, Any]] = [
        ("questions to calibrate on", 500, halves["calibration"]),
        ("questions to test on", 500, halves["test"]),
        ("questions with a truth beyond 10^±100", 0, beyond),
    ]
    for words, exponent in EXAMPLES.items():
        (gold,) = {question.gold for question in questions if words in question.text}
        rows.append((f"exponent of “... {words} ...”", exponent, gold))
    return table("number | paper | ours", rows)


def fermieval_figure_2() -> str:
    """Return what the scores of figure 2 say of the drops in the text."""
    rows = []
    for level, (base, conformal, drop, share) in FIGURE_2.items():
        found = np.mean(base) - np.mean(conformal)
        by_model = ", ".join(f"{100 * (1 - c / b):.1f}" for b, c in zip(base, conformal, strict=True))
        rows.append(
            (level, f"{drop:.2f}", f"{found:.2f}", share, f"{100 * found / np.mean(base):.1f}", by_model)
        )
    return table(
        "level | mean drop: paper | of its figure 2 | mean drop, %: paper | of its figure 2 | drop of each model, %",
        rows,
    )


RAW_REPLIES = (
    ("base Winkler score at 0.99, of 492 replies", "318.56", 318.563),
    ("conformal score at 0.99, each end shifted by 68", "125.31", 148.465),
    ("base score with ends up to ±1000", "", 414.9),
    ("smaller shift of each end with a conformal score of 125.3", "", 18.96),
    ("larger shift of each end with a conformal score of 125.3", "", 43.54),
    ("smallest conformal score with shifts from 20 to 43", "", 119.3),
    ("largest conformal score with shifts from 20 to 43", "", 124.9),
)
"""Numbers that were computed once from the raw replies of grok-4-fast, which are public and are not among the data
here: what, as the paper prints it, and as this package computes it."""


def fermieval_raw_replies() -> str:
    """Return the recorded numbers; nothing here computes them again."""
    return table(
        "number | paper | recorded", [(what, printed, f"{found:,}") for what, printed, found in RAW_REPLIES]
    )


# RiskEval -------------------------------------------------------------------------------------------------------

GSM8K = {
    # policy consistency, confidence, ECE, normalised utility: table 5, all penalties; then table 6, from 10 on
    "Gemini-3-Flash": ((0.977, 0.994, 0.020, 0.444), (0.926, 0.995, 0.018, 0.019)),
    "Gemini-2.5-Flash": ((0.991, 0.997, 0.036, 0.433), (0.980, 0.998, 0.032, 0.008)),
    "GPT-4.1-mini": ((0.989, 0.997, 0.040, 0.427), (0.963, 0.997, 0.039, 0.001)),
    "Llama-4-Maverick": ((0.998, 0.999, 0.021, 0.448), (0.994, 0.999, 0.021, 0.021)),
    "DeepSeek-V3.2": ((0.969, 0.991, 0.036, 0.428), (0.900, 0.992, 0.036, 0.001)),
    "Gemma-3n-E4B": ((0.993, 0.997, 0.149, 0.318), (0.982, 0.998, 0.148, -0.106)),
}
"""Models that are overconfident throughout, so that their accuracy is confidence less ECE, and that nearly always
answer: at every penalty of table 5 their confidence calls for it, and 95% of their decisions agree."""


def riskeval_thresholds() -> str:
    """Return the mean thresholds that the tables imply, beside those of this package's penalties."""

    def implied(row: tuple[float, float, float, float]) -> str:
        _, confidence, error, utility = row
        return f"{confidence - error - utility:.3f}"

    own = optimal_threshold(PENALTIES)
    high = own[np.asarray(PENALTIES) >= 10]
    rows = [(model, *map(implied, both)) for model, both in GSM8K.items()]
    return table(
        "| mean threshold, all penalties | from 10 on",
        [*rows, ("**this package's penalties**", f"**{own.mean():.3f}**", f"**{high.mean():.3f}**")],
    )


# Log-probability study ------------------------------------------------------------------------------------------

DOMAIN_COUNTS = {
    "History & Politics": 1_248,
    "Arts & Literature": 1_167,
    "Geography": 667,
    "Science & Technology": 634,
    "Unclassified": 1_284,
}
"""Questions of TriviaQA in each domain: section 3.1."""


class Sweep(NamedTuple):
    """d' and meta-d' over four temperatures (table 7; at 1.0 table 2), M-ratio at 1.0, and what section 4.5 prints."""

    d_prime: tuple[float, ...]
    meta_d: tuple[float, ...]
    m_ratio: float
    spread: float
    rho: tuple[float, float] | None = None


SWEEPS = {
    "Llama-3-Instruct": Sweep((1.326, 1.312, 1.399, 1.386), (1.484, 1.425, 1.470, 1.362), 0.983, np.nan),
    "Mistral-Instruct": Sweep(
        (1.435, 1.490, 1.563, 1.597), (1.427, 1.478, 1.400, 1.361), 0.852, 0.117, (-0.80, 1.00)
    ),
    "Llama-3-Base": Sweep((1.174, 1.270, 1.318, 1.407), (1.110, 1.195, 1.229, 1.474), 1.048, 0.364),
    "Gemma-2-Instruct": Sweep(
        (1.089, 1.055, 1.004, 0.946), (0.936, 0.927, 0.961, 0.991), 1.048, 0.064, (0.80, -1.00)
    ),
}
TEMPERATURES = (0.3, 0.5, 0.7, 1.0)


def logprob_domains(data: Path) -> str:
    """Return the shares of domains, by this package's lexicon on the sample of the mirror."""
    questions = load("trivia_qa", seed=42, mirror=data / "hub")
    found = Counter(domain_of(question.text) for question in questions)
    total = sum(DOMAIN_COUNTS.values())
    rows = (
        (domain, f"{100 * DOMAIN_COUNTS[domain] / total:.1f}", f"{100 * found[domain] / len(questions):.1f}")
        for domain in DOMAINS
    )
    return table(f"domain | paper, % of {total:,} | ours, % of {len(questions):,}", rows)


def logprob_ratios() -> str:
    """Return M-ratios, ranges and correlations that follow from the printed d' and meta-d'."""
    rows = []
    for model, sweep in SWEEPS.items():
        rho = [float(spearmanr(values, TEMPERATURES)[0]) for values in (sweep.meta_d, sweep.d_prime)]
        spread = max(sweep.meta_d) - min(sweep.meta_d)
        rows.append(
            (
                model,
                f"{sweep.m_ratio:.3f}",
                f"{sweep.meta_d[-1] / sweep.d_prime[-1]:.3f}",
                "" if np.isnan(sweep.spread) else f"{sweep.spread:.3f}",
                f"{spread:.3f}",
                "" if sweep.rho is None else "{:+.2f}, {:+.2f}".format(*sweep.rho),
                "{:+.2f}, {:+.2f}".format(*rho),
            )
        )
    return table(
        "model | M-ratio: paper | of its d' and meta-d' | range of meta-d': paper | of its table 7"
        " | rank correlation of meta-d', d' with temperature: paper | of its table 7",
        rows,
    )


class Octiles(NamedTuple):
    """Accuracy by quarter (version 1, table 5), and accuracy and estimates from octiles (version 2)."""

    quarters: tuple[float, ...]
    accuracy: float
    information: float
    area: float
    slope: float


VERSION_2 = {
    ("TriviaQA", 5_000): {
        "Llama-3-Instruct": Octiles((0.179, 0.400, 0.667, 0.927), 0.5434, 0.2757, 0.8313, 0.863),
        "Mistral-Instruct": Octiles((0.098, 0.198, 0.533, 0.882), 0.4274, 0.3285, 0.8551, 0.812),
        "Llama-3-Base": Octiles((0.059, 0.292, 0.539, 0.823), 0.4284, 0.2922, 0.8392, 1.179),
        "Gemma-2-Instruct": Octiles((0.314, 0.539, 0.690, 0.859), 0.6004, 0.1428, 0.7470, 0.992),
    },
    ("NQ", 3_000): {
        "Llama-3-Instruct": Octiles((0.056, 0.092, 0.212, 0.515), np.nan, 0.1922, 0.7900, 0.852),
        "Mistral-Instruct": Octiles((0.024, 0.031, 0.059, 0.301), np.nan, 0.2434, 0.8231, 0.644),
        "Llama-3-Base": Octiles((0.015, 0.080, 0.148, 0.315), np.nan, 0.1402, 0.7648, 1.243),
        "Gemma-2-Instruct": Octiles((0.085, 0.213, 0.328, 0.496), np.nan, 0.1080, 0.7181, 1.181),
    },
}


def logprob_version_2() -> str:
    """Return version 2's estimates beside those of the quarters that version 1 prints of the same trials."""
    rows = []
    for (source, n), models in VERSION_2.items():
        for model, printed in models.items():
            right = n / 4 * np.array(printed.quarters)
            counts = np.stack([n / 4 - right, right])[np.newaxis]
            found = [estimator(counts)[0] for estimator in ESTIMATORS.values()]
            values = zip((printed.information, printed.area, printed.slope), found, strict=True)
            accuracy = "" if np.isnan(printed.accuracy) else f"{printed.accuracy:.4f}"
            texts = (f"{number:.3f}" for pair in values for number in pair)
            rows.append((source, model, accuracy, f"{np.mean(printed.quarters):.4f}", *texts))
    return table(
        "questions | model | accuracy: version 2 | of the quarters | meta-I2r: version 2 | of the quarters"
        " | AUROC2: version 2 | of the quarters | z-ROC slope: version 2 | of the quarters",
        rows,
    )


# Confidence scales ----------------------------------------------------------------------------------------------

BASELINE = {
    "GPT-5.2": (0.81, 1.84, 0.92),
    "LLaMA-4-Maverick": (0.76, 1.65, 0.82),
    "Qwen3-235B": (0.79, 1.51, 0.78),
    "LLaMA-4-Scout": (0.72, 1.52, 0.76),
    "Gemini 3.1 Pro": (0.78, 1.42, 0.74),
    "Qwen3-30B": (0.68, 1.22, 0.62),
}
"""Accuracy, meta-d' and M-ratio on the scale from 0 to 100: table 1."""


def scales_d_prime() -> str:
    """Return the d' that the paper's M-ratio implies, beside that of an unbiased two-choice observer."""
    rows = (
        (model, f"{accuracy:.2f}", f"{meta_d / m_ratio:.2f}", f"{2 * ndtri(accuracy):.2f}")
        for model, (accuracy, meta_d, m_ratio) in BASELINE.items()
    )
    return table("model | accuracy | d' by the paper's meta-d' / M-ratio | 2 z(accuracy), ours", rows)


def scales_reference(data: Path) -> str:
    """Return sizes of sources and the entropy of a uniform distribution."""
    uniform = -sum(p * np.log2(p) for p in [1 / 101] * 101)
    rows = [("entropy of 101 equally frequent values, bits", "6.66", f"{uniform:.2f}")]
    for name, size in (("gsm8k", 1_319), ("truthfulqa", 817)):
        rows.append((f"questions of {name}", f"{size:,}", f"{len(load(name, mirror=data / 'hub')):,}"))
    return table("number | paper | ours", rows)


# Statistics -----------------------------------------------------------------------------------------------------


def meta_d_fits() -> str:
    """Return maximum-likelihood fits of meta-d' beside those of 40-digit arithmetic."""
    rows = []
    for s1, s2, padding, d_prime, meta_d, _ in REFERENCE:
        fit = fit_meta_d(s1, s2, padding=padding)
        pairs = ((d_prime, fit.d_prime), (meta_d, fit.meta_d))
        counts = (", ".join(map(str, counts)) for counts in (s1, s2))
        rows.append((*counts, padding, *(f"{value:.8f}" for pair in pairs for value in pair)))
    return table("nR_S1 | nR_S2 | padding | d': reference | ours | meta-d': reference | ours", rows)


def worked_examples() -> str:
    """Return other published numbers that a statistic or a table must give."""
    correct, confidence = np.repeat([[0, 0, 1, 1], [0, 1, 0, 1]], [138, 5, 440, 415], axis=1)
    bits = meta_information(correct, confidence, correction="none", unit="bits")
    d_prime = fit_meta_d([52, 32, 35, 37, 26, 12, 4, 2], [2, 5, 15, 22, 33, 38, 40, 45]).d_prime
    life = load_life_table()
    expected = {sex: life_expectancy(life.probabilities(sex)) for sex in PUBLISHED_AT_BIRTH}
    return table(
        "number | published | ours",
        [
            ("meta-information, bits: Dayan (2023), table 1, subject 5, condition 3", "0.094", f"{bits:.3f}"),
            ("d' of the counts that metadpy's tests and tutorial use", "1.535", f"{d_prime:.3f}"),
            *(
                (f"life expectancy at birth, {sex}, years: SSA, 2022", f"{years:.2f}", f"{expected[sex]:.2f}")
                for sex, years in PUBLISHED_AT_BIRTH.items()
            ),
        ],
    )


# The page -------------------------------------------------------------------------------------------------------

TABLES: Mapping[str, Callable[[], str]] = {
    "lifeeval-sat-en": lifeeval_sat_en,
    "lifeeval-text": lifeeval_text,
    "lifeeval-recorded": lifeeval_recorded,
    "lifeeval-limits": lifeeval_limits,
    "fermieval-figure-2": fermieval_figure_2,
    "riskeval-thresholds": riskeval_thresholds,
    "logprob-ratios": logprob_ratios,
    "logprob-version-2": logprob_version_2,
    "fermieval-raw-replies": fermieval_raw_replies,
    "scales-d-prime": scales_d_prime,
    "meta-d-fits": meta_d_fits,
    "worked-examples": worked_examples,
}
TABLES_OF_DATA: Mapping[str, Callable[[Path], str]] = {
    "lifeeval-table-4": lifeeval_table_4,
    "lifeeval-rounded": lifeeval_rounded,
    "lifeeval-table-2": lifeeval_table_2,
    "lifeeval-halueval": lifeeval_halueval,
    "fermieval-questions": fermieval_questions,
    "logprob-domains": logprob_domains,
    "scales-reference": scales_reference,
}
"""Tables that need public replies or questions."""


def tables(data: Path | None) -> dict[str, str]:
    """Return the tables of the page; without data, those that need none."""
    made = {name: make() for name, make in TABLES.items()}
    return made if data is None else made | {name: make(data) for name, make in TABLES_OF_DATA.items()}


def main() -> None:
    data = local_data()
    if data is None:
        print(
            f"No local data: {', '.join(TABLES_OF_DATA)} stay as they are. CONFIDENCE_TASKS_MIRROR names the folder"
            " hub, with replies beside it.",
            file=sys.stderr,
        )
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), tables(data)), encoding="utf-8")


if __name__ == "__main__":
    main()
