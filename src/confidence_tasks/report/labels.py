"""What measures, statuses and conditions are called in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping

from confidence_tasks.study.trial import Status

TITLE = "Do these models know what they know?"
"""Title of a report."""

VIEWER = "http://127.0.0.1:7575"
"""Where ``inspect view`` serves by default."""

_MEASURES: Mapping[str, str] = {
    "mratio": "M-ratio",
    "mratio_95": "M-ratio at 0.95",
    "auroc": "AUROC",
    "auroc_combined": "AUROC, combined",
    "prr": "PRR",
    "prr_50": "PRR, half",
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
    "top3_share": "Three most frequent",
    "distinct": "Distinct values",
    "entropy": "Entropy (bits)",
    "round_share": "Round numbers",
    "violation_rate": "Out of bounds",
    "utilization": "Scale used",
    "parse_rate": "Replies read",
    "parse_rate_strict": "Replies to the letter",
    "mas": "Best score possible",
    "winkler": "Winkler score",
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
    "ok": "to the letter",
    "repaired": "repaired",
    "out_of_range": "out of bounds",
    "missing_confidence": "no confidence",
    "missing_answer": "no answer",
    "unreadable": "unreadable",
    "refused": "refused",
}
"""How replies were read, in words."""


_GROUPS: Mapping[str, str] = {"lambda": "λ"}


def printable(text: str) -> str:
    r"""Return a text as it can be shown anywhere: what cannot be printed shows as a replacement character.

    Examples
    --------
    >>> printable("gpt\u202e4") == "gpt\ufffd4"
    True
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def group_label(label: str) -> str:
    r"""Return what a condition or another group of trials is called.

    Examples
    --------
    >>> group_label("high_penalty"), group_label("0-20")
    ('high penalty', '0-20')
    >>> group_label("interval,T=1").replace("\u00a0", " ")
    'interval, T = 1'
    """
    return ", ".join(map(_part_label, label.split(",")))


def _part_label(part: str) -> str:
    name, equals, value = part.partition("=")
    return f"{_GROUPS.get(name, name)}\u00a0=\u00a0{value}" if equals else part.replace("_", " ")


def measure_label(name: str) -> str:
    """Return what a measure is called; one without an entry by its name.

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
