"""Record what lm-polygraph and uqlm compute on small samples, for the tests of the same statistics here.

Both packages are unpacked, not installed: only single modules are loaded, which need nothing but NumPy.

    pip download --no-deps lm-polygraph==0.7.0 uqlm==0.6.7 --dest wheels
    unzip -d lm_polygraph wheels/lm_polygraph-0.7.0-*.whl; unzip -d uqlm wheels/uqlm-0.6.7-*.whl
    python benchmarks/record_signal_peers.py lm_polygraph uqlm > tests/unit/statistics/signal_peers.json
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

VERSIONS = {"lm-polygraph": "0.7.0", "uqlm": "0.6.7"}


def load(folder: str, package: str, *modules: str) -> list[ModuleType]:
    """Load modules of an unpacked package without running what its ``__init__`` files import."""
    for path in Path(folder, package).rglob("__init__.py"):
        shell = ModuleType(".".join(path.parent.relative_to(folder).parts))
        shell.__path__ = [str(path.parent)]
        sys.modules[shell.__name__] = shell
    return [import_module(module) for module in modules]


def rejection(area: ModuleType, metric: ModuleType) -> list[dict[str, Any]]:
    """Rank answers without ties, with the areas of the best and of random orders as that package takes them."""
    rng = np.random.default_rng(0)
    rows = []
    for n in (7, 40, 101):
        confidence = rng.permutation(n) / n
        correct = (rng.random(n) < 0.2 + 0.6 * confidence).astype(float)
        for most in (1.0, 0.5):
            measure = area.PredictionRejectionArea(max_rejection=most)
            own, best = measure(list(-confidence), list(correct)), measure(list(-correct), list(correct))
            anyhow = metric.get_random_scores(measure, list(correct), num_iter=20_000)
            value = metric.normalize_metric(own, best, anyhow)
            rows.append(
                {
                    "correct": correct.tolist(),
                    "confidence": confidence.tolist(),
                    "max_rejection": most,
                    "value": value,
                }
            )
    return rows


def entropies(polygraph: ModuleType, uqlm: ModuleType) -> list[dict[str, Any]]:
    """Cluster ten answers in three ways, with the log-probabilities of their tokens."""
    rng = np.random.default_rng(1)
    rows = []
    for n_clusters in (1, 3, 10):
        clusters = rng.permutation(np.arange(10) % n_clusters)
        tokens = [(-rng.gamma(1.0, 0.7, rng.integers(1, 6))).tolist() for _ in range(10)]
        members = [np.flatnonzero(clusters == c).tolist() for c in range(n_clusters)]
        frequency = polygraph.SemanticEntropy(class_probability_estimation="frequency")
        stats = {
            "sample_texts": [[str(i) for i in range(10)]],
            "semantic_classes_entail": {"class_to_sample": [members], "sample_to_class": [clusters]},
        }
        weighted, _ = uqlm.compute_response_probabilities(
            [[{"logprob": value} for value in its] for its in tokens], 10
        )
        shares = uqlm.compute_cluster_probabilities(weighted, members)
        rows.append(
            {
                "clusters": clusters.tolist(),
                "token_logprobs": tokens,
                "discrete": float(frequency(stats)[0]),
                "weighted": float(uqlm.compute_semantic_entropy(shares)),
            }
        )
    return rows


if __name__ == "__main__":
    area, metric, semantic = load(
        sys.argv[1],
        "lm_polygraph",
        "lm_polygraph.ue_metrics.pred_rej_area",
        "lm_polygraph.ue_metrics.ue_metric",
        "lm_polygraph.estimators.semantic_entropy",
    )
    (utils,) = load(sys.argv[2], "uqlm", "uqlm.nli.entropy_utils")
    recorded = {
        "versions": VERSIONS,
        "rejection": rejection(area, metric),
        "entropy": entropies(semantic, utils),
    }
    print(json.dumps(recorded))
