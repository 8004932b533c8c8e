"""Record what lm-polygraph and uqlm compute on small samples, for the tests of the same statistics here.

Both packages are unpacked, not installed: only single modules are loaded, which need nothing but NumPy and SciPy. What
they import to load language models is replaced by empty classes.

    pip download --no-deps lm-polygraph==0.7.0 uqlm==0.6.7 --dest wheels
    unzip -d lm_polygraph wheels/lm_polygraph-0.7.0-*.whl; unzip -d uqlm wheels/uqlm-0.6.7-*.whl
    python benchmarks/record_signal_peers.py lm_polygraph uqlm > tests/unit/statistics/signal_peers.json
"""

from __future__ import annotations

import json
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
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


MODELS = {
    "langchain_core.language_models.chat_models": "BaseChatModel",
    "uqlm.scorers.shortform.entropy": "SemanticEntropy",
    "uqlm.scorers.shortform.density": "SemanticDensity",
    "uqlm.black_box.cosine": "CosineScorer",
    "uqlm.nli.nli": "NLI",
    "torch": "nn",
    "torch.nn": "Softmax",
    "transformers": "AutoProcessor",
}


def replace_models() -> None:
    """Replace what the packages import for language models, none of which is used here."""
    for name, attribute in MODELS.items():
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], attribute, type(attribute, (), {"__init__": lambda self, **_: None}))
    sys.modules["torch"].nn = sys.modules["torch.nn"]


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


def of_tokens(certainty: ModuleType, top: ModuleType) -> list[dict[str, Any]]:
    """Draw three tokens with 2, 5 or 10 alternatives, which have most of the probability."""
    rng = np.random.default_rng(2)
    rows = []
    for k in (2, 5, 10):
        logprobs = np.log(0.95 * rng.dirichlet(np.full(k, 0.5), 3))
        listed = [{"top_logprobs": [{"logprob": value} for value in token]} for token in logprobs]
        scorer = top.TopLogprobsScorer(top_k_logprobs=k)
        # Words that are not listed have no probability, which that package leaves out.
        vocabulary = np.concatenate([logprobs, np.full((3, 7), -np.inf)], axis=1)
        rows.append(
            {
                "logprobs": logprobs.tolist(),
                "self_certainty": -float(
                    certainty.SelfCertainty()({"greedy_log_probs": [list(vocabulary)]})[0]
                ),
                **{name: float(values[0]) for name, values in scorer.evaluate([listed]).items()},
            }
        )
    return rows


def mean_of(values: np.ndarray, **_: Any) -> list[float]:
    """Return the mean similarity of an answer to its samples, as a scorer of uqlm does."""
    return [float(values.mean())]


def of_samples(modules: dict[str, ModuleType], sampled: ModuleType) -> list[dict[str, Any]]:
    """Draw probabilities of entailment and contradiction between five samples, and their tokens' log-probabilities."""
    rng = np.random.default_rng(3)
    rows = []
    for concentration in (0.1, 1.0, 10.0):
        entails, contradicts, _ = rng.dirichlet(np.full(3, concentration), (5, 5)).transpose(2, 0, 1)
        np.fill_diagonal(entails, 1.0)
        np.fill_diagonal(contradicts, 0.0)
        tokens = [(-rng.gamma(1.0, 0.7, rng.integers(1, 6))).tolist() for _ in range(5)]
        similarities = rng.random(5)
        stats = {
            "sample_texts": [["text"] * 5],
            "semantic_matrix_entail": entails[np.newaxis],
            "semantic_matrix_contra": contradicts[np.newaxis],
            "sample_log_probs": [[sum(its) for its in tokens]],
            "sample_tokens": [tokens],
            "greedy_log_likelihoods": [tokens[0]],
            "greedy_sentence_similarity": [similarities],
        }
        scorer = sampled.SampledLogprobsScorer()
        scorer._cosine_scorer = SimpleNamespace(evaluate=partial(mean_of, similarities))
        scored = scorer.compute_consistency_confidence(
            ["text"], [["text"] * 5], [[{"logprob": value} for value in tokens[0]]]
        )
        peers = {name: float(getattr(module, name)()(stats)[0]) for name, module in modules.items()}
        rows.append(
            {
                "entails": entails.tolist(),
                "contradicts": contradicts.tolist(),
                "token_logprobs": tokens,
                "similarities": similarities.tolist(),
                **peers,
                "CocoaPPL": float(modules["CocoaMSP"].CocoaPPL()(stats)[0]),
                "consistency_and_confidence": float(scored[0]),
            }
        )
    return rows


def answers(most_probable: ModuleType, perplexity: ModuleType, single: ModuleType) -> list[dict[str, Any]]:
    """Draw log-probabilities of answers of one, three and eight tokens."""
    rng = np.random.default_rng(4)
    rows = []
    for n in (1, 3, 8):
        logprobs = (-rng.gamma(1.0, 0.7, n)).tolist()
        stats = {"greedy_log_likelihoods": [logprobs]}
        listed = [[{"logprob": value} for value in logprobs]]
        normalised, whole = (single.SingleLogprobsScorer(length_normalize=each) for each in (True, False))
        rows.append(
            {
                "logprobs": logprobs,
                "MaximumSequenceProbability": float(most_probable.MaximumSequenceProbability()(stats)[0]),
                "Perplexity": float(perplexity.Perplexity()(stats)[0]),
                "min_probability": float(whole.evaluate(listed)["min_probability"][0]),
                "sequence_probability": float(whole.evaluate(listed)["sequence_probability"][0]),
                "normalised_probability": float(normalised.evaluate(listed)["sequence_probability"][0]),
            }
        )
    return rows


def matches(match: ModuleType) -> dict[str, Any]:
    """Count the samples that equal an answer."""
    answer, samples = "Jane Austen", ["Jane Austen", "Emily", "Jane Austen", "Charlotte"]
    share = match.MatchScorer().evaluate([answer], [samples])[0]
    return {"answer": answer, "samples": samples, "exact_match": float(share)}


def words(common: ModuleType) -> dict[str, Any]:
    """Compare texts by their words."""
    texts = ["Jane Austen", "jane austen wrote it", "Emily", "Austen , Jane", "the Emily"]
    return {"texts": texts, "similarity": common._compute_Jaccard_score(texts).tolist()}


ESTIMATORS = {
    "CocoaMSP": "cocoa",
    "DegMat": "deg_mat",
    "Eccentricity": "eccentricity",
    "EigValLaplacian": "eig_val_laplacian",
    "KernelLanguageEntropy": "kernel_language_entropy",
    "MonteCarloNormalizedSequenceEntropy": "monte_carlo_normalized_sequence_entropy",
    "MonteCarloSequenceEntropy": "monte_carlo_sequence_entropy",
    "NumSemSets": "num_sem_sets",
}
"""Classes of lm-polygraph with their modules."""

if __name__ == "__main__":
    replace_models()
    area, metric, semantic, certainty, common, most_probable, perplexity, *estimators = load(
        sys.argv[1],
        "lm_polygraph",
        "lm_polygraph.ue_metrics.pred_rej_area",
        "lm_polygraph.ue_metrics.ue_metric",
        "lm_polygraph.estimators.semantic_entropy",
        "lm_polygraph.estimators.self_certainty",
        "lm_polygraph.estimators.common",
        "lm_polygraph.estimators.max_probability",
        "lm_polygraph.estimators.perplexity",
        *(f"lm_polygraph.estimators.{module}" for module in ESTIMATORS.values()),
    )
    del sys.modules["torch"]  # SciPy would look for its arrays
    utils, top, sampled, single, match = load(
        sys.argv[2],
        "uqlm",
        "uqlm.nli.entropy_utils",
        "uqlm.white_box.top_logprobs",
        "uqlm.white_box.sampled_logprobs",
        "uqlm.white_box.single_logprobs",
        "uqlm.black_box.match",
    )
    recorded = {
        "versions": VERSIONS,
        "rejection": rejection(area, metric),
        "entropy": entropies(semantic, utils),
        "tokens": of_tokens(certainty, top),
        "samples": of_samples(dict(zip(ESTIMATORS, estimators, strict=True)), sampled),
        "words": words(common),
        "answers": answers(most_probable, perplexity, single),
        "matches": matches(match),
    }
    print(json.dumps(recorded))
