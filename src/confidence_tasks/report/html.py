"""The templates of a report's HTML, and how they set texts."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape


def rendered(template: str, **context: object) -> str:
    """Return a template of the page with its names filled in, everything escaped that is no markup."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(breakable=breakable, coded=coded)
    return environment.from_string(page_part(template)).render(context)


def page_part(name: str) -> str:
    """Return the text of a file that pages are made of."""
    return (files("confidence_tasks.report.page") / name).read_text(encoding="utf-8")


def coded(text: str) -> Markup:
    """Set what stands between backticks as code."""
    parts = [escape(part) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts)
    )


def breakable(text: str) -> Markup:
    """Let a name break after its slashes."""
    return Markup("/<wbr>").join(text.split("/"))
