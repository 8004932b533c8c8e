"""lm-eval finds our tasks without a flag: the start-up hook, its switch, and its installation by pip and uv."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from tests.integration.lm_eval.harnesses import stubs

from confidence_tasks import _startup

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[3]

# lm-eval's tasks, reduced to what the hook relies on.
MANAGER = """
from pathlib import Path
from types import SimpleNamespace
class TaskIndex:
    @staticmethod
    def build(paths, *, resolve_includes=True):
        return {f"task {number}": SimpleNamespace(yaml_path=path / "a.yaml") for number, path in enumerate(paths)}
    @staticmethod
    def process_cfg(config, path, index):
        index[config.get("group") or config["task"]] = SimpleNamespace(yaml_path=path, cfg=config)
class TaskManager:
    def __init__(self, include_path=None, include_defaults=True):
        defaults = [Path(__file__).parent] if include_defaults else []
        self.index = TaskIndex().build(defaults + ([Path(include_path)] if include_path else []))
"""


CONFIGURATIONS = [
    ("ours", {"task": "ours"}),
    ("our_group", {"group": "our_group", "task": ["ours"]}),
]


def is_hook(finder):
    """Ours, or the one of the environment that runs the tests."""
    return getattr(finder, "__name__", None) in {"Watch", "_confidence_tasks_lm_eval", _startup.__name__}


@pytest.fixture(params=["_startup.pth", "_startup.start"])
def install(request, monkeypatch):
    """Install the hook as Python does at its start: up to version 3.14, and from version 3.15 on."""
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if not is_hook(finder)])
    monkeypatch.setitem(sys.modules, "_confidence_tasks_lm_eval", _startup)
    text = Path(_startup.__file__).with_name(request.param).read_text()
    (line,) = text.splitlines()
    return (lambda: exec(line)) if request.param.endswith(".pth") else pkgutil.resolve_name(line)


@pytest.fixture
def import_manager(install, tmp_path, monkeypatch):
    """Import a task manager, given as source text, from an lm-eval of its own, with the hook installed."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "lm_eval"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(_startup.SWITCH, raising=False)
    (tmp_path / "lm_eval" / "tasks").mkdir(parents=True)
    (tmp_path / "lm_eval" / "__init__.py").touch()
    (tmp_path / "lm_eval" / "tasks" / "__init__.py").touch()

    def import_it(source=MANAGER):
        (tmp_path / "lm_eval" / "tasks" / "manager.py").write_text(source)
        importlib.invalidate_caches()
        install()
        return importlib.import_module("lm_eval.tasks.manager")

    monkeypatch.setattr(_startup, "_warned", False)
    monkeypatch.setattr(_startup, "_add_model", lambda: None)
    monkeypatch.setattr(_startup, "_configurations", lambda: CONFIGURATIONS)
    yield import_it
    for name in [name for name in sys.modules if name.partition(".")[0] == "lm_eval"]:
        del sys.modules[name]


class TestHook:
    def test_the_studies_come_after_lm_evals_own_tasks_and_the_users(self, import_manager):
        index = import_manager().TaskManager(include_path="mine").index
        assert list(index) == ["task 0", "task 1", "ours", "our_group"]

    def test_a_name_that_is_there_keeps_its_meaning(self, import_manager):
        index = import_manager(MANAGER.replace('f"task {number}"', '"ours"')).TaskManager().index
        assert index["ours"].yaml_path is not None
        assert index["our_group"].yaml_path is None

    def test_a_manager_without_defaults_has_only_what_was_asked_for(self, import_manager):
        manager = import_manager()
        assert list(manager.TaskManager("mine", include_defaults=False).index) == ["task 0"]

    def test_switch_turns_it_off(self, import_manager, monkeypatch):
        monkeypatch.setenv(_startup.SWITCH, "0")
        assert list(import_manager().TaskManager().index) == ["task 0"]

    def test_silent_when_the_package_is_gone(self, import_manager, monkeypatch, caplog):
        monkeypatch.setattr(importlib.util, "find_spec", find_spec_without("confidence_tasks"))
        assert list(import_manager().TaskManager().index) == ["task 0"]
        assert not caplog.records

    def test_an_error_of_lm_evals_own_is_not_swallowed(self, import_manager):
        with pytest.raises(ZeroDivisionError):
            import_manager("1 / 0")

    def test_an_absent_lm_eval_is_reported_as_ever(self, import_manager, install):
        install()
        with pytest.raises(ModuleNotFoundError, match=r"lm_eval\.tasks\.manager"):
            importlib.import_module("lm_eval.tasks.manager")


def find_spec_without(absent):
    find_spec = importlib.util.find_spec
    return lambda name, package=None: None if name == absent else find_spec(name, package)


CHANGED = """
import sys
from confidence_tasks import _startup
hooks = {"Watch", "_confidence_tasks_lm_eval"}  # of the environment that runs the tests
sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, "__name__", "") not in hooks]
_startup._configurations = lambda: [("ours", {"task": "ours"})]
_startup.install()
import lm_eval.tasks
manager = sys.modules.get("lm_eval.tasks.manager")
for _ in range(2):
    if hasattr(manager, "TaskManager"):
        manager.TaskManager()
print("lm-eval goes on")
"""
REGISTRY = """
class model_registry(dict):
    register = classmethod(lambda *_, **__: None)
model_registry = model_registry()
"""


@pytest.mark.parametrize(
    ("manager", "registry"),
    [
        (None, REGISTRY),
        ("raise RuntimeError('moved\\nfar away')", REGISTRY),
        ("", REGISTRY),
        (MANAGER.replace("def build", "def collect").replace("().build", "().collect"), REGISTRY),
        (MANAGER.replace("@staticmethod\n    def build(", "def build(self, "), REGISTRY),
        (
            MANAGER.replace("return {", "return [*{").replace("enumerate(paths)}", "enumerate(paths)}]"),
            REGISTRY,
        ),
        (MANAGER.replace("process_cfg", "add"), REGISTRY),
        (MANAGER.replace("(config, path, index)", "(config, index, *, path)"), REGISTRY),
        (MANAGER, ""),
        ("", ""),
    ],
    ids=[
        "no module",
        "module raises",
        "no TaskIndex",
        "no build",
        "build is a method",
        "another index",
        "no process_cfg",
        "process_cfg re-signed",
        "another registry",
        "all different",
    ],
)
def test_a_changed_lm_eval_goes_on_with_one_line_of_warning(tmp_path, manager, registry):
    files = {
        "lm_eval/__init__.py": "",
        "lm_eval/tasks/__init__.py": "",
        "lm_eval/tasks/manager.py": manager,
        "lm_eval/models.py": "",
        "lm_eval/api/__init__.py": "",
        "lm_eval/api/registry.py": registry,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", CHANGED],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "lm-eval goes on\n"), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("confidence_tasks could not add ")
    assert line.endswith('--include_path "$(confidence-tasks lm-eval-path)"')


# lm-eval's command line after a change of its index that the hook cannot follow.
RE_SIGNED = """
import itertools, sys
from confidence_tasks import _startup
from lm_eval.tasks import _index
from lm_eval.__main__ import cli_evaluate
build, files = _index.TaskIndex.build, _index.TaskIndex._iter_yaml_files
_index.TaskIndex.build = lambda self, paths, **options: build(paths, **options)
_index.TaskIndex._iter_yaml_files = staticmethod(
    lambda root: itertools.islice(files(root), 1 if root.name == "tasks" else None)
)
_startup._extend()
cli_evaluate()
"""


def test_every_task_runs_by_include_path_where_the_index_has_changed(tmp_path):
    words = [
        *("run", "--tasks", "scale_granularity_0_20_arithmetic", "--model", "simulated", "--limit", "5"),
        *("--include_path", str(stubs()), "--output_path", "out"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", RE_SIGNED, *words],
        cwd=tmp_path,
        env=os.environ | {_startup.SWITCH: "0", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr.count("confidence_tasks could not add its tasks") == 1
    (results,) = tmp_path.rglob("results_*.json")
    counted = json.loads(results.read_text())["n-samples"]["scale_granularity_0_20_arithmetic"]
    assert counted["effective"] == 5


MADE_LATE = """
import inspect, sys
from confidence_tasks.harness.lm_eval.groups import StudyTaskFactory
assert "config" in inspect.signature(StudyTaskFactory.__init__).parameters
print(sorted({"lm_eval.api.task", "inspect_ai"} & sys.modules.keys()))
"""


def test_what_a_task_needs_is_imported_when_the_task_is_made():
    assert run([sys.executable, "-c", MADE_LATE]) == "[]\n"


MODELS = """
from confidence_tasks import _startup
_startup.install()
import lm_eval.tasks
from lm_eval.api.registry import get_model
print(get_model("dummy").__name__, get_model("simulated").__name__)
"""


def test_lm_evals_own_models_are_known_beside_ours():
    """It registers its own only while there are none."""
    assert run([sys.executable, "-c", MODELS]) == "DummyLM SimulatedLM\n"


def test_the_entry_point_of_the_model_for_the_day_lm_eval_reads_it():
    (ours,) = entry_points(group="lm_eval.models", name="simulated")
    assert ours.value == "confidence_tasks.harness.lm_eval.simulated:SimulatedLM"
    ours.load()


class TestStartUp:
    """The files as Python itself processes them, in an environment of their own."""

    @pytest.fixture
    def python(self, tmp_path):
        folder = tmp_path / "hooked"
        python = new_environment(folder)
        site_packages = next(folder.glob("lib/python*/site-packages"))
        text = Path(_startup.__file__).with_name("_startup.pth").read_text()
        (site_packages / "confidence_tasks_lm_eval.pth").write_text(text)
        return python

    def test_brings_in_no_module(self, python, tmp_path):
        command = ["-c", "import sys; print(*sys.modules)"]
        assert run([python, *command]) == run([new_environment(tmp_path / "bare"), *command])

    def test_lm_eval_starts_when_the_module_is_missing(self, python, tmp_path):
        (tmp_path / "lm_eval" / "tasks").mkdir(parents=True)
        (tmp_path / "lm_eval" / "tasks" / "manager.py").write_text("print('here')")
        done = subprocess.run(
            [python, "-m", "lm_eval.tasks.manager"], cwd=tmp_path, capture_output=True, text=True
        )
        assert (done.stdout, done.stderr) == ("here\n", "")

    def test_costs_under_a_millisecond(self):
        """The least of ten; a start executes the line once, and compiles it each time."""
        line = Path(_startup.__file__).with_name("_startup.pth").read_text()
        probe = f"import sys, timeit; print(min(timeit.repeat(lambda: exec({line!r}), number=1, repeat=10)))"
        assert float(run([sys.executable, "-c", probe])) < 0.001


def new_environment(folder):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return str(folder / "bin" / "python")


# Which tasks a real, default TaskManager has beside the first of lm-eval's own 10,000 files, which take seconds.
FOUND = f"""
import itertools, json, sys
sys.path.append({sysconfig.get_path("purelib")!r})
from lm_eval.tasks import TaskManager, _index
files = _index.TaskIndex._iter_yaml_files
_index.TaskIndex._iter_yaml_files = staticmethod(lambda root: itertools.islice(files(root), 1))
print(json.dumps([name for name, entry in TaskManager().task_index.items() if entry.cfg and not entry.yaml_path]))
"""


def installer(tool, python):
    """The commands that install and uninstall in the environment of ``python``."""
    if tool == "pip":
        pip = [sys.executable, "-m", "pip", "--python", python]
        return [*pip, "install", "--no-deps"], [*pip, "uninstall", "--yes"]
    pytest.importorskip("uv", reason="uv is not installed")
    uv = [sys.executable, "-m", "uv", "pip"]
    return [*uv, "install", "--no-deps", "--python", python], [*uv, "uninstall", "--python", python]


@pytest.mark.sampled("tool", "editable", one_in=2)
@pytest.mark.parametrize("editable", [False, True], ids=["regular", "editable"])
@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_installed_and_uninstalled(tool, editable, tmp_path):
    """A fresh environment finds our tasks after the installation, not with the switch, not after uninstalling."""
    python = new_environment(tmp_path)
    install, uninstall = installer(tool, python)
    run([*install, *(["--editable"] if editable else []), str(REPOSITORY)])

    assert {"riskeval", "scale_granularity", "scale_granularity_0_20_mmlu"} < set(
        json.loads(run([python, "-c", FOUND]))
    )
    assert json.loads(run([python, "-c", FOUND], **{_startup.SWITCH: "0"})) == []

    run([*uninstall, "confidence-tasks"])
    assert json.loads(run([python, "-c", FOUND])) == []
    left = [path for path in tmp_path.rglob("*confidence_tasks*") if path.parent.name != "__pycache__"]
    assert not left  # uv leaves what Python compiled of a single module, which cannot be imported without it


def run(command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
