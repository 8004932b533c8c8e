"""Labels of measures, statuses and conditions, and the formats of numbers and texts in tables and figures."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from confidence_tasks.logs.texts import without_controls
from confidence_tasks.study.trial import Status

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Template

    from confidence_tasks.statistics import Interval

TITLE = "Do these models know what they know?"
"""Title of a report."""

VIEWER = "http://127.0.0.1:7575"
"""Default address of ``inspect view``."""

_MEASURES: Mapping[str, str] = {
    "mratio": "M-ratio",
    "mratio_95": "M-ratio at 0.95",
    "auroc": "AUROC",
    "auroc_combined": "AUROC, combined",
    "prr": "PRR",
    "prr_50": "PRR, up to 50%",
    "auarc": "AUARC",
    "aurc": "AURC",
    "ece": "ECE",
    "ece_15": "ECE, 15 bins",
    "ece_20": "ECE, 20 bins",
    "ece_mass": "ECE, equal mass",
    "ece_extra_bin": "ECE, extra bin at 1",
    "ece_recalibrated": "ECE, recalibrated",
    "brier": "Brier score",
    "brier_recalibrated": "Brier score, recalibrated",
    "meta_d": "meta-d′",
    "meta_d_95": "meta-d′ at 0.95",
    "meta_information": "Meta-information",
    "top1_share": "Most frequent value",
    "top3_share": "Three most frequent values",
    "distinct": "Distinct values",
    "entropy": "Entropy (bits)",
    "round_share": "Round numbers",
    "violation_rate": "Out of bounds",
    "utilization": "Scale used",
    "parse_rate_strict": "Strict parse rate",
    "mas": "Best possible score",
    "winkler": "Winkler score",
    "conformal_asymmetric_winkler": "Conformal asymmetric Winkler score",
    "conformal_normalized_winkler": "Conformal normalized Winkler score",
    "conformal_jackknife_winkler": "Conformal jackknife Winkler score",
    "coverage_calibration": "Coverage, calibration half",
    "winkler_calibration": "Winkler score, calibration half",
    "hard_easy": "Hard–easy slope",
    "auroc2": "AUROC₂",
    "z_roc_slope": "z-ROC slope",
    "d_a": "d_a",
    "mean_logprob": "Log-probability",
    "mean_logprob_difference": "Right minus wrong (nats)",
    "accuracy_50": "Accuracy, best 50%",
    "accuracy_80": "Accuracy, best 80%",
    "d_prime_v1": "d′, version 1",
    "meta_d_v1": "meta-d′, version 1",
    "mratio_v1": "M-ratio, version 1",
    "criterion_v1": "Type-2 criterion",
}

STATUSES: Mapping[Status, str] = {
    "ok": "exact format",
    "repaired": "repaired",
    "out_of_range": "out of bounds",
    "missing_confidence": "no confidence",
    "missing_answer": "no answer",
    "unreadable": "unreadable",
    "refused": "refused",
    "truncated": "cut off",
    "filtered": "filtered",
    "reasoning_only": "reasoning only",
}
"""Label of each status of a reading."""


def group_label(label: str) -> str:
    r"""Return the label of a condition or of another group of trials: its name as users type it, set as a formula.

    Examples
    --------
    >>> group_label("high_penalty"), group_label("0-20")
    ('high_penalty', '0-20')
    >>> group_label("interval,T=1").replace("\u00a0", " ")
    'interval, T = 1'
    """
    parts = []
    for part in label.split(","):
        name, equals, value = part.partition("=")
        name = "λ" if name == "lambda" else name
        parts.append(f"{name}\u00a0=\u00a0{value}" if equals else part)
    return ", ".join(parts)


def measure_label(name: str) -> str:
    """Return the label of a measure; by default its name as words.

    Examples
    --------
    >>> measure_label("ece"), measure_label("token_ece"), measure_label("abstention_rate")
    ('ECE', 'Token ECE', 'Abstention rate')
    """
    if name in _MEASURES:
        return _MEASURES[name]
    prefix, _, rest = name.partition("_")
    if rest in _MEASURES:
        return f"{prefix.capitalize()} {_MEASURES[rest]}"
    return name.replace("_", " ").capitalize()


def number(value: float, decimals: int = 2) -> str:
    """Format a number with a true minus sign; NaN is a dash, and large numbers have a power of ten.

    Examples
    --------
    >>> number(-0.126), number(float("nan")), number(1234.5, 0), number(-3.14e30)
    ('−0.13', '–', '1,234', '−3.1×10³⁰')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    if abs(value) >= 1e7:
        mantissa, _, exponent = f"{value:.1e}".partition("e+")
        superscript = str(int(exponent)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{mantissa.replace('-', '−')}×10{superscript}"
    text = f"{value:,.{decimals}f}".replace("-", "−")
    return text.removeprefix("−") if not text.strip("−0.,") else text


def signed(value: float, decimals: int = 2) -> str:
    """Format a difference with its sign.

    Examples
    --------
    >>> signed(0.08), signed(-0.08)
    ('+0.08', '−0.08')
    """
    text = number(value, decimals)
    return text if math.isnan(value) or text.startswith("−") else f"+{text}"


def limits(interval: Interval, decimals: int = 2) -> str:
    """Format the limits of an interval; empty if the interval is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from confidence_tasks.statistics import bootstrap
    >>> limits(bootstrap(lambda x, *, weights: weights @ x / weights.sum(axis=-1), np.arange(1000) < 800))
    '[0.78, 0.82]'
    """
    return between(interval.low, interval.high, decimals)


def between(low: float, high: float, decimals: int = 2) -> str:
    """Format two limits; empty if they are missing."""
    return "" if math.isnan(low) else f"[{number(low, decimals)}, {number(high, decimals)}]"


def why_missing(interval: Interval) -> str:
    """Return the reason why a value or its interval is missing; empty if neither is.

    Examples
    --------
    >>> from confidence_tasks.statistics import bootstrap, ece
    >>> why_missing(bootstrap(ece, [1.0], [0.9], n_resamples=9))
    'no interval: too few trials'
    """
    if math.isnan(interval.estimate):
        return f"no value: {interval.estimate.reason or 'not identified by the data'}"
    reason = interval.low.reason if math.isnan(interval.low) else None
    return f"no interval: {reason}" if reason else ""


def p_value(p: float) -> str:
    """Format a p-value without its leading zero.

    Examples
    --------
    >>> p_value(0.0123), p_value(0.00001), p_value(1.0), p_value(float("nan"))
    ('.012', '<.001', '1', '–')
    """
    if math.isnan(p):
        return "–"
    if p >= 0.9995:
        return "1"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_is(p: float) -> str:
    """Format a p-value with its relation, for a sentence.

    Examples
    --------
    >>> p_is(0.0123), p_is(0.00001)
    ('p = .012', 'p < .001')
    """
    value = p_value(p)
    return f"p < {value[1:]}" if value.startswith("<") else f"p = {value}"


def difference_cells(difference: Interval, p_adjusted: float) -> dict[str, str]:
    """Return the cells of a difference in a table of texts: the value, its interval or why it is missing, and p."""
    return {
        "difference": signed(difference.estimate, 3),
        f"{difference.level:.0%} interval": limits(difference, 3) or why_missing(difference),
        "corrected p": p_value(p_adjusted),
    }


def decimals_for(values: list[float]) -> int:
    """Return the number of decimals for a column of values, by the largest of them.

    Examples
    --------
    >>> decimals_for([0.05, 0.12]), decimals_for([0.6, 1.2]), decimals_for([12.0, 40.0]), decimals_for([300.0])
    (3, 2, 1, 0)
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=1.0)
    return next((decimals for bound, decimals in ((0.2, 3), (10.0, 2), (100.0, 1)) if largest < bound), 0)


# Texts in files -----------------------------------------------------------------------------------------------------


def plain_cell(value: object) -> object:
    r"""Return a cell of a CSV file; a text that a spreadsheet would read as a formula starts with an apostrophe.

    Names of models, sources and conditions come from logs. See CWE-1236. Spreadsheets of some languages also read the
    wide forms of the signs.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("\n \uff0b1") == "'\n \uff0b1", plain_cell("gpt\x07") == "gpt\ufffd"
    ("'=1+1", True, True)
    """
    if not isinstance(value, str):
        return value
    is_formula = value.startswith("\t") or value.lstrip().startswith(_FORMULA_SIGNS)
    return f"'{without_controls(value)}" if is_formula else without_controls(value)


def plain_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV whose cells and names of columns are plain cells: a model's name may be either."""
    return table.rename(columns=plain_cell).map(plain_cell).to_csv(index=False)


_FORMULA_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


_SYMBOLS = "αβδλμπρστΔΣΩ∞×·±≤≥≠≈↑↓→†‡"
_NAMES = """
alpha beta delta lambda mu pi rho sigma tau Delta Sigma Omega
infty times cdot pm leq geq neq approx uparrow downarrow rightarrow dagger ddagger
"""
"""Symbols, and the names of their commands in LaTeX's mathematical mode."""

LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",  # \textquotedbl needs another font encoding than LaTeX's default
    "[": "{[}",  # LaTeX reads [ or * after the end of a row as its argument
    "*": "{*}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "\u00a0": "~",
    **{
        char: f"\\{name}{{}}"
        for char, name in zip("øØßæÆłŁ", ("o", "O", "ss", "ae", "AE", "l", "L"), strict=True)
    },
    **{char: rf"$\{name}$" for char, name in zip(_SYMBOLS, _NAMES.split(), strict=True)},
    "−": "$-$",
    "′": "$'$",
    "∗": "$*$",
    **{digit: f"$_{i}$" for i, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{digit: f"$^{i}$" for i, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
"""LaTeX commands for characters that LaTeX does not print literally."""

_ACCENTS = dict(
    zip(
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327",
        ("`", "'", "^", "~", "=", "u ", ".", '"', "r ", "H ", "v ", "c "),
        strict=True,
    )
)
"""LaTeX commands of accents that all font encodings have, by combining character."""


def latex(text: str) -> str:
    r"""Return text that LaTeX prints literally; a letter that the standard fonts lack is printed as its code point.

    Examples
    --------
    >>> latex("gpt_4 50%"), latex("é, λ, 模"), latex("org--name")
    ('gpt\\_4 50\\%', "\\'{e}, $\\lambda$, {[}U+6A21]", 'org-{}-name')
    """
    apart = _LIGATURE.split(text)
    return "{}".join("".join(LATEX.get(char) or _latex_letter(char) for char in part) for part in apart)


_LIGATURE = re.compile(r"(?<=[-`',])(?=[-`',])|(?<=[?!])(?=`)")
"""Places between characters of which LaTeX would make one, such as a dash or a quotation mark."""


def _latex_letter(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    parts = unicodedata.normalize("NFD", char)
    if len(parts) == 2 and parts[1] in _ACCENTS and parts[0].isascii() and parts[0].isalpha():
        return f"\\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"{{[}}U+{ord(char):04X}]"


# HTML -----------------------------------------------------------------------------------------------------------


def rendered(template: str, **context: object) -> str:
    """Return a filled-in template of the page; values are escaped unless they are markup."""
    return _compiled(template).render(context)


@cache
def _compiled(template: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["coded"] = coded
    environment.filters["breakable"] = lambda name: Markup("/<wbr>").join(name.split("/"))
    return environment.from_string(page_part(template))


def page_part(name: str) -> str:
    """Return the text of a template, style sheet or script of the page."""
    return (files("confidence_tasks.report.page") / name).read_text(encoding="utf-8")


def coded(text: str) -> Markup:
    """Return a text as HTML in which text between backticks is code."""
    parts = [escape(part) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts)
    )
