"""Samples of lm-eval's own tasks, in the shapes of its versions."""

import json

import numpy as np
import pytest
from msgspec import Raw
from scipy.stats import entropy

from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.logs.benchmark_samples import _decoded, benchmark_samples, group_of_task
from confidence_tasks.logs.trial_files import NotTrialsError

OPTIONS = (" Lima", " Cusco")


def sample(number=0, scores=(-0.1, -2.5), metrics=None, **changes):
    """Return a sample of a question with options, as lm-eval 0.4.13 writes it."""
    metrics = {"acc": 1.0} if metrics is None else metrics
    arguments = {
        f"gen_args_{i}": {"arg_0": "Capital of Peru?", "arg_1": text} for i, text in enumerate(OPTIONS)
    }
    return {
        "doc_id": number,
        "doc": {"question": "Capital of Peru?"},
        "target": "0",
        "arguments": arguments,
        "resps": [[[str(score), "False"]] for score in scores],
        "filtered_resps": [[str(score), "False"] for score in scores],
        "filter": "none",
        "metrics": list(metrics),
        "doc_hash": f"{number:064d}",
        "prompt_hash": "b" * 64,
        "target_hash": "c" * 64,
        **metrics,
        **changes,
    }


def generated(number, text, filtered, metrics, filter_name="strict-match"):
    return sample(
        number,
        metrics=metrics,
        resps=[[text]],
        filtered_resps=[filtered],
        filter=filter_name,
        arguments={"gen_args_0": {"arg_0": "2 + 2 =", "arg_1": {"until": ["\n"]}}},
    )


def lines(*samples):
    return [json.dumps(each).encode() + b"\n" for each in samples]


def of(rows, signal, column):
    return [value for value, name in zip(rows[column], rows["condition"], strict=True) if name == signal]


def test_a_question_has_a_trial_for_each_signal_with_the_metric_of_its_score():
    read = benchmark_samples(lines(sample(metrics={"acc": 1.0, "acc_norm": 0.0})))
    assert list(dict.fromkeys(read.rows["condition"])) == [
        "option_probability",
        "option_probability_norm",
        "margin",
    ]
    assert of(read.rows, "option_probability", "correct") == [1.0]
    assert of(read.rows, "option_probability_norm", "correct") == [0.0]
    p = np.exp(-0.1) / (np.exp(-0.1) + np.exp(-2.5))
    assert of(read.rows, "option_probability", "confidence") == pytest.approx([p])
    norm = np.exp([-0.1 / 4, -2.5 / 5])
    assert of(read.rows, "option_probability_norm", "probability") == pytest.approx([norm[0] / norm.sum()])
    assert of(read.rows, "margin", "value") == pytest.approx([2.4])
    assert np.isnan(of(read.rows, "margin", "probability")).all()
    assert of(read.rows, "margin", "answer") == ["Lima"]
    assert (read.n_documents, read.n_read, read.left_out) == (1, 1, ())


def test_further_signals_are_read_if_they_are_named():
    further = Correctness(signals=("option_negentropy", "option_self_certainty", "option_logprob"))
    read = benchmark_samples(lines(sample(metrics={"acc": 1.0, "acc_norm": 0.0})), correct=further)
    shares = np.exp([-0.1, -2.5]) / np.exp([-0.1, -2.5]).sum()
    negentropy = 1 - entropy(shares, base=2)
    self_certainty = entropy([0.5, 0.5], shares)
    for name, value, confidence in (
        ("option_negentropy", negentropy, negentropy),
        ("option_self_certainty", self_certainty, self_certainty / (1 + self_certainty)),
        ("option_logprob", -0.1, np.exp(-0.1)),
    ):
        assert of(read.rows, name, "value") == pytest.approx([value])
        assert of(read.rows, name, "confidence") == pytest.approx([confidence])
        assert np.isnan(of(read.rows, name, "probability")).all()
        assert of(read.rows, name, "correct") == [1.0]
        assert of(read.rows, name, "answer") == ["Lima"]


def test_letters_need_no_normalised_signal():
    letters = {f"gen_args_{i}": {"arg_0": "?", "arg_1": f" {letter}"} for i, letter in enumerate("AB")}
    read = benchmark_samples(lines(sample(metrics={"acc": 1.0, "acc_norm": 1.0}, arguments=letters)))
    assert set(read.rows["condition"]) == {"option_probability", "margin"}


def test_scores_after_an_empty_prompt_are_no_options():
    arguments = {f"gen_args_{i}": {"arg_0": "?" if i < 2 else "", "arg_1": OPTIONS[i % 2]} for i in range(4)}
    metrics = {"acc": 1.0, "acc_mutual_info": 0.0}
    read = benchmark_samples(lines(sample(scores=(-1, -2, -0.5, -4), metrics=metrics, arguments=arguments)))
    assert read.rows["n_options"] == [2.0] * 3
    p = np.exp(-0.5) / (np.exp(-0.5) + np.exp(2.0))
    assert of(read.rows, "option_probability_mutual_info", "probability") == pytest.approx([1 - p])
    assert of(read.rows, "option_probability_mutual_info", "answer") == ["Cusco"]


def test_prompts_that_differ_instead_of_options_have_a_position_as_answer_and_no_length():
    arguments = {
        f"gen_args_{i}": {"arg_0": f"The {who}", "arg_1": " ran."} for i, who in enumerate(("cat", "dog"))
    }
    metrics = {"acc": 1.0, "acc_norm": 1.0}
    read = benchmark_samples(lines(sample(scores=(-3, -2), metrics=metrics, arguments=arguments)))
    assert set(read.rows["condition"]) == {"option_probability", "margin"}
    assert set(read.rows["answer"]) == {"1"}
    assert set(read.rows["equal_options"]) == {0.0}


def test_options_of_equal_text_are_counted():
    arguments = {f"gen_args_{i}": {"arg_0": "?", "arg_1": " same"} for i in range(2)}
    assert set(benchmark_samples(lines(sample(arguments=arguments))).rows["equal_options"]) == {1.0}


def test_the_first_versions_wrote_one_list_with_numbers_and_no_hashes():
    old = sample(3, metrics={"acc": True})
    old["arguments"] = [["?", text] for text in OPTIONS]
    old["filtered_resps"] = [[-0.1, False], [-2.5, False]]
    for key in ("filter", "metrics", "doc_hash", "prompt_hash", "target_hash"):
        del old[key]
    read = benchmark_samples([json.dumps([old, {**old, "doc_id": 4}], indent=1).encode()])
    assert of(read.rows, "option_probability", "question_id") == ["3", "4"]
    assert of(read.rows, "option_probability", "correct") == [1.0, 1.0]


def test_infinities_and_nan_lose_no_line():
    text = json.dumps(sample(metrics={"acc": 1.0, "perplexity": 2.0})).replace("2.0", "-Infinity")
    other = json.dumps(sample(1, scores=("-inf", "-inf"), metrics={"acc": 0.0, "perplexity": 1.0}))
    read = benchmark_samples([text.encode(), other.encode(), b"{broken"])
    assert (read.n_read, read.n_documents) == (2, 3)
    assert of(read.rows, "option_probability", "status") == ["ok", "missing_confidence"]
    assert read.left_out == ("1 lines are not samples of lm-eval",)


def test_a_document_that_occurs_twice_is_two_questions():
    read = benchmark_samples(lines(sample(), sample()))
    first, second = of(read.rows, "option_probability", "question_id")
    assert second == f"{first}-2"


def test_filters_of_a_generated_reply_are_conditions_of_their_own():
    metrics = [{"exact_match": 0.0}, {"exact_match": 1.0}]
    read = benchmark_samples(
        lines(
            generated(0, "it is 4", "[invalid]", metrics[0]),
            generated(0, "it is 4", "4", metrics[1], "flexible-extract"),
        )
    )
    assert read.rows["condition"] == ["no confidence, strict-match", "no confidence, flexible-extract"]
    assert read.rows["correct"] == [0.0, 1.0]
    assert read.rows["question_id"] == ["0" * 16] * 2
    assert (read.n_documents, read.n_read) == (1, 1)


def test_a_generated_reply_has_the_confidence_that_it_states():
    reply = "The answer is 4.\nConfidence: 80%"
    read = benchmark_samples(lines(*(generated(i, reply, "4", {"exact_match": 1.0}) for i in range(3))))
    assert read.rows["condition"] == ["stated"] * 3
    assert read.rows["confidence"] == pytest.approx([0.8] * 3)


def test_thoughts_and_control_tokens_of_generated_replies_are_recorded():
    replies = ("4", "4 <|mask|>", "<think>5?</think>4<|im_end|>")
    read = benchmark_samples(
        lines(*(generated(i, text, "4", {"exact_match": 1.0}) for i, text in enumerate(replies)))
    )
    assert read.rows["rules"] == ["", "control_token", "thought"]


def test_votes_over_several_replies_have_no_confidence_of_their_own():
    vote = generated(0, "4\nConfidence: 80", "4", {"exact_match": 1.0})
    vote["resps"] = [["4\nConfidence: 80", "5\nConfidence: 10"]]
    assert benchmark_samples(lines(vote)).rows["condition"] == ["no confidence"]


@pytest.mark.parametrize(
    ("samples", "correct", "message"),
    [
        ([sample(metrics={"acc": 0.4})], "", "no metric is 0 or 1 in every line"),
        ([sample(metrics={})], "", "there is none"),
        ([sample()], "f1", "no metric 'f1'; it has acc"),
        ([sample()], "ac", "no metric 'ac'; did you mean 'acc'"),
        ([sample(metrics={"acc": 0.4})], "", "--correct 'acc>=0.5' counts higher values as right"),
        ([sample(metrics={"acc": 0.4, "em": 1.0})], "acc", "'acc' is not 0 or 1"),
        ([generated(0, "4", "4", {"em": 1.0, "f1": 1.0})], "", "--correct em or f1"),
        ([{"question_id": "q"}], "", "no line is a sample"),
    ],
)
def test_what_is_neither_right_nor_wrong_is_refused_with_the_reason(samples, correct, message):
    with pytest.raises(NotTrialsError, match=message):
        benchmark_samples(lines(*samples), correct=Correctness.parse(correct))


def test_the_metric_that_the_user_names_is_that_of_the_trials():
    read = benchmark_samples(
        lines(generated(0, "4", "4", {"em": 0.0, "f1": 1.0})), correct=Correctness.parse("f1")
    )
    assert read.rows["correct"] == [1.0]
    read = benchmark_samples(
        lines(sample(metrics={"acc": 1.0, "acc_norm": 0.0})), correct=Correctness.parse("acc_norm")
    )
    assert set(read.rows["condition"]) == {"option_probability_norm"}


def test_a_bound_makes_a_fraction_right_or_wrong():
    answers = [generated(i, "4", "4", {"em": 1.0, "f1": f1}) for i, f1 in enumerate((0.4, 0.5, 0.9))]
    read = benchmark_samples(lines(*answers), correct=Correctness.parse("f1>=0.5"))
    assert read.rows["correct"] == [0.0, 1.0, 1.0]
    fractions = [sample(i, metrics={"acc": acc}) for i, acc in enumerate((0.2, 0.7))]
    read = benchmark_samples(lines(*fractions), correct=Correctness.parse("acc>=0.5"))
    assert of(read.rows, "option_probability", "correct") == [0.0, 1.0]


def run(value):
    return {
        "group_subtasks": {"all": ["some", "c"], "some": ["a", "b"]},
        "results": {
            "all": value,
            "some": {"acc,none": 0.5},
            **{task: {"acc,none": acc} for task, acc in {"a": 0.0, "b": 1.0, "c": 0.25}.items()},
        },
        "n-samples": {task: {"effective": n} for task, n in {"a": 10, "b": 10, "c": 80}.items()},
    }


@pytest.mark.parametrize(
    ("value", "group"),
    [
        ({"acc,none": 0.3, "acc_stderr,none": 0.1}, ("all", True)),
        ({"acc,none": 1.25 / 3}, ("all", False)),
        ({"acc,none": 0.9}, ("some", True)),
        ({}, ("some", True)),
    ],
)
def test_a_group_is_weighted_as_its_printed_value_is(value, group):
    assert group_of_task(run(value), "a") == group


def test_a_task_without_a_group_has_none():
    assert group_of_task({}, "a") == ("", False)


def test_no_document_and_no_prompt_is_decoded(monkeypatch):
    """They are most of a file: with them, reading took twice the time of ``json.loads``."""
    decoded = []
    loads = json.loads
    monkeypatch.setattr(
        "confidence_tasks.logs.benchmark_samples.json.loads",
        lambda line, **options: decoded.append(line) or loads(line, **options),
    )
    written = lines(*(sample(number) for number in range(50)))
    file = _decoded(written)
    assert len(decoded) == 1  # the names of the metrics
    assert all(isinstance(each.doc, Raw) for each in file.samples)
    assert all(isinstance(request.arg_0, Raw) for each in file.samples for request in each.requests())
    assert len(benchmark_samples(written).rows["epoch"]) == 100  # two signals
