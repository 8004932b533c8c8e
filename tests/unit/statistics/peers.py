"""Other packages' functions, imported without what takes time or is not there."""

import sys
from importlib.machinery import PathFinder
from types import ModuleType
from unittest.mock import patch


def load_fit_metad():
    """Return ``metadpy.mle.fit_metad`` of metadpy 0.1.2; ImportError when it is not installed.

    The import of its package needs arviz, which it does not declare.
    """
    if "metadpy" not in sys.modules:
        spec = PathFinder.find_spec("metadpy")
        if spec is None:
            raise ImportError("metadpy is not installed")
        package = ModuleType("metadpy")
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules["metadpy"] = package
    from metadpy.mle import fit_metad

    return fit_metad


def load_interval_score():
    """Return ``scoringrules.interval_score``, imported without numba, which compiles for seconds at each import."""
    with patch.dict(sys.modules, {"numba": None}):
        from scoringrules import interval_score

    return interval_score
