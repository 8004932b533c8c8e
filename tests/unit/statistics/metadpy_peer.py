"""The peer metadpy 0.1.2, imported without its package: that would import arviz, which it does not declare."""

import sys
from importlib.machinery import PathFinder
from types import ModuleType


def load_fit_metad():
    """Return ``metadpy.mle.fit_metad``; ImportError when metadpy is not installed."""
    if "metadpy" not in sys.modules:
        spec = PathFinder.find_spec("metadpy")
        if spec is None:
            raise ImportError("metadpy is not installed")
        package = ModuleType("metadpy")
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules["metadpy"] = package
    from metadpy.mle import fit_metad

    return fit_metad
