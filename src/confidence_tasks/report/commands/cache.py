"""``confidence-tasks cache``: what reports computed before."""

from __future__ import annotations

import click

from confidence_tasks.report.console import json_option, print_json


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def cache(context: click.Context, as_json: bool) -> None:
    """Show the cache of trials and numbers that reports keep, or clear it.

    The cache is in the user's cache folder, or in the folder that CONFIDENCE_TASKS_CACHE names. When it is full, the
    entries that were not used for the longest time are deleted. It is never out of date: an entry is found only by the
    same data, settings and code.
    """
    if context.invoked_subcommand is not None:
        return
    from confidence_tasks.report.cache import user_cache

    kept = user_cache()
    sizes = kept.sizes()
    if as_json:
        print_json({"folder": str(kept.folder), "entries": len(sizes), "bytes": sum(sizes.values())})
        return
    click.echo(f"{kept.folder}")
    click.echo(
        f"{len(sizes):,} entries, {sum(sizes.values()) / 1e6:,.1f} of at most {kept.most_bytes / 1e6:,.0f} MB"
    )


@cache.command()
def clear() -> None:
    """Empty the cache."""
    from confidence_tasks.report.cache import user_cache

    kept = user_cache()
    click.echo(f"{kept.folder}: {kept.clear():,} entries deleted")
