"""Tables of measures and of differences that print in a terminal and in a notebook, and draw themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.report.figures import Colour, series
from confidence_tasks.report.labels import between, measure_label, number, p_value, signed
from confidence_tasks.report.task_trials import in_order
from confidence_tasks.statistics import reliability_curve
from confidence_tasks.statistics.core import complete

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def grouped(trials: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[str, ...], NDArray[np.int64]]]:
    """Yield the labels of each group and the positions of its trials, in the order of the numbers in the labels."""
    if not by:
        yield (), np.arange(len(trials))
        return
    labels = {name: pd.Categorical(trials[name], in_order(trials[name]), ordered=True) for name in by}
    for key, rows in pd.DataFrame(labels).groupby(list(by), observed=True):
        yield tuple(map(str, key)), rows.index.to_numpy()


def _axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure of some inches."""
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Numbers that print as text in a terminal and as a table in a notebook.

    Attributes
    ----------
    frame : DataFrame
        The numbers, one row each.
    by : tuple of str
        Names of its columns that say which trials a row is about.
    level : float
        Nominal coverage of the intervals.
    """

    frame: pd.DataFrame
    by: tuple[str, ...]
    level: float

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers as a table of pandas, a copy."""
        return self.frame.copy()

    def __repr__(self) -> str:
        shown = self._printed()
        columns = []
        for name, values in shown.items():
            column = [str(name), *map(str, values)]
            pad = str.ljust if name in ("measure", "reason", *self.by) else str.rjust
            columns.append([pad(text, max(map(len, column))) for text in column])
        return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))

    def _repr_html_(self) -> str:
        return str(self._printed().to_html(index=False, border=0))

    def _printed(self) -> pd.DataFrame:
        """Return what is shown of each row: names that vary, the numbers in words, and reasons if there are any."""
        cells = pd.DataFrame([self._cells(row) for _, row in self.frame.iterrows()])
        reasons = ["reason"] if self.frame["reason"].any() else []
        return pd.concat([self.frame[self._told()], cells, self.frame[reasons]], axis=1)

    def _told(self) -> list[str]:
        """Return the names of what groups the rows, without those that are the same in all."""
        return [name for name in self.by if self.frame[name].nunique() > 1]

    def _cells(self, row: pd.Series[Any]) -> dict[str, str]:
        raise NotImplementedError

    def _interval(self, row: pd.Series[Any]) -> dict[str, str]:
        return {f"{self.level:.0%} interval": between(row["low"], row["high"], 3)}


@dataclass(frozen=True, repr=False, eq=False)
class Summary(Table):
    """The measures of some answers: what :func:`summary` returns.

    Attributes
    ----------
    frame : DataFrame
        Columns ``measure``, ``value``, ``low``, ``high``, ``n`` (trials that have what the measure needs), ``reason``
        (why a value or an interval is missing), after those of ``by``.
    trials : DataFrame
        The trials, with the columns of ``by``, ``question_id``, ``source``, ``correct`` and ``confidence``.
    """

    trials: pd.DataFrame

    def _cells(self, row: pd.Series[Any]) -> dict[str, str]:
        return {
            "measure": measure_label(row["measure"]),
            "value": number(row["value"], 3),
            **self._interval(row),
            "n": f"{row['n']:,}",
        }

    def plot(self, ax: Axes | None = None, *, bins: int = 10) -> Axes:
        """Draw the reliability curve of each group: the share right against confidence, with its intervals.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on axes of a new figure.
        bins : int, default 10
            Number of bins of equal width.

        Returns
        -------
        matplotlib.axes.Axes
            A curve below the dashed diagonal is overconfident. Lines are Wilson intervals.

        Examples
        --------
        >>> from confidence_tasks import summary
        >>> ax = summary([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]).plot()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('confidence', 'share right')
        """
        groups = {
            ", ".join(text for key, text in zip(self.by, label, strict=True) if key in self._told()): rows
            for label, rows in grouped(self.trials, self.by)
        }
        own = ax is None
        ax = ax or _axes(4.4 + 0.08 * max(map(len, groups)), max(4.0, 0.25 * len(groups)))
        ax.plot([0, 1], [0, 1], color=Colour.MUTED, linewidth=0.8, linestyle="--")
        for i, (name, rows) in enumerate(groups.items()):
            its = self.trials.iloc[rows]
            numbers = pd.factorize(its["source"] + "\x1f" + its["question_id"])[0]
            correct, confidence, questions = complete(its["correct"], its["confidence"], numbers)
            if not len(correct):
                continue
            curve = reliability_curve(correct, confidence, bins=bins, questions=questions, level=self.level)
            some = curve.count > 0
            x, y = curve.confidence[some], curve.accuracy[some]
            colour, marker = series(i)
            ax.vlines(x, curve.accuracy_low[some], curve.accuracy_high[some], color=colour, alpha=0.6)
            ax.plot(x, y, color=colour, marker=marker, markersize=4, linewidth=1.0, label=name)
        if len(groups) > 1 and own:
            ax.figure.legend(frameon=False, loc="outside right center")
        elif len(groups) > 1:
            ax.legend(frameon=False)
        ax.set(
            xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="confidence", ylabel="share right", aspect="equal"
        )
        return ax


class Differences(Table):
    """The measures of A and B beside their differences: what :func:`compare` returns.

    Attributes
    ----------
    frame : DataFrame
        Columns ``measure``, ``a``, ``b``, ``difference`` (A minus B), ``low``, ``high``, ``p_value`` (from the same
        pivot as the interval), ``p_adjusted`` (Holm, over the groups within each measure), ``n`` (questions) and
        ``reason``, after those of ``by``.
    """

    def _cells(self, row: pd.Series[Any]) -> dict[str, str]:
        return {
            "measure": measure_label(row["measure"]),
            "A": number(row["a"], 3),
            "B": number(row["b"], 3),
            "A − B": signed(row["difference"], 3),
            **self._interval(row),
            "p": p_value(row["p_adjusted"]),
            "n": f"{row['n']:,}",
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each difference with its interval; M-ratio, which has another unit, only where it is alone.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on axes of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            An interval that leaves out the dashed line at 0 tells A and B apart.
        """
        shown = self.frame[self.frame["low"].notna()]
        shares = shown[shown["measure"] != "mratio"]
        shown = shown if shares.empty else shares
        told = self._told()
        names = [
            ", ".join([measure_label(row["measure"]), *(str(row[key]) for key in told)])
            for row in shown.to_dict("records")
        ]
        ax = ax or _axes(5.0, 0.8 + 0.3 * len(names))
        places = range(len(names))
        colour, _ = series(0)
        ax.axvline(0.0, color=Colour.MUTED, linewidth=0.8, linestyle="--")
        ax.hlines(places, shown["low"], shown["high"], color=colour, alpha=0.6)
        ax.plot(shown["difference"], places, "o", color=colour, markersize=4)
        ax.set(yticks=list(places), xlabel="A − B")
        ax.set_yticklabels(names)
        ax.invert_yaxis()
        return ax
