"""Summaries of stated intervals in plain columns."""

import numpy as np
import pandas as pd
import pytest

from confidence_tasks import summary


def table(n=400, half=1.0):
    rng = np.random.default_rng(0)
    centre = rng.normal(0, 10, n)
    truth = centre + rng.normal(0, 1, n)
    return pd.DataFrame({"low": centre - half, "high": centre + half, "truth": truth, "level": 0.9})


def values(data, **settings):
    frame = summary(data, kind="interval", n_resamples=300, **settings).to_frame()
    return frame.set_index("measure")


def test_coverage_width_and_winkler_are_those_of_the_rows() -> None:
    data = table()
    found = values(data)
    inside = [low <= y <= high for low, high, y, _ in data.itertuples(index=False)]
    winkler = [
        high - low + 20.0 * max(low - y, y - high, 0.0) for low, high, y, _ in data.itertuples(index=False)
    ]
    assert found["value"]["coverage"] == pytest.approx(np.mean(inside))
    assert found["value"]["coverage_gap"] == pytest.approx(np.mean(inside) - 0.9)
    assert found["value"]["width"] == pytest.approx(2.0)
    assert found["value"]["winkler"] == pytest.approx(np.mean(winkler))
    assert found["low"]["coverage"] < 0.683 < found["high"]["coverage"]


def test_the_conformal_adjustment_widens_intervals_that_cover_too_little() -> None:
    found = values(table())["value"]
    assert found["conformal_width"] == pytest.approx(2 * 1.645, abs=0.35)
    assert found["conformal_winkler"] < found["winkler"]


def test_levels_and_groups_are_apart_and_missing_rows_are_left_out() -> None:
    data = pd.concat([table().assign(model="a"), table(half=2.0).assign(model="b", level=0.95)])
    data.iloc[0, 0] = np.nan
    frame = summary(data, kind="interval", by="model", measures=["coverage"], n_resamples=50).to_frame()
    assert frame[["model", "level", "n"]].values.tolist() == [["a", "0.9", 399], ["b", "0.95", 400]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": 90}, "90% is 0.9"),
        ({"low": 99.0}, "low is above high"),
        ({"truth": "x"}, "not a number"),
    ],
)
def test_mistakes_are_refused_with_the_fix(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        summary(table().assign(**change), kind="interval")
    with pytest.raises(ValueError, match="needs a table"):
        summary([1, 0], [0.5, 0.5], kind="interval")
