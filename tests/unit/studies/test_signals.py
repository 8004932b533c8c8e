"""The signal study: prompts, signals read from replies, missing pieces, the simulated subject and measures."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy, norm
from sklearn.metrics import roc_auc_score

from confidence_tasks.reading.equal_answers import word_similarity
from confidence_tasks.reading.sureness import EXPRESSIONS, read_expression, true_probability
from confidence_tasks.reading.thoughts import cleaned_replies
from confidence_tasks.simulation.reply import StageRequest, answer, call_seed, reply_tokens
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.studies.signals import STUDY
from confidence_tasks.studies.signals.meaning import judge_prompts, matches, same_meaning
from confidence_tasks.studies.signals.measures import MEASURES, POOLED, signal_table
from confidence_tasks.studies.signals.reader import (
    read_answer_reply,
    read_distribution,
    read_guesses,
    read_percent,
)
from confidence_tasks.studies.signals.replies import (
    DEFAULT,
    answer_prompt,
    chosen_signals,
    signal_questions,
    signal_stages,
)
from confidence_tasks.studies.signals.simulated_replies import NOISE, belief, respond
from confidence_tasks.studies.signals.table import COUNT, DIVERGENCE, NATS, SHARE, SIGNALS, short_name
from confidence_tasks.studies.signals.trials import read_signal
from confidence_tasks.study import ModelReply, Question, Token
from confidence_tasks.study.columns import columns

EMMA = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen", aliases=("Austen",))
PARAMETERS = {
    "signals": None, "source": "arithmetic", "n": 3, "mirror": None, "seed": 0, "samples": 10, "temperature": 1,
    "entailment": "match", "nli_model": "none", "panel": "panel", "one_request": False,
}  # fmt: skip


def tokens(*given):
    return tuple(Token(text, math.log(p), {t: math.log(q) for t, q in more}) for text, p, more in given)


ANSWER = ModelReply(
    "Answer: Jane Austen\nConfidence: 80",
    tokens(
        ("Answer", 0.9, []),
        (":", 0.9, []),
        (" Jane", 0.5, [(" Jane", 0.5), (" Emily", 0.25)]),
        (" Austen", 0.8, [(" Austen", 0.8), (" Eyre", 0.2)]),
        ("\n", 0.9, []),
        ("Confidence: 80", 0.1, []),
    ),
    50.0,
    10.0,
)


def sample_reply(answer, *probabilities):
    texts = [f" {part}" for part in answer.split()]
    pairs = zip(texts, probabilities, strict=False)
    listed = [("Answer:", 0.9, []), *((text, p, []) for text, p in pairs), ("\nConfidence: 5", 0.2, [])]
    return ModelReply(f"Answer: {answer}\nConfidence: 5", tokens(*listed))


SAMPLES = [
    sample_reply("Jane Austen", 0.5, 0.8),
    sample_reply("Emily Brontë", 0.1, 0.9),
    sample_reply("the Jane Austen", 0.2, 0.2, 0.2),
    ModelReply(""),
    sample_reply("Emily Brontë", 0.1, 0.1),
]


THOUGHT = tokens(
    ("<think>", 0.9, []),
    (" Emily", 0.5, [(" Emily", 0.5), (" Jane", 0.5)]),
    ("?", 0.25, [("?", 0.25)]),
    ("</think>", 0.9, []),
)


def trial(condition, question=EMMA, **replies):
    return read_signal(question, condition, cleaned_replies({"answer": [ANSWER], **replies}))


# Values


def test_token_signals_are_those_of_the_answer_s_tokens_alone():
    assert trial("mean_logprob")["value"] == pytest.approx((math.log(0.5) + math.log(0.8)) / 2)
    assert trial("sum_logprob")["value"] == pytest.approx(math.log(0.4))
    assert trial("min_logprob")["value"] == pytest.approx(math.log(0.5))
    # the first token misses a quarter of its mass
    first = -0.5 * math.log(0.5) - 0.5 * math.log(0.25)
    second = -0.8 * math.log(0.8) - 0.2 * math.log(0.2)
    assert trial("mean_entropy")["value"] == pytest.approx(-(first + second) / 2)


def test_certainty_is_the_mean_over_the_answer_s_tokens_with_alternatives():
    assert trial("margin")["value"] == pytest.approx(((0.5 - 0.25) + (0.8 - 0.2)) / 2)
    of_first, of_second = entropy([2 / 3, 1 / 3]), entropy([0.8, 0.2])
    assert trial("negentropy")["value"] == pytest.approx(1 - (of_first + of_second) / 2 / math.log(2))
    first, second = -math.log(0.5 * 0.25) / 2 - math.log(2), -math.log(0.8 * 0.2) / 2 - math.log(2)
    assert trial("self_certainty")["value"] == pytest.approx((first + second) / 2)
    partly = replace(ANSWER, tokens=tuple(
        replace(token, alternatives={}) if token.text == " Jane" else token for token in ANSWER.tokens
    ))  # fmt: skip
    assert trial("margin", answer=[partly])["value"] == pytest.approx(0.6)


def test_reasoning_is_what_is_listed_before_the_reply():
    thought = [replace(ANSWER, tokens=(*THOUGHT, *ANSWER.tokens))]
    assert trial("trace_length", answer=thought)["value"] == -4
    logprobs = [math.log(p) for p in (0.9, 0.5, 0.25, 0.9)]
    assert trial("trace_logprob", answer=thought)["value"] == pytest.approx(sum(logprobs) / 4)
    # what is missing counts as one alternative
    expected = [entropy([0.9, 0.1]), entropy([0.5, 0.5]), entropy([0.25, 0.75]), entropy([0.9, 0.1])]
    assert trial("trace_entropy", answer=thought)["value"] == pytest.approx(-sum(expected) / 4)
    for signal in ("mean_logprob", "margin", "mean_entropy", "self_certainty"):
        assert trial(signal, answer=thought)["value"] == trial(signal)["value"]


def test_reasoning_that_is_counted_but_not_listed_has_a_length_only():
    counted = [replace(ANSWER, reasoning_tokens=70.0)]
    assert trial("trace_length", answer=counted)["value"] == -70
    assert "not listed" in trial("trace_logprob", answer=counted)["problem"]
    for none in (ANSWER, replace(ANSWER, reasoning_tokens=0.0), replace(ANSWER, tokens=())):
        assert "no reasoning, or its length" in trial("trace_length", answer=[none])["problem"]
    marks = tokens(("<think>", 0.9, []), ("\n", 0.9, []), ("</think>", 0.9, []))
    empty = replace(ANSWER, tokens=(*marks, *ANSWER.tokens))
    assert "no reasoning" in trial("trace_length", answer=[empty])["problem"]


def test_reasoning_agrees_by_its_words():
    def thinking(reply, *words):
        thoughts = tokens(*((f" {word}", 0.9, []) for word in words))
        return replace(reply, tokens=(*thoughts, *reply.tokens))

    answer = thinking(ANSWER, "Emma", "is", "by", "Austen")
    samples = [
        thinking(SAMPLES[0], "is", "Emma", "by", "Eyre"),
        thinking(SAMPLES[1], "Emma", "is", "by", "Austen"),
        SAMPLES[2],
    ]
    assert trial("trace_agreement", answer=[answer], samples=samples)["value"] == pytest.approx(
        (3 / 5 + 1) / 2
    )
    assert "no sample lists" in trial("trace_agreement", answer=[answer], samples=SAMPLES)["problem"]


def test_samples_are_a_graph_of_equal_and_similar_answers():
    """Two are Austen's, two Brontë's; a similarity in words is between the answer and none of them."""
    found = {
        name: trial(name, samples=SAMPLES)["value"] for name in SIGNALS if "samples" in SIGNALS[name].stages
    }
    assert found["semantic_sets"] == -2
    assert found["eigenvalue_sum"] == pytest.approx(-2)
    assert found["eccentricity"] == pytest.approx(-1)
    assert found["degree_matrix"] == pytest.approx(-0.5)
    # of each pair: (1 + d) / 2 and d-th part, with d = exp(-4 * 0.3), scaled to a diagonal of one quarter
    d = math.exp(-1.2)
    assert found["kernel_entropy"] == pytest.approx(-entropy([1 / (1 + d) / 2, d / (1 + d) / 2] * 2))
    # the answer's tokens: .5 * .8; two of four samples agree
    assert found["cocoa"] == pytest.approx(math.log(0.4) / 2)
    assert found["consistency_and_confidence"] == pytest.approx(math.sqrt(0.4) / 2)
    logs = [[0.5, 0.8], [0.1, 0.9], [0.2, 0.2, 0.2], [0.1, 0.1]]
    sums = [sum(map(math.log, sample)) for sample in logs]
    assert found["sequence_entropy"] == pytest.approx(sum(sums) / 4)
    means = [total / len(sample) for total, sample in zip(sums, logs, strict=True)]
    assert found["sequence_entropy_normalised"] == pytest.approx(sum(means) / 4)
    partly = trial("degree_matrix", samples=[SAMPLES[0], sample_reply("Austen", 0.5)])["value"]
    assert partly == pytest.approx(-(1 - (1 + 1 + 0.5 + 0.5) / 4))  # one of two words in common


OF_ALL_SAMPLES = [
    *("semantic_entropy", "semantic_entropy_discrete", "semantic_sets"),
    *("degree_matrix", "eccentricity", "eigenvalue_sum", "kernel_entropy"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_ALL_SAMPLES)
@pytest.mark.parametrize("numbers", ["7777888996", "7777777777", "7788990011"])
def test_the_order_of_the_samples_does_not_count(name, numbers):
    """Rounding errors would rank answers whose samples have the same meanings."""
    rng = np.random.default_rng(0)
    orders = [rng.permutation(list(numbers)) for _ in range(50)]
    found = {trial(name, samples=[sample_reply(each, 0.7) for each in order])["value"] for order in orders}
    assert len(found) == 1


def test_what_a_signal_needs_is_in_words():
    found = {
        name: SIGNALS[name].requirements for name in ("stated", "agreement", "cocoa", "trace_length", "panel")
    }
    assert found == {
        "stated": "an answer",
        "agreement": "samples",
        "cocoa": "samples, log-probabilities",
        "trace_length": "number of reasoning tokens",
        "panel": "model roles",
    }


def test_words_in_common_are_counted_as_lm_polygraph_does():
    peers = json.loads((Path(__file__).parents[1] / "statistics" / "signal_peers.json").read_text())["words"]
    assert word_similarity(peers["texts"]) == pytest.approx(np.array(peers["similarity"]))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("A: 0.7\nB: .2\nC: 0.1\nD: 0", [0.7, 0.2, 0.1, 0.0]),
        ("A: 99.5%\n**B**: **0.25**\nC: 0.25 %\nD: 1e-05", [99.5, 0.25, 0.25, 1e-05]),
        ("A: 1.0\nB: 0.0\nC: 17 out of 20\nD: 120", [1.0, 0.0, 85.0]),
        ("A: -5\nB: 70\nC: 1,000\nD: much", [70.0]),
    ],
)
def test_numbers_of_a_distribution_are_percentages_or_shares(reply, expected):
    """Only their share of the sum counts, so that a number below 1 needs no unit."""
    found = read_distribution(reply, ("A", "B", "C", "D"))
    assert [100 * value for value in found.values()] == pytest.approx(expected)


def test_a_distribution_over_the_options_adds_up_to_one():
    question = Question("q-2", "demo", "2 + 2?", "choice", "B", ("3", "4", "5"))
    answer = [ModelReply("Answer: B\nConfidence: 80")]

    def found(text):
        return trial("distribution", question, answer=answer, distribution=[ModelReply(text)])

    assert found("A: 10\nB: 60\nC: 10")["value"] == pytest.approx(0.75)
    assert found("**A:** 10%\n**B:** 60%\n**C:** 10%")["value"] == pytest.approx(0.75)
    assert "no probability for 1 of 3 options" in found("A: 10\nB: 60")["problem"]
    assert "no probability for 3 of 3 options" in found("hard to say")["problem"]
    assert "probability 0" in found("A: 0\nB: 0\nC: 0")["problem"]
    assert "no options" in trial("distribution")["problem"]
    boolean = Question("q-3", "demo", "Is it?", "boolean", "yes")
    said = [ModelReply("Answer: no\nConfidence: 80")]
    stated = [ModelReply("Yes: 30\nNo: 70")]
    assert trial("distribution", boolean, answer=said, distribution=stated)["value"] == pytest.approx(0.7)


def test_a_panel_is_the_mean_of_the_judges_that_reply():
    def judges(*texts):
        return {f"panel:{i}": [ModelReply(text)] for i, text in enumerate(texts)}

    assert trial("panel", **judges("80", "40%"))["value"] == pytest.approx(0.6)
    assert trial("panel", **judges("80", "purple"))["value"] == 0.8
    assert "none of the 2 judges" in trial("panel", **judges("purple", ""))["problem"]
    assert "none of the 0 judges" in trial("panel")["problem"]


def test_confidence_stated_in_numbers_and_words():
    assert trial("stated")["value"] == 0.8
    assert trial("stated_after", stated_after=[ModelReply("65%.")])["value"] == 0.65
    assert trial("words", words=[ModelReply("Highly unlikely.")])["value"] == 0.05
    guesses = "Answer 1: Emily Brontë\nConfidence 1: 60\nAnswer 2: Jane Austen\nConfidence 2: 30"
    assert trial("top_k", top_k=[ModelReply(guesses)])["value"] == 0.3
    assert trial("top_k", top_k=[ModelReply("Answer 1: Eliot\nConfidence 1: 60")])["value"] == 0.0


def test_samples_are_compared_by_meaning():
    # Of four answers two are Austen's, whatever their articles; the empty one is none.
    assert trial("agreement", samples=SAMPLES)["value"] == 0.5
    row = trial("semantic_entropy_discrete", samples=SAMPLES)
    assert row["value"] == pytest.approx(-math.log(2))
    assert (row["samples"], row["meanings"]) == (4, 2)
    # Geometric means of the tokens' probabilities: the answer's, without articles' being left out.
    austen = math.sqrt(0.5 * 0.8) + 0.2
    bronte = math.sqrt(0.1 * 0.9) + 0.1
    p = austen / (austen + bronte)
    expected = p * math.log(p) + (1 - p) * math.log(1 - p)
    assert trial("semantic_entropy", samples=SAMPLES)["value"] == pytest.approx(expected)


def test_true_against_false():
    spelled = tokens(("True", 0.5, [("True", 0.5), (" true", 0.1), ("False", 0.2), ("Maybe", 0.1)]))
    for signal in ("p_true", "p_true_samples"):
        found = trial(signal, samples=SAMPLES, **{signal: [ModelReply("True", spelled)]})
        assert found["value"] == pytest.approx(0.6 / 0.8)
    # False is not listed: it can have no more than what is missing
    assert true_probability(tokens(("True", 0.9, [("True", 0.9), ("Yes", 0.06)]))) == pytest.approx(
        0.9 / 0.94
    )
    maybe = tokens(("\n", 0.9, []), ("False", 0.75, [("Maybe", 0.05)]))
    assert true_probability(maybe) == pytest.approx(0.2 / 0.95)
    assert math.isnan(true_probability(tokens(("Maybe", 0.9, [("Perhaps", 0.1)]))))
    assert math.isnan(true_probability(()))


def test_without_alternatives_the_probability_of_true_is_missing_and_not_its_bound():
    found = trial("p_true", p_true=[ModelReply("True", tokens(("True", 0.8, [])))])
    assert math.isnan(found["value"])
    assert found["problem"] == "there are no alternatives to True or False"
    assert found["status"] == "missing_confidence"


def test_only_probabilities_are_probabilities():
    options = Question("q-1", "demo", "Who wrote Emma?", "choice", "A", ("Jane Austen", "Emily Brontë"))
    thought = replace(ANSWER, tokens=(*THOUGHT, *ANSWER.tokens))
    for condition, signal in SIGNALS.items():
        row = trial(
            condition,
            question=options if condition == "distribution" else EMMA,
            answer=[thought],
            distribution=[ModelReply("A: 60\nB: 20")],
            **{"panel:one": [ModelReply("70")], "panel:two": [ModelReply("I cannot say")]},
            stated_after=[ModelReply("65")],
            words=[ModelReply("Likely")],
            p_true=[ModelReply("True", tokens(("True", 0.9, [("False", 0.1)])))],
            p_true_samples=[ModelReply("True", tokens(("True", 0.9, [("False", 0.1)])))],
            samples=[replace(reply, tokens=(*THOUGHT, *reply.tokens)) for reply in SAMPLES],
            top_k=[ModelReply("Answer 1: Jane Austen\nConfidence 1: 60")],
        )
        assert row["problem"] == "", condition
        assert math.isnan(row["probability"]) is not signal.is_probability
        assert 0 <= row["confidence"] <= 1
        assert row["confidence"] == pytest.approx(signal.scale(row["value"]))
        assert row["correct"] == 1.0


@given(value=st.floats(-500, 30), other=st.floats(-500, 30))
def test_a_confidence_has_the_order_of_its_value_whatever_the_scale(value, other):
    for scale, low, high in ((NATS, -500, 0), (COUNT, -500, 0), (DIVERGENCE, 0, 30), (SHARE, 0, 1)):
        one, two = (min(max(x, low), high) for x in (value, other))
        assert 0 <= scale(one) <= 1
        if one < two:
            assert scale(one) <= scale(two)
        assert math.isnan(scale(math.nan))


def test_calls_and_tokens_count_every_call_of_the_condition():
    row = trial("stated_after", stated_after=[ModelReply("65", (), 80.0, 2.0)])
    assert (row["calls"], row["input_tokens"], row["output_tokens"]) == (2, 130, 12)
    assert math.isnan(trial("words", words=[ModelReply("Likely")])["input_tokens"])


# Missing pieces


@pytest.mark.parametrize("signal", ["stated_after", "words", "top_k", "agreement", "distribution"])
def test_an_unfinished_reply_is_the_reason_that_is_told(signal):
    """The harness empties unfinished replies, and says what is wrong with them."""
    filtered = ModelReply(
        "", problem="1 of 2 replies were stopped by the provider's content filter", stop="filter"
    )
    stage = "samples" if signal == "agreement" else signal
    question = Question("q-1", "demo", "?", "choice", "A", ("3", "4"))
    found = trial(
        signal, question, answer=[ModelReply("Answer: A\nConfidence: 80")], **{stage: [filtered] * 2}
    )
    assert found["problem"] == filtered.problem
    assert math.isnan(found["value"])


@pytest.mark.parametrize(
    ("condition", "replies", "message"),
    [
        (
            "mean_logprob",
            {"answer": [replace(ANSWER, tokens=(), problem="the provider returned none")]},
            "provider",
        ),
        ("mean_entropy", {"answer": [sample_reply("Jane Austen", 0.5, 0.5)]}, "no alternatives"),
        (
            "mean_logprob",
            {"answer": [replace(ANSWER, tokens=tokens(("Other", 0.5, [])))]},
            "not those of the answer",
        ),
        ("agreement", {"samples": [ModelReply("")] * 3}, "none of the 3 samples has an answer"),
        ("semantic_entropy_discrete", {"samples": SAMPLES[:1]}, "one sample"),
        ("semantic_entropy", {"samples": [replace(reply, tokens=()) for reply in SAMPLES]}, "no log-prob"),
        (
            "p_true",
            {"p_true": [ModelReply("Perhaps", tokens(("Perhaps", 0.9, [("Maybe", 0.05)])))]},
            "neither True nor False",
        ),
        ("p_true", {"p_true": []}, "no call"),
        ("words", {"words": [ModelReply("Likely, or rather unlikely")]}, "none of the expressions"),
        ("top_k", {"top_k": [ModelReply("I do not know")]}, "no guess"),
        ("stated", {"answer": [ModelReply("Answer: Jane Austen\nConfidence: very")]}, "no confidence"),
        ("stated", {"answer": [ModelReply("")]}, "there is no answer"),
    ],
)
def test_a_missing_piece_has_a_reason_and_other_signals_keep_their_values(condition, replies, message):
    row = trial(condition, **replies)
    assert math.isnan(row["value"])
    assert math.isnan(row["confidence"])
    assert message in row["problem"]
    assert row["status"] not in ("ok", "repaired")
    if replies.get("answer", [ANSWER])[0].text:
        assert row["correct"] == 1.0
        assert not math.isnan(trial("stated")["value"])


def test_one_sample_can_agree():
    assert trial("agreement", samples=SAMPLES[:1])["value"] == 1.0


def test_a_confidence_off_the_scale_is_the_stated_signal_s_fault_alone():
    off = [ModelReply("Answer: Jane Austen\nConfidence: 300")]
    assert trial("stated", answer=off)["status"] == "out_of_range"
    after = trial("stated_after", answer=off, stated_after=[ModelReply("40")])
    assert (after["status"], after["value"]) == ("repaired", 0.4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply", ["", "\x00", "Answer:", "Confidence: 9" * 500, "Answer 1: " * 999, "{" * 5000]
)
@pytest.mark.parametrize("condition", SIGNALS)
def test_no_reply_raises(condition, reply):
    every = [ModelReply(reply, (Token(reply, 5.0, {}), Token("", math.nan, {reply: -1.0})))]
    stages = (
        *("answer", "samples", "judge", "stated_after", "words", "p_true", "p_true_samples", "top_k"),
        *("distribution", "panel:one"),
    )
    read_signal(EMMA, condition, dict.fromkeys(stages, every * 2))
    read_signal(EMMA, condition, {"answer": [ANSWER], **dict.fromkeys(stages[1:], every * 2)})


# Meaning


def judged(*verdicts):
    question = replace(EMMA, metadata={"entailment": "judge"})
    return trial("agreement", question, samples=SAMPLES, judge=[ModelReply(text) for text in verdicts])


def test_a_judge_compares_only_what_does_not_match():
    prompts = judge_prompts(EMMA, "Jane Austen", SAMPLES)
    assert len(prompts) == 1
    assert "First answer: Jane Austen\nSecond answer: Emily Brontë" in prompts[0]
    assert judged("yes")["value"] == 1.0
    assert judged("No.")["value"] == 0.5


def test_a_judge_that_answers_nonsense_leaves_the_other_signals():
    row = judged("purple")
    assert math.isnan(row["value"])
    assert "neither yes nor no" in row["problem"]
    assert "0 of 1 verdicts" in judged()["problem"]


def test_chains_of_pairs_join_meanings():
    question = replace(EMMA, metadata={"entailment": "judge"})
    verdicts = [ModelReply(text) for text in ("yes", "no", "yes")]  # AB, AC, BC
    same = same_meaning(question, ["A1", "B1", "C1", "", "b1"], verdicts)
    assert same.tolist() == [
        [True, True, False, False, True],
        [True, True, True, False, True],
        [False, True, True, False, True],
        [False, False, False, False, False],
        [True, True, True, False, True],
    ]


def test_the_key_has_no_part_in_what_means_the_same():
    assert not matches(EMMA, "Austen", "Jane Austen")
    other = replace(EMMA, gold="Emily Brontë", aliases=())
    assert (
        same_meaning(EMMA, ["Austen", "Jane Austen"]) == same_meaning(other, ["Austen", "Jane Austen"])
    ).all()


@pytest.mark.slow
@pytest.mark.hf
def test_a_local_model_of_entailment_is_loaded_and_asked(tmp_path):
    """A tiny classifier made on the spot, its weights such that it finds entailment everywhere, or nowhere."""
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = {"[PAD]": 0, "[UNK]": 1, "[SEP]": 2}
    made = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(
        tmp_path
    )
    labels = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
    config = BertConfig(
        vocab_size=3, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        id2label=labels, label2id={label: i for i, label in labels.items()},
    )  # fmt: skip
    for winner, expected in ((2, 1.0), (0, 0.5)):
        model = BertForSequenceClassification(config)
        with torch.no_grad():
            model.classifier.weight.zero_()
            model.classifier.bias.copy_(torch.nn.functional.one_hot(torch.tensor(winner), 3).float())
        folder = tmp_path / str(winner)
        model.save_pretrained(folder)
        for file in tmp_path.glob("*.json"):
            (folder / file.name).write_bytes(file.read_bytes()) if file.name != "config.json" else None
        question = replace(EMMA, metadata={"entailment": "nli", "nli_model": str(folder)})
        assert trial("agreement", question, samples=SAMPLES)["value"] == expected


def test_a_model_of_entailment_that_cannot_be_loaded_is_named(tmp_path):
    question = replace(EMMA, metadata={"entailment": "nli", "nli_model": str(tmp_path / "none")})
    assert "entailment model failed" in trial("agreement", question, samples=SAMPLES)["problem"]


# Readers


@pytest.mark.parametrize(
    ("reply", "span"),
    [
        ("Answer: Jane Austen\nConfidence: 80", "Jane Austen"),
        ("**Answer:** *Jane Austen*\nConfidence: 80", "Jane Austen"),
        ("Confidence: 80\nFinal Answer: Jane Austen", "Jane Austen"),
        ("Jane Austen", "Jane Austen"),
    ],
)
def test_where_the_answer_stands(reply, span):
    reading = read_answer_reply(reply, EMMA)
    assert reply[reading.begin : reading.end] == span


def test_a_letter_s_answer_may_stand_as_its_option():
    question = Question("q-2", "demo", "2 + 2?", "choice", "B", ("14", "4", "5"))
    reply = "The answer is 4."
    reading = read_answer_reply(reply, question)
    assert (reading.answer, reply[reading.begin : reading.end]) == ("B", "4")


def test_every_expression_reads_as_itself_and_its_number():
    for name, value in EXPRESSIONS.items():
        assert read_expression(f"{name.upper()}.") == value
    assert math.isnan(read_expression(""))


def test_percentages_and_guesses_that_are_none():
    assert math.isnan(read_percent("101"))
    assert math.isnan(read_percent(""))
    assert read_percent("Confidence: 7%") == 0.07
    assert read_guesses("Answer 1: A\nAnswer 2: B\nConfidence 2: 5", EMMA) == [("B", 0.05)]


# Prompts and stages


def test_the_answer_s_prompt_does_not_depend_on_the_condition_and_samples_repeat_it():
    stages = {stage.name: stage for stage in signal_stages(PARAMETERS)}
    for condition in SIGNALS:
        assert stages["answer"].prompts(EMMA, condition, {}) == (answer_prompt(EMMA),)
    assert stages["samples"].prompts(EMMA, "agreement", {"answer": [ANSWER]}) == (answer_prompt(EMMA),)
    assert (stages["samples"].samples, stages["samples"].temperature) == (10, 1.0)


@pytest.mark.parametrize("condition", SIGNALS)
def test_a_condition_asks_for_what_its_signal_needs_and_nothing_else(condition):
    asked, replies = [], {}
    question = replace(EMMA, kind="boolean", gold="yes") if condition == "distribution" else EMMA
    answer = ModelReply("Answer: yes") if condition == "distribution" else ANSWER
    for stage in signal_stages({**PARAMETERS, "entailment": "judge", "signals": [condition, "agreement"]}):
        prompts = stage.prompts(question, condition, replies)
        replies[stage.name] = SAMPLES if stage.name == "samples" and prompts else [answer] * len(prompts)
        asked += [stage.name.replace("panel:panel", "panel")] * bool(prompts)
    judged = "samples" in SIGNALS[condition].stages and condition != "p_true_samples"
    assert set(asked) == {"answer", *SIGNALS[condition].stages, *({"judge"} if judged else ())}


def test_judges_are_asked_only_if_the_panel_is():
    def roles(**given):
        return [stage.role for stage in signal_stages({**PARAMETERS, **given}) if stage.role]

    assert roles() == []
    assert roles(signals="panel") == ["panel"]
    assert roles(signals="panel", panel="first, second") == ["first", "second"]
    with pytest.raises(ValueError, match="add panel to signals"):
        chosen_signals({**PARAMETERS, "panel": "first"})


def test_a_question_without_options_costs_no_call_for_their_distribution():
    stages = {stage.name: stage for stage in signal_stages({**PARAMETERS, "signals": "distribution"})}
    assert stages["distribution"].prompts(EMMA, "distribution", {"answer": [ANSWER]}) == ()


def test_without_an_answer_nothing_more_is_asked():
    for stage in signal_stages(PARAMETERS)[1:]:
        for condition in SIGNALS:
            assert (
                stage.prompts(EMMA, condition, {"answer": [ModelReply("I cannot say")], "samples": []}) == ()
            )


def test_log_probabilities_are_required_where_a_signal_was_named():
    def needs(**given):
        return {
            stage.name: stage.logprobs for stage in signal_stages({**PARAMETERS, **given}) if stage.logprobs
        }

    assert needs() == dict.fromkeys(("answer", "p_true", "samples", "p_true_samples"), "wanted")
    assert needs(signals="stated,p_true") == {"answer": "required", "p_true": "required"}
    assert needs(signals="stated,agreement") == {}
    assert needs(signals=["min_logprob", "agreement"]) == {"answer": "required"}


def test_signals_are_chosen_by_name():
    assert chosen_signals(PARAMETERS) == list(DEFAULT)
    assert chosen_signals({**PARAMETERS, "signals": "stated, agreement,combined"}) == ["stated", "agreement"]
    with pytest.raises(ValueError, match="compares samples, and none of the signals takes samples"):
        chosen_signals({**PARAMETERS, "entailment": "judge"})


def test_the_rule_of_meaning_is_in_the_log():
    assert {q.metadata["entailment"] for q in signal_questions(PARAMETERS)} == {"match"}
    assert signal_questions({**PARAMETERS, "entailment": "nli"})[0].metadata["nli_model"] == "none"


def test_the_guide_has_a_row_for_every_signal():
    page = (Path(__file__).parents[3] / "docs" / "signals.md").read_text()
    table = page.partition("| signal | what it is | what it needs |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1:] for line in table.splitlines()[2:]]
    named = {name: row for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert named.keys() == {*SIGNALS, "combined"}
    for name, signal in SIGNALS.items():
        _, _, needs, calls, probability, _, _ = named[name]
        assert (probability.strip() == "yes") is signal.is_probability, name
        assert bool(calls.strip()) is bool(signal.stages), name
        assert bool(needs.strip()) is bool(signal.needs), name


@pytest.mark.parametrize("name", SIGNALS)
def test_the_viewer_has_room_for_every_name(name):
    assert len(short_name(name)) <= 14
    assert [short_name(other) for other in SIGNALS].count(short_name(name)) == 1


# The simulated subject


def true_auroc(subject, signal):
    """The chance that one normal variate exceeds another."""
    return norm.sf(0, subject.meta_d_prime, math.sqrt(2 + 2 * NOISE[signal] ** 2))


def test_each_signal_has_the_auroc_of_its_noise():
    subject, seed = Subject(d_prime=0.5, meta_d_prime=1.5), call_seed(3, None)
    questions = [replace(EMMA, id=f"q-{i}") for i in range(4000)]
    correct = [subject.decide(question.id, "", seed).correct for question in questions]
    for signal in NOISE:
        area = roc_auc_score(correct, [belief(subject, question, signal, seed) for question in questions])
        assert abs(area - true_auroc(subject, signal)) < 4 * 0.009, signal


def simulated_trials(n, seed=0):
    subject = Subject(d_prime=0.5, meta_d_prime=1.5)
    stages = signal_stages({**PARAMETERS, "signals": list(SIGNALS)})
    rows = []
    for question in signal_questions({**PARAMETERS, "n": n}):
        for condition in SIGNALS:
            replies = {}
            for stage in stages:
                replies[stage.name] = [
                    simulated_reply(subject, question, condition, stage, number, replies, seed)
                    for _ in stage.prompts(question, condition, replies)
                    for number in range(stage.samples)
                ]
            rows.append(read_signal(question, condition, cleaned_replies(replies)))
    return rows


def simulated_reply(subject, question, condition, stage, number, replies, seed):
    own = call_seed(seed, stage.temperature, number)
    reply = respond(question, StageRequest(subject, "", condition, stage.name, replies, own))
    made = (*reply.reasoning, *reply_tokens(reply))
    return ModelReply(reply.text, made, 1.0, 1.0)


@pytest.fixture(scope="module")
def trials():
    """Enough for areas: it takes half a minute, so the tests that need it are slow."""
    return simulated_trials(300)


@pytest.fixture(scope="module")
def few_trials():
    return simulated_trials(60)


TOKENS = (
    "mean_logprob",
    "sum_logprob",
    "min_logprob",
    "mean_entropy",
    "margin",
    "negentropy",
    "self_certainty",
)
NOISE_OF = {
    **dict.fromkeys(TOKENS, "tokens"),
    **dict.fromkeys(("trace_length", "trace_logprob", "trace_entropy"), "trace"),
    **dict.fromkeys(("agreement", "trace_agreement"), "samples"),
    "panel": "panel",
}
"""Signals that keep the order of a belief with noise of another name."""

FEW_VALUES = ("agreement", "words")
"""Signals that lose a little because they have few values."""


@pytest.mark.slow
def test_every_signal_has_the_auroc_of_the_subject(trials):
    """Within 4 standard errors of the area."""
    for condition in SIGNALS:
        noise = NOISE_OF.get(condition, condition)
        if noise in NOISE:
            expected = true_auroc(Subject(meta_d_prime=1.5), noise)
            lost = 0.03 if condition in FEW_VALUES else 0.0
            assert expected - 0.11 - lost < area_of(trials, condition) < expected + 0.11, condition


def area_of(rows, condition):
    own = [row for row in rows if row["condition"] == condition]
    assert {row["problem"] for row in own} == {""}, condition
    return STUDY.measures_by_name["auroc"].compute(columns(own), None)


SUBJECT, SEED = Subject(d_prime=0.5, meta_d_prime=1.5), call_seed(0, None)


def drawn_samples(question, rng, n=10):
    """Draw the sizes of the groups of equal samples: the answer with probability p, else one of three others."""
    p = belief(SUBJECT, question, "samples", SEED)
    correct = SUBJECT.decide(question.id, "", SEED).correct
    others = [answer(question, correct=not correct, seed=f"{SEED}/{i}") for i in range(3)]
    weights = {other: (1 - p) * others.count(other) / 3 for other in others}
    sizes = rng.multinomial(n, [p, *weights.values()])
    return sizes[sizes > 0]


def entropy_of_kernel(sizes):
    """The eigenvalues of the kernel of groups of equal samples."""
    rest = np.exp(-0.6 * sizes)
    first = 1 / (1 + (sizes - 1) * rest) * sizes / sizes.sum()
    others = np.repeat(rest * first, sizes - 1)
    return entropy([*first, *others])


GROUPS = {
    "semantic_entropy_discrete": entropy,
    "semantic_sets": len,
    "degree_matrix": lambda sizes: 1 - (sizes**2).sum() / sizes.sum() ** 2,
    "eccentricity": len,
    "eigenvalue_sum": len,
    "kernel_entropy": entropy_of_kernel,
}
"""What a signal is the negative of, or has the order of, from the sizes of the groups of equal samples."""


OF_SHARES = {
    "sequence_entropy": lambda share, p, given: share * np.log(p) + (1 - share) * np.log1p(-p),
    "sequence_entropy_normalised": lambda share, p, given: share * np.log(p) + (1 - share) * np.log1p(-p),
    "cocoa": lambda share, p, given: np.log(given) * (1 - share),
    "consistency_and_confidence": lambda share, p, given: given * share,
}
"""Signals of the share of samples that agree, of their probability and of that of the answer."""


@pytest.mark.slow
def test_signals_of_samples_have_the_auroc_of_what_they_estimate(trials):
    """Each is the mean AUROC over 20 draws of ten samples, from the beliefs alone."""
    questions, rng = signal_questions({**PARAMETERS, "n": 300}), np.random.default_rng(0)
    correct = [SUBJECT.decide(question.id, "", SEED).correct for question in questions]
    p = np.array([belief(SUBJECT, question, "samples", SEED) for question in questions])
    given = np.array([0.5 + belief(SUBJECT, question, "tokens", SEED) / 2 for question in questions])
    values = {name: [] for name in (*GROUPS, *OF_SHARES)}
    for _ in range(20):
        share = rng.binomial(10, p) / 10
        for name, of_shares in OF_SHARES.items():
            values[name].append(of_shares(share, p, given))
        sizes = [drawn_samples(question, rng) for question in questions]
        for name, uncertainty in GROUPS.items():
            values[name].append([-uncertainty(of_question) for of_question in sizes])
    expected = {
        name: np.mean([roc_auc_score(correct, row) for row in of_name]) for name, of_name in values.items()
    }
    for condition, area in expected.items():
        assert area_of(trials, condition) == pytest.approx(area, abs=0.05), condition


# Measures over all signals


@pytest.mark.slow
def test_measures_of_one_condition_match_the_plain_statistics(trials):
    table = columns([row for row in trials if row["condition"] == "sum_logprob"])
    value = {measure.name: measure.compute(table, None) for measure in MEASURES}
    assert value["auroc"] == pytest.approx(roc_auc_score(table["correct"], table["value"]))
    assert math.isnan(value["ece"])
    assert 0 <= value["ece_recalibrated"] < 0.2
    assert value["brier_recalibrated"] < table["correct"].var()
    assert (value["calls"], value["tokens"]) == (1, 2)


@pytest.mark.parametrize("condition", SIGNALS)
def test_the_recalibrated_error_lies_in_its_interval(few_trials, condition):
    table = columns([row for row in few_trials if row["condition"] == condition])
    measure = STUDY.measures_by_name["ece_recalibrated"]
    assert measure.inference.test is not None
    low, high = measure.inference.test(table, np.arange(len(table["correct"]))).limits(0.95)
    value = measure.compute(table, None)
    # With less error than chance gives a perfectly calibrated signal, no error is compatible with the data.
    assert low <= value <= high or (low, high) == (0.0, 0.0)


@pytest.mark.slow
def test_the_combination_knows_at_least_what_the_best_signal_knows(trials):
    table = signal_table(columns(trials))
    assert table.regressors.shape == (300, len(SIGNALS))
    value = {measure.name: measure.compute(columns(trials), None) for measure in POOLED}
    singles = [roc_auc_score(table.correct, column) for column in table.regressors.to_numpy().T]
    assert value["gain_combined"] == pytest.approx(value["auroc_combined"] - max(singles))
    assert value["gain_combined"] > -0.05
    # five independent views of the evidence know more than the best of them
    assert value["auroc_combined"] > 0.8


def test_the_last_of_repeated_trials_counts(few_trials):
    once = signal_table(columns(few_trials))
    twice = signal_table(
        columns([{**row, "value": 0.5, "confidence": 0.5} for row in few_trials] + few_trials)
    )
    assert twice.regressors.equals(once.regressors)
    assert (twice.trial == once.trial + len(few_trials)).all()


def test_weights_count_answers_as_copies_of_them(few_trials):
    table = columns(few_trials)
    weights = np.tile(1.0 + np.arange(60) % 2, (2, 1)).repeat(len(SIGNALS), axis=1)
    area = next(measure for measure in POOLED if measure.name == "auroc_combined")
    areas = area.compute(table, weights)
    assert areas.shape == (2,)
    assert areas[0] == areas[1]
    assert areas[0] != area.compute(table, None)


def test_one_signal_cannot_be_combined(few_trials):
    table = columns([row for row in few_trials if row["condition"] == "stated"])
    for measure in POOLED:
        assert math.isnan(measure.compute(table, None))
        assert np.isnan(measure.compute(table, np.ones((3, 60)))).all()
