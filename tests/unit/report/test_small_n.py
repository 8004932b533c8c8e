"""Headline measures of every study at 5 to 50 answers: no number that its own documentation disowns."""

import numpy as np
import pandas as pd
import pytest
from tests.small_studies import SIZES, STUDIES, SUBJECTS, headline_measures

from confidence_tasks.catalogue import studies

COMPARE_CLASSES = {
    "auroc",
    "auroc2",
    "prr",
    "prr_50",
    "meta_information",
    "z_roc_slope",
    "d_a",
    "mratio",
    "mratio_v1",
}
"""Measures that compare right with wrong answers."""

NOT_OF_ONE_CONFIDENCE = {"meta_information", "z_roc_slope", "d_a", "mratio", "mratio_v1"}
"""Measures that need two different confidences; a constant one has an AUROC of one half and a PRR of 0."""

OF_UNRELATED = {"auroc": 0.5, "auroc2": 0.5, "prr": 0.0, "meta_information": 0.0, "mratio": 0.0, "d_a": 0.0}
"""Values of confidence that has nothing to do with correctness."""

MAY_EXCLUDE_THE_VALUE = {"ece", "ece_recalibrated", "conformal_winkler", "winkler"}
"""Measures whose documentation says that the value may lie outside its interval, because it is biased or skewed."""

NEVER_WITHOUT_AN_INTERVAL = {"meta_information", "mratio"}

NEED_FIVE_OF_EACH_CLASS = {"mratio", "meta_d"}

every_study = pytest.mark.parametrize("study", STUDIES.values(), ids=list(STUDIES))


def test_every_study_is_audited():
    """Those of this package: a study from outside lies elsewhere."""
    own = {study.name for study in studies() if study.module.startswith("confidence_tasks.")}
    assert own == STUDIES.keys()


@pytest.mark.slow
@pytest.mark.sampled("study", "n", "subject")
@every_study
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_number_that_its_documentation_disowns(study, subject, n, tmp_path):
    correct, confidence = SUBJECTS[subject](np.random.default_rng(n), n)
    table = headline_measures(study, correct, confidence, tmp_path)
    assert set(table["measure"]) == set(study.headline_measures)
    one_class, constant = len(set(correct)) == 1, len(set(confidence)) == 1
    for row in table.itertuples():
        measure = study.measures_by_name[row.measure]
        missing = np.isnan(row.value)
        assert (row.reason != "") == (missing or np.isnan(row.low)), row
        assert np.isnan(row.low) or not missing, row
        if (row.measure in COMPARE_CLASSES and one_class) or (
            row.measure in NOT_OF_ONE_CONFIDENCE and constant
        ):
            assert missing, row
        if row.measure in NEED_FIVE_OF_EACH_CLASS and min(correct.sum(), n - correct.sum()) < 5:
            assert missing, row
        if row.measure in NEVER_WITHOUT_AN_INTERVAL:
            assert missing == np.isnan(row.low), row
        if not missing:
            low, high = measure.inference.bounds
            assert low <= row.value <= high, row
        if not np.isnan(row.low) and row.measure not in MAY_EXCLUDE_THE_VALUE:
            assert row.low - 1e-9 <= row.value <= row.high + 1e-9 or row.value < row.low == 0.0, row


@pytest.mark.slow
@pytest.mark.sampled("subject", "study", "n", one_in=2)
@pytest.mark.parametrize("subject", [name for name in SUBJECTS if "unrelated" in name])
@pytest.mark.parametrize(
    "study", [STUDIES["scales"], STUDIES["nlp_metad"], STUDIES["signals"]], ids=lambda study: study.name
)
@pytest.mark.parametrize("n", [10, 50])
def test_unrelated_confidence_shows_no_metacognition(study, subject, n, tmp_path):
    rng = np.random.default_rng(1)
    tables = [headline_measures(study, *SUBJECTS[subject](rng, n), tmp_path) for _ in range(6)]
    table = pd.concat(tables)
    for name, expected in OF_UNRELATED.items():
        shown = table[(table["measure"] == name) & table["value"].notna()]
        with_interval = shown[shown["low"].notna()]
        covers = (with_interval["low"] <= expected + 1e-9) & (expected - 1e-9 <= with_interval["high"])
        assert covers.sum() >= len(covers) - 2, name
        if name == "meta_information" and len(shown) >= 4:
            assert shown["value"].median() < 0.15
