"""The report's numbers as files: CSV for computing on, LaTeX for papers, JSON for programs."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from confidence_tasks.report.estimates import Estimated, Settings
from confidence_tasks.report.extra_tables import ExtraTable, Overview
from confidence_tasks.report.figures.figure import Figure, figure_svg
from confidence_tasks.report.labels import decimals_for, json_number, measure_label, why_missing
from confidence_tasks.report.results import TaskResults
from confidence_tasks.sources.source import write_atomically
from confidence_tasks.statistics import Interval
from confidence_tasks.study.measures import Measure

_SYMBOLS = "αβδλμπρστΔΣΩ∞×·±≤≥≠≈↑↓→†‡"
_NAMES = """
alpha beta delta lambda mu pi rho sigma tau Delta Sigma Omega
infty times cdot pm leq geq neq approx uparrow downarrow rightarrow dagger ddagger
"""
"""Signs, and the commands of LaTeX's mathematics that print them."""

LATEX = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # after the end of a row, either would be an argument of it
    "*": "{*}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "\u00a0": "~",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    **{char: rf"$\{name}$" for char, name in zip(_SYMBOLS, _NAMES.split(), strict=True)},
    "−": "$-$",
    "′": "$'$",
    "∗": "$*$",
    **{digit: f"$_{i}$" for i, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{digit: f"$^{i}$" for i, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
"""How LaTeX prints what it would not print as it stands."""


def estimates_frame(results: Iterable[TaskResults]) -> pd.DataFrame:
    """Return every estimate of a report as a table, one row each.

    Columns are ``study``, ``task``, ``model``, ``by``, ``group``, ``source`` (empty for the mean over sources),
    ``measure``, ``value``, ``low``, ``high``, ``level``, ``n`` (trials), ``n_questions``, ``n_resamples``,
    ``n_undefined`` and ``reason`` (why a value or an interval is missing).
    """
    rows = [
        {
            "study": task.task_trials.study.name,
            "task": task.task_trials.task,
            "model": entry.model,
            "by": entry.by,
            "group": entry.group,
            "source": entry.source,
            "measure": entry.measure,
            **_interval(entry.interval),
            "n": entry.n,
            "n_questions": entry.interval.n_units,
            "n_resamples": entry.interval.n_resamples,
            "n_undefined": entry.interval.n_undefined,
            "reason": why_missing(entry.interval),
        }
        for task in results
        for entry in task.estimates
    ]
    return pd.DataFrame(rows)


def contrasts_frame(results: Iterable[TaskResults]) -> pd.DataFrame:
    """Return every contrast with a baseline as a table, one row each.

    Columns are ``study``, ``task``, ``model``, ``condition``, ``baseline``, ``measure``, ``value`` (the
    difference), ``low``, ``high``, ``level``, ``p_value`` (from the same pivot as the interval), ``p_adjusted``
    (Bonferroni, over all comparisons of the measure in the study's tasks), ``p_exchange`` (of the papers' exchange
    test, not corrected), ``method`` (the pivot), ``n_questions`` and ``reason`` (why the difference or its interval
    is missing).
    """
    rows = [
        {
            "study": task.task_trials.study.name,
            "task": task.task_trials.task,
            "model": contrast.model,
            "condition": contrast.group,
            "baseline": contrast.baseline,
            "measure": contrast.measure,
            **_interval(contrast.interval),
            "p_value": contrast.p_value,
            "p_adjusted": contrast.p_adjusted,
            "p_exchange": contrast.p_exchange,
            "method": contrast.interval.method,
            "n_questions": contrast.interval.n_units,
            "reason": why_missing(contrast.interval),
        }
        for task in results
        for contrast in task.contrasts
    ]
    return pd.DataFrame(rows)


def _interval(interval: Interval) -> dict[str, float]:
    return {
        "value": float(interval.estimate),
        "low": float(interval.low),
        "high": float(interval.high),
        "level": interval.level,
    }


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as JSON-ready records, with numbers as `json_number` gives them.

    Examples
    --------
    >>> records(pd.DataFrame({"p": [0.5, float("nan"), float("inf")]}))
    [{'p': 0.5}, {'p': None}, {'p': 'Infinity'}]
    """
    return [
        {str(key): json_number(value) if isinstance(value, float) else value for key, value in row.items()}
        for row in table.to_dict("records")
    ]


def plain_cell(value: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    Names of models, sources and conditions come out of logs. See CWE-1236.
    """
    return (
        f"'{value}"
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        else value
    )


def write_tables(
    results: Sequence[TaskResults],
    extras: Iterable[ExtraTable],
    folder: Path,
    overviews: Iterable[Overview] = (),
) -> list[Path]:
    """Write everything as CSV, and each task's headline and the tasks side by side as LaTeX."""
    written = []
    above = list(overviews)
    tables = {"estimates": estimates_frame(results), "contrasts": contrasts_frame(results)}
    tables |= {overview.design.name: overview.frame() for overview in above}
    for name, table in (tables | {extra.name: extra.frame for extra in extras}).items():
        written.append(folder / f"{name}.csv")
        write_atomically(written[-1], table.map(plain_cell).to_csv(index=False).encode(errors="replace"))
    texts = {overview.design.name: latex_overview(overview) for overview in above}
    for name, text in (texts | {task.task_trials.slug: latex_table(task) for task in results}).items():
        written.append(folder / f"{name}.tex")
        write_atomically(written[-1], text.encode(errors="replace"))
    return written


def write_figures(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Write every figure as an SVG file."""
    written = []
    for figure in figures:
        written.append(folder / f"{figure.name}.svg")
        write_atomically(written[-1], figure_svg(figure).encode(errors="xmlcharrefreplace"))
    return written


def latex_table(results: TaskResults) -> str:
    """Return the headline measures of a task, model by model, as a LaTeX table for ``booktabs``."""
    note = _latex_note(results.settings)
    if results.contrasts:
        baseline = results.task_trials.design.baseline
        note += f"; * differs from {baseline} at .05 after Bonferroni's correction over the study"

    def starred(entry: Estimated) -> bool:
        contrast = results.contrast(entry.model, entry.group, entry.measure)
        return contrast is not None and contrast.significant

    models = [model.label for model in results.models]
    return f"{note}\n{_latex_rows(results, models, results.conditions, results.headline, starred)}"


def latex_overview(overview: Overview) -> str:
    """Return the measures of several tasks side by side as a LaTeX table for ``booktabs``."""
    text = _latex_rows(overview, overview.models, overview.columns, overview.design.measures)
    return f"{_latex_note(overview.tasks[0].settings)}\n{text}"


def _latex_note(settings: Settings) -> str:
    drawn = f"{settings.n_resamples:,} resamples of questions, seed {settings.seed}"
    return f"% {settings.level:.0%} intervals over {drawn}"


def _latex_rows(
    of: TaskResults | Overview,
    models: Sequence[str],
    columns: Sequence[str],
    measures: Sequence[Measure],
    starred: Callable[[Estimated], bool] = lambda entry: False,
) -> str:
    """Return estimates as a table, a row for each model and measure; the last row of a model is its trials."""
    lines = [
        r"\begin{tabular}{ll" + "r" * len(columns) + "}",
        r"\toprule",
        " & ".join(["Model", "Measure", *map(latex, columns)]) + r" \\",
    ]
    for model in models:
        lines.append(r"\midrule")
        first = latex(model)
        for measure in measures:
            entries = [of.estimate(model, column, measure.name) for column in columns]
            decimals = decimals_for([float(each.interval.estimate) for each in entries if each is not None])
            cells = [_latex_cell(entry, decimals, starred) for entry in entries]
            lines.append(" & ".join([first, latex(measure_label(measure.name)), *cells]) + r" \\")
            first = ""
        sizes = ["--" if entry is None else f"{entry.n}" for entry in entries]
        lines.append(" & ".join(["", "Trials", *sizes]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _latex_cell(entry: Estimated | None, decimals: int, starred: Callable[[Estimated], bool]) -> str:
    if entry is None or math.isnan(entry.interval.estimate):
        return "--"
    interval, star = entry.interval, "^{*}" if starred(entry) else ""
    value, low, high = (
        # Adding 0 takes the sign off a zero.
        f"{round(float(number), decimals) + 0.0:.{decimals}f}".replace("inf", r"\infty")
        for number in (interval.estimate, interval.low, interval.high)
    )
    if math.isnan(interval.low):
        return f"${value}{star}$"
    return f"${value}{star}$ {{\\scriptsize $[{low}, {high}]$}}"


_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u ",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r ",
    "\u030b": "H ",
    "\u030c": "v ",
    "\u0327": "c ",
}
"""Commands of the accents that every encoding of LaTeX's fonts has, by their combining characters."""


def latex(text: str) -> str:
    r"""Return text that LaTeX prints literally; a letter that its standard fonts lack as its code point.

    Examples
    --------
    >>> latex("gpt_4 50%"), latex("é, λ, 模")
    ('gpt\\_4 50\\%', "\\'{e}, $\\lambda$, {[}U+6A21]")
    """
    return "".join(LATEX.get(char) or _latex_letter(char) for char in text)


def _latex_letter(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    parts = unicodedata.normalize("NFD", char)
    if len(parts) == 2 and parts[1] in _ACCENTS and parts[0].isascii() and parts[0].isalpha():
        return f"\\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"{{[}}U+{ord(char):04X}]"
