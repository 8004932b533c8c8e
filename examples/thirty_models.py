"""Thirty models under the three confidence scale designs and RiskEval, as an Inspect Flow spec.

flow config examples/thirty_models.py
flow run examples/thirty_models.py --log-dir s3://bucket/thirty
confidence-tasks report s3://bucket/thirty

vLLM runs eight copies of a network side by side, on a machine with eight GPUs.
"""

from inspect_ai.model import GenerateConfig
from inspect_flow import FlowModel, FlowOptions, FlowSpec, tasks_matrix

SERVED = [
    "openai/gpt-4o",
    "openai/gpt-4o-mini",
    "openai/gpt-4.1",
    "openai/gpt-4.1-mini",
    "openai/gpt-4.1-nano",
    "openai/o4-mini",
    "anthropic/claude-sonnet-4-0",
    "anthropic/claude-opus-4-0",
    "anthropic/claude-3-5-haiku-latest",
    "google/gemini-2.5-pro",
    "google/gemini-2.5-flash",
    "google/gemini-2.0-flash",
    "mistral/mistral-large-latest",
    "mistral/mistral-small-latest",
    "grok/grok-3",
    "grok/grok-3-mini",
]

WEIGHTS = [
    "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-3.2-1B-Instruct",
    "meta-llama/Llama-3.2-3B-Instruct",
    "Qwen/Qwen2.5-0.5B-Instruct",
    "Qwen/Qwen2.5-1.5B-Instruct",
    "Qwen/Qwen2.5-3B-Instruct",
    "Qwen/Qwen2.5-7B-Instruct",
    "Qwen/Qwen2.5-14B-Instruct",
    "google/gemma-2-2b-it",
    "google/gemma-2-9b-it",
    "microsoft/Phi-3.5-mini-instruct",
    "allenai/OLMo-2-1124-7B-Instruct",
    "HuggingFaceTB/SmolLM2-360M-Instruct",
    "HuggingFaceTB/SmolLM2-1.7B-Instruct",
]

FlowSpec(
    log_dir="logs/thirty_models",
    options=FlowOptions(max_tasks=4, retry_attempts=5),
    tasks=tasks_matrix(
        task=[
            "confidence_tasks/scale_granularity",
            "confidence_tasks/scale_boundary",
            "confidence_tasks/scale_nonstandard",
            "confidence_tasks/riskeval",
        ],
        model=[
            *(FlowModel(name=name, config=GenerateConfig(max_connections=50)) for name in SERVED),
            *(FlowModel(name=f"vllm/{name}", model_args={"data_parallel_size": 8}) for name in WEIGHTS),
        ],
    ),
)
