"""The private parts of Inspect AI and lm-eval that the package uses; no other module touches any.

Each function says what it needs of a harness, and the versions that it was tested on. A harness is imported by the
functions that need it, so that this module can be imported beside a harness that has changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from importlib import import_module
from inspect import currentframe, getattr_static
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar
from warnings import warn

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary, EvalSpec
    from inspect_ai.model import ChatMessage, Model
    from lm_eval.api.model import LM, TemplateLM
    from lm_eval.api.task import ConfigurableTask
    from torch import Tensor

T = TypeVar("T")


def prerequisite_error() -> type[Exception]:
    """Return the error whose ``message`` Inspect's commands print, where others end in a traceback.

    Needs ``inspect_ai._util.error.PrerequisiteError``; `Exception` in its place costs a traceback. Tested on Inspect
    0.3.285.
    """
    try:
        error: type[Exception] = import_module("inspect_ai._util.error").PrerequisiteError
    except (ImportError, AttributeError):
        return Exception
    return error


def say_errors(said_in_a_line: Callable[[BaseException], str]) -> None:
    """Have a harness's command end with what is said of an error instead of a traceback; not where nothing is said.

    Needs that the command leaves errors to ``sys.excepthook``. Tested on Inspect 0.3.285 and lm-eval 0.4.13.
    """
    before = sys.excepthook

    def say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        said = said_in_a_line(error)
        print(f"Error: {said}", file=sys.stderr) if said else before(kind, error, trace)

    sys.excepthook = say


def model_providers() -> list[str]:
    """Return the names of Inspect's providers of models, the first part of ``--model openai/gpt-4o``.

    Needs ``inspect_ai._util.registry.registry_find`` and ``registry_unqualified_name``. Tested on Inspect 0.3.285.
    """
    registry = import_module("inspect_ai._util.registry")
    found = registry.registry_find(lambda info: info.type == "modelapi")
    return [registry.registry_unqualified_name(each) for each in found]


def provider_of(model: Model) -> str:
    """Return the name of the module of Inspect that a model's provider is in, such as ``hf``; empty for another one's.

    Needs the folder ``inspect_ai/model/_providers``. Tested on Inspect 0.3.285.
    """
    package, _, module = type(model.api).__module__.rpartition(".")
    return module if package == "inspect_ai.model._providers" else ""


def hf_prompt(model: Model, messages: Sequence[ChatMessage]) -> str:
    """Return the prompt that Inspect's ``hf`` provider makes of messages.

    Needs the provider's method ``hf_chat(messages, tools)``. Tested on Inspect 0.3.285.
    """
    api: Any = model.api
    prompt: str = api.hf_chat(list(messages), [])
    return prompt


def hf_parts(model: Model) -> tuple[Any, Any, dict[str, Any]]:
    """Return the network of a model of Inspect's ``hf`` provider, its tokenizer and what a prompt is tokenised with.

    Needs the provider's attributes ``model``, ``tokenizer`` and ``tokenizer_call_args``. Tested on Inspect 0.3.285.
    """
    api: Any = model.api
    return api.model, api.tokenizer, api.tokenizer_call_args


class LogWriter:
    """A log that is written sample by sample, in time that is linear in their number.

    Inspect's recorder compares each sample that it buffers, and each summary that it has written, with every other one.
    Here it writes its buffer every 100 samples, and has no earlier summaries until the last sample is written. The log
    appears when it is finished.

    Needs ``inspect_ai.log._recorders.eval.EvalRecorder`` with ``log_init``, ``log_start``, ``log_sample``,
    ``log_finish``, ``_log_file_key`` and ``data``, whose values have ``write_buffered_samples`` and ``_summaries``.
    Without these Inspect's own function writes all samples at the end, which a warning tells; so it does where the path
    does not end in ``.eval``. Tested on Inspect 0.3.285.
    """

    def __init__(self, spec: EvalSpec, path: str) -> None:
        self._spec, self._path = spec, path
        self._recorder: Any = None
        self._count = 0
        self._summaries: dict[tuple[str, int], EvalSampleSummary] = {}
        self._kept: list[EvalSample] = []

    async def start(self) -> None:
        """Prepare to take samples."""
        if not self._path.endswith(".eval"):
            return
        try:
            module = import_module("inspect_ai.log._recorders.eval")
            recorder = module.EvalRecorder(self._path.rpartition("/")[0])
            await recorder.log_init(self._spec, self._path, clean=True)
            file = recorder.data[recorder._log_file_key(self._spec)]
            file.write_buffered_samples, file._summaries  # noqa: B018 - whether they are there
        except (ImportError, AttributeError, TypeError) as error:
            warn(f"This version of Inspect writes large logs slowly: {error}", stacklevel=2)
            return
        self._recorder, self._file = recorder, file

    async def add(self, sample: EvalSample) -> None:
        """Write a sample, as it is; of one that is there twice, the later counts."""
        if self._recorder is None:
            self._kept.append(sample)
            return
        await self._recorder.log_sample(self._spec, sample)
        self._count += 1
        if self._count % 100 == 0:
            await self._empty_buffer()

    async def finish(self, header: EvalLog) -> EvalLog:
        """Write everything else, and return the log as written; its samples are read when they are asked for."""
        from inspect_ai.log import write_eval_log_async

        if self._recorder is None:
            header.samples = self._kept
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
    """Run a coroutine that calls Inspect, also in a notebook, while Inspect draws nothing and starts no threads.

    Its display ``none`` draws a bar, which it shows nobody, at every sample; to compress one it starts twelve threads.

    Needs ``inspect_ai._util._async.run_coroutine``, ``inspect_ai.util._display.init_display_type``,
    ``inspect_ai._display.core.active._active_display``, ``inspect_ai._display.log.display.LogDisplay`` and
    ``inspect_ai._util.zipfile._ZSTD_THREADS``, of which the last one only saves time. Tested on Inspect 0.3.285.
    """
    import_module("inspect_ai.util._display").init_display_type("none")
    active: Any = import_module("inspect_ai._display.core.active")
    zipped: Any = import_module("inspect_ai._util.zipfile")
    before = active._active_display, getattr(zipped, "_ZSTD_THREADS", 0)
    undrawn = import_module("inspect_ai._display.log.display").LogDisplay()
    active._active_display, zipped._ZSTD_THREADS = undrawn, 0
    try:
        result: T = import_module("inspect_ai._util._async").run_coroutine(coroutine)
    finally:
        active._active_display, zipped._ZSTD_THREADS = before
    return result


def is_live_metric() -> bool:
    """Whether a metric is computed for the display of a run that goes on, not for its log.

    Needs ``inspect_ai._eval.task.run.update_metrics_display_fn`` to compute the metrics in its function ``compute``;
    otherwise every metric counts as one of the log. Tested on Inspect 0.3.285.
    """
    frame = currentframe()
    while frame is not None and frame.f_code.co_qualname != "update_metrics_display_fn.<locals>.compute":
        frame = frame.f_back
    return frame is not None


def running_sample() -> Mapping[str, Any] | None:
    """Return the metadata of the sample of Inspect that the current task of the event loop runs; None outside of one.

    Needs ``inspect_ai.log._samples.sample_active``, which gives the sample also within a model's call, whatever the
    solver. Tested on Inspect 0.3.285.
    """
    active = import_module("inspect_ai.log._samples").sample_active()
    metadata: Mapping[str, Any] | None = active.sample.metadata if active else None
    return metadata


def extend_lm_eval_index(
    configurations: Callable[[], Iterable[tuple[str, Mapping[str, Any]]]], warn: Callable[[Exception], object]
) -> None:
    """Add tasks and groups, each by name with its configuration, to every index that has lm-eval's own tasks.

    A name that lm-eval or the user's ``--include_path`` has already keeps its meaning. What prevents an index from
    being extended is handed to ``warn``; lm-eval goes on with its own tasks.

    Needs ``lm_eval.tasks.manager.TaskIndex`` with two static methods: ``build``, which returns the index, a dictionary
    of entries with a ``yaml_path``, and ``process_cfg(configuration, path, index)``, which adds an entry; an exception
    is raised if it is missing or different. Tested on lm-eval 0.4.12 and 0.4.13.
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
    """Make a model, ``module:class``, known to ``lm_eval --model``, unless lm-eval has found its entry point itself.

    Needs ``lm_eval.api.registry.model_registry``. lm-eval registers its own models only while there are none, so
    they must come first. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    import_module("lm_eval.models")
    registry = import_module("lm_eval.api.registry").model_registry
    if name not in registry:
        registry.register(name, target=target)


def add_request_type(name: str, method: Callable[..., Any]) -> None:
    """Have lm-eval answer requests of a further type, on every model without a method of that name.

    ``method(model, requests)`` returns a response for each request. Needs ``lm_eval.evaluator.evaluate`` to send the
    requests of a type to the model's method of that name, with their list. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    setattr(import_module("lm_eval.api.model").LM, name, method)


def cached_result(model: LM, request_type: str, arguments: Iterable[Any]) -> Any:
    """Return what the cache of replies (``--use_cache``) has for a request; None without a cache or an entry.

    Needs ``LM.cache_hook.dbdict``, a dictionary or None, and ``lm_eval.api.model.hash_args``, which makes its keys.
    lm-eval itself looks up its own types of requests only. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    cache = model.cache_hook.dbdict
    if cache is None:
        return None
    return cache.get(import_module("lm_eval.api.model").hash_args(request_type, arguments))


def cache_result(model: LM, request_type: str, arguments: Iterable[Any], result: object) -> None:
    """Put a result into the cache of replies, if there is one.

    Needs ``LM.cache_hook.add_partial``. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    model.cache_hook.add_partial(request_type, arguments, result)


def token_loglikelihoods(
    model: TemplateLM, requests: Sequence[tuple[list[int], list[int]]]
) -> list[tuple[float, bool]]:
    """Return the log-probability of tokens after others, and whether each is the most probable one.

    Needs ``TemplateLM._loglikelihood_tokens``, which takes triples of a key, the tokens before and the tokens scored.
    With a key, the model would cache the result as that of an ordinary log-likelihood. Tested on lm-eval 0.4.12 and
    0.4.13.
    """
    asked: list[Any] = [(None, before, scored) for before, scored in requests]
    return model._loglikelihood_tokens(asked) if asked else []


def has_network(model: LM) -> bool:
    """Whether a model of lm-eval is one of ``hf`` that continues text, whose network :func:`network_logits` asks.

    Needs ``HFLM.backend``. Tested on lm-eval 0.4.13.
    """
    network: Any = model
    return any(kind.__name__ == "HFLM" for kind in type(model).__mro__) and network.backend == "causal"


def network_logits(model: LM, before: Sequence[int], scored: Sequence[int]) -> Tensor:
    """Return what the network of an ``hf`` model says of each token after others, shape (tokens, vocabulary).

    Needs ``HFLM`` with ``_model_call(tokens)``, ``device`` and ``max_length``. Tested on lm-eval 0.4.13.
    """
    import torch

    network: Any = model
    ids = [*before, *scored][-network.max_length :]
    logits: Tensor = network._model_call(torch.tensor([ids], device=network.device))[0]
    return logits[len(ids) - len(scored) - 1 : len(ids) - 1]


def set_metrics(
    task: ConfigurableTask,
    aggregations: Mapping[str, Callable[..., Any]],
    higher_is_better: Mapping[str, bool],
) -> None:
    """Give a task its metrics, which a configuration can name only if lm-eval knows them.

    Needs the attributes ``_aggregation_list``, ``_metric_fn_list`` and ``_higher_is_better``, which
    ``--predict_only`` empties. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    task._aggregation_list = dict(aggregations)
    task._metric_fn_list = dict.fromkeys(aggregations)
    task._higher_is_better = dict(higher_is_better)


def with_logged(metrics: Mapping[str, Any], logged: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a document gives for metrics, with entries that lm-eval logs and makes no metric of.

    Needs ``lm_eval.evaluator.evaluate`` to log the result of ``process_results`` by ``dict.update`` and to aggregate
    its ``items()``; otherwise the entries are aggregated as well. Tested on lm-eval 0.4.12 and 0.4.13.
    """

    class Logged(dict[str, Any]):
        def items(self) -> Any:
            return metrics.items()

    return Logged({**metrics, **logged})


def model_arguments() -> set[str]:
    """Return the names of the arguments of the model in the run that is being set up; none outside of a run.

    lm-eval merges them into the metadata of tasks, and does not tell a task which these are. Needs tasks to be made
    within ``lm_eval.simple_evaluate``, whose variable ``model_args`` is a mapping or a text for
    ``lm_eval.utils.simple_parse_args_string``. Tested on lm-eval 0.4.12 and 0.4.13.
    """
    frame = currentframe()
    while frame is not None and frame.f_code.co_name != "simple_evaluate":
        frame = frame.f_back
    given = frame.f_locals.get("model_args") if frame is not None else None
    if isinstance(given, str):
        given = import_module("lm_eval.utils").simple_parse_args_string(given)
    return set(given or {})
