"""Models that cannot do what a flag asks for: a clear message before the first call, or a run that is kept."""

import pytest
from tests.integration.lm_eval.harnesses import Scripted, lm_eval_run


class WithoutTemplate(Scripted):
    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        raise ValueError("tokenizer.chat_template is not set.")


TASKS = ["riskeval_lambda10_arithmetic", "lifeeval_radius5", "sciq_confidence_arithmetic"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_a_tokenizer_without_chat_template_is_told_to_do_without(name):
    model = WithoutTemplate(lambda prompt: "")
    with pytest.raises(
        ValueError,
        match=f"{name}: .*chat_template is not set. For a base model, leave out --apply_chat_template",
    ):
        lm_eval_run(model, [name], {"n": 2}, apply_chat_template=True)
    assert model.asked == []
    lm_eval_run(model, [name], {"n": 2})
    assert len(model.asked) == 2


@pytest.mark.slow
@pytest.mark.parametrize("reply", ["", "\x00", "{" * 3_000])
def test_what_a_model_says_ends_no_run(reply):
    found = lm_eval_run(Scripted(lambda prompt: reply), TASKS, {"n": 2})["results"]
    assert {found[name]["parse_rate,none"] for name in TASKS} == {0.0}


@pytest.mark.slow
@pytest.mark.parametrize("n_lost", [1, 3])
@pytest.mark.parametrize("name", ["riskeval_lambda10_arithmetic", "signals_stated_after"])
def test_a_call_without_a_reply_is_lost_as_on_inspect(name, n_lost):
    """Of one call and of several: the sample has no trial."""
    replies = iter([None] * n_lost)
    model = Scripted(lambda prompt: next(replies, "Answer: 3\nConfidence: 90"))
    run = lm_eval_run(model, [name], {"n": 3}, log_samples=True)
    assert ["trial" in sample for sample in run["samples"][name]].count(False) == n_lost


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 7])
def test_tasks_of_several_studies_run_together(batch_size):
    """With their own metadata, and with parameters that only some of them have."""
    metadata = {"n": 2, "strategy": "use_confidence", "window": "inclusive"}
    found = lm_eval_run(Scripted(lambda prompt: ""), TASKS, metadata, batch_size=batch_size)
    assert {found["n-samples"][name]["effective"] for name in TASKS} == {2}
    assert {found["results"][name]["parse_rate,none"] for name in TASKS} == {0.0}
