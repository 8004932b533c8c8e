"""All uses of private parts of Inspect AI and lm-eval, but for those of lm-eval's models in ``compat_models``.

The docstring of each function names the private parts that it needs and the versions that it was tested on. Harnesses
are imported inside the functions, so that importing this module does not fail if a harness has changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime
from difflib import get_close_matches
from gc import collect
from importlib import import_module
from inspect import currentframe, getattr_static
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar
from warnings import warn

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary, EvalSpec
    from inspect_ai.model import CachePolicy, ChatMessage, GenerateConfig, Model
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.api.task import Task as LmEvalTask

T = TypeVar("T")


def prerequisite_error() -> type[Exception]:
    """Return the exception class whose ``message`` Inspect's commands print instead of a traceback.

    Needs ``inspect_ai._util.error.PrerequisiteError``; without it, returns `Exception`, and the commands print a
    traceback. Tested on Inspect 0.3.285.
    """
    try:
        error: type[Exception] = import_module("inspect_ai._util.error").PrerequisiteError
    except (ImportError, AttributeError):
        return Exception
    return error


def shorten_tracebacks(describe: Callable[[BaseException], str]) -> None:
    """Make a harness's command print ``describe(error)`` instead of a traceback, unless it is empty.

    Needs that the command leaves errors to ``sys.excepthook``. Tested on Inspect 0.3.285 and lm-eval 0.4.13.
    """
    default_hook = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if message := describe(error):
            collect()  # closes the progress bars, whose last state would be printed below the message
            print(f"Error: {message}", file=sys.stderr)
        else:
            default_hook(kind, error, trace)

    sys.excepthook = hook


def created_task(
    spec: str,
    arguments: Mapping[str, Any],
    refuse_unknown: Callable[[Callable[..., Any], Mapping[str, Any]], None],
) -> Task:
    """Return the Inspect task that a name such as ``package/task``, a path, or ``path@task`` stands for.

    ``refuse_unknown(function, arguments)`` raises ValueError for arguments that the function of the task does not have,
    which Inspect ignores with a warning.

    Needs ``inspect_ai._eval.loader.load_tasks``, and ``registry_find``, ``registry_info`` and ``registry_lookup`` of
    ``inspect_ai._util.registry``. Tested on Inspect 0.3.285.

    Raises
    ------
    ValueError
        If there is no such task, with the nearest names, or if a file holds several.
    """
    registry = import_module("inspect_ai._util.registry")
    loader = import_module("inspect_ai._eval.loader")
    try:
        tasks: list[Task] = loader.load_tasks([spec], dict(arguments))
    except FileNotFoundError as error:  # the file of the task, or one that the task reads
        raise ValueError(f"task={spec!r}: there is no file {error.filename}") from error
    except prerequisite_error() as error:
        reason = str(getattr(error, "message", error)).rstrip(".")
        raise ValueError(f"task={spec!r}: {reason}{_nearest_tasks(spec.rpartition('@')[2])}") from error
    if not tasks:
        hint = _nearest_tasks(spec)
        raise ValueError(f"task={spec!r} names no task of an installed package and no file{hint}")
    if len(tasks) > 1:
        names = ", ".join(f"{spec}@{task.name}" for task in tasks)
        raise ValueError(f"task={spec!r} holds several tasks: name one of {names}")
    refuse_unknown(registry.registry_lookup("task", registry.registry_info(tasks[0]).name), arguments)
    return tasks[0]


def _nearest_tasks(name: str) -> str:
    """Return up to three tasks whose names are near, with or without their package; empty if there are none.

    Tasks of the file at hand have no package. Needs ``registry_find`` and ``registry_info`` of
    ``inspect_ai._util.registry``. Tested on Inspect 0.3.285.
    """
    registry = import_module("inspect_ai._util.registry")
    found = registry.registry_find(lambda info: info.type == "task")
    known = [registry.registry_info(task).name for task in found]
    by_name = {each.rpartition("/")[2]: each for each in known}
    near = get_close_matches(name, known, 3) or [
        by_name[each] for each in get_close_matches(name.rpartition("/")[2], by_name, 3)
    ]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def parameter_values(texts: Sequence[str]) -> dict[str, Any]:
    """Return the values of ``-T name=value`` as the command ``inspect eval`` reads them.

    Needs ``inspect_ai._util.config.parse_cli_args``. Tested on Inspect 0.3.285.

    Raises ValueError for a value that is no YAML.
    """
    try:
        values: dict[str, Any] = import_module("inspect_ai._util.config").parse_cli_args(tuple(texts))
    except Exception as error:  # an error of the YAML parser, which no public module names
        raise ValueError(f"-T {' '.join(texts)}: {' '.join(str(error).split())}") from error
    return values


def model_prices(file: str) -> dict[str, Any]:
    """Return the prices in a file of ``--model-cost-config``, by model: mappings with prices per million tokens.

    Needs ``inspect_ai._util.config.resolve_args``. Tested on Inspect 0.3.285.

    Raises ValueError if there is no such file, or it holds no mapping.
    """
    try:
        prices: dict[str, Any] = import_module("inspect_ai._util.config").resolve_args(file)
    except Exception as error:  # Inspect raises errors of several kinds
        raise ValueError(f"{file}: {' '.join(str(getattr(error, 'message', error)).split())}") from error
    return prices


def known_price(model: str) -> Any:
    """Return the price that Inspect has for a model, as ``ModelCost``; None if it has none. No model is created.

    Needs ``inspect_ai.model._model_info._get_model_info_direct``. Tested on Inspect 0.3.285, whose own data have no
    prices.
    """
    direct = getattr(import_module("inspect_ai.model._model_info"), "_get_model_info_direct", None)
    info = direct(model) if direct else None
    return info.cost if info else None


def with_metrics(scorer: Callable[..., Any], metrics: Any) -> Any:
    """Return a scorer of Inspect with other metrics, and the name and the arguments of the given one.

    Needs ``registry_info``, ``registry_params``, ``set_registry_info`` and ``set_registry_params`` of
    ``inspect_ai._util.registry``, and the key ``metrics`` of the metadata of a scorer. Tested on Inspect 0.3.285.
    """
    registry = import_module("inspect_ai._util.registry")

    async def score(*args: Any, **options: Any) -> Any:
        return await scorer(*args, **options)

    info = registry.registry_info(scorer)
    metadata = {**info.metadata, "metrics": metrics}
    registry.set_registry_info(score, info.model_copy(update={"metadata": metadata}))
    registry.set_registry_params(score, registry.registry_params(scorer))
    return score


def registered_params(registered: Any) -> dict[str, Any]:
    """Return the arguments of a registered solver or scorer of Inspect; empty for any other object.

    Needs ``is_registry_object`` and ``registry_params`` of ``inspect_ai._util.registry``. Tested on Inspect 0.3.285.
    """
    registry = import_module("inspect_ai._util.registry")
    if not registry.is_registry_object(registered):
        return {}
    parameters: dict[str, Any] = registry.registry_params(registered)
    return parameters


def scorer_names(scorers: Sequence[Any]) -> list[str]:
    """Return the names under which Inspect keeps the scores of a task's scorers.

    Needs ``unique_scorer_name`` of ``inspect_ai.scorer._scorer``. Tested on Inspect 0.3.285.
    """
    unique_name = import_module("inspect_ai.scorer._scorer").unique_scorer_name
    names: list[str] = []
    for each in scorers:
        names.append(unique_name(each, names))
    return names


def model_providers() -> list[str]:
    """Return the names of Inspect's model providers, such as ``openai`` in ``--model openai/gpt-4o``.

    Needs ``inspect_ai._util.registry.registry_find`` and ``registry_unqualified_name``. Tested on Inspect 0.3.285.
    """
    registry = import_module("inspect_ai._util.registry")
    providers = registry.registry_find(lambda info: info.type == "modelapi")
    return [registry.registry_unqualified_name(provider) for provider in providers]


def add_short_name(scorer: Callable[..., Any], name: str) -> None:
    """Let Inspect find a scorer by the name without package that logs hold, unless another scorer has that name.

    Needs ``inspect_ai._util.registry`` with ``_registry``, a dictionary, and its ``registry_key``. Tested on Inspect
    0.3.285.
    """
    registry = import_module("inspect_ai._util.registry")
    registry._registry.setdefault(registry.registry_key("scorer", name), scorer)


def cached_since(model: Model, call: ModelEvent, policy: CachePolicy) -> datetime | None:
    """Return when the reply to a call was written to Inspect's cache of replies; None if there is none.

    Needs ``inspect_ai.model._cache.CacheEntry``, which has a ``key`` computed from its arguments, and ``cache_path``.
    Tested on Inspect 0.3.285.
    """
    cache = import_module("inspect_ai.model._cache")
    entry = cache.CacheEntry(
        base_url=model.api.base_url,
        config=call.config,
        input=call.input,
        model=str(model),
        policy=policy,
        tool_choice=call.tool_choice,
        tools=call.tools,
    )
    path = Path(cache.cache_path(model=str(model))) / entry.key
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None


def run_settings() -> GenerateConfig:
    """Return the generation settings of the current run: those of the task, replaced by the user's.

    Needs ``inspect_ai.model._generate_config.active_generate_config``. Tested on Inspect 0.3.285.
    """
    settings: GenerateConfig = import_module("inspect_ai.model._generate_config").active_generate_config()
    return settings


def running_eval() -> str:
    """Return the identifier of the evaluation whose sample is running; empty if there is none.

    Needs ``inspect_ai.log._samples.sample_active``. Tested on Inspect 0.3.285.
    """
    return getattr(import_module("inspect_ai.log._samples").sample_active(), "eval_id", "")


def built_in_provider(model: Model) -> str:
    """Return the module name of a model's provider, such as ``hf``; empty if the provider is not Inspect's own.

    Needs the folder ``inspect_ai/model/_providers``. Tested on Inspect 0.3.285.
    """
    package, _, module = type(model.api).__module__.rpartition(".")
    return module if package == "inspect_ai.model._providers" else ""


def hf_prompt(model: Model, messages: Sequence[ChatMessage]) -> str:
    """Return the prompt text into which Inspect's ``hf`` provider converts messages.

    Needs the provider's method ``hf_chat(messages, tools)``. Tested on Inspect 0.3.285.
    """
    api: Any = model.api
    prompt: str = api.hf_chat(list(messages), [])
    return prompt


def hf_parts(model: Model) -> tuple[Any, Any, dict[str, Any]]:
    """Return the network and the tokenizer of a model of Inspect's ``hf`` provider, and the tokenizer's arguments.

    Needs the provider's attributes ``model``, ``tokenizer`` and ``tokenizer_call_args``. Tested on Inspect 0.3.285.
    """
    api: Any = model.api
    return api.model, api.tokenizer, api.tokenizer_call_args


class LogWriter:
    """Writes a log sample by sample, in time linear in the number of samples.

    Inspect's recorder compares each new sample with all buffered samples, and each new summary with all earlier
    summaries. This class makes the recorder write its buffer every 100 samples, and holds the summaries back until the
    last sample is written. The log file appears when it is finished.

    Needs ``inspect_ai.log._recorders.eval.EvalRecorder`` with ``log_init``, ``log_start``, ``log_sample``,
    ``log_finish``, ``_log_file_key`` and ``data``, whose values have ``write_buffered_samples`` and ``_summaries``.
    If these are missing, it warns, and Inspect's own function writes all samples at the end. The same function writes
    a log whose path does not end in ``.eval``. Tested on Inspect 0.3.285.
    """

    def __init__(self, spec: EvalSpec, path: str) -> None:
        self._spec, self._path = spec, path
        self._recorder: Any = None
        self._count = 0
        self._summaries: dict[tuple[str, int], EvalSampleSummary] = {}
        self._unwritten: list[EvalSample] = []

    async def start(self) -> None:
        """Prepare to take samples."""
        if not self._path.endswith(".eval"):
            return
        try:
            module = import_module("inspect_ai.log._recorders.eval")
            recorder = module.EvalRecorder(self._path.rpartition("/")[0])
            await recorder.log_init(self._spec, self._path, clean=True)
            file = recorder.data[recorder._log_file_key(self._spec)]
            file.write_buffered_samples, file._summaries  # noqa: B018 - AttributeError if missing
        except (ImportError, AttributeError, TypeError) as error:
            warn(f"This version of Inspect writes large logs slowly: {error}", stacklevel=2)
            return
        self._recorder, self._file = recorder, file

    async def add(self, sample: EvalSample) -> None:
        """Write a sample unchanged; it replaces an earlier sample with the same id and epoch."""
        if self._recorder is None:
            self._unwritten.append(sample)
            return
        await self._recorder.log_sample(self._spec, sample)
        self._count += 1
        if self._count % 100 == 0:
            await self._empty_buffer()

    async def finish(self, header: EvalLog) -> EvalLog:
        """Write the rest of the log, and return the written log, whose samples are loaded on first access."""
        from inspect_ai.log import write_eval_log_async

        if self._recorder is None:
            header.samples = self._unwritten
            await write_eval_log_async(header, self._path)
            return header
        await self._empty_buffer()
        self._file._summaries = list(self._summaries.values())
        await self._recorder.log_start(header.eval, header.plan)
        written: EvalLog = await self._recorder.log_finish(
            header.eval,
            header.status,
            header.stats,
            header.results,
            header.reductions,
            header.error,
            invalidated=header.invalidated,
            log_updates=header.log_updates,
            config_updates=header.config_updates,
        )
        return written

    async def _empty_buffer(self) -> None:
        await self._file.write_buffered_samples()
        for summary in self._file._summaries:
            self._summaries.pop((str(summary.id), summary.epoch), None)
            self._summaries[str(summary.id), summary.epoch] = summary
        self._file._summaries = []


def run_quietly(coroutine: Coroutine[None, None, T]) -> T:
    """Run a coroutine that calls Inspect, also in a notebook, without a display and without compression threads.

    Inspect's display ``none`` draws a hidden progress bar at every sample, and its compression starts twelve threads
    per sample; both cost time.

    Needs ``inspect_ai._util._async.run_coroutine``, ``inspect_ai.util._display.init_display_type``,
    ``inspect_ai._display.core.active._active_display``, ``inspect_ai._display.log.display.LogDisplay`` and
    ``inspect_ai._util.zipfile._ZSTD_THREADS``; the last one is optional. Tested on Inspect 0.3.285.
    """
    import_module("inspect_ai.util._display").init_display_type("none")
    display: Any = import_module("inspect_ai._display.core.active")
    compression: Any = import_module("inspect_ai._util.zipfile")
    before = display._active_display, getattr(compression, "_ZSTD_THREADS", 0)
    display._active_display = import_module("inspect_ai._display.log.display").LogDisplay()
    compression._ZSTD_THREADS = 0
    try:
        result: T = import_module("inspect_ai._util._async").run_coroutine(coroutine)
    finally:
        display._active_display, compression._ZSTD_THREADS = before
    return result


def is_live_metric() -> bool:
    """Return whether the current metric is computed for the live display of a run, not for the log.

    Needs ``inspect_ai._eval.task.run.update_metrics_display_fn`` to compute the metrics in its function ``compute``;
    otherwise returns False. Tested on Inspect 0.3.285.
    """
    frame = currentframe()
    while frame is not None and frame.f_code.co_qualname != "update_metrics_display_fn.<locals>.compute":
        frame = frame.f_back
    return frame is not None


def active_sample() -> Sample | None:
    """Return the Inspect sample that the current asynchronous task runs; None outside a sample.

    Needs ``inspect_ai.log._samples.sample_active``, which returns the sample also inside a call of a model, with any
    solver. Tested on Inspect 0.3.285.
    """
    active = import_module("inspect_ai.log._samples").sample_active()
    sample: Sample | None = active.sample if active else None
    return sample


def extend_lm_eval_index(
    configurations: Callable[[], Iterable[tuple[str, Mapping[str, Any]]]], warn: Callable[[Exception], object]
) -> None:
    """Add tasks and groups, as pairs of a name and a configuration, to every index that has lm-eval's own tasks.

    Existing names of lm-eval or of the user's ``--include_path`` are not replaced. If an index cannot be extended,
    ``warn`` is called with the exception, and lm-eval continues with its own tasks.

    Needs ``lm_eval.tasks.manager.TaskIndex`` with two static methods: ``build``, which returns the index, a dictionary
    of entries with a ``yaml_path``, and ``process_cfg(configuration, path, index)``, which adds an entry. Raises an
    exception if a method is missing or not static. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    manager = import_module("lm_eval.tasks.manager")
    built_in = Path(str(manager.__file__)).parent
    index_type = manager.TaskIndex
    build, process = (getattr_static(index_type, name) for name in ("build", "process_cfg"))
    if not (isinstance(build, staticmethod) and isinstance(process, staticmethod)):
        raise TypeError("TaskIndex.build and TaskIndex.process_cfg are not both static methods")

    def build_extended(*args: Any, **options: Any) -> Any:
        index = build(*args, **options)
        try:
            paths = (entry.yaml_path for entry in index.values())
            if any(path is not None and built_in in path.parents for path in paths):
                for name, configuration in configurations():
                    if name not in index:
                        process(dict(configuration), None, index)
        except Exception as error:
            warn(error)
        return index

    index_type.build = staticmethod(build_extended)


def register_lm_eval_model(name: str, target: str) -> None:
    """Register a model class ``module:class`` for ``lm_eval --model``, unless lm-eval has read its entry point.

    Needs ``lm_eval.api.registry.model_registry``. lm-eval registers its own models only if the registry is empty, so
    its models are imported first. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    import_module("lm_eval.models")
    registry = import_module("lm_eval.api.registry").model_registry
    if name not in registry:
        registry.register(name, target=target)


def add_request_type(name: str, method: Callable[..., Any]) -> None:
    """Add a request type to lm-eval, for every model class that has no method of that name.

    ``method(model, requests)`` returns one response per request. Needs ``lm_eval.evaluator.evaluate`` to call the
    model's method named after the request type with the list of requests. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    setattr(import_module("lm_eval.api.model").LM, name, method)


def choose_group_members(is_wanted: Callable[[Any, Sequence[Any]], bool]) -> None:
    """Add a task to a group of lm-eval only if ``is_wanted(task, tasks)``, given the tasks that the group has.

    Needs ``lm_eval.api.group.Group`` with methods ``add(item)``, by which lm-eval adds a task or a group, and
    ``get_all_tasks()``. Tested on lm-eval 0.4.13.
    """
    group_type: Any = import_module("lm_eval.api.group").Group
    add = group_type.add

    def add_if_wanted(group: Any, item: Any) -> None:
        if is_wanted(item, group.get_all_tasks()):
            add(group, item)

    group_type.add = add_if_wanted


def set_metrics(
    task: ConfigurableTask,
    aggregations: Mapping[str, Callable[..., Any]],
    higher_is_better: Mapping[str, bool],
) -> None:
    """Set the metrics of a task; a configuration can only name metrics that lm-eval has registered.

    Needs the attributes ``_aggregation_list``, ``_metric_fn_list`` and ``_higher_is_better``, which
    ``--predict_only`` empties. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    task._aggregation_list = dict(aggregations)
    task._metric_fn_list = dict.fromkeys(aggregations)
    task._higher_is_better = dict(higher_is_better)


def with_logged(metrics: Mapping[str, Any], logged: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of a document, with further entries that lm-eval logs but does not aggregate.

    Needs ``lm_eval.evaluator.evaluate`` to log the result of ``process_results`` by ``dict.update`` and to aggregate
    its ``items()``; otherwise the entries are aggregated as well. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    return metrics_of_document(metrics, {**metrics, **logged})


def metrics_of_document(metrics: Mapping[str, Any], logged: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of a document of which lm-eval logs only the entries ``logged``.

    Needs what :func:`with_logged` needs. Tested on lm-eval 0.4.12 and 0.4.13.
    """

    class Logged(dict[str, Any]):
        def items(self) -> Any:
            return metrics.items()

    return Logged(logged)


def extended_task(task: LmEvalTask, mixin: type, name: str) -> Any:
    """Return a copy of a task of lm-eval with another name, whose class is made of a mixin and the task's class.

    Needs the attribute ``_config`` of ``lm_eval.api.task.Task``, which has the name. Tested on lm-eval 0.4.13.
    """
    extended: Any = object.__new__(type(f"{mixin.__name__}{type(task).__name__}", (mixin, type(task)), {}))
    extended.__dict__.update(task.__dict__)
    extended._config = copy(task.config)
    extended._config.task = name
    return extended


def taken_requests(task: Any, kind: type[T]) -> list[T]:
    """Remove the requests of a class from those of a task of lm-eval, and return them.

    Needs the attribute ``_instances`` of ``lm_eval.api.task.Task``. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    taken = [request for request in task._instances if isinstance(request, kind)]
    task._instances = [request for request in task._instances if not isinstance(request, kind)]
    return taken


def loading_task_manager() -> Any:
    """Return lm-eval's task manager that loads a task at present, with the user's ``--include_path``; or a new one.

    Needs tasks to be created within a method of ``lm_eval.tasks.TaskManager``. Tested on lm-eval 0.4.13.
    """
    manager_type: Any = import_module("lm_eval.tasks").TaskManager
    frame = currentframe()
    while frame is not None and not isinstance(frame.f_locals.get("self"), manager_type):
        frame = frame.f_back
    return manager_type() if frame is None else frame.f_locals["self"]


def model_arguments() -> set[str]:
    """Return the names of the model arguments of the current run; empty outside a run.

    lm-eval merges the model arguments into the metadata of tasks, without marking them. Needs tasks to be created
    within ``lm_eval.simple_evaluate``, whose variable ``model_args`` is a mapping or a text for
    ``lm_eval.utils.simple_parse_args_string``. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    given = _of_run("model_args")
    if isinstance(given, str):
        given = import_module("lm_eval.utils").simple_parse_args_string(given)
    return set(given or {})


def run_tasks() -> list[str]:
    """Return the names of the tasks that the current run was asked for; tasks given as objects are left out.

    The list is empty outside a run.

    Needs what :func:`model_arguments` needs: the variable ``tasks`` of ``lm_eval.simple_evaluate`` is a list. Tested on
    lm-eval 0.4.12 and 0.4.13.
    """
    return [task for task in _of_run("tasks") or () if isinstance(task, str)]


def _of_run(name: str) -> Any:
    """Return a variable of the caller ``lm_eval.simple_evaluate``; None outside a run.

    Needs the name of that function. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    frame = currentframe()
    while frame is not None and frame.f_code.co_name != "simple_evaluate":
        frame = frame.f_back
    return frame.f_locals.get(name) if frame is not None else None
