"""Where questions come from: pinned hub sources, generated items, archives and the user's own files."""

from confidence_tasks.sources.errors import SourceError
from confidence_tasks.sources.loading import find_source, load, load_asked
from confidence_tasks.study.question import LETTERS, Kind, Question

__all__ = ["LETTERS", "Kind", "Question", "SourceError", "find_source", "load", "load_asked"]
