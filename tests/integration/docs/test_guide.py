"""What the guide says exists: commands, parameters, measures, links."""

import ast
import inspect
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

import click
import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai import eval as eval_tasks
from tests.integration.docs.pages import PAGES, ROOT, blocks, commands, named, options
from tests.local_data import local_data
from tests.small_runs import published_tasks

from confidence_tasks import _registry
from confidence_tasks.catalogue import studies
from confidence_tasks.cli import COMMANDS, main
from confidence_tasks.decisions.plan import PlannedTask, plan_run
from confidence_tasks.decisions.tokens import token_counter
from confidence_tasks.harness.items import make_items
from confidence_tasks.harness.lm_eval.groups import configurations
from confidence_tasks.harness.parameters import chosen_conditions, complete_parameters, is_single
from confidence_tasks.simulation.subject import PROFILES, Subject
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.table import SOURCES
from confidence_tasks.studies.fermieval import summary as fermieval
from confidence_tasks.studies.fermieval.logprob import measures as fermieval_logprob
from confidence_tasks.studies.fermieval.sampling import measures as fermieval_sampling
from confidence_tasks.studies.lifeeval import measures as lifeeval
from confidence_tasks.studies.lifeeval.question_sets import measures as question_sets
from confidence_tasks.studies.logprob_metacognition import measures as nlp_metad
from confidence_tasks.studies.riskeval import measures as riskeval_measures
from confidence_tasks.studies.riskeval.replies import PENALTIES
from confidence_tasks.studies.scales import measures as scales
from confidence_tasks.studies.signals import STUDY as SIGNALS_STUDY
from confidence_tasks.study import Study
from confidence_tasks.study.measure import Measure

pytestmark = pytest.mark.slow

MEASURES: Mapping[str, Iterable[Measure]] = {
    "scales.md": scales.MEASURES,
    "lifeeval.md": (*lifeeval.MEASURES, *lifeeval.TOKEN_MEASURES, *question_sets.ALL_MEASURES),
    "fermieval.md": (
        *fermieval.REPORTED_MEASURES,
        *fermieval_logprob.logprob_measures([0.9]),
        *fermieval_sampling.sampling_measures(["interval", "direct", "reasoned"], [1.0], [0.9]),
    ),
    "riskeval.md": (*riskeval_measures.MEASURES, *riskeval_measures.COUNTS),
    "nlp_metad.md": nlp_metad.MEASURES,
    "signals.md": (*SIGNALS_STUDY.measures, *SIGNALS_STUDY.pooled_measures),
}

TASKS_OF: Mapping[str, tuple[str, ...]] = {
    "scales.md": ("scale_granularity", "scale_boundary", "scale_nonstandard"),
    "lifeeval.md": ("lifeeval", "boolq", "sciq", "lsat_ar", "sat_en", "halueval"),
    "fermieval.md": ("fermieval", "fermieval_logprob", "fermieval_sampling"),
    "riskeval.md": ("riskeval",),
    "nlp_metad.md": ("nlp_metad",),
    "signals.md": ("signals",),
}

LM_EVAL = {name for name, _ in configurations(studies())}

OTHERS = ("mmlu",)
"""Tasks of lm-eval itself."""

COPIED = ("CHANGELOG.md", "CONTRIBUTING.md")
"""Pages of the root that are on the site too (docs/site.py)."""

PRINTED = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.M | re.S)
"""Code, and what it prints."""

ALL = [(page, words) for page in PAGES for words in commands(page)]


def test_the_mean_thresholds_of_the_penalties_are_those_on_the_page():
    page = (ROOT / "docs/riskeval.md").read_text()
    every = [penalty / (1.0 + penalty) for penalty in PENALTIES]
    high = [penalty / (1.0 + penalty) for penalty in PENALTIES if penalty >= 10]
    said = re.search(r"these ten have (\.\d+)\s+and (\.\d+)", page)
    assert said is not None
    assert [float(text) for text in said.groups()] == [
        round(sum(values) / len(values), 3) for values in (every, high)
    ]


def said(page: Path, program: str) -> list[Any]:
    """The commands of a page that call a program."""
    return [words for words in commands(page) if words[0] == program]


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


def task_named(name: str) -> Any:
    package, _, task = name.partition("/")
    assert package == "confidence_tasks"
    return getattr(_registry, task)


def table_of_calls() -> dict[str, tuple[int, str]]:
    """The calls by default of each task, and its name on lm-eval, by the table of the README."""
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| `(\w+)` \|", (ROOT / "README.md").read_text(), re.M)
    return {task: (int(calls.replace(",", "")), name) for task, calls, name in rows}


def test_the_guide_has_the_calls_of_every_task() -> None:
    rows = re.findall(
        r"^\| \[.*\|([\d,·; ]+)\|$", (ROOT / "docs/README.md").read_text(encoding="utf-8"), re.M
    )
    calls = [int(number.replace(",", "")) for row in rows for number in re.findall(r"[\d,]+", row)]
    assert sorted(calls) == sorted(number for number, _ in table_of_calls().values())


def test_the_readme_names_every_task_on_both_harnesses() -> None:
    assert table_of_calls().keys() == {name for study in studies() for name in study.designs}
    assert {name for _, name in table_of_calls().values()} <= LM_EVAL


@pytest.mark.parametrize(("study", "task"), [(each, name) for each in studies() for name in each.designs])
def test_the_calls_of_the_readme_are_those_of_a_run(study: Study, task: str) -> None:
    parameters = {**complete_parameters(task, {}, study.task_parameters(task)), "task": task}
    if mirror := local_data():
        parameters["mirror"] = str(mirror / "hub")
    try:
        items = list(make_items(study, parameters, chosen_conditions(study, parameters)))
    except SourceError:
        pytest.skip("the questions are not here")
    if task == "signals":  # its default signals are of one answer
        calls = len({item.question.id for item in items})
    else:
        calls = len(items) * parameters.get(study.asking.repeats_parameter, 1)
        assert is_single(study.stages_of(parameters))
    assert table_of_calls()[task][0] == calls


@pytest.mark.slow
@pytest.mark.sampled("task")
@pytest.mark.parametrize("task", [name for each in studies() for name in each.designs])
def test_the_calls_of_the_readme_are_those_that_plan_announces(task: str) -> None:
    mirror = local_data()
    study = next(study for study in studies() if task in study.designs)
    has_mirror = mirror and any(each.name == "mirror" for each in study.task_parameters(task))
    try:
        planned = PlannedTask.make(task, {"mirror": str(mirror / "hub")} if mirror and has_mirror else {})
    except SourceError:
        pytest.skip("the questions are not here")
    assert table_of_calls()[task][0] == plan_run(planned, token_counter()).n_calls


@pytest.mark.parametrize(
    "left", ["report.html", "results/x.json", "smollm2/config.json", "map.json", "logs/a.eval"]
)
def test_what_commands_of_the_readme_write_is_ignored(left: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    assert subprocess.run(["git", "check-ignore", "--quiet", left], cwd=ROOT, check=False).returncode == 0


def test_every_task_has_a_page() -> None:
    assert published_tasks() <= {name for names in TASKS_OF.values() for name in names}


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_explained(name: str) -> None:
    explained = set(re.findall(r"`([a-z0-9_]+)`", (ROOT / "docs" / name).read_text(encoding="utf-8")))
    names = {measure.name.partition("/")[0].removeprefix("scaled_") for measure in MEASURES[name]}
    assert names <= explained


@pytest.mark.parametrize("name", TASKS_OF)
def test_every_parameter_is_explained(name: str) -> None:
    explained = set(re.findall(r"`([a-z_]+)`", (ROOT / "docs" / name).read_text(encoding="utf-8")))
    wanted = {
        parameter.name
        for task in TASKS_OF[name]
        for parameter in inspect.signature(getattr(_registry, task)).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }
    assert wanted <= explained


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_inspect_commands_name_tasks_parameters_and_subjects_that_exist(page: Path) -> None:
    for words in said(page, "inspect"):
        if words[1] != "eval" or "/" not in words[2] or words[2].startswith("inspect_evals/"):
            continue
        known = inspect.signature(task_named(words[2])).parameters
        assert named(words, "-T").keys() <= known.keys(), words
        for model in ",".join(options(words, "--model")).split(","):
            if model.startswith("simulated/"):
                assert model.partition("/")[2] in PROFILES, words
                assert named(words, "-M").keys() <= {item.name for item in fields(Subject)}, words


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_lm_eval_commands_name_tasks_and_subjects_that_exist(page: Path) -> None:
    for words in said(page, "lm_eval"):
        for tasks in options(words, "--tasks"):
            assert set(tasks.split(",")) <= {*LM_EVAL, *OTHERS}, words
        for arguments in options(words, "--model_args"):
            given = dict(argument.partition("=")[::2] for argument in arguments.split(","))
            if options(words, "--model") == ["simulated"]:
                assert given.pop("subject") in PROFILES, words
                assert given.keys() <= {item.name for item in fields(Subject)}, words


PACKAGES = {
    "openai": "openai",
    "openai-api": "openai",
    "anthropic": "anthropic",
    "vllm": "vllm",
    "hf": r"\.\[hf\]",
    "local-chat-completions": r"lm_eval\[api\]",
}
"""What ``pip install`` needs for a provider of Inspect, or for a model of lm-eval."""


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_a_page_that_names_a_provider_names_its_package(page: Path) -> None:
    named_models = {
        model.rpartition("=")[2].partition("/")[0]
        for words in (*said(page, "inspect"), *said(page, "lm_eval"))
        for option in ("--model", "--model-role")
        for models in options(words, option)
        for model in models.split(",")
    }
    text = page.read_text(encoding="utf-8")
    for provider in named_models - {"simulated", "simulated_instrument"}:
        assert re.search(rf"pip install [^`\n]*{PACKAGES[provider]}", text), provider


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_own_commands_have_these_options(page: Path) -> None:
    for words in said(page, "confidence-tasks"):
        command: click.Command = main
        context = click.Context(main)
        rest = words[1:]
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            found = command.get_command(context, rest[0])
            assert found is not None, words
            command, rest = found, rest[1:]
        known = {
            text for parameter in command.params for text in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word for word in rest if re.match(r"--?[a-zA-Z]", word)} <= known, words


def test_every_own_command_is_mentioned() -> None:
    mentioned = {words[1] for _, words in ALL if words[0] == "confidence-tasks" and len(words) > 1}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {name for name in COMMANDS if f"confidence-tasks {name}" not in text} <= mentioned


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        where = (page.parent / name).resolve() if name else page
        assert where.exists(), f"{page.name}: {target}"
        on_site = (
            page.parent.name != "docs" or where.parent.is_relative_to(page.parent) or where.name in COPIED
        )
        assert on_site, f"{page.name}: {target} is not on the site"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", where.read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{page.name}: {target}"


def test_sources_named_in_commands_exist() -> None:
    for _, words in ALL:
        if words[0] == "inspect":
            given = named(words, "-T")
            for key in ("source", "sources"):
                for name in filter(None, given.get(key, "").split(",")):
                    assert name in SOURCES or name.endswith((".jsonl", ".json", ".csv")), words


@pytest.fixture(scope="module")
def working_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with what the pages read: logs of an old release and of a better one, questions, replies."""
    folder = tmp_path_factory.mktemp("guide")
    task = task_named("confidence_tasks/boolq")(source="arithmetic_boolean", n=100)
    for name, subject in (("old", "overconfident"), ("new", "ideal"), ("logs", "ideal")):
        (log,) = eval_tasks(task, model=f"simulated/{subject}", log_dir=str(folder / name), display="none")
        assert log.status == "success"
    for name, text in zip(("questions", "replies"), blocks(ROOT / "docs/recipes.md", "json"), strict=True):
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


RUNNABLE = [
    words
    for _, words in ALL
    if words[:2] == ["inspect", "eval"]
    and any(model.startswith("simulated/") for model in options(words, "--model"))
]


@pytest.mark.parametrize("words", RUNNABLE, ids=lambda words: " ".join(words[2:]))
def test_inspect_commands_make_a_task(
    words: list[str], working_folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task is made with the values as the command line gives them; the end-to-end tests run it."""
    monkeypatch.chdir(working_folder)
    if "fermieval" in words[2]:
        request.getfixturevalue("mirror")
    given = {key: _typed(value) for key, value in named(words, "-T").items()}
    task = task_named(words[2])(**given)
    assert isinstance(task, Task)
    assert len(task.dataset) > 0


def _typed(value: str) -> Any:
    """Read a value as Inspect's command line does."""
    import yaml

    read = yaml.safe_load(value)
    return value.split(",") if isinstance(read, str) and "," in read else read


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CONTRIBUTING.md"], ids=ids)
def test_python_in_the_guide_runs_and_prints_what_stands_below_it(
    page: Path, working_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The README's included; what CONTRIBUTING.md builds has tests of its own."""
    monkeypatch.chdir(working_folder)
    printed = dict(PRINTED.findall(page.read_text(encoding="utf-8")))
    for block in blocks(page, "python"):
        capsys.readouterr()
        exec(compile(block, str(page), "exec"), {})
        assert capsys.readouterr().out == printed.get(block, mock.ANY)


def test_the_replies_of_the_guide_are_scored(working_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(working_folder)
    (words,) = [words for words in said(ROOT / "docs/recipes.md", "confidence-tasks") if words[1] == "score"]
    scored = CliRunner().invoke(main, [*words[1:], "--log-dir", "scored"])
    assert scored.exit_code == 0, scored.output
    assert "recorded/my-model: 2 replies" in scored.output


GRID = ROOT / "examples" / "thirty_models.py"


def test_the_grid_is_of_thirty_models_and_published_tasks() -> None:
    lists = [
        [each.value for each in node.elts if isinstance(each, ast.Constant)]
        for node in ast.walk(ast.parse(GRID.read_text()))
        if isinstance(node, ast.List)
    ]
    (tasks,) = (names for names in lists if any(name.startswith("confidence_tasks/") for name in names))
    assert {name.removeprefix("confidence_tasks/") for name in tasks} <= published_tasks()
    assert len({name for names in lists if names != tasks for name in names}) == 30


def test_inspect_flow_loads_the_grid() -> None:
    flow = pytest.importorskip("inspect_flow.api", reason="inspect-flow is not installed")
    spec = flow.load_spec(str(GRID))
    assert len(spec.tasks) == 120
    assert len({task.model.name for task in spec.tasks}) == 30
