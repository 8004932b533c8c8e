"""The test of linear time can fail."""

import re

import pytest
from tests.growth import grows_linearly, repeated

QUADRATIC = re.compile("a*b")  # at every letter it looks for the end of them all


@pytest.mark.parametrize(("work", "linear"), [(str.split, True), (QUADRATIC.findall, False)])
def test_a_function_of_quadratic_time_is_found_out(work, linear) -> None:
    assert grows_linearly(work, repeated("a"), 1_500) is linear
