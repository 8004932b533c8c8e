"""The table of sources, and the command ``confidence-tasks sources``, which lists, downloads and verifies them.

Every hub source is pinned to a commit, so that an id always refers to the same question. The size of a source is
checked whenever it is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from confidence_tasks.sources import hub
from confidence_tasks.sources.fermi import FermiSource
from confidence_tasks.sources.generated import GeneratedSource, arithmetic, ordered_lifeeval
from confidence_tasks.sources.hub import HubSource, RowSelection
from confidence_tasks.sources.source import Source, SourceError, mirror_folder
from confidence_tasks.study.parameter import did_you_mean

_SOURCES: tuple[Source, ...] = (
    HubSource(
        name="mmlu",
        hub_id="cais/mmlu",
        config="all",
        revision="c30699e8356da336a370243923dbaf21066bb9fe",
        licence="MIT",
        size=14_042,
        shape=hub.MMLU,
        balance=("level", "subject"),
    ),
    HubSource(
        name="gsm8k",
        hub_id="openai/gsm8k",
        config="main",
        revision="cc7b047b6e5bb11b4f1af84efc572db110a51b3c",
        licence="MIT",
        size=1_319,
        shape=hub.GSM8K,
    ),
    HubSource(
        name="truthfulqa",
        hub_id="truthfulqa/truthful_qa",
        config="multiple_choice",
        split="validation",
        revision="741b8276f2d1982aa3d5b832d3ee81ed3b896490",
        licence="Apache-2.0",
        size=817,
        shape=hub.TRUTHFULQA,
    ),
    HubSource(
        name="boolq",
        hub_id="google/boolq",
        split="validation",
        revision="35b264d03638db9f4ce671b711558bf7ff0f80d5",
        licence="CC BY-SA 3.0",
        size=3_270,
        shape=hub.BOOLQ,
    ),
    HubSource(
        name="sciq",
        hub_id="allenai/sciq",
        revision="2c94ad3e1aafab77146f384e23536f97a4849815",
        licence="CC BY-NC 3.0",
        size=1_000,
        shape=hub.SCIQ,
    ),
    HubSource(
        name="lsat_ar",
        hub_id="hails/agieval-lsat-ar",
        revision="052cc636b612f5563329dd182fb6c2cad56681c8",
        licence="MIT",
        size=230,
        shape=hub.AGIEVAL,
    ),
    HubSource(
        name="sat_en",
        hub_id="hails/agieval-sat-en",
        revision="848ee12cf003124f5a1e33446fa3cc6d2ec028e4",
        licence="MIT",
        size=206,
        shape=hub.AGIEVAL,
    ),
    HubSource(
        name="halueval",
        hub_id="pminervini/HaluEval",
        config="qa",
        split="data",
        revision="12a856119f03975a94509091e8cada3e6be6ead7",
        licence="MIT",
        size=2_000,
        shape=hub.HALUEVAL,
        balance=("gold",),
        selection=RowSelection(
            "halueval_rows.csv",
            n_rows=10_000,
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
        shape=hub.TRIVIA_QA,
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
        shape=hub.NQ_OPEN,
    ),
    HubSource(
        name="trivia_qa_train",
        hub_id="mandarjoshi/trivia_qa",
        config="unfiltered.nocontext",
        split="train",
        revision="0f7faf33a3908546c6fd5b73a660e0f8ff173c2f",
        licence="unstated",
        size=87_622,
        shape=hub.TRIVIA_QA,
        sample_in_mirror=True,
    ),
    HubSource(
        name="nq_open_train",
        hub_id="google-research-datasets/nq_open",
        config="nq_open",
        split="train",
        revision="5dd9790a83002ad084ddeb7c420dc716852c6f28",
        licence="CC BY-SA 3.0",
        size=87_925,
        shape=hub.NQ_OPEN,
        sample_in_mirror=True,
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
        shape=hub.GPQA,
    ),
    HubSource(
        name="hle",
        hub_id="cais/hle",
        revision="5a81a4c7271a2a2a312b9a690f0c2fde837e4c29",
        licence="MIT",
        size=2_500,
        gated=True,
        shape=hub.HLE,
    ),
    FermiSource(name="fermi", licence="MIT", size=1_000),
    GeneratedSource(
        name="lifeeval", licence="public domain", size=808, make=ordered_lifeeval, copy="shipped"
    ),
    GeneratedSource(
        name="arithmetic", licence="generated", size=None, make=partial(arithmetic, form="choice")
    ),
    GeneratedSource(
        name="arithmetic_number", licence="generated", size=None, make=partial(arithmetic, form="number")
    ),
    GeneratedSource(
        name="arithmetic_boolean", licence="generated", size=None, make=partial(arithmetic, form="boolean")
    ),
)

SOURCES: Mapping[str, Source] = MappingProxyType({source.name: source for source in _SOURCES})
"""Every source by name."""


def find_source(name: str) -> Source:
    """Return the source with a name; SourceError if there is none."""
    if name in SOURCES:
        return SOURCES[name]
    raise SourceError(
        f"unknown source {name!r}{did_you_mean(name, SOURCES) or '.'} "
        f"Sources: {', '.join(SOURCES)}, or the path of a .jsonl or .csv file"
    )


def revisions(names: Iterable[str]) -> dict[str, str]:
    """Return the pinned revision of each source; empty for questions of this package or of a file."""
    return {name: SOURCES[name].revision if name in SOURCES else "" for name in names}


_mirror_option = click.option(
    "--mirror",
    type=click.Path(path_type=Path),
    help="Folder with local copies of hub data sets.  [default: $CONFIDENCE_TASKS_MIRROR]",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@_mirror_option
@_json_option
@click.pass_context
def sources(context: click.Context, mirror: Path | None, as_json: bool) -> None:
    """List the question sources, download them, or verify their copies."""
    if context.invoked_subcommand is not None:
        if mirror is not None or as_json:
            raise click.UsageError(f"options of {context.invoked_subcommand!r} go after its name")
        return
    folder = mirror_folder(mirror)
    records = [_record(source, folder) for source in SOURCES.values()]
    if as_json:
        click.echo(json.dumps(records, indent=2))
    else:
        Console().print(_record_table(records))


def _record(source: Source, mirror: Path | None) -> dict[str, Any]:
    return {
        "name": source.name,
        "questions": source.size,
        "licence": source.licence,
        "gated": source.gated,
        "state": source.state(mirror),
        "page": source.page,
    }


def _record_table(records: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for header in ("source", "questions", "licence", "access", "copy"):
        table.add_column(header, justify="right" if header == "questions" else "left", no_wrap=True)
    for record in records:
        table.add_row(
            record["name"],
            "any number" if record["questions"] is None else f"{record['questions']:,}",
            record["licence"],
            "gated" if record["gated"] else "open",
            record["state"],
        )
    return table


@sources.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write to a mirror folder instead of the cache, for a machine without internet.",
)
def fetch(names: tuple[str, ...], into: Path | None) -> None:
    """Download sources at their pinned commits."""
    wanted = [find_source(name) for name in names]
    console = Console(stderr=True)
    for position, source in enumerate(wanted, start=1):
        console.print(f"[{position}/{len(wanted)}] {source.name} ...", markup=False, highlight=False)
        path = source.fetch(into)
        click.echo(f"{source.name}: {path or 'nothing to download'}")


@sources.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_mirror_option
@_json_option
def verify(names: tuple[str, ...], mirror: Path | None, as_json: bool) -> None:
    """Check hashes, counts and all rows.

    Without names, all copies are checked.
    """
    folder = mirror_folder(mirror)
    wanted = [find_source(name) for name in names] or [
        source for source in SOURCES.values() if source.state(folder) != "absent"
    ]
    results = [_verification(source, folder) for source in wanted]
    if as_json:
        click.echo(json.dumps(results, indent=2))
    else:
        for result in results:
            found = result["error"] or f"{result['name']}: {result['questions']:,} questions"
            click.echo(("failed  " if result["error"] else "ok      ") + found)
    if any(result["error"] for result in results):
        raise SystemExit(1)


def _verification(source: Source, mirror: Path | None) -> dict[str, Any]:
    try:
        return {"name": source.name, "questions": source.verify(mirror), "error": None}
    except SourceError as error:
        return {"name": source.name, "questions": None, "error": str(error)}
