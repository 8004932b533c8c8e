"""Small sets of trials of every task of the papers, by two models whose names every file format must escape."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.trials import fermieval_trial, lifeeval_trial, question_set_trial, scale_trial
from tests.unit.report.runs import write
from tests.unit.studies.logprob_trials import NATURAL, Evidence
from tests.unit.studies.logprob_trials import trials as logprob_trials

from confidence_tasks.logs.about_models import AboutModels
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.reading.integer_scale import BOUNDARY, GRANULARITY, NONSTANDARD, Scale
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import overviews
from confidence_tasks.report.figures.general import model_styles
from confidence_tasks.report.general_tables import extra_tables
from confidence_tasks.report.groups import ModelGroups
from confidence_tasks.report.page.task_figures import figures_of, overview_figures
from confidence_tasks.report.paper.filled import filled_papers
from confidence_tasks.report.results import compute_results
from confidence_tasks.sources import Question
from confidence_tasks.sources.generated import lifeeval_question
from confidence_tasks.studies.fermieval.logprob.trials import distribution_trial
from confidence_tasks.studies.fermieval.replies import interval_reply
from confidence_tasks.studies.lifeeval.trials import maximum_score
from confidence_tasks.studies.riskeval.trials import riskeval_trial

MODELS = ('lab/a_b&50%\\x#{1}$^~"q"', '=cmd|模型<i>é"')
"""Names with special characters of LaTeX, HTML and spreadsheets."""

Rows = Iterator[Mapping[str, Any]]

SCALE_TASKS = {"scale_granularity": GRANULARITY, "scale_boundary": BOUNDARY, "scale_nonstandard": NONSTANDARD}


def scale_rows(
    tasks: Mapping[str, tuple[Scale, ...]] = SCALE_TASKS,
    sources: tuple[str, ...] = ("mmlu", "gsm8k"),
    n: int = 24,
) -> Rows:
    """Yield trials on every scale; the first model's confidence is more informative."""
    rng = np.random.default_rng(1)
    for model, skill in zip(MODELS, (1.6, 0.4), strict=True):
        for task, scales in tasks.items():
            for source in sources:
                for i in range(n):
                    question = Question(f"{source}-{i}", source, "How many?", "number", "7")
                    evidence = rng.normal(size=len(scales))
                    for scale, noise in zip(scales, evidence, strict=True):
                        right = (i + len(source)) % 3 > 0
                        share = 1.0 / (1.0 + np.exp(-(1.5 + skill * (1 if right else -1) + noise)))
                        stated = round(scale.lower + share * (scale.upper - scale.lower))
                        trial = scale_trial(
                            question, scale, f"Answer: {7 if right else 8}\nConfidence: {stated}"
                        )
                        yield {"study": "scales", "task": task, "model": model, **trial}


def risk_rows(sources: tuple[str, ...] = ("gsm8k", "hle"), n: int = 20) -> Rows:
    """Yield trials under four penalties; the second model abstains at low confidence."""
    rng = np.random.default_rng(2)
    for model in MODELS:
        for source in sources:
            for penalty in (0.0, 1.0, 10.0, 100.0):
                for i in range(n):
                    question = Question(f"{source}-{i}", source, "How many?", "number", "7")
                    right = i % 3 > 0
                    sure = float(np.clip(rng.normal(0.8 if right else 0.6, 0.15), 0.05, 0.99))
                    declines = model == MODELS[1] and sure < 0.6
                    answer = "ABSTAIN" if declines else "7" if right else "8"
                    trial = riskeval_trial(question, penalty, f"Answer: {answer}\nConfidence: {sure:.2f}")
                    yield {"study": "riskeval", "task": "riskeval", "model": model, **trial}


def life_rows() -> Rows:
    """Yield trials of LifeEval; the first model's third reply of each radius cannot be read."""
    for model, slope in zip(MODELS, (0.7, 0.3), strict=True):
        for radius in (1, 5, 10, 20):
            for i, age in enumerate(range(0, 101, 20)):
                for sex in ("male", "female"):
                    case = lifeeval_question(sex, age, radius)
                    stated = round(min(1.0, 0.25 + slope * maximum_score(case)), 2)
                    reply = f'{{"Answer": {max(age, 84)}, "Confidence": {stated}}}'
                    trial = lifeeval_trial(case, "?" if model == MODELS[0] and i == 2 else reply)
                    yield {"study": "lifeeval", "task": "lifeeval", "model": model, **trial}


def set_rows(n: int = 20) -> Rows:
    """Yield trials of two question sets, seven of ten right."""
    for model, confidence in zip(MODELS, (0.7, 0.93), strict=True):
        for task in ("boolq", "halueval"):
            for i in range(n):
                question = Question(f"{task}-{i}", task, "?", "boolean", "yes")
                said = "True" if i % 10 < 7 else "False"
                reply = f'{{"Answer": "{said}", "Confidence": {confidence}}}'
                yield {
                    "study": "question_sets",
                    "task": task,
                    "model": model,
                    **question_set_trial("boolean", question, reply),
                }


def fermi_rows(n: int = 240) -> Rows:
    """Yield stated intervals of both models, and token probabilities of the first, on both halves."""
    rng = np.random.default_rng(3)
    for model, width in zip(MODELS, (1, 3), strict=True):
        for i in range(n):
            truth = int(rng.integers(-9, 10))
            question = Question(f"quantity-{i}", "made-up", "How many?", "number", str(truth))
            split = ("calibration", "test")[i % 2]
            middle = truth + int(rng.integers(-3, 4))
            for level in (0.9, 0.95, 0.99):
                far = 300 if i == 1 else 0  # a test question with an end that the paper's figures leave out
                reply = interval_reply(middle - width, middle + width + far)
                yield {
                    "study": "fermieval",
                    "task": "fermieval",
                    "model": model,
                    **fermieval_trial(question, level, split, reply),
                }
            if model == MODELS[0]:
                trial = distribution_trial(question, split, {middle - 1: 0.2, middle: 0.5, middle + 1: 0.2})
                yield {"study": "fermieval_logprob", "task": "fermieval_logprob", "model": model, **trial}


def logprob_rows(n: int = 600) -> Rows:
    """Yield answers with log-probabilities at four temperatures, and at one on a second source."""
    rng = np.random.default_rng(4)
    for model, evidence in zip(MODELS, (Evidence(1.0), Evidence(1.4, 1.6, 0.6)), strict=True):
        parts = [
            logprob_trials(evidence, n, model=model, temperature=temperature, rng=rng)
            for temperature in (0.3, 0.5, 0.7, 1.0)
        ]
        parts.append(logprob_trials(evidence, n, model=model, source=NATURAL, rng=rng))
        for part in parts:
            for trial in part.to_dict("records"):
                yield {
                    "study": "nlp_metad",
                    "task": "nlp_metad",
                    **{str(key): value for key, value in trial.items()},
                }


ROWS = {
    "scales": scale_rows,
    "riskeval": risk_rows,
    "lifeeval": life_rows,
    "question_sets": set_rows,
    "fermieval": fermi_rows,
    "nlp_metad": logprob_rows,
}


class PaperReport(NamedTuple):
    """Results of a report, and the papers that they fill."""

    results: list[Any]
    papers: list[Any]


def filled_from(
    path: Path, n_resamples: int = 20, groups: ModelGroups = (), about: AboutModels = ()
) -> PaperReport:
    """Return the results and papers of files of trials, without the page."""
    settings = Settings(n_resamples=n_resamples, groups=groups, about=about)
    results = list(compute_results(group_by_task(collect(path).files), settings))
    styles = model_styles([model.label for each in results for model in each.models])
    figures = [figure for each in results for figure in figures_of(each, styles)]
    figures += [figure for each in overviews(results) for figure in overview_figures(each, styles)]
    extras = [extra for each in results for extra in extra_tables(each)]
    return PaperReport(results, list(filled_papers(results, extras, figures)))


def write_every_study(folder: Path) -> Path:
    """Write a file for each study."""
    for study, rows in ROWS.items():
        write(folder / f"{study}.jsonl", list(rows()))
    return folder
