"""``confidence-tasks cache``: the cache of trials and estimates."""

from __future__ import annotations

import click

from confidence_tasks.report.commands.options import json_option
from confidence_tasks.report.commands.printing import print_json


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def cache(context: click.Context, as_json: bool) -> None:
    """Show or clear the cache of trials and estimates.

    The cache is in the user's cache folder, or in the folder that CONFIDENCE_TASKS_CACHE names. If it is full, the
    least recently used entries are deleted. Entries are never outdated, because an entry is used only for the same
    data, settings and code.
    """
    if context.invoked_subcommand is not None:
        return
    from confidence_tasks.logs.cache import user_cache

    store = user_cache()
    sizes = store.sizes()
    if as_json:
        print_json({"folder": str(store.folder), "entries": len(sizes), "bytes": sum(sizes.values())})
        return
    click.echo(f"{store.folder}")
    click.echo(
        f"{len(sizes):,} entries, {sum(sizes.values()) / 1e6:,.1f} MB of at most {store.most_bytes / 1e6:,.0f} MB"
    )


@cache.command()
def clear() -> None:
    """Empty the cache."""
    from confidence_tasks.logs.cache import user_cache

    store = user_cache()
    click.echo(f"{store.folder}: {store.clear():,} entries deleted")
