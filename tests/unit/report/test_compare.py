"""Two models side by side: what ``compare`` says is what the report says, on the questions that both were asked."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.unit.report.runs import write
from tests.unit.studies.logprob_trials import Evidence
from tests.unit.studies.logprob_trials import trials as logprob_trials

from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials, group_by_task
from confidence_tasks.report import collect
from confidence_tasks.report.commands.compare import compare as command
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.report.results import TaskResults, compute_results
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval import STUDY as FERMIEVAL
from confidence_tasks.studies.lifeeval import STUDY as LIFEEVAL
from confidence_tasks.studies.logprob_metacognition import STUDY as LOGPROB
from confidence_tasks.studies.riskeval import STUDY as RISKEVAL
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.study.definition import Study

FEW = Settings(n_resamples=200)
N, ABSTAINED, EXTRA = 40, 30, 5
PENALTY = 10.0


def _reply(model: str, i: int) -> str:
    """The second model declines three questions of four in the one word that it was told to use."""
    if model == "lab/careful" and i < ABSTAINED:
        return "ABSTAIN"
    return f"Answer: {'AB'[i % 4 == 0]}. Confidence: {60 + i % 5 * 8}%"


@pytest.fixture(scope="module")
def bold_and_careful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("abstaining")
    for model, n in (("lab/bold", N + EXTRA), ("lab/careful", N)):
        asked = (Question(f"q-{i}", "demo", "Is it so?", "choice", "A", ("Yes", "No")) for i in range(n))
        trials = [
            {"study": "riskeval", "model": model, **riskeval_trial(question, PENALTY, _reply(model, i))}
            for i, question in enumerate(asked)
        ]
        write(folder / f"{model[4:]}.jsonl", trials)
    return folder


@pytest.fixture(scope="module")
def results(bold_and_careful: Path) -> TaskResults:
    (results,) = compute_results(group_by_task(collect(bold_and_careful).files), FEW)
    return results


def trials_of(study: Study, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Made-up trials of one model under one condition, with every column that the study has."""
    numbers = {
        "correct": rng.integers(0, 2, N).astype(float),
        "answered": (rng.random(N) < 0.7).astype(float),
        "available": np.ones(N),
        "outcome": rng.integers(0, 2, N).astype(float),
        "penalty": np.full(N, PENALTY),
        "level": np.full(N, 0.9),
        "age": rng.integers(20, 90, N).astype(float),
        "radius": np.full(N, 5.0),
        "lower": np.zeros(N),
        "upper": np.full(N, 100.0),
        "confidence_raw": rng.integers(0, 101, N).astype(float),
    }
    texts = {
        "question_id": [f"q-{i}" for i in range(N)],
        "condition": ["c"] * N,
        "source": ["demo"] * N,
        "status": ["ok"] * N,
    }
    if study is FERMIEVAL:
        texts["split"] = ["test"] * N
        numbers |= {"truth": rng.integers(0, 9, N).astype(float)}
        numbers |= {"lower": rng.integers(-1, 4, N).astype(float)}
        numbers |= {"upper": numbers["lower"] + rng.integers(0, 6, N)}
    return {
        name: np.array(texts.get(name, [""] * N), dtype=object)
        if kind is str
        else numbers.get(name, rng.random(N))
        for name, kind in study.column_types.items()
    } | {"confidence": numbers["confidence_raw"] / 100}


def _compared(results: TaskResults, *measures: str) -> dict[str, Contrast]:
    return {
        each.measure: each
        for each in compare_models(*results.models, results.task_trials, measures or None, FEW)
    }


def test_an_abstention_without_a_confidence_is_an_abstention(results: TaskResults) -> None:
    abstained = _compared(results)["abstention_rate"]
    assert abstained.values[0].estimate == 0.0
    assert abstained.values[1].estimate == ABSTAINED / N
    assert abstained.p_value < 0.05


def test_only_questions_that_both_were_asked_count(results: TaskResults) -> None:
    assert {each.n_questions for each in _compared(results).values()} == {N}


@pytest.mark.parametrize("measure", ["abstention_rate", "parse_rate", "ece", "normalized_utility"])
def test_a_model_has_the_value_that_the_report_gives_it(results: TaskResults, measure: str) -> None:
    reported = results.estimate("lab/careful", "lambda=10", measure)
    assert reported is not None
    compared = _compared(results, measure)[measure]
    assert compared.values[1].estimate == reported.interval.estimate


@pytest.mark.parametrize("study", [SCALES, LIFEEVAL, RISKEVAL, FERMIEVAL], ids=lambda study: study.name)
def test_a_copy_differs_in_nothing(study: Study) -> None:
    """The same replies in another order: rounding differs, and nothing else."""
    trials = trials_of(study, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(len(trials["question_id"]))
    copy = {name: column[order] for name, column in trials.items()}
    models = tuple(ModelTrials(name, name, rows, (), 0) for name, rows in (("a", trials), ("b", copy)))
    task_trials = TaskTrials(study, next(iter(study.designs)), models)
    compared = compare_models(*models, task_trials, list(study.measures_by_name), FEW)
    assert {each.measure for each in compared} >= {*study.headline_measures, *study.tested_measures}
    for each in compared:
        if not math.isnan(each.interval.estimate):
            assert abs(each.interval.estimate) < 1e-8, each.measure
            assert math.isnan(each.p_value) or each.p_value == each.p_adjusted == 1.0, each.measure


def test_rates_of_reading_can_be_compared(results: TaskResults) -> None:
    read = _compared(results, "parse_rate")["parse_rate"]
    assert (read.values[0].estimate, read.values[1].estimate) == (1.0, 1.0 - ABSTAINED / N)
    assert read.p_value < 0.05


def test_what_cannot_be_fitted_for_every_exchange_has_no_p_value(results: TaskResults) -> None:
    measure = "normalized_recalibrated_utility"
    recalibrated = _compared(results, measure)[measure]
    assert not math.isnan(recalibrated.interval.estimate)
    assert math.isnan(recalibrated.p_value)


def test_the_command_says_over_what_p_is_corrected(bold_and_careful: Path) -> None:
    folder = str(bold_and_careful)
    models = ["--model-a", "lab/bold", "--model-b", "lab/careful", "--resamples", "100"]
    done = CliRunner().invoke(command, [folder, folder, *models])
    assert done.exit_code == 0, done.output
    footer = " ".join(" ".join(done.stdout.splitlines()[-3:]).split())
    assert "corrected over the conditions of each measure (Holm), but not over measures" in footer


# Within the values of a column


def by_domain(domains: tuple[str, ...]) -> tuple[ModelTrials, ModelTrials, TaskTrials]:
    """Two models whose evidence tells most in the first domain, and one nothing in the others."""
    rng = np.random.default_rng(5)
    parts = [
        logprob_trials(
            Evidence(2.0 if model == "lab/instruct" and i else 0.5), 80, model=model, domain=name, rng=rng
        )
        for model in ("lab/base", "lab/instruct")
        for i, name in enumerate(domains)
    ]
    models = tuple(
        ModelTrials(str(name), str(name), {key: its[key].to_numpy() for key in its}, (), 0)
        for name, its in pd.concat(parts).groupby("model")
    )
    return models[0], models[1], TaskTrials(LOGPROB, "nlp_metad", models)


def test_within_a_column_each_value_is_compared_as_if_nothing_else_had_been_asked() -> None:
    base, instruct, task = by_domain(("Arts", "Geography"))
    found = compare_models(instruct, base, task, ["auroc2"], FEW, by="domain")
    assert [each.group for each in found] == ["T=1, Arts", "T=1, Geography"]
    for each, domain in zip(found, ("Arts", "Geography"), strict=True):
        only = [
            replace(
                model, columns={k: v[model.columns["domain"] == domain] for k, v in model.columns.items()}
            )
            for model in (instruct, base)
        ]
        (alone,) = compare_models(only[0], only[1], task, ["auroc2"], FEW)
        assert (each.interval, each.p_value, each.n_questions) == (alone.interval, alone.p_value, 80)
        assert each.p_adjusted >= each.p_value
    assert found[1].interval.estimate > found[0].interval.estimate + 0.1


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("topic", "nlp_metad has no text column 'topic'; it has .*domain"),
        ("nlp", "no text column 'nlp'"),
        ("question_id", "question_id has 80 values; choose a column with at most 30"),
    ],
)
def test_a_column_that_splits_nothing_is_refused(by: str, message: str) -> None:
    base, instruct, task = by_domain(("Arts",))
    with pytest.raises(ValueError, match=message):
        compare_models(instruct, base, task, ["auroc2"], FEW, by=by)


def test_the_command_compares_within_a_column(bold_and_careful: Path) -> None:
    paths = [str(bold_and_careful / name) for name in ("bold.jsonl", "careful.jsonl")]
    arguments = [*paths, "--by", "source", "--measure", "abstention_rate", "--resamples", "50", "--json"]
    ran = CliRunner().invoke(command, arguments)
    assert [each["condition"] for each in json.loads(ran.output)["comparisons"]] == ["lambda=10, demo"]
    assert "has no text column 'colour'" in CliRunner().invoke(command, [*paths, "--by", "colour"]).output
