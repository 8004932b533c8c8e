"""Numbers in text: all notations, exact values, and texts that are no numbers."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from confidence_tasks.reading.cleaning import fold
from confidence_tasks.reading.numbers import (
    MAX_DIGITS,
    MAX_MAGNITUDE,
    canonical,
    find_number_words,
    find_numbers,
    read_number,
)


def found(text: str) -> list[str]:
    return [canonical(number.value) for number in find_numbers(fold(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", "0"),
        ("007", "7"),
        ("-5", "-5"),
        ("−5", "-5"),
        ("–5", "-5"),
        ("+5", "5"),
        ("minus 5", "-5"),
        ("negative 5", "-5"),
        ("1,234", "1234"),
        ("1,234,567.89", "1234567.89"),
        ("1.234.567", "1234567"),
        ("1.234,5", "1234.5"),
        ("2,50", "2.5"),
        ("0,125", "0.125"),
        ("1'234'567", "1234567"),
        ("1 234 567", "1234567"),
        ("1\u202f234", "1234"),
        ("1_234", "1234"),
        (".5", "0.5"),
        ("$18", "18"),
        ("-$18.00", "-18"),
        ("$-18", "-18"),
        ("US$ 18", "18"),
        ("€ 2.50", "2.5"),
        ("25%", "25"),
        ("25 percent", "25"),
        ("3/4", "0.75"),
        ("3 1/2", "3.5"),
        ("3½", "3.5"),
        ("3 and 1/2", "3.5"),
        ("-3/4", "-0.75"),
        ("2.5e3", "2500"),
        ("2.5E-3", "0.0025"),
        ("2.5 x 10^3", "2500"),
        ("2.5×10³", "2500"),
        ("2.5 * 10**3", "2500"),
        ("10^{-3}", "0.001"),
        ("10⁻³", "0.001"),
        ("1.5 million", "1500000"),
        ("$2 billion", "2000000000"),
        ("5k", "5000"),
        ("1e299", str(10**299)),
        ("１２３", "123"),
        ("١٢٣", "123"),
        ("𝟙𝟚𝟛", "123"),
        ("⑰", "17"),
    ],
)
def test_a_single_numeral(text: str, expected: str) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5-3", ["5", "3"]),
        ("16 - 7 = 9", ["16", "7", "9"]),
        ("1,2,3", ["1"]),
        ("1, 2, 3", ["1", "2", "3"]),
        ("12,3456", ["12"]),
        ("B5 and x2", []),
        ("3rd, 21st", []),
        ("100 m/s^2", ["100"]),
        ("300 K", ["300"]),
        ("18cm", ["18"]),
        ("1/0", []),
        ("2^10", []),
        ("9.8.7", ["9.8"]),
        ("5.", ["5"]),
        ("no numbers here", []),
        ("", []),
    ],
)
def test_numbers_in_running_text(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("18", "18"),
        ("9 * 2 = 18", "18"),
        ("18 (= 1800 cents)", "18"),
        ("f(3) = 18 (with x = 3)", "18"),
        ("x = 18", "18"),
        ("18 dollars for 3 children", "18"),
        ("The 3 children get 18", "18"),
        ("18 (9 eggs at $2)", "18"),
        ("(18)", "18"),
        ("$12.50 each, $25 in total", "25"),
        (r"\boxed{18}", "18"),
        (r"$\dfrac{3}{4}$", "0.75"),
        (r"\frac34", "0.75"),
        (r"1{,}234", "1234"),
        (r"1\,234", "1234"),
        (r"\$18", "18"),
        (r"25\%", "25"),
        (r"3 \times 10^{2}", "300"),
        ("- 5", "-5"),
        ("eighteen eggs", "18"),
        ("minus five", "-5"),
    ],
)
def test_the_number_that_a_short_text_states(text: str, expected: str) -> None:
    number = read_number(text)
    assert number is not None
    assert canonical(number.value) == expected


@pytest.mark.parametrize(
    "text", ["x**2", "", "none", "x", "1/0", "9" * (MAX_DIGITS + 1), "1e300", "1e999999999", "10^10^10", "٪"]
)
def test_no_number(text: str) -> None:
    assert read_number(text) is None


# Against an independent oracle


@given(st.decimals(-(10**12), 10**12, places=4), st.booleans(), st.sampled_from(["", "$", "€"]))
def test_decimal_reads_as_itself(value: Decimal, grouped: bool, currency: str) -> None:
    text = f"{abs(value):,f}" if grouped else f"{abs(value):f}"
    number = read_number(f"{'-' if value < 0 else ''}{currency}{text}")

    assert number.value == Fraction(value)


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_fraction_reads_as_itself(above: int, below: int) -> None:
    number = read_number(f"{above}/{below}")

    assert number.value == Fraction(above, below)
    assert number.forms == ("fraction",)


@given(
    st.integers(1, 10**6), st.integers(-250, 250), st.sampled_from(["{}e{}", "{} x 10^{}", "{} × 10^{{{}}}"])
)
def test_power_of_ten_scales(mantissa: int, exponent: int, form: str) -> None:
    number = read_number(form.format(mantissa, exponent))

    assert number.value == Fraction(Decimal(mantissa).scaleb(exponent))


@given(st.fractions().filter(lambda value: abs(value) < 10**100))
def test_canonical_is_exact_if_the_expansion_is_finite_and_else_close(value: Fraction) -> None:
    written = Fraction(canonical(value))
    ends = 10**400 * value == int(10**400 * value)

    assert written == value if ends else abs(written - value) <= abs(value) / 10**14
    assert "e" not in canonical(value).lower()


@given(st.integers(-(10**30), 10**30))
def test_canonical_integer_is_written_in_full(value: int) -> None:
    assert canonical(Fraction(value)) == str(value)


# fmt: off
SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
# fmt: on
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(value: int, joint: str = "-") -> str:
    """Spell a number out, the other way round from the reader."""
    if value < 20:
        return SMALL[value]
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if value >= size:
            rest = f" {in_words(value % size, joint)}" if value % size else ""
            return f"{in_words(value // size, joint)} {name}{rest}"
    return TENS[value // 10] + (f"{joint}{SMALL[value % 10]}" if value % 10 else "")


@given(st.integers(0, 10**9 - 1), st.sampled_from("- "), st.booleans())
@example(100, "-", False)
@example(0, "-", False)
def test_number_in_words_reads_as_itself(value: int, joint: str, capital: bool) -> None:
    words = in_words(value, joint)
    (number,) = find_number_words(f"about {words.capitalize() if capital else words}.")

    assert number.value == value
    assert number.forms == ("number_words",)


@pytest.mark.parametrize("text", ["", "someone", "often", "tense", "forty-something"])
def test_words_that_contain_number_words_are_no_numbers(text: str) -> None:
    assert not list(find_number_words(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("zero point seven", "0.7"),
        ("point eight five", "0.85"),
        ("ninety-nine point five", "99.5"),
        ("thirty-two point five million", "32500000"),
        ("one and a half million", "1500000"),
        ("one half", "0.5"),
        ("one tenth", "0.1"),
        ("three quarters", "0.75"),
        ("two and a half", "2.5"),
        ("The right one is eighteen", "18"),
        ("eighteen is the right one", "18"),
    ],
)
def test_words_after_a_number_belong_to_it(text: str, value: str) -> None:
    number = read_number(text)

    assert number is not None
    assert canonical(number.value) == value
    assert number.forms == ("number_words",)


@pytest.mark.parametrize(
    "text",
    [
        "fifty-fifty",
        "between eighty and ninety",
        "eighty to ninety",
        "one in three",
        "nine out of ten",
        "one two three",
    ],
)
def test_number_words_that_form_no_single_number_are_several(text: str) -> None:
    number = read_number(text)

    assert number is not None
    assert "one_of_several" in number.forms


@pytest.mark.parametrize("text", ["the twenty third", "a tenth"])
def test_ordinals_in_words_are_no_numbers(text: str) -> None:
    assert read_number(text) is None


# Any text


@given(st.one_of(st.text(), st.text("0123456789.,/-+eE^ x10%$'_", max_size=200)))
def test_any_text_gives_finite_numbers_in_order(text: str) -> None:
    numbers = list(find_numbers(fold(text)))

    assert all(abs(number.value) < 10**MAX_MAGNITUDE for number in numbers)
    assert all(one.end <= other.start for one, other in pairwise(numbers))
    assert all(abs(float(number.value)) < float("inf") for number in numbers)
    read_number(text)


@pytest.mark.parametrize("start", ["", "1e", "10^", "1/"])
def test_huge_numerals_are_read_in_linear_time(start: str) -> None:
    assert all(number.value < 10**MAX_MAGNITUDE for number in find_numbers(start + "9" * 10**6))
