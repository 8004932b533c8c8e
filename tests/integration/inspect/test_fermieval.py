"""FermiEval through Inspect: what was put into a simulated subject comes out of the log."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage, get_model

from confidence_tasks import fermieval, fermieval_logprob, fermieval_sampling
from confidence_tasks.studies.fermieval.adjusted_measures import CONFORMAL_MEASURES
from confidence_tasks.studies.fermieval.logprob.distribution import read_distribution
from confidence_tasks.studies.fermieval.measures import MEASURES
from confidence_tasks.study.trial import STATUSES

from .conftest import Run, metrics, saying, trials

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("mirror")]


def test_a_subject_with_a_narrow_tunnel_is_overconfident_and_the_log_says_how_much(run: Run) -> None:
    log = run(fermieval(n=30, levels="0.9,0.998"), get_model("simulated/tunnel", perception=0.2))
    found = metrics(log)
    names = {name.partition("/")[0] for name in found}
    assert {measure.name for measure in (*MEASURES, *CONFORMAL_MEASURES)} <= names
    assert found["parse_rate_strict/all"] == 1.0
    for label, expected in (("p=0.9", 0.18), ("p=0.998", 0.1996)):
        # Intervals so narrow may hold no whole number; the nearest one then stands for them.
        assert found[f"coverage/{label}"] == pytest.approx(expected, abs=0.4)
        assert found[f"coverage_gap/{label}"] < -0.3
    assert math.isfinite(found["conformal_shift/p=0.9"])
    assert found["conformal_shift/p=0.998"] == math.inf
    assert log.eval.headline_metric is not None
    assert log.eval.headline_metric.metric in found


def test_any_reply_becomes_a_trial_with_a_status(run: Run) -> None:
    hostile = [
        *("", "\x00\u202e", "{" * 10_000, "between ten and a thousand", '{"L": 10^6, "U": 10^9}'),
        *(
            '{"L": ' + "9" * 5_000 + ', "U": 3}',
            '{"L": 7, "U": 2.5} {"L": 1, "U": 2}',
            "<script>alert(1)</script>",
        ),
    ]
    made = trials(run(fermieval(n=2), saying(hostile)))
    assert len(made) == len(hostile)
    assert all(trial["status"] in STATUSES for trial in made)
    # Two state an interval: of two objects in a reply the last counts, with which the prompt asks to end.
    stated = [(trial["lower"], trial["upper"]) for trial in made if not math.isnan(trial["lower"])]
    assert sorted(stated) == [(1.0, 2.0), (6.0, 9.0)]


@pytest.mark.parametrize(
    ("settings", "options", "sent"),
    [
        ({"temperature": "provider"}, {}, {(None, True)}),
        ({"temperature": "provider"}, {"temperature": 0.3}, {(0.3, True)}),
        ({"temperature": 0.7}, {}, {(0.7, True)}),
        ({}, {}, {(0.0, False)}),
    ],
)
def test_the_temperature_is_left_to_the_provider_if_the_user_says_so(
    run: Run, settings: dict[str, Any], options: dict[str, Any], sent: set[Any]
) -> None:
    found: list[GenerateConfig] = []

    def reply(messages: Any, tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        found.append(config)
        output = ModelOutput.from_content("mockllm", '{"L": 1, "U": 2}')
        output.usage = ModelUsage()
        return output

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    log = run(fermieval(n=2, levels="0.9", cache=False, **settings), model, **options)
    assert {(config.temperature, config.seed is not None) for config in found} == sent
    assert {trial["status"] for trial in trials(log)} == {"ok"}


@pytest.mark.parametrize("value", ["default", -1.0])
def test_a_wrong_temperature_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="temperature="):
        fermieval(n=2, temperature=value)


def test_token_probabilities_of_a_sharpened_belief_are_mended_by_temperature(run: Run) -> None:
    log = run(fermieval_logprob(n=60, levels="0.9"), get_model("simulated/ideal", gain=6.0))
    found = metrics(log)
    assert found["parse_rate/all"] == 1.0
    assert 0.9 < found["integer_mass/all"] <= 1.0 + 1e-6
    assert found["temperature/all"] > 2.0
    assert found["coverage/p=0.9"] < 0.75
    assert found["scaled_winkler/p=0.9"] < found["winkler/p=0.9"]
    assert log.eval.headline_metric is not None
    assert log.eval.headline_metric.metric in found


def test_a_provider_without_token_probabilities_is_refused_at_the_first_reply(tmp_path: Path) -> None:
    task = fermieval_logprob(n=1)
    output = ModelOutput.from_content("mockllm", "7")
    output.usage = ModelUsage()
    model = get_model("mockllm/model", custom_outputs=[output])
    (log,) = inspect_eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "error"
    assert log.error is not None
    assert "stage 'exponent' of fermieval_logprob needs token probabilities" in log.error.message


def test_samples_of_a_question_differ_and_become_one_interval(run: Run) -> None:
    log = run(
        fermieval_sampling(ask="interval,direct", n=4, samples=5, levels="0.8"),
        get_model("simulated/tunnel", perception=0.3),
    )
    found, made = metrics(log), trials(log)
    assert len(made) == 4 * 2 * 5
    first = [trial for trial in made if trial["condition"] == "interval,T=1,p=0.8"][:20]
    assert len({trial["lower"] for trial in first}) > 1
    widths = [trial["upper"] - trial["lower"] for trial in first if trial["split"] == "test"]
    assert found["mean_width/interval,p=0.8"] > sum(widths) / len(widths)
    assert found["parse_rate/all"] == 1.0
    assert log.eval.headline_metric is not None
    assert log.eval.headline_metric.metric in found


def test_each_sample_has_the_temperature_of_its_condition_and_a_seed_of_its_own(run: Run) -> None:
    asked: list[tuple[float | None, int | None]] = []

    def reply(_messages: object, _tools: object, _choice: object, config: GenerateConfig) -> ModelOutput:
        asked.append((config.temperature, config.seed))
        output = ModelOutput.from_content("mockllm/model", "7")
        output.usage = ModelUsage()
        return output

    task = fermieval_sampling(ask="direct", n=2, samples=3, temperatures="0.5,1")
    run(task, get_model("mockllm/model", custom_outputs=reply, memoize=False))
    assert sorted(temperature or 0.0 for temperature, _ in asked) == [0.5] * 6 + [1.0] * 6
    assert len({seed for _, seed in asked}) == 12


@pytest.mark.parametrize(("cache", "paid"), [(True, 8), (False, 16)])
def test_a_sample_is_paid_for_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: bool, paid: int
) -> None:
    """A second run of the same design, as after a kill, asks for nothing that has been said; samples still differ."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    asked: list[str] = []

    def reply(messages: list[ChatMessage], *_: object) -> ModelOutput:
        asked.append(messages[-1].text)
        output = ModelOutput.from_content("mockllm/model", f'{{"L": {len(asked)}, "U": 30}}')
        output.usage = ModelUsage()
        return output

    def ask() -> list[float]:
        model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
        return [
            trial["lower"]
            for trial in trials(run(fermieval_sampling(n=2, samples=4, levels="0.9", cache=cache), model))
        ]

    first, second = ask(), ask()
    assert len(asked) == paid
    assert sorted(first) == [float(i) for i in range(1, 9)]
    assert (first == second) is cache


@pytest.mark.hf
def test_a_real_model_gives_a_distribution_over_exponents(run: Run, smollm2: Path) -> None:
    model = get_model("hf/smollm2", model_path=str(smollm2), dtype="float32", do_sample=False, device="cpu")
    log = run(fermieval_logprob(n=4, levels="0.9"), model)
    made, found = trials(log), metrics(log)
    assert found["parse_rate/all"] > 0.0
    for trial in made:
        assert 0.0 <= trial["integer_mass"] <= 1.0 + 1e-6
        total = sum(read_distribution(trial["distribution"]).values())
        assert total == pytest.approx(trial["integer_mass"], abs=1e-6)
    assert not math.isnan(found["winkler/p=0.9"])
