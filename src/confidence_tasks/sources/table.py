"""The table of sources.

Every hub source is pinned to a commit, so that an id means the same question for ever; its size is checked whenever it
is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from confidence_tasks.sources import shapes
from confidence_tasks.sources.arithmetic import ArithmeticSource
from confidence_tasks.sources.fermi import FermiSource
from confidence_tasks.sources.hub import HubSource, RowSelection
from confidence_tasks.sources.lifeeval import LifeEvalSource
from confidence_tasks.sources.source import Source

_SOURCES: tuple[Source, ...] = (
    HubSource(
        name="mmlu",
        hub_id="cais/mmlu",
        config="all",
        revision="c30699e8356da336a370243923dbaf21066bb9fe",
        licence="MIT",
        size=14_042,
        shape=shapes.MMLU,
        balance=("level", "subject"),
    ),
    HubSource(
        name="gsm8k",
        hub_id="openai/gsm8k",
        config="main",
        revision="cc7b047b6e5bb11b4f1af84efc572db110a51b3c",
        licence="MIT",
        size=1_319,
        shape=shapes.GSM8K,
    ),
    HubSource(
        name="truthfulqa",
        hub_id="truthfulqa/truthful_qa",
        config="multiple_choice",
        split="validation",
        revision="741b8276f2d1982aa3d5b832d3ee81ed3b896490",
        licence="Apache-2.0",
        size=817,
        shape=shapes.TRUTHFULQA,
    ),
    HubSource(
        name="boolq",
        hub_id="google/boolq",
        split="validation",
        revision="35b264d03638db9f4ce671b711558bf7ff0f80d5",
        licence="CC BY-SA 3.0",
        size=3_270,
        shape=shapes.BOOLQ,
    ),
    HubSource(
        name="sciq",
        hub_id="allenai/sciq",
        revision="2c94ad3e1aafab77146f384e23536f97a4849815",
        licence="CC BY-NC 3.0",
        size=1_000,
        shape=shapes.SCIQ,
    ),
    HubSource(
        name="lsat_ar",
        hub_id="hails/agieval-lsat-ar",
        revision="052cc636b612f5563329dd182fb6c2cad56681c8",
        licence="MIT",
        size=230,
        shape=shapes.AGIEVAL,
    ),
    HubSource(
        name="sat_en",
        hub_id="hails/agieval-sat-en",
        revision="848ee12cf003124f5a1e33446fa3cc6d2ec028e4",
        licence="MIT",
        size=206,
        shape=shapes.AGIEVAL,
    ),
    HubSource(
        name="halueval",
        hub_id="pminervini/HaluEval",
        config="qa",
        split="data",
        revision="12a856119f03975a94509091e8cada3e6be6ead7",
        licence="MIT",
        size=2_000,
        shape=shapes.HALUEVAL,
        balance=("gold",),
        selection=RowSelection(
            "halueval_rows.csv",
            of=10_000,
            sha256="2f44f105df73ff5116a2f49b3ce3ca7a5448b55bd54239340f465c56f35ce2fb",
        ),
    ),
    HubSource(
        name="trivia_qa",
        hub_id="mandarjoshi/trivia_qa",
        config="unfiltered.nocontext",
        split="validation",
        revision="0f7faf33a3908546c6fd5b73a660e0f8ff173c2f",
        licence="unstated",
        size=11_313,
        shape=shapes.TRIVIA_QA,
        sample_in_mirror=True,
    ),
    HubSource(
        name="nq_open",
        hub_id="google-research-datasets/nq_open",
        config="nq_open",
        split="validation",
        revision="5dd9790a83002ad084ddeb7c420dc716852c6f28",
        licence="CC BY-SA 3.0",
        size=3_610,
        shape=shapes.NQ_OPEN,
    ),
    HubSource(
        name="gpqa_diamond",
        hub_id="Idavidrein/gpqa",
        config="gpqa_diamond",
        split="train",
        revision="633f5ee89ab8ad4522a9f850766b73f62147ffdd",
        licence="CC BY 4.0",
        size=198,
        gated=True,
        shape=shapes.GPQA,
    ),
    HubSource(
        name="hle",
        hub_id="cais/hle",
        revision="5a81a4c7271a2a2a312b9a690f0c2fde837e4c29",
        licence="MIT",
        size=2_500,
        gated=True,
        shape=shapes.HLE,
    ),
    FermiSource(name="fermi", licence="MIT", size=1_000),
    LifeEvalSource(name="lifeeval", licence="public domain", size=808),
    ArithmeticSource(name="arithmetic", licence="generated", size=None, form="choice"),
    ArithmeticSource(name="arithmetic_number", licence="generated", size=None, form="number"),
    ArithmeticSource(name="arithmetic_boolean", licence="generated", size=None, form="boolean"),
)

SOURCES: Mapping[str, Source] = MappingProxyType({source.name: source for source in _SOURCES})
"""Every source by name."""
