"""Tables 1 to 3 and figures 1 to 3 of version 2 of Cacioli (2026), arXiv:2603.25112, and the report's valid measures.

The paper shows three estimators at T = 1, by domain and over temperatures. The numbers of tables and figures are this
package's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from confidence_tasks.replications.logprob_metacognition.octiles import estimate
from confidence_tasks.report import paper
from confidence_tasks.report.extra_tables import extra_table
from confidence_tasks.report.figures import Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_of, line_of_intervals
from confidence_tasks.report.labels import p_value
from confidence_tasks.report.paper import MODELS, by_measure, heading
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import Interval
from confidence_tasks.statistics.information import meta_information_test
from confidence_tasks.studies.logprob_metacognition.cell_tables import TEMPERATURE, CellKey
from confidence_tasks.studies.logprob_metacognition.domains import LEXICON
from confidence_tasks.studies.logprob_metacognition.replies import CONDITIONS, TEMPERATURES
from confidence_tasks.studies.logprob_metacognition.report import measure_cells, whole_cells
from confidence_tasks.studies.logprob_metacognition.resampling import LogprobResampler

VALID = (
    "meta_information",
    "auroc2",
    "z_roc_slope",
    "d_a",
    "accuracy_50",
    "accuracy_80",
    "accuracy",
    "ece",
    "brier",
)
"""Measures of the second version, accuracy at coverage, and calibration for comparison."""


@extra_table(
    "valid",
    f"Log-probability as evidence of correctness at T = {TEMPERATURE:g}",
    "The measures of the paper’s second version. Meta-information is the share of the uncertainty about correctness"
    " that the log-probability removes, corrected for bias; p is that of a permutation test of no information. A z-ROC"
    " slope other than 1 means unequal variance. The two further accuracies are those of the most confident 50% and 80%"
    " of the answers. ECE and Brier score use exp(mean log-probability) as confidence.",
)
def valid_measures(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the second version's measures at T = 1, with the permutation test of meta-information."""
    for cell in whole_cells(results):
        test = meta_information_test(
            cell.correct, cell.evidence, questions=cell.questions, seed=results.settings.seed
        )
        row = {"model": cell.key.model, "source": cell.key.source, **measure_cells(cell, VALID, results)}
        yield {**row, "p": p_value(test.p_value), "n": cell.n}


LABELS = {"meta_i2r": "meta-I₂ʳ", "auroc2_bins": "AUROC₂", "z_roc_slope_regression": "z-ROC slope"}
"""Names of the estimators in the paper."""

SOURCES = {"trivia_qa": "TriviaQA", "nq_open": "NQ"}


def _value(runs: paper.Runs, cell: paper.Cell, name: str, domain: str = "") -> paper.Value:
    """Return an estimator; None if the model was not asked, NaN if it has no trials in a domain."""
    task = runs.task_of(cell)
    if task is None or cell.source not in task.analysis.sources:
        return None
    key = CellKey(cell.model, cell.source, CONDITIONS.number(cell.group), domain)
    if key not in task.analysis.cells:
        return float("nan") if domain else None
    resampler: LogprobResampler = task.analysis
    return estimate(resampler, key, name, task.settings.level)


def _columns(*names: str, intervals: bool = True) -> tuple[paper.Heading, ...]:
    """Return the columns of estimators, each with its interval."""
    headings = []
    for name in names:
        measure = partial(_value, name=name)
        headings.append(heading(LABELS[name], measure=measure))
        if intervals:
            high = {"limit": "high", "name": "high"}
            limits = heading(
                f"{LABELS[name]} 95% CI",
                measure=measure,
                limit="low",
                name="low",
                text="[{}, {}]",
                more=(high,),
            )
            headings.append(limits)
    return tuple(headings)


_AT = {"task": "nlp_metad", "group": f"T={TEMPERATURE:g}", "digits": 4, "better": "higher"}

_ESTIMATORS = (
    "meta-I₂ʳ is I(correctness; octile of the log-probability) / H(correctness), less its mean over 2,000"
    " permutations; AUROC₂ is that of the octiles. Intervals are percentiles of 2,000 resamples of trials."
)


# Figures ---------------------------------------------------------------------------------------------------------


def _intervals(results: TaskResults, name: str, keys: Sequence[CellKey]) -> list[Interval | None]:
    resampler = results.analysis
    return [
        estimate(resampler, key, name, results.settings.level) if key in resampler.cells else None
        for key in keys
    ]


def _panels(
    results: TaskResults, styles: ModelStyles, keys_of: Mapping[str, Sequence[CellKey]], labels: Sequence[str]
) -> Iterator[Panel]:
    """Yield a panel of meta-I2r and one of AUROC2, with a line for each model."""
    for name in ("meta_i2r", "auroc2_bins"):
        lines = []
        for model, keys in keys_of.items():
            found = _intervals(results, name, keys)
            if any(found):
                lines.append(line_of_intervals(model, found, *styles[model]))
        if lines:
            yield panel("", panels.intervals, labels=labels, lines=lines, y=LABELS[name])


def _models(results: TaskResults) -> list[str]:
    return [model.label for model in results.models]


@figure_of(
    "version_2_models",
    "Version 2: information and AUROC₂ of octiles at T = 1",
    f"For each source. {_ESTIMATORS}",
    size=(3.7, 2.6),
)
def models_figure(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw the estimators of each model on each source."""
    sources = results.analysis.sources
    keys_of = {model: [CellKey(model, source) for source in sources] for model in _models(results)}
    return _panels(results, styles, keys_of, [SOURCES.get(source, source) for source in sources])


@figure_of(
    "version_2_domains",
    "Version 2: by domain",
    "At T = 1, on the first source; every domain has the octiles of all its model’s trials.",
    size=(3.7, 2.6),
)
def domains_figure(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw the estimators of each model in each domain."""
    domains, source = tuple(LEXICON), results.analysis.sources[:1]
    keys_of = {
        model: [CellKey(model, name, domain=domain) for name in source for domain in domains]
        for model in _models(results)
    }
    return _panels(results, styles, keys_of, [domain.replace(" & ", "\n& ") for domain in domains])


@figure_of(
    "version_2_temperatures",
    "Version 2: over temperatures",
    "On the first source; every temperature has octiles of its own.",
    size=(3.7, 2.6),
)
def temperatures_figure(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw the estimators of each model at each temperature."""
    resampler = results.analysis
    source = resampler.sources[:1]
    asked = [t for t in TEMPERATURES if t in {key.temperature for key in resampler.cells}]
    keys_of = {
        model: [CellKey(model, name, temperature) for name in source for temperature in asked]
        for model in _models(results)
    }
    return _panels(results, styles, keys_of, [f"{temperature:g}" for temperature in asked])


REPLICATION = paper.Replication(
    name="nlp_metad_2",
    title="Log-probability metacognition: Cacioli (2026), arXiv:2603.25112, version 2",
    tasks={"nlp_metad": paper.TaskParameters("temperatures", "source")},
    items=(
        paper.PaperTable(
            number="1",
            caption=f"Estimators at T = 1. {_ESTIMATORS} The slope is that of a linear regression.",
            stubs=("Model", "Dataset"),
            rows=(MODELS, tuple(heading(title, source=source) for source, title in SOURCES.items())),
            columns=(
                by_measure("accuracy", "Acc"),
                *_columns("meta_i2r", "auroc2_bins"),
                *_columns("z_roc_slope_regression", intervals=False),
            ),
            at=_AT,
        ),
        paper.PaperFigure("1", "Estimators at T = 1.", name="version_2_models"),
        paper.PaperTable(
            number="2",
            caption="Estimators by domain at T = 1 on TriviaQA, with the octiles of all domains.",
            stubs=("Estimator", "Domain"),
            rows=tuple(
                heading(LABELS[name], domain, measure=partial(_value, name=name, domain=domain))
                for name in ("meta_i2r", "auroc2_bins")
                for domain in LEXICON
            ),
            columns=MODELS,
            at={**_AT, "source": "trivia_qa"},
        ),
        paper.PaperFigure("2", "Estimators by domain at T = 1 on TriviaQA.", name="version_2_domains"),
        paper.PaperTable(
            number="3",
            caption="Estimators over temperatures on TriviaQA, each with octiles of its own.",
            stubs=("Model", "T"),
            rows=(MODELS, tuple(heading(f"{t:.1f}", group=CONDITIONS.label(t)) for t in TEMPERATURES)),
            columns=(
                by_measure("accuracy", "Acc"),
                *_columns("meta_i2r", "auroc2_bins", "z_roc_slope_regression", intervals=False),
            ),
            at={**_AT, "source": "trivia_qa"},
        ),
        paper.PaperFigure("3", "Estimators over temperatures on TriviaQA.", name="version_2_temperatures"),
    ),
    figures={"nlp_metad": (models_figure, domains_figure, temperatures_figure)},
)
