"""The results of ``summary`` and ``compare``: tables that print in a terminal or a notebook and can be plotted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.drawing import Colour, series
from confidence_tasks.logs.task_trials import in_order
from confidence_tasks.report.labels import between, measure_label, number, p_value, signed
from confidence_tasks.report.markdown import markdown_table
from confidence_tasks.statistics import reliability_curve
from confidence_tasks.statistics.core import complete
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def grouped(trials: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[str, ...], NDArray[np.int64]]]:
    """Yield the labels of each group and the positions of its trials, in natural order of the labels."""
    if not by:
        yield (), np.arange(len(trials))
        return
    labels = {name: pd.Categorical(trials[name], in_order(trials[name]), ordered=True) for name in by}
    for key, rows in pd.DataFrame(labels).groupby(list(by), observed=True):
        yield tuple(map(str, key)), rows.index.to_numpy()


def _new_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure with a size in inches."""
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def _of_clusters(row: pd.Series[Any]) -> dict[str, str]:
    """Return the number of clusters and the design effect, as far as the row has them."""
    cells = {}
    if "n_clusters" in row:
        cells["clusters"] = number(row["n_clusters"], 0)
    if "design_effect" in row:
        cells["design effect"] = number(row["design_effect"], 2)
    return cells


def _answers(trials: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Return correctness, confidence and the number of the unit of each trial."""
    by_name = {str(name): column.to_numpy() for name, column in trials.items()}
    unit = trials.groupby(["source", units_of(by_name)]).ngroup()
    return trials["correct"], trials["confidence"], unit


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Numbers that print as text in a terminal and as a table in a notebook.

    Attributes
    ----------
    frame : DataFrame
        The numbers.
    by : tuple of str
        Names of the columns of ``frame`` that hold the labels of the groups.
    level : float
        Nominal coverage of the intervals.
    """

    frame: pd.DataFrame
    by: tuple[str, ...]
    level: float

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the numbers as a DataFrame."""
        return self.frame.copy()

    def to_markdown(self) -> str:
        """Return the printed table in Markdown, and below it a note on how the numbers were computed."""
        shown = self._printed().astype(str)
        names = list(map(str, shown))
        table = markdown_table([dict(zip(names, row, strict=True)) for row in shown.to_numpy().tolist()])
        return f"{table}\n\n{self._note()}".rstrip()

    def __repr__(self) -> str:
        shown = self._printed()
        columns = []
        for name, values in shown.items():
            column = [str(name), *map(str, values)]
            pad = str.ljust if name in ("measure", "reason", *self.by) else str.rjust
            columns.append([pad(text, max(map(len, column))) for text in column])
        lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
        return "\n".join([*lines, self._note()]).rstrip()

    def _repr_html_(self) -> str:
        return f"{self._printed().to_html(index=False, border=0)}<p>{self._note()}</p>"

    def _note(self) -> str:
        """Return what the numbers of the table are, beyond its header, which has the level."""
        return ""

    def _printed(self) -> pd.DataFrame:
        """Return the printed cells: labels that vary, formatted numbers, and reasons if there are any."""
        cells = pd.DataFrame([self._cells(row) for _, row in self.frame.iterrows()])
        reasons = ["reason"] if self.frame["reason"].any() else []
        return pd.concat([self.frame[self._varying()], cells, self.frame[reasons]], axis=1)

    def _varying(self) -> list[str]:
        """Return the columns of labels that differ between rows."""
        return [name for name in self.by if self.frame[name].nunique() > 1]

    def _cells(self, row: pd.Series[Any]) -> dict[str, str]:
        raise NotImplementedError

    def _interval(self, row: pd.Series[Any]) -> dict[str, str]:
        return {f"{self.level:.0%} interval": between(row["low"], row["high"], 3)}


@dataclass(frozen=True, repr=False, eq=False)
class Summary(Table):
    """The measures returned by :func:`summary`.

    Attributes
    ----------
    frame : DataFrame
        The columns of ``by``, then ``measure``, ``value``, ``low``, ``high``, ``n`` (trials without missing values that
        the measure needs) and ``reason`` (why a value or an interval is missing, or that the run stopped early). With
        clusters also ``n_clusters`` and ``design_effect``, the variance with clusters relative to that with questions
        as units.
    trials : DataFrame
        The trials, with the columns of ``by``, ``question_id``, ``source``, ``correct`` and ``confidence``, and with
        clusters ``unit``.
    notices : list of dict
        For logs, the notices of the report's checks: ``severity``, ``task``, ``title``, ``meaning`` and ``where``.
    """

    trials: pd.DataFrame
    notices: list[dict[str, str]] = field(default_factory=list)

    def _cells(self, row: pd.Series[Any]) -> dict[str, str]:
        return {
            "measure": measure_label(row["measure"]),
            "value": number(row["value"], 3),
            **self._interval(row),
            "n": f"{row['n']:,}",
            **_of_clusters(row),
        }

    def plot(self, ax: Axes | None = None, *, bins: int = 10) -> Axes:
        """Draw the reliability curve of each group: accuracy against confidence, with intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default those of a new figure.
        bins : int, default 10
            Number of bins of equal width.

        Returns
        -------
        matplotlib.axes.Axes
            The axes. A curve below the dashed diagonal is overconfident. Error bars are Wilson intervals.

        Examples
        --------
        >>> from confidence_tasks import summary
        >>> ax = summary([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]).plot()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('confidence', 'accuracy')
        """
        varying = self._varying()
        groups = {
            ", ".join(text for name, text in zip(self.by, labels, strict=True) if name in varying): rows
            for labels, rows in grouped(self.trials, self.by)
        }
        is_new = ax is None
        ax = ax or _new_axes(4.4 + 0.08 * max(map(len, groups)), max(4.0, 0.25 * len(groups)))
        ax.plot([0, 1], [0, 1], color=Colour.MUTED, linewidth=0.8, linestyle="--")
        for i, (name, rows) in enumerate(groups.items()):
            trials = self.trials.iloc[rows]
            correct, confidence, questions = complete(*_answers(trials))
            if not len(correct):
                continue
            curve = reliability_curve(correct, confidence, bins=bins, questions=questions, level=self.level)
            nonempty = curve.count > 0
            x, y = curve.confidence[nonempty], curve.accuracy[nonempty]
            colour, marker = series(i)
            ax.vlines(x, curve.accuracy_low[nonempty], curve.accuracy_high[nonempty], color=colour, alpha=0.6)
            ax.plot(x, y, color=colour, marker=marker, markersize=4, linewidth=1.0, label=name)
        if len(groups) > 1 and is_new:
            ax.figure.legend(frameon=False, loc="outside right center")
        elif len(groups) > 1:
            ax.legend(frameon=False)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="confidence", ylabel="accuracy", aspect="equal")
        return ax


@dataclass(frozen=True, repr=False, eq=False)
class Differences(Table):
    """The measures of A and B and their differences, returned by :func:`compare`.

    Attributes
    ----------
    frame : DataFrame
        The columns of ``by``, then ``measure``, ``a``, ``b``, ``difference`` (A minus B), ``low``, ``high``,
        ``p_value`` (from the same pivot as the interval), ``p_adjusted`` (Holm, over the groups within each measure),
        ``n`` (questions), with clusters ``n_clusters`` and ``design_effect`` (of the difference), and ``reason`` (why a
        value or an interval is missing).
    paired : bool
        Whether A and B are paired by question; otherwise they are independent samples.
    notices : list of dict
        For logs, the notices on the comparison, as those of :class:`Summary`; they call the models A and B.
    """

    paired: bool
    notices: list[dict[str, str]] = field(default_factory=list)

    def _note(self) -> str:
        unpaired = "unpaired, independent samples; questions= pairs them"
        return f"A − B: {'paired by question' if self.paired else unpaired}"

    def _cells(self, row: pd.Series[Any]) -> dict[str, str]:
        return {
            "measure": measure_label(row["measure"]),
            "A": number(row["a"], 3),
            "B": number(row["b"], 3),
            "A − B": signed(row["difference"], 3),
            **self._interval(row),
            "p": p_value(row["p_adjusted"]),
            "n": f"{row['n']:,}",
            **_of_clusters(row),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each difference with its interval; M-ratio, which has another unit, only if no other measure is drawn.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes. A and B differ significantly where the interval excludes the dashed line at 0.
        """
        shown = self.frame[self.frame["low"].notna()]
        without_mratio = shown[shown["measure"] != "mratio"]
        shown = shown if without_mratio.empty else without_mratio
        varying = self._varying()
        names = [
            ", ".join([measure_label(row["measure"]), *(str(row[name]) for name in varying)])
            for row in shown.to_dict("records")
        ]
        ax = ax or _new_axes(5.0, 0.8 + 0.3 * len(names))
        positions = range(len(names))
        colour, _ = series(0)
        ax.axvline(0.0, color=Colour.MUTED, linewidth=0.8, linestyle="--")
        ax.hlines(positions, shown["low"], shown["high"], color=colour, alpha=0.6)
        ax.plot(shown["difference"], positions, "o", color=colour, markersize=4)
        ax.set(yticks=list(positions), xlabel="A − B")
        ax.set_yticklabels(names)
        ax.invert_yaxis()
        return ax
