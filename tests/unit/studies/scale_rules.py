"""The rules by which replies to the scale study are read: what each reads, and an example."""

from collections.abc import Mapping

REPORTS: Mapping[str, tuple[str, str]] = {
    "numeral": ("A sign, a leading zero or a full stop.", "+17"),
    "decimal": ("A decimal on the integer scale; up to 1 it is a proportion, which is not read.", "15.5"),
    "hedge": ("An approximate number: the number stays.", "about 15"),
    "range": ("The middle of two numbers within the scale, which are not the scale itself.", "15-18"),
    "percent": ("A percent sign: the number stays.", "15%"),
    "of_upper": ("A number over the upper bound.", "17/20"),
    "remark": ("A remark without a number of its own behind the number.", "15 (high)"),
}
"""Names of the lenient rules: what each reads, and an example on 0-20."""

ARRANGEMENTS: Mapping[str, tuple[str, str]] = {
    "next_turn": (
        "What follows a question of the model's own making is not read.",
        "Answer: B\nConfidence: 17\nQuestion: What next?\nAnswer: A\nConfidence: 3",
    ),
    "cue": ("The answer stands behind `the answer is`.", "It is big, so the answer is B.\nConfidence: 17"),
    "box": ("The answer stands in a LaTeX box.", "So it is $\\boxed{B}$.\nConfidence: 17"),
    "bare_answer": ("The answer stands alone before the confidence.", "B\nConfidence: 17"),
    "sentence": ("The confidence stands in a sentence.", "Answer: B\nI am 17 out of 20 sure."),
    "within_line": ("The confidence has a label within the last line.", "B. Confidence: 17"),
    "label": ("A label is spelt in another way.", "answer: B\nconfidence: 17"),
    "order": ("The confidence comes first.", "Confidence: 17\nAnswer: B"),
    "one_line": ("Both stand on one line.", "Answer: B, Confidence: 17"),
    "extra_text": ("There is more text than was asked for.", "Sure!\nAnswer: B\nConfidence: 17"),
    "clipped": (
        "Off the scale by at most 5% of its width, which counts as the bound.",
        "Answer: B\nConfidence: 21",
    ),
    "unpaired": (
        "A confidence in an answer that was replaced is not one in the new answer.",
        "Answer: A\nConfidence: 17\nNo:\nAnswer: B",
    ),
    "revised": (
        "A confidence is not read where a sentence behind it replaces it.",
        "Answer: B\nConfidence: 17\nLet me lower that to 12.",
    ),
    "taken_back": (
        "An answer is not read where a line behind it takes it back.",
        "Answer: A\nConfidence: 17\nNo wait, it's B.",
    ),
}
"""Rules about the reply as a whole: what each does, and an example on 0-20."""
