"""Runs on lm-eval against the stub server."""

from __future__ import annotations

from typing import Any

from lm_eval.api.model import TemplateLM
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI
from tests.integration.faults.loopback import Server
from tests.integration.lm_eval.harnesses import lm_eval_run


class Characters:
    """A tokenizer of single characters."""

    def __len__(self) -> int:
        return 128

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(map(chr, ids))

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return list(map(chr, ids))


def chat(server: Server, quirks: str, **options: Any) -> LocalChatCompletion:
    address = f"{server.address(quirks)}/chat/completions"
    return LocalChatCompletion(base_url=address, **{"model": "m", "max_retries": 1, **options})


def completions(server: Server, quirks: str, **options: Any) -> TemplateLM:
    model = LocalCompletionsAPI(
        base_url=f"{server.address(quirks)}/completions",
        tokenizer_backend=None,
        **{"model": "m", "max_retries": 1, **options},
    )
    model.tokenized_requests = True
    server.tokenizer = model.tokenizer = Characters()
    model.tok_encode = _encode  # type: ignore[method-assign]
    return model


def _encode(text: Any, **_: Any) -> Any:
    return list(map(ord, text)) if isinstance(text, str) else list(map(_encode, text))


def run_on_server(model: Any, task: str, **options: Any) -> dict[str, Any]:
    """Run a task on a few questions; ``options`` are metadata, or arguments of lm-eval."""
    own = {name: options.pop(name) for name in ("gen_kwargs", "use_cache", "limit") if name in options}
    found: dict[str, Any] = lm_eval_run(
        model,
        [task],
        {"n": 3, "metrics": "headline", **options},
        apply_chat_template=isinstance(model, LocalChatCompletion),
        log_samples=True,
        bootstrap_iters=0,
        **own,
    )
    return found


def samples_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [sample for samples in found["samples"].values() for sample in samples]
