"""A user's mistake is answered with a line that names the fix: no traceback, on either harness."""

import shutil
from pathlib import Path

import pytest
from tests.integration.commands import run

pytestmark = pytest.mark.slow

GOOD = Path(__file__).parents[3] / "examples" / "boolq.eval"
SCALES = "inspect eval confidence_tasks/scale_granularity -T sources=arithmetic -T n=1"
SMALL = "scale_granularity_0_20_arithmetic"
NO_FILE = "there is no such file or folder"
CUT_SHORT = "copy it again from where it was written, or go on with its run by `inspect eval-retry`"

MISTAKES = {
    "report, no path": (
        "confidence-tasks report nope.eval",
        f"skipped nope.eval: {NO_FILE} no trials were found, and no page is written",
    ),
    "compare, no path": ("confidence-tasks compare nope.eval good.eval", f"skipped nope.eval: {NO_FILE}"),
    "rescore, no path": ("confidence-tasks rescore nope.eval", f"skipped nope.eval: {NO_FILE}"),
    "score, no path": ("confidence-tasks score nope.csv --study scales", "'nope.csv' does not exist"),
    "report, cut short": ("confidence-tasks report cut.eval", CUT_SHORT),
    "compare, cut short": ("confidence-tasks compare good.eval cut.eval", CUT_SHORT),
    "rescore, cut short": ("confidence-tasks rescore cut.eval", CUT_SHORT),
    "misspelt command": (
        "confidence-tasks reprot good.eval",
        "there is no command 'reprot'; did you mean 'report'?",
    ),
    "misspelt study, power": (
        "confidence-tasks power scale --effect 0.2",
        "benchmark, fermieval, nlp_metad, question_sets, riskeval, scales, signals; did you mean 'scales'?",
    ),
    "misspelt measure, power": (
        "confidence-tasks power scales --effect 0.2 --measure acuracy",
        "the power of scales cannot be computed for 'acuracy'; did you mean 'accuracy'? Its measures are mratio",
    ),
    "misspelt parameter of a subject, power": (
        "confidence-tasks power scales --effect 0.2 -M dprime=1",
        "a simulated subject has no dprime; did you mean 'd_prime'? Its parameters are",
    ),
    "misspelt task": (
        "inspect eval confidence_tasks/riskevl --model simulated/ideal",
        "there is no task confidence_tasks/riskevl; did you mean 'riskeval'?",
    ),
    "misspelt provider": (
        f"{SCALES} --model simulted/ideal",
        "Error: there is no model provider 'simulted'; did you mean 'simulated'?",
    ),
    "no provider": (
        f"{SCALES} --model ideal",
        "Error: Model name 'ideal' should be in the format of <api_name>/<model_name>",
    ),
    "missing key": (
        "inspect eval confidence_tasks/boolq --model openai/gpt-4o -T source=arithmetic_boolean -T n=2",
        "No OPENAI_API_KEY",
    ),
    "misspelt task, lm-eval": (
        "lm_eval --model simulated --tasks riskevl --limit 2",
        "there is no task 'riskevl'; did you mean 'riskeval'?",
    ),
    "misspelt model, lm-eval": (
        f"lm_eval --model simulted --tasks {SMALL} --limit 2",
        "Error: there is no model 'simulted'; did you mean 'simulated'?",
    ),
    "misspelt parameter": (
        f"{SCALES} --model simulated/ideal -T sorces=arithmetic",
        "scale_granularity has no parameter 'sorces'; did you mean 'sources'?",
    ),
    "misspelt parameter, no display": (
        f"{SCALES} --model simulated/ideal -T sorces=arithmetic --display none",
        "Error: scale_granularity has no parameter 'sorces'; did you mean 'sources'?",
    ),
    "missing key, no display": (
        "inspect eval confidence_tasks/boolq --model openai/gpt-4o -T source=arithmetic_boolean -T n=2 --display none",
        "Error: Unable to initialise OpenAI client",
    ),
    "misspelt scale of a scorer, no display": (
        "inspect score good.eval --scorer confidence_tasks/stated_confidence -S ask=0:100 --overwrite --display none",
        "Error: ask='0:100' is no scale such as 0-100",
    ),
    "a text for a number": (
        f"{SCALES} --model simulated/ideal -T seed=abc",
        "seed='abc' must be a whole number",
    ),
    "misspelt choice": (
        f"{SCALES} --model simulated/ideal -T elicitation=loud",
        "elicitation='loud' is not one of",
    ),
    "misspelt subject": (f"{SCALES} --model simulated/nobody", "there is no simulated subject 'nobody'."),
    "parameter, lm-eval": (
        f'lm_eval --model simulated --tasks {SMALL} --limit 2 --metadata {{"n":"many"}}',
        "n='many' must be a whole number",
    ),
    "misspelt parameter, lm-eval": (
        f'lm_eval --model simulated --tasks {SMALL} --limit 2 --metadata {{"fewshots":2,"elicitatoin":"cot"}}',
        "metadata: scales has no parameter 'fewshots' on lm-eval; did you mean 'fewshot'?",
    ),
    "misspelt source of a list": (
        "inspect eval confidence_tasks/scale_granularity -T sources=mmlu,gsm9k -T n=1 --model simulated/ideal"
        " -T mirror=empty",
        "unknown source 'gsm9k'; did you mean 'gsm8k'?",
    ),
    "no file in a list of sources": (
        "inspect eval confidence_tasks/scale_granularity -T sources=mmlu,mine.jsonl --model simulated/ideal"
        " -T mirror=empty",
        "mine.jsonl: no such file",
    ),
    "misspelt measure, compare": (
        "confidence-tasks compare good.eval good.eval --measure ECE",
        "question_sets has no measure 'ECE'; did you mean 'ece'? It has",
    ),
    "task for a study, score": (
        "confidence-tasks score good.eval --study scale_granularity",
        "'scale_granularity' is not one of fermieval, lifeeval, boolq, sciq, lsat_ar, sat_en, halueval, riskeval, "
        "scales; did you mean 'scales'?",
    ),
    "task for a study, power": (
        "confidence-tasks power fermieval_logprob --effect 0.2",
        "did you mean 'fermieval'?",
    ),
    "compare, one model": (
        "confidence-tasks compare good.eval",
        "only simulated/sloppy has trials of this task nothing is compared: add the log of another model to the paths",
    ),
    "compare, one path": (
        "confidence-tasks compare good.eval --model-a simulated/ideal",
        "name B, or two models of A with --model-a and --model-b",
    ),
    "report, other JSON": (
        "confidence-tasks report other.json",
        "skipped other.json: it is JSON, but neither a log of Inspect nor results of lm-eval no trials were found",
    ),
    "rescore, other JSON": (
        "confidence-tasks rescore other.json",
        "it is JSON, but neither a log of Inspect nor results of lm-eval",
    ),
    "parameter of a subject, lm-eval": (
        f"lm_eval --model simulated --model_args profile=ideal --tasks {SMALL} --limit 2",
        "a simulated subject has no profile. Its parameters are",
    ),
    "subject, lm-eval": (
        f"lm_eval --model simulated --model_args subject=ideel --tasks {SMALL} --limit 2",
        "there is no simulated subject 'ideel'; did you mean 'ideal'? There are ideal, overconfident",
    ),
}


@pytest.mark.sampled("mistake")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_the_fix(mistake: str, tmp_path: Path) -> None:
    command, said = MISTAKES[mistake]
    shutil.copy(GOOD, tmp_path / "good.eval")
    (tmp_path / "cut.eval").write_bytes(GOOD.read_bytes()[:900])
    (tmp_path / "other.json").write_text("[1, 2]")
    done = run(tmp_path, *command.split())
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0
    assert said in told
    assert "Traceback" not in told
    assert not list(tmp_path.glob("logs/*"))  # nothing was asked
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.sampled("command")
@pytest.mark.parametrize("command", ["report good.eval", "compare good.eval good.eval", "rescore good.eval"])
def test_messages_that_are_redirected_have_no_blank_lines(command: str, tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "good.eval")
    done = run(tmp_path, "confidence-tasks", *command.split())
    assert done.returncode == 0, done.stderr
    assert "\n\n" not in f"\n{done.stderr}"
    assert not done.stdout.startswith("\n")
    assert not done.stdout.endswith("\n\n")
