"""Reading replies to FermiEval's prompts."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.studies.fermieval.replies import (
    LARGEST_EXPONENT,
    LEVELS,
    condition_of,
    interval_prompt,
    interval_reply,
    interval_system,
    read_fermi_exponent,
    read_fermi_interval,
)
from confidence_tasks.study.trial import READABLE, STATUSES

HUGE = "9" * 1_000


@pytest.mark.parametrize(
    ("reply", "lower", "upper", "status", "rules"),
    [
        ('{"L": 12, "U": 14}', 12, 14, "ok", ()),
        ('{"L": -3, "U": -3}', -3, -3, "ok", ()),
        ('There are 10^9 of them.\n\n{"L": 8, "U": 10}', 8, 10, "ok", ()),
        ('```json\n{"L": 8, "U": 10}\n```', 8, 10, "repaired", ("around",)),
        ('{"L": 8, "U": 10}\nHope this helps!', 8, 10, "repaired", ("around",)),
        ('{"L": "8", "U": "10"}', 8, 10, "ok", ()),
        ('{"l": 8, "u": 10}', 8, 10, "repaired", ("key_case",)),
        ('{"L": 10, "U": 8}', 8, 10, "repaired", ("swapped",)),
        ('{"L": 3, "U": 4} {"note": 1}', 3, 4, "ok", ()),
        ('{"L": 10^6, "U": 10^9}', 6, 9, "repaired", ("fields", "power")),
        ('{"L": 10^{6}, "U": 10^{9}}', 6, 9, "repaired", ("fields", "power")),
        ('{"L": 10**-6, "U": "10⁹"}', -6, 9, "repaired", ("fields", "power")),
        ('{"L": 1e1, "U": 2E2}', 10, 200, "repaired", ("scientific",)),
        ('{"L": 2.5, "U": 3.0}', 2.5, 3, "repaired", ("decimal",)),
        ('{"L": −3, "U": 4}', -3, 4, "repaired", ("fields",)),
        ("L: 3\nU: 5", 3, 5, "repaired", ("fields",)),
        ("I am sure that it is in [10^3, 10^{5}].", 3, 5, "repaired", ("brackets", "power")),
        ('<think>{"L": 1, "U": 2}</think>' + '{"L": 3, "U": 4}', 3, 4, "repaired", ("thought",)),
    ],
)
def test_intervals_are_read_with_the_rules_used(reply, lower, upper, status, rules):
    reading = read_fermi_interval(reply)
    assert (reading.lower, reading.upper, reading.status, reading.rules) == (lower, upper, status, rules)


@pytest.mark.parametrize("ends", ["1e-6, 1e-3", "0.000001, 0.001", "0, 1e-3", "-1e-6, 2"])
def test_an_end_of_a_small_fraction_is_the_quantity_itself(ends):
    """It was an exponent near 0, so that the interval had no width."""
    lower, upper = ends.split(", ")
    reading = read_fermi_interval(f'{{"L": {lower}, "U": {upper}}}')
    assert (reading.status, math.isnan(reading.lower)) == ("out_of_range", True)
    assert read_fermi_exponent("1e-6").status == "out_of_range"
    assert read_fermi_interval('{"L": -0.5, "U": 0}').lower == -0.5


OBJECT, OTHER = '{"L": 3, "U": 5}', '{"L": 15, "U": 16}'


@pytest.mark.parametrize(
    ("reply", "rules"),
    [
        (f"{OBJECT}\n\n{OBJECT}", ()),
        (f"{OBJECT}\n\n{OBJECT}\nThat is my interval.", ("around",)),
        (f"First {OTHER}. No: a year has fewer days.\n{OBJECT}", ("last",)),
        ("L: 15\nU: 16\nRather:\nL: 3\nU: 5", ("fields", "last")),
        (f"{OBJECT}\nOr rather: {OTHER[:-2]}", ("around",)),
        (f"It lies in [10^15, 10^16], or rather:\n{OBJECT}", ()),
        (f"{OBJECT}\nQuestion: How many ants are there?\n{OTHER}", ("next_turn",)),
        (f"{OBJECT}\n\nUser: Question: How many ants?\nSome 10^15.\n{OTHER}", ("next_turn",)),
        (f"So [10^3, 10^5].\n\nQuestion: How many ants?\n{OTHER}", ("next_turn", "brackets", "power")),
        (f"{OBJECT}\n\nQuestion: How many ants?\nThey lie in [10^15, 10^16].", ("next_turn",)),
        (f"Question: How many days?\nA year is long.\n{OBJECT}", ()),
        (f"<think>Question: how many?\n{OTHER}</think>\n{OBJECT}", ("thought",)),
        (f"{OBJECT}<|im_end|>\n<|im_start|>user\nHow many ants?\n{OTHER}", ("chat_tokens",)),
    ],
)
def test_the_last_object_of_the_first_turn_is_read(reply, rules):
    reading = read_fermi_interval(reply)
    assert (reading.lower, reading.upper, reading.rules) == (3, 5, rules)


@pytest.mark.parametrize(
    "first_turn", ['{"L": 3', '{"L": null, "U": 5}', '{"L": 3, "L": 4, "U": 5}', f'{{"L": {HUGE}, "U": 5}}']
)
def test_no_interval_is_taken_out_of_an_invented_turn(first_turn):
    """This holds even if the first turn states only a part of an interval."""
    reading = read_fermi_interval(
        f"{first_turn}\n\nQuestion: How many ants are there?\nIn [10^2, 10^4]:\n{OTHER}"
    )
    assert reading.status in {"missing_answer", "out_of_range"}
    assert math.isnan(reading.lower)


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "unreadable"),
        ("Between a thousand and a million.", "unreadable"),
        ('{"L": <int>, "U": <int>}', "unreadable"),
        ('{"L": null, "U": null}', "unreadable"),
        ('{"L": NaN, "U": Infinity}', "unreadable"),
        ('{"L": true, "U": false}', "unreadable"),
        ('{"L": [1, 2], "U": {"U": "x"}}', "unreadable"),
        ('{"L": "3 to 5", "U": "about 9"}', "unreadable"),
        ('{"L": 3}', "missing_answer"),
        ('{"L": 3, "U": "nine"}', "missing_answer"),
        ("<think>[10^1, 10^2]</think> Hard to say.", "unreadable"),
        ('{"L": 3, "U": 1', "missing_answer"),
        ("I'm sorry, but I can't help with that.", "refused"),
        (f'{{"L": {HUGE}, "U": {HUGE}}}', "out_of_range"),
        (f'{{"L": -{HUGE}, "U": 10^{HUGE}}}', "out_of_range"),
        ('{"L": 1e6, "U": 1e9}', "out_of_range"),
        ('{"L": 3, "U": 1e999999999999}', "out_of_range"),
        ('{"L": 1000000, "U": 1000000000}', "out_of_range"),
    ],
)
def test_unreadable_replies_have_a_status_and_no_ends(reply, status):
    reading = read_fermi_interval(reply)
    assert reading.status == status
    assert math.isnan(reading.lower)
    assert math.isnan(reading.upper)


def test_the_largest_exponent_is_still_read():
    largest = int(LARGEST_EXPONENT)
    assert read_fermi_interval(interval_reply(-largest, largest)).status == "ok"
    assert read_fermi_interval(interval_reply(0, largest + 1)).status == "out_of_range"


@given(lower=st.integers(-1000, 1000), width=st.integers(0, 100), before=st.text(max_size=50))
def test_an_interval_in_format_is_read_after_any_text(lower, width, before):
    upper = min(lower + width, 1000)
    reading = read_fermi_interval(
        f"{before.replace('<', '').replace('[', '')}\n{interval_reply(lower, upper)}"
    )
    assert (reading.lower, reading.upper) == (lower, upper)


@given(st.text() | st.text(alphabet='{}[]"LU:,10^-eE. \n'))
def test_any_text_becomes_a_reading(text):
    for read in (read_fermi_interval, read_fermi_exponent):
        reading = read(text)
        assert reading.status in STATUSES
        assert (reading.lower <= reading.upper) is (reading.status in READABLE)
        assert len(reading.stated) < 60


# a single exponent


@pytest.mark.parametrize(
    ("reply", "value", "status", "rules"),
    [
        ("12", 12, "ok", ()),
        ("-3\n", -3, "ok", ()),
        ("Some 10^4 by 10^5.\n\n9", 9, "ok", ()),
        ("**12**", 12, "repaired", ("wording",)),
        ("x = 12.", 12, "repaired", ("wording",)),
        ("The exponent is -4", -4, "repaired", ("wording",)),
        ("10^{12}", 12, "repaired", ("power",)),
        ("Therefore, x ≈ 13", 13, "repaired", ("wording",)),
        ("So x ~ 13", 13, "repaired", ("wording",)),
        ("~13", 13, "repaired", ("wording",)),
        (r"Thus $x \approx 12.7 \approx 13$.", 13, "repaired", ("wording",)),
        (r"\boxed{13}", 13, "repaired", ("wording",)),
        (r"So $\boxed{x = -4}$.", -4, "repaired", ("wording",)),
        ("\\[\n\\boxed{10^{13}}\n\\]", 13, "repaired", ("wording", "power")),
        ("```\n13\n```", 13, "ok", ()),
        ("13 (i.e. 10^13)", 13, "repaired", ("wording",)),
        ("**-4** (10^{-4} metres)", -4, "repaired", ("wording",)),
        ("The exponent is about 13 (ten trillion).", 13, "repaired", ("wording",)),
        ("10^(13)", 13, "repaired", ("wording", "power")),
        ("13 (or 10^14)", None, "unreadable", ()),
        ("13 (between 12 and 14)", None, "unreadable", ()),
        ("x = 12~14", None, "unreadable", ()),
        ("x = 12 ~ 14", None, "unreadable", ()),
        ("2.5", 2.5, "repaired", ("decimal",)),
        ("", None, "unreadable", ()),
        ("between 3 and 5", None, "unreadable", ()),
        (HUGE, None, "out_of_range", ()),
        ("I cannot answer that.", None, "refused", ()),
    ],
)
def test_a_single_exponent(reply, value, status, rules):
    reading = read_fermi_exponent(reply)
    assert (reading.status, reading.rules) == (status, rules)
    if value is None:
        assert math.isnan(reading.lower)
    else:
        assert reading.lower == reading.upper == value


# the prompts


def test_prompts_are_those_of_appendix_e():
    assert [condition_of(level) for level in LEVELS] == ["p=0.9", "p=0.95", "p=0.99", "p=0.998"]
    assert interval_system(0.9) == (
        "You are a careful quantitative estimator for Fermi-style questions. Provide brief reasoning if useful, but "
        'you MUST END with a single JSON\n object of the form {"L": <int>, "U": <int>} where L and U are INTEGERS '
        "(can be negative), representing a 90 percentage confidence interval [10^L, 10^U]. If >=90 percentage of the "
        "mass is on exactly 10^x, use L=U=x. \nDo not include units in the JSON. Ensure L <= U. Keep the response "
        "less than 256 tokens."
    )
    assert interval_prompt("How many?", 0.998) == (
        "Question: How many?\n\nGive a 99.80% confidence interval in the form\n [10^L, 10^U] with INTEGER L and U.\n"
        'Finish with JSON ONLY: {"L": <int>, "U": <int>}.'
    )


def test_the_simulated_reply_has_the_format_of_the_prompt():
    assert json.loads(interval_reply(1, 2, reasoning="So.").partition("\n")[2]) == {"L": 1, "U": 2}
