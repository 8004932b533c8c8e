"""The report: findings as one self-contained page."""

from importlib.resources import files

from markupsafe import Markup, escape


def coded(text: str) -> Markup:
    """Set what stands between backticks as code."""
    parts = [escape(part) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts)
    )


def breakable(text: str) -> Markup:
    """Let a name break after its slashes."""
    return Markup("/<wbr>").join(text.split("/"))


def page_part(name: str) -> str:
    """Return the text of a file that pages are made of."""
    return (files("confidence_tasks.report.page") / name).read_text(encoding="utf-8")
