"""Studies of other packages are found by their entry points. A mistake in one of them does not affect the others."""

import logging
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from tests.stages import sureness

from confidence_tasks import catalogue
from confidence_tasks.report.figures.general import GENERAL
from confidence_tasks.report.paper.filled import replications
from confidence_tasks.report.study_report import StudyReport, study_report
from confidence_tasks.statistics import auroc2, calibration
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.study import Domain, LazyModule, Measure, Pooling, Reference, Study, Viewer
from confidence_tasks.study.computations import incomparable_by, influence_of, inverted_test_of, statistic_of

ODD = Measure("odd", statistic_of(auroc2, "corect", "confidence"), "Reads a column that is misspelt.")

STUDY = """
from confidence_tasks.study import Design, Paper, Stage, Study, Trial
from confidence_tasks.study.measures import ACCURACY

STUDY = Study(
    name={name!r},
    title="Elsewhere",
    paper=Paper("Somebody", 2026, "0000.00000"),
    module=__name__,
    stages=(Stage("answer", lambda question, condition, replies: question.text),),
    questions=lambda parameters: [],
    conditions=("plain",),
    read=lambda question, condition, replies: {{}},
    trial=Trial,
    measures=(ACCURACY,),
    designs={{"elsewhere": Design("Elsewhere", "Is there a study in another package?")}},
    headline_measures=("accuracy",),
)
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages."""
    monkeypatch.syspath_prepend(str(tmp_path))
    catalogue.studies.cache_clear()
    yield tmp_path
    catalogue.studies.cache_clear()
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


def install(packages: Path, name: str, code: str) -> None:
    """Write a module and the metadata that an installer would write."""
    (packages / f"{name}.py").write_text(code, encoding="utf-8")
    about = packages / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(
        f"[confidence_tasks.studies]\n{name} = {name}:STUDY\n", encoding="utf-8"
    )


def test_every_folder_of_studies_is_a_study() -> None:
    folder = Path(catalogue.__file__).parent / "studies"
    paths = [path.parent.relative_to(folder) for path in folder.rglob("__init__.py")]
    own = {f"{catalogue.ENTRY_POINTS}.{'.'.join(path.parts)}" for path in paths if path.parts}
    assert set(catalogue.own_packages()) == own
    inside = [study for study in catalogue.studies() if study.module.startswith(catalogue.ENTRY_POINTS)]
    assert {study.module for study in inside} == own


def test_the_folders_are_told_from_installed_packages(packages: Path) -> None:
    install(packages, "elsewhere", STUDY.format(name="elsewhere"))
    assert "elsewhere" in [study.name for study in catalogue.studies()]
    test_every_folder_of_studies_is_a_study()


def test_a_study_of_another_package_is_found(packages: Path) -> None:
    install(packages, "elsewhere", STUDY.format(name="elsewhere"))
    assert "elsewhere" in [study.name for study in catalogue.studies()]
    found = catalogue.study_of_scores({"elsewhere_scorer": {}})
    assert isinstance(found, Study)
    assert found.name == "elsewhere"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("STUDY = 7", "TypeError: it is a int, not a Study"),
        ("", "AttributeError"),
        (STUDY.format(name="scales"), "ValueError: there is another study called scales"),
    ],
)
def test_a_study_that_cannot_be_loaded_is_left_out_with_a_warning(
    packages: Path, caplog: pytest.LogCaptureFixture, code: str, message: str
) -> None:
    install(packages, "elsewhere", code)
    with caplog.at_level(logging.WARNING):
        names = [study.name for study in catalogue.studies()]
    assert "scales" in names
    assert "elsewhere" not in names
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("study elsewhere (elsewhere:STUDY) is left out: ")
    assert message in line


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"headline_measures": ("acuracy",)},
            "headline_measures names an unknown measure, 'acuracy'; did you mean 'accuracy'",
        ),
        (
            {"tested_measures": ("auroc2",)},
            "tested_measures names an unknown measure, 'auroc2'; did you mean 'auroc'",
        ),
        ({"domains": {"confidense": Domain()}}, "domains names an unknown column, 'confidense'; did you"),
        ({"domains": {"lower": Domain(not_above="uper")}}, "domains names .* 'uper'; did you mean 'upper'"),
        ({"measures": SCALES.measures * 2}, "two measures are called accuracy, "),
        (
            {"measures": (*SCALES.measures, ODD)},
            "measure odd names an unknown column, 'corect'; did you mean 'correct'",
        ),
        (
            {"viewer": Viewer(columns=("confidence_rw",))},
            "viewer.columns names an unknown column, 'confidence_rw'; did you mean 'confidence_raw'",
        ),
        (
            {"pooling": Pooling(subset_parameters=frozenset({"samplse"}))},
            "pooling.subset_parameters names an unknown parameter, 'samplse'",
        ),
        (
            {"pooling": Pooling(protocol_values=frozenset({("sead", "1")}))},
            "pooling.protocol_values names an unknown parameter, 'sead'; did you mean 'seed'",
        ),
        ({"stages": ()}, "it needs stages$"),
        ({"trial": dict}, "its trial lacks condition, .*; derive it from Trial"),
    ],
)
def test_a_mistake_in_a_study_is_an_error_when_it_is_loaded(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"study scales: {message}"):
        replace(SCALES, **changes)


@pytest.mark.parametrize("study", catalogue.studies(), ids=lambda study: study.name)
def test_the_report_of_every_study_can_be_loaded_and_names_its_paper_by_a_string(study: Study) -> None:
    report = study_report(study)
    assert isinstance(report, StudyReport)
    assert isinstance(report.replication, str) == bool(report.replications)


OUTSIDE_PAPER = """
from confidence_tasks.report.paper import NotMade, Replication, TaskParameters
from confidence_tasks.report.study_report import StudyReport

PAPER = Replication(
    "elsewhere", "Somebody (2026)", {{"elsewhere": TaskParameters()}}, (NotMade("1", "A diagram.", why="No data."),)
)
REPORT = StudyReport(replication="{module}:{paper}")
"""


def study_with_a_paper(packages: Path, paper: str) -> None:
    study = STUDY.format(name="elsewhere").replace(
        "module=__name__,", 'module=__name__, report="elsewhere:REPORT",'
    )
    install(packages, "elsewhere", study + OUTSIDE_PAPER.format(module="elsewhere", paper=paper))


def test_a_study_of_another_package_names_its_own_paper(packages: Path) -> None:
    study_with_a_paper(packages, "PAPER")
    assert replications()[-1].name == "elsewhere"


def test_a_paper_that_is_no_replication_is_an_error_that_names_the_study(packages: Path) -> None:
    study_with_a_paper(packages, "STUDY")
    with pytest.raises(TypeError, match="study elsewhere: its replication is a Study"):
        replications()


def test_a_mistake_in_a_report_is_an_error_when_it_is_loaded() -> None:
    wrong = StudyReport(corroborating_measures={"mratio": ("zzz",)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[__name__], "WRONG", wrong, raising=False)
        with pytest.raises(
            ValueError, match="study scales: corroborating_measures names an unknown measure, 'zzz'"
        ):
            study_report(replace(SCALES, report=f"{__name__}:WRONG"))
        with pytest.raises(TypeError, match="is a Measure, not a StudyReport"):
            study_report(replace(SCALES, report=f"{__name__}:ODD"))


@pytest.mark.filterwarnings("ignore:confidence_tasks.report.task_trials:DeprecationWarning")
def test_a_study_written_for_version_0_1_loads_with_a_warning_that_says_what_to_write() -> None:
    general = LazyModule("confidence_tasks.report.figures.general")
    checks = LazyModule("confidence_tasks.report.checks")
    scales = "confidence_tasks.studies.scales.report"
    old = {
        "figures": (Reference(scales, "histograms"), general.GENERAL),
        "checks": (checks.GENERAL, Reference(scales, "unstable_m_ratio")),
        "corroborating_measures": {"mratio": ("auroc", "meta_information")},
        "grouping": LazyModule("confidence_tasks.report.task_trials").by_condition,
        "replication": Reference("confidence_tasks.replications.scales", "REPLICATION"),
        "reply_forms": Reference(scales, "REPLY_FORMS"),
        "power": None,
    }
    with pytest.warns(DeprecationWarning, match=r"figures=\.\.\., checks=.*report:REPORT") as warned:
        study = Study(**declared(SCALES), **old)
    assert warned[0].filename == __file__
    found = study_report(study)
    expected = study_report(SCALES)
    assert found.checks == expected.checks
    assert found.figures == (expected.figures[0], *GENERAL)
    assert found.replications == expected.replications
    assert found.reply_forms is expected.reply_forms
    assert found.power == ()
    assert found.grouping({"condition": np.array([], dtype=object)}) == []


def declared(study: Study) -> dict[str, object]:
    """Return the fields of a study but the report, as the study's module gives them."""
    return {each.name: getattr(study, each.name) for each in fields(study) if each.name != "report"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: statistic_of("auroc", "correct", "confidence"),
            "no statistic 'auroc'; did you mean 'auroc2'",
        ),
        (
            lambda: statistic_of(calibration.ece, "correct", "confidence", bin=5),
            "'ece' has no option 'bin'; did you mean 'bins'",
        ),
        (lambda: statistic_of(calibration.ece, "correct"), None),
        (
            lambda: statistic_of(calibration.ece, "correct", "confidence", "status"),
            "'ece' takes 2 columns at most, not 3",
        ),
        (lambda: influence_of("auroc2_influense", "correct"), "did you mean 'auroc2_influence'"),
        (
            lambda: inverted_test_of(calibration.BinnedTrials, "correct", "confidence", bin=5),
            "has no option 'bin'",
        ),
        (lambda: incomparable_by("no_such"), "there is no statistic 'no_such'"),
    ],
)
def test_a_misspelt_statistic_or_option_is_an_error(make, message) -> None:
    if message is None:
        make()
    else:
        with pytest.raises(ValueError, match=message):
            make()


def test_a_statistic_given_by_its_name_as_in_version_0_1_is_found_and_warned_about() -> None:
    trials = {"correct": np.array([1.0, 0.0]), "confidence": np.array([0.9, 0.5])}
    said = (
        "write `from confidence_tasks.statistics import calibration` and give the function, calibration.brier"
    )
    with pytest.warns(DeprecationWarning, match=said) as warned:
        named = statistic_of("brier", "correct", "confidence")
    assert warned[0].filename == __file__
    assert named(trials, None) == statistic_of(calibration.brier, "correct", "confidence")(trials, None)
    with pytest.warns(DeprecationWarning, match="give the function, calibration.BinnedTrials"):
        inverted_test_of("BinnedTrials", "correct", "confidence", bins=5)


STAGED = sureness.STUDY


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"module": ""}, "it needs module"),
        ({"designs": {}}, "it needs designs"),
        ({"parameters": STAGED.parameters * 2}, "two parameters are called level, mirror, n, source"),
        ({"conditions": ("stated", "stated")}, "two conditions are called stated"),
        (
            {"conditions": ("stating", "asked")},
            "the baseline 'stated' is no condition; did you mean 'stating'",
        ),
        ({"stages": STAGED.stages[1:]}, "stage 'confidence' follows 'answer', which is not an earlier stage"),
        ({"stages": STAGED.stages[:1] * 2}, "stage 'answer' is declared twice"),
        ({"stages": (replace(STAGED.stages[0], samples=0),)}, "has samples=0"),
        (
            {"stages": (replace(STAGED.stages[0], temperature=1.0, providers_temperature=True),)},
            "has the provider's temperature, beside another temperature or another stage",
        ),
        ({"stages": (replace(STAGED.stages[0], top_logprobs=5),)}, "has top_logprobs but no logprobs"),
        ({"stages": (replace(STAGED.stages[0], role="judge"),)}, "calls the model under test, not a role"),
    ],
)
def test_a_mistake_in_the_stages_of_a_study_is_an_error_when_it_is_loaded(changes, message) -> None:
    with pytest.raises(ValueError, match=f"study sureness: .*{message}"):
        replace(STAGED, **changes)
