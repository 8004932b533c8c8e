"""Checks of a task's trials, whose notices tell the reader how far to trust the numbers."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.harness.stopped import NOTICES
from confidence_tasks.harness.system_role import SYSTEM_MESSAGE
from confidence_tasks.logs.sequences import of_stopped_run, sentence_on
from confidence_tasks.logs.task_trials import question_keys
from confidence_tasks.logs.trial_files import FALLBACK, QUESTION, UNKNOWN_RUN, TrialFile
from confidence_tasks.reading.thoughts import UNKNOWN_MARK
from confidence_tasks.report.judges import judged_by_model
from confidence_tasks.report.labels import measure_label, number
from confidence_tasks.report.notices import Check, Notice, Severity, cells_of, check, notice_if_any, notices
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import study_report
from confidence_tasks.sources.clusters import BY_SUBJECT, CLUSTER_KINDS
from confidence_tasks.statistics import complete
from confidence_tasks.statistics.inference.clusters import Clusters
from confidence_tasks.study.definition import Study
from confidence_tasks.study.kinds import design_effect
from confidence_tasks.study.measures import ACCURACY, PARSE_RATE
from confidence_tasks.study.standard import BRIER, OVERCONFIDENCE
from confidence_tasks.study.trial import RULES
from confidence_tasks.study.units import SAMPLING_UNIT, units_of

FEW_OF_A_CLASS = 30
"""Number of right or wrong answers below which measures that compare the two are mostly noise."""

TIED_SHARE = 0.8
"""Proportion of equal confidences from which a condition's confidence hardly varies."""

UNDEFINED_SHARE = 0.05
"""Proportion of undefined resamples above which a measure gets a notice."""

STABLE_ACCURACY = 0.015
"""Difference of accuracy between conditions up to which the scale study calls accuracy stable (section 4.2)."""


LARGE_LOSS = 0.1
"""Proportion of lost samples from which an unfinished run is a serious problem."""


def notices_of(results: TaskResults) -> list[Notice]:
    """Run the checks of the study and return their notices, the most serious first."""
    return notices(results, checks_of(results.task_trials.study))


def notice_records(every: Iterable[TaskResults], stacklevel: int) -> list[dict[str, str]]:
    """Return the notices of the studies' checks as plain texts, and raise a Python warning for each serious one."""
    records = []
    for results in every:
        for notice in notices_of(results):
            record = {
                "severity": notice.severity,
                "task": results.task_trials.task,
                "title": notice.title,
                "meaning": notice.meaning,
                "where": "; ".join(notice.where),
            }
            records.append(record)
            if notice.severity == "serious":
                where = "; ".join(notice.where[:_PLACES])
                more = len(notice.where) - _PLACES
                text = f"{where}{f'; {more} more' if more > 0 else ''}"
                warnings.warn(
                    f"{record['task']}: {notice.title}: {text}. {notice.meaning}", stacklevel=stacklevel + 1
                )
    return records


_PLACES = 5
"""Maximum number of places in a Python warning."""


def _why_lost(file: TrialFile) -> list[str]:
    """Return why calls of a run have no reply."""
    return [f"{count} because {reason}" for reason, count in file.why_lost.items()]


def incomplete(results: TaskResults) -> Iterator[Notice]:
    """Yield runs that did not succeed or lack samples; of a resumed run, only the most complete file counts."""
    places: dict[Severity, list[str]] = {"serious": [], "warning": []}
    for model in results.models:
        by_completeness = sorted(model.files, key=lambda file: -file.lost)
        for file in {file.run or file.path: file for file in by_completeness}.values():
            status = "" if file.status in ("", "success") else f" (status: {file.status})"
            planned = file.lost + len(file)
            severity: Severity = "serious" if file.lost >= LARGE_LOSS * planned else "warning"
            if file.lost or status:
                name = file.path.rsplit("/", 1)[-1]
                place = f"{model.label}: {file.lost} of {planned} in {name}{status}"
                places[severity].append("; ".join([place, *_why_lost(file)]))
    for severity, where in places.items():
        yield from notice_if_any(
            severity,
            "Unfinished runs",
            "Some samples failed or were not run. Unless they are missing at random, all estimates of these models are"
            " biased: resume the run, then make the report again.",
            where,
        )


@check(
    "serious",
    "Stopped early",
    "These runs skipped samples when the decision of a gate was known. The nominal coverage of their ordinary"
    " intervals does not hold, and neither do p-values; the confidence sequence of the gated measure is valid. They are"
    " not pooled with whole runs.",
)
def stopped_early(results: TaskResults) -> Iterator[str]:
    """Yield the runs that stopped early, with what their gate found."""
    for model in results.models:
        if model.stopped:
            found = map(sentence_on, of_stopped_run(results.task_trials, model))
            yield "; ".join([f"{model.label}: {model.stopped:,} samples skipped", *found])


@check(
    "serious",
    "Samples ended by a limit",
    "They have no trial. They are the samples that take longest, so all estimates are biased. Run again with a higher"
    " limit or none (`--message-limit`, `--token-limit`, `--time-limit`, `--working-limit`, `--cost-limit`).",
)
def ended_by_limits(results: TaskResults) -> Iterator[str]:
    """Yield how many samples of each run every limit ended."""
    for model in results.models:
        for file in model.files:
            name, total = file.path.rsplit("/", 1)[-1], file.lost + len(file)
            for limit, n_samples in file.lost_by.items():
                yield f"{model.label}: {n_samples} of {total} in {name} by the {limit} limit"


@check(
    "note",
    "Repeated runs",
    "Several files have trials of the same question under the same condition. Only the newest run counts. If"
    " `confidence-tasks rescore` read a run several times, only the newest reading counts.",
)
def repeated(results: TaskResults) -> Iterable[str]:
    """Return the models with trials that several files have."""
    return [f"{model.label}: {model.repeated} trials" for model in results.models if model.repeated]


@check(
    "warning",
    "Edited scores",
    "The scores of these samples were edited by hand after the run; the edited values count. `confidence-tasks rescore`"
    " reads the replies again, without the edits.",
)
def edited_scores(results: TaskResults) -> Iterator[str]:
    """Yield the files with edited scores whose trials count."""
    for model in results.models:
        for file in (model.files[i] for i in np.unique(model.columns["file"]).tolist()):
            if file.edited:
                yield f"{model.label}: {file.edited} of {len(file)} in {file.path.rsplit('/', 1)[-1]}"


@check(
    "note",
    "Invalidated samples",
    "These samples were marked as invalid in the log. They do not count, and their trials in earlier copies of the log"
    " do not count either.",
)
def invalidated_samples(results: TaskResults) -> Iterator[str]:
    """Yield the files with invalidated samples."""
    for model in results.models:
        for file in model.files:
            if file.invalidated:
                yield f"{model.label}: {len(file.invalidated)} in {file.path.rsplit('/', 1)[-1]}"


@check(
    "warning",
    "Replies of a fallback model",
    "The provider answered these samples by another model than the requested one. They are reported separately, under"
    " the name of that model in brackets.",
)
def other_models(results: TaskResults) -> Iterable[str]:
    """Return the variants that another model answered."""
    return [
        f"{model.label}: {len(model)} trials" for model in results.models if FALLBACK in model.files[0].setup
    ]


@check(
    "warning",
    "Refused parameters",
    "A server refused parameters of the calls, which were left out, lowered or renamed. Without a temperature of 0 the"
    " replies are sampled; without a seed a repeated run has other samples; fewer alternatives make token probabilities"
    " less exact.",
)
def refused_parameters(results: TaskResults) -> Iterator[str]:
    """Yield each parameter that the server of a model refused, with the server's sentence."""
    for model in results.models:
        for note in dict.fromkeys(note for file in model.files for note in file.refused):
            yield f"{model.label}: {note}"


@check(
    "note",
    "Replies of earlier runs",
    "These replies were read from Inspect's cache and not asked for again. They are right if the same model still"
    " answers under this name; `-T cache=false` asks again.",
)
def from_cache(results: TaskResults) -> Iterator[str]:
    """Yield the runs with replies from the cache of an earlier run."""
    for model in results.models:
        for file in model.files:
            if file.from_cache:
                yield f"{model.label}: {file.from_cache} in {file.path.rsplit('/', 1)[-1]}"


@check(
    "warning",
    "No system role",
    "The chat template of these models drops a system message. It was put before the first user turn, so these models"
    " got the same text as others in another place.",
)
def moved_system_messages(results: TaskResults) -> Iterable[str]:
    """Return the models that got the system message in a user turn."""
    moved = f"model.{SYSTEM_MESSAGE}"
    return [model.label for model in results.models if any(moved in file.setup for file in model.files)]


@check(
    "note",
    "Several settings",
    "Prompts, worked examples, settings, data or the version of the task differ between the runs of a model. Each"
    " variant is reported separately, with the differences in brackets; trials of different variants are never pooled.",
)
def several_settings(results: TaskResults) -> Iterable[str]:
    """Return the models that ran with several settings."""
    return [", ".join(model.label for model in models) for models in results.variants_by_model.values()]


@check(
    "warning",
    "Runs without their results file",
    "The samples of these runs of lm-eval lie without the file `results_<time>.json`, which tells the model and its"
    " settings. The model is named after the folder, and runs are not pooled. Copy the file beside the samples.",
)
def without_results(results: TaskResults) -> Iterable[str]:
    """Return the models whose name and settings are unknown."""
    return [model.label for model in results.models if any(UNKNOWN_RUN in file.setup for file in model.files)]


@check(
    "warning",
    "Repeated questions in a file",
    "A file has several trials of a question under one condition and epoch; all of them count. If their"
    " settings differ, add a column `setup` with the settings: each value is then reported separately.",
)
def same_trial_twice(results: TaskResults) -> Iterable[str]:
    """Return the models with several trials of a question under one condition and epoch of a file."""
    return [f"{model.label}: {model.doubled} additional trials" for model in results.models if model.doubled]


def mixed_versions(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if versions of packages differ between the files of a report."""
    mixed = {name: values for name, values in _versions(results).items() if len(values) > 1}
    yield from notice_if_any(
        "warning" if {"task", "confidence-tasks"} & mixed.keys() else "note",
        "Mixed versions",
        "The files were written by different versions of these packages, whose prompts and reading rules may differ."
        " `confidence-tasks rescore` reads all replies with the installed version.",
        [f"{name}: {', '.join(values)}" for name, values in mixed.items()],
    )


def _versions(results: TaskResults) -> dict[str, list[str]]:
    """Return the versions of each package in the files whose trials count."""
    files = [model.files[i] for model in results.models for i in np.unique(model.columns["file"])]
    names = sorted({name for file in files for name in file.versions})
    return {name: sorted({file.versions.get(name, "") for file in files} - {""}) for name in names}


def different_questions(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if models were asked different questions."""
    questions = {model.label: set(model.columns["question_id"]) for model in results.models}
    union, common = set().union(*questions.values()), set.intersection(*questions.values())
    where = [f"{label}: {len(ids)} questions" for label, ids in questions.items()]
    yield from notice_if_any(
        "warning",
        "Models were asked different questions",
        f"Only {len(common)} of {len(union)} questions were asked of every model, so differences between models may be"
        " differences between questions. `confidence-tasks compare` pairs two models by question.",
        where if common != union else [],
    )


def id_conflicts(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if models were asked different questions under one id, as from two files of one name."""
    yield from id_conflict_notice([model.columns for model in results.models])


def id_conflict_notice(trials: Iterable[Mapping[str, NDArray[Any]]]) -> Iterator[Notice]:
    """Yield a notice that names the ids with several texts in trials, given as columns."""
    yield from notice_if_any(
        "serious",
        "Different questions under the same ids",
        "Models were asked different questions under one source and id, perhaps from two files of the same name."
        " Differences between these models are meaningless. `confidence-tasks compare` leaves these questions out.",
        sorted({name for _, _, name in conflicting_ids(trials)}),
    )


def conflicting_ids(trials: Iterable[Mapping[str, NDArray[Any]]]) -> set[tuple[str, str, str]]:
    """Return condition, source and id of the questions that have several texts in trials, given as columns.

    Trials without a digest of their question are ignored.
    """
    texts = set[tuple[str, ...]]().union(
        *(question_keys(columns, QUESTION) for columns in trials if QUESTION in columns)
    )
    counts = Counter((condition, source, name) for condition, source, name, text in texts if text)
    return {key for key, n_texts in counts.items() if n_texts > 1}


def unread_replies(results: TaskResults) -> Iterator[Notice]:
    """Yield notices of the conditions under which many replies lack an answer or a confidence."""
    # The study's own measure may leave out replies that no other measure uses.
    parse_rate = results.task_trials.study.measures_by_name.get(PARSE_RATE.name, PARSE_RATE)
    rates = {
        f"{model}, {condition}": float(parse_rate.compute(columns, None))
        for model, condition, columns in cells_of(results)
    }
    bands: tuple[tuple[Severity, float, float], ...] = (("serious", 0.0, 0.5), ("warning", 0.5, 0.9))
    for severity, low, high in bands:
        yield from notice_if_any(
            severity,
            "Replies without a readable answer or confidence",
            "Measures leave out replies without the values that they need. Such replies are rarely a random sample."
            " A reply of only ABSTAIN also has no confidence. Worked examples (`fewshot=8`) help small models to"
            " follow the format.",
            [f"{where}: {rate:.0%} with both" for where, rate in rates.items() if low <= rate < high],
        )


def unfinished_replies(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice for each way in which replies are unfinished, with their number in every cell."""
    cells = [
        (f"{model}, {label}", columns["status"]) for model, label, columns in cells_of(results, "status")
    ]
    for status, (title, meaning) in NOTICES.items():
        counts = [(where, int(np.sum(column == status)), len(column)) for where, column in cells]
        places = [f"{where}: {n} of {n_replies}" for where, n, n_replies in counts if n]
        yield from notice_if_any("serious", title, meaning, places)


@check(
    "warning",
    "Unknown control tokens",
    "Replies contain tokens such as `<|name|>` of unknown meaning. Perhaps the server's chat template"
    " does not fit the model, and a thought was read as the reply. Look at some of these replies in the log.",
)
def control_tokens(results: TaskResults) -> Iterator[str]:
    """Yield the cells with replies that contain unknown control tokens."""
    for model, condition, columns in cells_of(results, RULES):
        count = sum(UNKNOWN_MARK in rules.split("+") for rules in columns[RULES])
        if count:
            yield f"{model}, {condition}: {count} of {len(columns[RULES])} replies"


@check(
    "warning",
    "Few right or few wrong answers",
    "Measures that compare right answers with wrong ones (AUROC, meta-d′, M-ratio) need at least"
    f" {FEW_OF_A_CLASS} questions answered right and as many answered wrong from every source. Repeated trials of a"
    " question, and questions of one cluster, count once. Ask more questions or choose another difficulty;"
    " `confidence-tasks power` computes how many.",
)
def few_trials(results: TaskResults) -> Iterator[str]:
    """Yield the cells with too few right or wrong answers to compare the two."""
    for model, condition, columns in cells_of(results):
        rows = ~np.isnan(columns["confidence"]) & ~np.isnan(columns["correct"])
        correct, units = columns["correct"][rows], units_of(columns)[rows]
        right, wrong = (len({*units[correct == value]}) for value in (1.0, 0.0))
        if np.isin(correct, (0.0, 1.0)).all() and min(right, wrong) < FEW_OF_A_CLASS:
            yield f"{model}, {condition}: {right} right, {wrong} wrong"


@check(
    "warning",
    "Confidence hardly varies",
    "With so many ties, AUROC is near one half because few values differ, ECE depends on one bin, and a threshold puts"
    " nearly all trials on one side.",
)
def tied(results: TaskResults) -> Iterator[str]:
    """Yield the cells whose confidence hardly varies."""
    for model, condition, columns in cells_of(results, "correct", "confidence"):
        _, confidence = complete(columns["correct"], columns["confidence"])
        values, counts = np.unique(confidence, return_counts=True)
        if len(values) and counts.max() >= TIED_SHARE * len(confidence):
            proportion = counts.max() / len(confidence)
            yield f"{model}, {condition}: {proportion:.0%} at {values[counts.argmax()]:g}"


@check(
    "warning",
    "Undefined resamples",
    "The measure is undefined in many resamples (all right, all wrong, or d′ = 0). These resamples are left out,"
    " so the interval is too narrow.",
)
def undefined_resamples(results: TaskResults) -> Iterable[str]:
    """Return the measures that are undefined in many resamples."""
    return [
        f"{entry.model}, {entry.group}, {entry.measure}: {entry.interval.n_undefined} of {entry.interval.n_resamples}"
        for entry in results.estimates
        if not entry.source
        and not math.isnan(entry.interval.low)
        and entry.interval.n_undefined > UNDEFINED_SHARE * entry.interval.n_resamples
    ]


@check(
    "warning",
    "Accuracy differs between conditions",
    "The request for confidence changed the answers, so a difference in meta-d′ or ECE may reflect knowledge"
    " rather than metacognition.",
)
def unstable_accuracy(results: TaskResults) -> Iterable[str]:
    """Return the contrasts of accuracy that are large and significant."""
    return [
        f"{contrast.model}, {contrast.group}: {contrast.interval.estimate:+.3f}"
        f" [{contrast.interval.low:+.3f}, {contrast.interval.high:+.3f}]"
        for contrast in results.contrasts
        if contrast.measure == "accuracy"
        and abs(contrast.interval.estimate) >= STABLE_ACCURACY
        and contrast.significant
    ]


def no_baseline(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if models were not asked under the baseline condition."""
    baseline = results.task_trials.design.baseline
    missing = [
        model.label
        for model in results.models
        if baseline and baseline not in set(model.columns["condition"])
    ]
    yield from notice_if_any(
        "note",
        f"No baseline {baseline}",
        "These models did not run the baseline condition, so they have no contrasts with it.",
        missing,
    )


def different_sources(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if the sources of a condition differ from those of the baseline or reference condition."""
    baseline = results.task_trials.design.baseline or results.reference
    sources = _sources_of_conditions(results)
    where = []
    for (model, condition), of_condition in sources.items():
        of_baseline = sources.get((model, baseline), of_condition)
        if of_condition != of_baseline:
            shared = sorted(of_condition & of_baseline)
            compared = f"compared on {', '.join(shared)} only" if shared else "not compared"
            where.append(f"{model}, {condition}: {compared}")
    where += [
        f"{model}, {group.label}: averaged without {', '.join(cell.source for cell in group.apart)}"
        for model, groups in results.groups.items()
        for group in groups
        if group.apart
    ]
    yield from notice_if_any(
        "warning",
        "Conditions used different question sources",
        f"A difference from {baseline} is computed on the sources that both conditions share, and is missing if they"
        " share none. Tables and figures average over the shared sources; other sources are only in the table of"
        " sources. Conditions without a shared source may differ because of their questions.",
        where,
    )


def _sources_of_conditions(results: TaskResults) -> dict[tuple[str, str], set[str]]:
    """Return the sources that each model was asked under each condition."""
    sources = {}
    for model in results.models:
        for condition in results.conditions:
            rows = model.columns["condition"] == condition
            if rows.any():
                sources[model.label, condition] = set(map(str, model.columns["source"][rows]))
    return sources


FEW_CLUSTERS = 30
"""Number of clusters below which an interval depends on few of them."""


@check(
    "note",
    "Clusters of questions",
    "Questions that share a passage, a pair or a family are one unit of intervals and tests. The design effect is the"
    " variance of a measure with these units relative to that with questions as units. `--cluster none` makes questions"
    " the units.",
)
def clustered(results: TaskResults) -> Iterator[str]:
    """Yield the number of clusters of each model and source, and the design effects of the main measures."""
    for where, by_measure in _main_clusters(results):
        most = max(by_measure.values(), key=lambda each: each.n)
        effects = [
            f"{measure_label(name)} {number(each.design_effect, 2)}"
            for name, each in by_measure.items()
            if not math.isnan(each.design_effect)
        ]
        yield f"{where}: {most.n} clusters of {most.n_questions} questions; design effect of {', '.join(effects)}"


@check(
    "warning",
    "Few clusters",
    f"Intervals and tests with fewer than {FEW_CLUSTERS} clusters of questions depend on a few of them, and are less"
    " reliable than those with many. Ask questions from more clusters.",
)
def few_clusters(results: TaskResults) -> Iterator[str]:
    """Yield the models and sources with few clusters."""
    for where, by_measure in _main_clusters(results):
        if (n := max(each.n for each in by_measure.values())) < FEW_CLUSTERS:
            yield f"{where}: {n} clusters"


def _main_clusters(results: TaskResults) -> Iterator[tuple[str, dict[str, Clusters]]]:
    """Yield the model and source of trials with clusters, and their clusters in the reference group by main measure."""
    for model in results.models:
        for source in sorted(set(map(str, model.columns["source"]))):
            by_measure = {
                measure.name: entry.clusters
                for measure in results.headline
                if (entry := results.estimate(model.label, results.reference, measure.name, source))
                and entry.clusters
            }
            if by_measure:
                yield f"{model.label}, {source}, {results.reference}", by_measure


@check(
    "note",
    "Unknown clusters",
    "Questions of these sources share passages, but the files do not say which. Each question is a unit of its own, so"
    " that intervals may be too narrow. Logs of new runs have a column `cluster`.",
)
def unknown_clusters(results: TaskResults) -> Iterator[str]:
    """Yield the models and sources whose trials lack their clusters."""
    for model in results.models:
        if results.settings.cluster not in ("", *CLUSTER_KINDS.values()) or "cluster" not in model.columns:
            continue
        for source in sorted(CLUSTER_KINDS.keys() & set(model.columns["source"])):
            lacking = (model.columns["source"] == source) & (model.columns["cluster"] == "")
            if lacking.any():
                yield f"{model.label}, {source}: {int(lacking.sum())} trials"


@check(
    "note",
    "Questions share subjects",
    "The intervals are about other questions on the same subjects. About other subjects, multiply their width by the"
    " square root of the design effect, or use `--cluster subject`.",
)
def shared_subjects(results: TaskResults) -> Iterator[str]:
    """Yield the design effects by subject of means, for the sources that are samples of subjects."""
    for model, condition, trials in cells_of(results):
        if SAMPLING_UNIT in trials or set(trials["source"]) - BY_SUBJECT or "subject" not in trials:
            continue
        effects = {
            measure.name: design_effect(measure, trials, trials["subject"])
            for measure in (ACCURACY, OVERCONFIDENCE, BRIER)
        }
        known = [f"{measure_label(name)} {effect:.1f}" for name, effect in effects.items() if effect > 0.0]
        if known:
            yield f"{model}, {condition}: {len(set(trials['subject']))} subjects; {', '.join(known)}"


READING: tuple[Check, ...] = (
    clustered,
    few_clusters,
    unknown_clusters,
    shared_subjects,
    incomplete,
    stopped_early,
    ended_by_limits,
    judged_by_model,
    repeated,
    edited_scores,
    invalidated_samples,
    other_models,
    several_settings,
    from_cache,
    moved_system_messages,
    refused_parameters,
    without_results,
    same_trial_twice,
    mixed_versions,
    different_questions,
    id_conflicts,
    unread_replies,
    control_tokens,
    unfinished_replies,
    undefined_resamples,
    no_baseline,
    different_sources,
)
"""Checks for any trials."""

GENERAL: tuple[Check, ...] = (*READING, few_trials, tied, unstable_accuracy)
"""Checks for trials with a confidence in a single answer, including those of ``READING``."""


def checks_of(study: Study) -> tuple[Check, ...]:
    """Return the checks of a study's report: its own, or the general ones."""
    own = study_report(study).checks
    return GENERAL if own is None else own
