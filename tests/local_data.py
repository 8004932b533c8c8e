"""Where real questions and replies for local runs are."""

import os
from pathlib import Path


def local_data() -> Path | None:
    """Return the folder above CONFIDENCE_TASKS_MIRROR, or else ../shared/data; None where there is no such folder."""
    mirror = os.environ.get("CONFIDENCE_TASKS_MIRROR")
    folder = Path(mirror).parent if mirror else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None
