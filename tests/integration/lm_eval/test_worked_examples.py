"""Worked examples of the studies that have none of their own: an ideal subject's replies to questions not asked."""

import json

import pytest
from tests.integration.lm_eval.harnesses import Scripted, lm_eval_run

N, SHOWN = 3, 2


@pytest.mark.slow
@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(
    "name",
    [
        "lifeeval_radius5",
        "fermieval_p0_9",
        "sciq_confidence_arithmetic",
        "boolq_confidence_arithmetic_boolean",
        "halueval_confidence",
        "riskeval_lambda10_arithmetic",
    ],
)
def test_examples_are_turns_in_format_of_questions_that_are_not_asked(name):
    model = Scripted(lambda prompt: json.loads(prompt)[-2]["content"])
    found = lm_eval_run(
        model,
        [name],
        {"n": N},
        num_fewshot=SHOWN,
        apply_chat_template=True,
        fewshot_as_multiturn=True,
    )
    dialogues = [json.loads(text) for text in model.asked]
    asked = [turns[-1]["content"] for turns in dialogues]
    assert len(set(asked)) == N
    for turns in dialogues:
        roles = [turn["role"] for turn in turns if turn["role"] != "system"]
        assert roles == ["user", "assistant"] * SHOWN + ["user"]
        assert turns[:-1] == dialogues[0][:-1]
        assert not {turn["content"] for turn in turns[:-1]} & set(asked)
    assert found["results"][name]["parse_rate_strict,none"] == 1.0


@pytest.mark.usefixtures("mirror")
class TestSamples:
    """Several documents ask the same question."""

    def test_no_question_that_is_asked_is_shown(self):
        model = Scripted(lambda prompt: json.loads(prompt)[-2]["content"])
        metadata = {"n": 2, "samples": 3, "levels": "0.9"}
        found = lm_eval_run(
            model, ["fermieval_sampling_interval"], metadata, num_fewshot=SHOWN, apply_chat_template=True
        )
        turns = [[turn["content"] for turn in json.loads(text)[1:]] for text in model.asked]
        assert len(turns) == 6
        assert len({asked for *_, asked in turns}) == 2
        assert all(len(set(contents[:-1:2])) == SHOWN for contents in turns)
        assert not {asked for *_, asked in turns} & {shown for contents in turns for shown in contents[:-1]}
        assert found["results"]["fermieval_sampling_interval"]["parse_rate/all,none"] == 1.0

    def test_examples_of_one_condition_are_not_shown_before_another(self):
        model = Scripted(lambda prompt: "")
        with pytest.raises(ValueError, match="differ between its conditions: choose one"):
            lm_eval_run(model, ["fermieval_sampling_exponent"], {"n": 2, "samples": 2}, num_fewshot=1)
        assert model.asked == []
