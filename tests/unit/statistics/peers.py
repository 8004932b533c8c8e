"""Other packages' functions, imported without what takes time or is not there."""

import sys
from importlib.machinery import PathFinder
from types import ModuleType


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
    """Return ``scoringrules.interval_score``, imported without numba, which compiles for seconds at each import.

    Only numba is hidden, and shown again: the other modules that the import loads stay, as NumPy's cannot load twice.
    """
    shown = sys.modules.pop("numba", None)
    sys.modules["numba"] = None
    try:
        from scoringrules import interval_score
    finally:
        del sys.modules["numba"]
        if shown is not None:
            sys.modules["numba"] = shown

    return interval_score
