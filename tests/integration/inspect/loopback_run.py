"""Run RiskEval with all three models behind a server on the loopback address.

``python loopback_run.py PORT QUESTIONS LOGS``: a process of its own, so that a test can kill it.
"""

import json
import sys
import urllib.request
from typing import Any

import anyio
from inspect_ai import eval_set
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi

from confidence_tasks import riskeval

PORT, QUESTIONS, LOGS = sys.argv[1:]


class Loopback(ModelAPI):
    """A model that the server speaks for."""

    async def generate(
        self, input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        asked = json.dumps(
            {"model": self.model_name, "messages": [message.text for message in input]}
        ).encode()
        output = ModelOutput.from_content(self.model_name, await anyio.to_thread.run_sync(self._post, asked))
        output.usage = ModelUsage()
        return output

    @staticmethod
    def _post(asked: bytes) -> str:
        request = urllib.request.Request(f"http://127.0.0.1:{PORT}", data=asked)
        with urllib.request.urlopen(request) as reply:
            return reply.read().decode()


@modelapi(name="loopback")
def loopback() -> type[ModelAPI]:
    """Register the provider."""
    return Loopback


if __name__ == "__main__":
    done, _ = eval_set(
        riskeval(source=QUESTIONS, penalties="1,10,100", parser="model", metrics="all"),
        log_dir=LOGS,
        model="loopback/solver",
        model_roles={"parser": "loopback/parser", "judge": "loopback/judge"},
        max_samples=4,
        display="none",
    )
    sys.exit(0 if done else 1)
